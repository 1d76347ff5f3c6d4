/* SPDX-License-Identifier: Apache-2.0
 *
 * From the start of a runner to the end of everything that it started. A runner is
 * bwrap, with cordon-init in it, or the keeper of a Landlock sandbox; both report
 * in struct init_event (init.h), so the evidence is read in one place.
 *
 * One call waits with poll(2) for: events, the end of the runner (pidfd), the end of
 * the first process of the sandbox, signals to pass on, and a deadline. No SIGCHLD,
 * no process-wide state.
 */
#ifndef CORDON_SUPERVISE_H
#define CORDON_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/capture.h"
#include "runtime/init.h"

#define RUNNER_WORDS 2048 /* bytes kept of what a runner says itself */

/* Descriptors are owned by the runner; -1 where it has none. */
struct runner {
	pid_t pid;
	int pidfd;
	int events; /* struct init_event */
	int control; /* the keeper: a byte is a signal to pass on, the end of the file
	               * the end of everything */
	int document; /* bwrap's --json-status-fd */
	int words; /* bwrap's own stderr */
};

#define RUNNER_INIT                                                                      \
	{                                                                                \
		0, -1, -1, -1, -1, -1                                                    \
	}

void runner_release(struct runner *runner);

/* What a run listens to. */
struct supervision {
	int signals; /* signalfd(2) of signals to pass on; -1: none */
	void (*stop)(void *ctx); /* after SIGTSTP was passed on; may be NULL */
	void *ctx;
	struct capture *captures[2]; /* read as they come; NULL: none */
	unsigned timeout_ms; /* 0: none; then SIGTERM, and after grace_ms the end */
	unsigned grace_ms; /* 0: the end at once */
};

struct course {
	bool ready; /* nothing of the command ran without this */
	bool executed; /* the command itself runs */
	bool ended; /* last is INIT_EXITED or INIT_SIGNALED */
	bool timed_out;
	struct init_event last; /* kind 0: none */
	bool status_known; /* false: reaped by somebody else */
	int status; /* of the runner, waitpid(2) */
	char words[RUNNER_WORDS + 1];
	size_t words_len;
};

/* Returns when the runner and everything below it is gone. */
void supervise(struct runner *runner, const struct supervision *how, struct course *out);

#endif
