/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one command under a plan: the first backend of the chain that really works
 * (bwrap, then landlock), with evidence of what became of the command.
 *
 * A launch is its own probe. Nothing of the command is executed before cordon-init
 * or the keeper says so (INIT_EXECUTED in init.h); a backend that fails before that
 * is passed over with its cause, and the next one is tried. There is no unconfined
 * way out of the chain: run_unconfined is another function, for the mode that was
 * asked for by its name.
 *
 * Synchronous and thread-safe: nothing process-wide is changed. The thread that
 * calls is the one whose end ends bwrap (prctl(2), PR_SET_PDEATHSIG).
 */
#ifndef CORDON_RUN_H
#define CORDON_RUN_H

#include "runtime/cause.h"
#include "runtime/programs.h"
#include "runtime/session.h"
#include "runtime/supervise.h"

enum run_outcome {
	RUN_EXITED,
	RUN_SIGNALED,
	RUN_TIMEOUT, /* the time was over: the tree was ended */
	RUN_EXEC_FAILED, /* execve(2) refused: error */
	RUN_RUNNER_FAILURE, /* the last runner ended by itself; nothing was executed */
	RUN_RUNNER_KILLED, /* somebody killed the runner; the command may have run */
	RUN_UNAVAILABLE, /* no backend is usable */
	RUN_REFUSED, /* nothing was started */
};

struct run_request {
	const char *const *argv; /* NULL-terminated, at least one */
	const char *const *environment; /* all of it; environment_make makes one */
	const char *directory; /* canonical working directory */
	const struct backend *only; /* NULL: the chain */
	const struct programs *programs;
	bool tty;
	int output, error; /* descriptors that become 1 and 2 of the command; -1: the
	                    * caller's own */
	struct supervision supervision;
};

struct passed_over {
	const struct backend *backend;
	enum cause cause;
	const char *detail; /* what the mechanism said; "" nothing */
};

struct run_result {
	enum run_outcome outcome;
	int exit_code; /* RUN_EXITED */
	int signal; /* RUN_SIGNALED */
	int error; /* RUN_EXEC_FAILED: errno */
	const char
		*reason; /* a sentence; NULL: nothing to say, or in the session's diags */
	enum mode mode;
	const struct plan *plan; /* NULL: unconfined */
	const struct backend *backend; /* that ran the command; NULL: none */
	struct fidelity fidelity; /* of that backend; with a backend only */
	struct passed_over passed[4];
	size_t passed_count;
	uint64_t duration_us, cpu_us, max_rss_kib;
};

/* The mode of a call: as asked for, else the policy's default. False and a finding
 * above the ceiling, or if danger-full-access was not asked for by name. */
bool run_mode(struct session *session, const enum mode *asked, enum mode *mode);

/* The time limit of a call in milliseconds, 0 for none: what was asked for (0: not),
 * or the policy's. False and a finding if more was asked for than the policy gives. */
bool run_timeout(struct session *session, uint64_t asked_ms, unsigned *timeout_ms);

/* The limit of each captured stream in bytes, likewise; without any it is
 * RUN_OUTPUT_DEFAULT. */
#define RUN_OUTPUT_DEFAULT ((size_t)16 * 1024 * 1024)
bool run_output_limit(struct session *session, uint64_t asked, size_t *limit);

/* Whether a backend may be used for a plan, by what it says of it and by what the
 * policy requires. detail names the rule or the gap. */
enum cause run_admit(struct session *session, const struct plan *plan,
	const struct fidelity *fidelity, const char **detail);

/* Refusals that name a rule are findings of the session as well. */
void run_confined(struct session *session, const struct plan *plan,
	const struct run_request *request, struct run_result *out);

/* danger-full-access. */
void run_unconfined(struct session *session, const struct run_request *request,
	struct run_result *out);

/* What `cordon run` exits with: the child's, 128+n, 125, 126, 127. */
int run_exit_status(const struct run_result *result);

const char *run_outcome_text(enum run_outcome outcome);

/* One verdict of the probe: the real launch of the plan with a check in the place of
 * the command. detail as in passed_over. */
struct probe_verdict {
	const struct backend *backend;
	enum cause cause;
	const char *detail;
	struct fidelity fidelity;
};
#define PROBE_TIMEOUT_MS 5000
void run_probe(struct session *session, const struct plan *plan,
	const struct backend *backend, const struct programs *programs,
	struct probe_verdict *out);

#endif
