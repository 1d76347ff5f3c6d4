/* SPDX-License-Identifier: Apache-2.0
 *
 * The one loop. Signals that arrive before the sandbox can take them (its first
 * process is not ready: pid 1 of a namespace drops what it has no handler for)
 * wait in `held`.
 */
#include "runtime/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/spawn.h"

#define DOCUMENT_BYTES 512

enum watched {
	EVENTS,
	RUNNER,
	FIRST,
	DOCUMENT,
	WORDS,
	SIGNALS,
	OUTPUT,
	ERRORS,
	WATCHED_COUNT
};

struct watch {
	struct runner *runner;
	const struct supervision *how;
	struct course *out;
	struct pollfd polled[WATCHED_COUNT];
	int first; /* pidfd of the first process of a bwrap sandbox; -1: not known */
	uint64_t held; /* signals that wait, a bit each */
	char document[DOCUMENT_BYTES + 1];
	size_t document_len;
};

void runner_release(struct runner *runner)
{
	int *const fds[] = {&runner->pidfd, &runner->events, &runner->control,
		&runner->document, &runner->words};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static int send_by(int pidfd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

static void unwatch(struct watch *w, enum watched which)
{
	w->polled[which].fd = -1;
	w->polled[which].revents = 0;
}

/* ---- signals ------------------------------------------------------------------ */

static void pass_on(struct watch *w, int sig)
{
	if (w->runner->control >= 0) {
		char byte = (char)sig;
		ssize_t n;
		do
			n = write(w->runner->control, &byte, 1);
		while (n < 0 && errno == EINTR);
	} else if (w->first >= 0) {
		send_by(w->first, sig);
	}
}

/* cordon-init holds what comes once it is ready, the keeper always. */
static void pass_held(struct watch *w)
{
	bool can = w->runner->control >= 0 || (w->first >= 0 && w->out->ready);

	for (int sig = 1; can && w->held && sig < 64; sig++) {
		if (!(w->held & (1ULL << sig)))
			continue;
		w->held &= ~(1ULL << sig);
		pass_on(w, sig);
	}
}

static void take_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->how->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo < 64)
			w->held |= 1ULL << info.ssi_signo;
		pass_held(w);
		if (info.ssi_signo == SIGTSTP && w->how->stop)
			w->how->stop(w->how->ctx);
	}
	if (errno != EAGAIN && errno != EINTR)
		unwatch(w, SIGNALS);
}

static void ask_to_end(struct watch *w)
{
	w->held |= 1ULL << SIGTERM;
	pass_held(w);
}

/* The end of everything, at once. */
static void kill_all(struct watch *w)
{
	if (w->runner->control >= 0) {
		close(w->runner->control);
		w->runner->control = -1;
		return;
	}
	if (w->first >= 0)
		send_by(w->first, SIGKILL);
	else
		send_by(w->runner->pidfd, SIGKILL);
}

/* ---- what comes in -------------------------------------------------------------- */

static void take_events(struct watch *w)
{
	struct course *out = w->out;
	struct init_event event;
	ssize_t n = read(w->runner->events, &event, sizeof(event));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n != (ssize_t)sizeof(event)) {
		unwatch(w, EVENTS);
		return;
	}
	out->last = event;
	out->ready |= event.kind == INIT_READY;
	out->executed |= event.kind == INIT_EXECUTED;
	out->ended = event.kind == INIT_EXITED || event.kind == INIT_SIGNALED;
	pass_held(w);
}

static void take_words(struct watch *w)
{
	struct course *out = w->out;
	char spare[512];
	size_t room = RUNNER_WORDS - out->words_len;
	ssize_t n = read(w->runner->words, room ? out->words + out->words_len : spare,
		room ? room : sizeof(spare));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		unwatch(w, WORDS);
	else if (room)
		out->words_len += (size_t)n;
}

/* The parent of a process, 0 if it is gone (proc_pid_stat(5): the name in
 * parentheses may hold anything). */
static pid_t parent_of(pid_t pid)
{
	char path[64], stat[512];
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	stat[n] = '\0';
	const char *end = strrchr(stat, ')');
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* A number is only taken with something behind it: the document comes in pieces. */
static pid_t parse_child(const char *document)
{
	static const char key[] = "\"child-pid\":";
	const char *at = strstr(document, key);
	char *end;

	if (!at)
		return 0;
	long pid = strtol(at + sizeof(key) - 1, &end, 10);
	return *end && pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* The first process is held by descriptor, and it is the one that is meant: as long
 * as it is a child of bwrap its number belongs to nobody else. */
static void hold_first(struct watch *w, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return;
	if (parent_of(pid) != w->runner->pid) {
		close(fd);
		return;
	}
	w->first = fd;
	w->polled[FIRST] = (struct pollfd){.fd = fd, .events = POLLIN};
	pass_held(w);
}

static void take_document(struct watch *w)
{
	size_t room = DOCUMENT_BYTES - w->document_len;
	char spare[DOCUMENT_BYTES];
	ssize_t n = read(w->runner->document,
		room ? w->document + w->document_len : spare,
		room ? room : sizeof(spare));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		unwatch(w, DOCUMENT);
		return;
	}
	if (!room)
		return;
	w->document_len += (size_t)n;
	w->document[w->document_len] = '\0';
	pid_t pid = w->first < 0 ? parse_child(w->document) : 0;
	if (pid)
		hold_first(w, pid);
}

static void take_end(struct watch *w)
{
	w->out->status_known = spawn_wait(w->runner->pidfd, &w->out->status);
	unwatch(w, RUNNER);
	/* Without its monitor a sandbox is already being killed by the kernel (bwrap's
	 * --die-with-parent); no reason to depend on that. */
	if (w->first >= 0)
		send_by(w->first, SIGKILL);
}

static void take_output(struct watch *w)
{
	if (!capture_read(w->how->captures[0]))
		unwatch(w, OUTPUT);
}

static void take_errors(struct watch *w)
{
	if (!capture_read(w->how->captures[1]))
		unwatch(w, ERRORS);
}

/* ---- the loop ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_over(const struct watch *w)
{
	return w->polled[EVENTS].fd < 0 && w->polled[RUNNER].fd < 0 &&
	       w->polled[FIRST].fd < 0;
}

/* What is said but not yet read when everything is over. */
static void drain_words(struct watch *w)
{
	while (w->polled[WORDS].fd >= 0 && poll(&w->polled[WORDS], 1, 0) > 0)
		take_words(w);
}

void supervise(struct runner *runner, const struct supervision *how, struct course *out)
{
	struct watch w = {.runner = runner, .how = how, .out = out, .first = -1};
	const int fds[WATCHED_COUNT] = {runner->events, runner->pidfd, -1,
		runner->document, runner->words, how->signals,
		how->captures[0] ? how->captures[0]->read : -1,
		how->captures[1] ? how->captures[1]->read : -1};
	static void (*const takers[])(struct watch *) = {
		[EVENTS] = take_events,
		[RUNNER] = take_end,
		[DOCUMENT] = take_document,
		[WORDS] = take_words,
		[SIGNALS] = take_signals,
		[OUTPUT] = take_output,
		[ERRORS] = take_errors,
	};
	int64_t deadline = how->timeout_ms ? now_ms() + how->timeout_ms : 0;
	bool asked = how->grace_ms == 0; /* to end by itself */

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < WATCHED_COUNT; i++)
		w.polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	while (!is_over(&w)) {
		int64_t left = deadline ? deadline - now_ms() : -1;
		if (deadline && left <= 0) {
			out->timed_out = true;
			deadline = asked ? 0 : now_ms() + how->grace_ms;
			if (asked)
				kill_all(&w);
			else
				ask_to_end(&w);
			asked = true;
			continue;
		}
		if (poll(w.polled, WATCHED_COUNT, (int)left) < 0)
			continue;
		/* The document before the end of bwrap: after it nobody can tell whose
		 * child a process was. */
		static const enum watched order[] = {
			DOCUMENT, EVENTS, WORDS, SIGNALS, OUTPUT, ERRORS, RUNNER};
		for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
			if (w.polled[order[i]].revents)
				takers[order[i]](&w);
		if (w.polled[FIRST].revents)
			unwatch(&w, FIRST);
	}
	drain_words(&w);
	out->words[out->words_len] = '\0';
	if (w.first >= 0)
		close(w.first);
}
