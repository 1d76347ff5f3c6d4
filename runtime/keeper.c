/* SPDX-License-Identifier: Apache-2.0
 *
 * Two processes: the keeper, a copy of cordon that never returns, and the command's
 * child, which shares the keeper's memory until it is the command. So what became of
 * the exec can be read in a variable: `going` set and nothing after it is the exec
 * itself. Only async-signal-safe calls (signal-safety(7)).
 */
#include "runtime/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/init.h"
#include "runtime/landlock_uapi.h"
#include "runtime/spawn.h"

#define CHILDREN "/proc/thread-self/children" /* proc(5), CONFIG_PROC_CHILDREN */

/* An unconfined command may have started what we may not kill (sudo): then somebody
 * has to stop waiting. */
#define PATIENCE_MS 2000

/* Of a walk through the tree; what is deeper comes up as the upper ones die. */
#define DEPTH_MAX 200

/* Reaped in one go: others may come as fast as they go. */
#define REAPED_MAX 1000

struct state {
	const struct keeper *keeper;
	bool scoped; /* kill -1 reaches the tree and nothing else: tried */
	pid_t command;
	int status;
	bool ended;
	int signals; /* signalfd: SIGCHLD */
	/* Written by the child. */
	volatile bool going;
	volatile int step, error;
};

bool keeper_can_list(void)
{
	return access(CHILDREN, R_OK) == 0;
}

static bool report(const struct keeper *keeper, const struct init_event *event)
{
	ssize_t n;

	do
		n = write(keeper->events, event, sizeof(*event));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*event);
}

_Noreturn static void fail(const struct keeper *keeper, uint32_t step, int error)
{
	struct init_event event = {.kind = INIT_FAILED, .value = error, .record = step};

	report(keeper, &event);
	_exit(125);
}

/* ---- the command's child ---------------------------------------------------------- */

/* As execvp(3): where the search goes on. */
static bool looks_absent(int error)
{
	return error == EACCES || error == ENOENT || error == ENOTDIR ||
	       error == ESTALE || error == ENODEV || error == ETIMEDOUT;
}

static int execute(const struct keeper *keeper)
{
	int seen = ENOENT;

	for (const char *const *path = keeper->candidates; *path; path++) {
		execve(*path, keeper->argv, keeper->environment);
		if (errno == ENOEXEC) {
			keeper->shell[1] = (char *)*path;
			execve(keeper->shell[0], keeper->shell, keeper->environment);
			return ENOEXEC;
		}
		if (!looks_absent(errno))
			return errno;
		if (errno == EACCES)
			seen = EACCES;
	}
	return seen;
}

/* SIGTTOU is blocked: a process in the background may do this. */
static void take_terminal(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, getpgrp()) == 0)
			return;
}

static int become_command(void *arg)
{
	struct state *state = arg;
	const struct keeper *keeper = state->keeper;
	int error = 0;

	/* Should the keeper be killed: the command at least goes with it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
		(keeper->tty ? setpgid(0, 0) : setsid()) < 0)
		error = errno;
	if (keeper->tty)
		take_terminal();
	if (!error && keeper->directory && chdir(keeper->directory) < 0)
		error = errno;
	state->step = INIT_STEP_FORK;
	if (!error && keeper->ruleset >= 0) {
		state->step = INIT_STEP_LOCK;
		error = -landlock_no_new_privs();
		if (!error)
			error = -landlock_restrict(keeper->ruleset);
	}
	if (error) {
		state->error = error;
		return 125;
	}
	spawn_reset();
	state->going = true;
	error = execute(keeper);
	state->going = false;
	state->step = 0;
	state->error = error;
	return 125;
}

static void start(struct state *state)
{
	const struct keeper *keeper = state->keeper;
	struct init_event event = {.kind = INIT_EXECUTED};
	int pidfd = -1;

	state->step = INIT_STEP_FORK;
	state->error = EINTR;
	state->command = spawn_sharing(become_command, state, keeper->stack, &pidfd);
	if (state->command < 0)
		fail(keeper, INIT_STEP_FORK, -state->command);
	close(pidfd);
	if (state->going)
		return;
	/* An exec that failed, or a step before it. */
	waitpid(state->command, NULL, __WALL);
	if (state->step)
		fail(keeper, (uint32_t)state->step, state->error);
	event.kind = INIT_EXEC_FAILED;
	event.value = state->error;
	report(keeper, &event);
	_exit(125);
}

/* ---- the end of the tree ------------------------------------------------------------ */

/* A group is killed as a whole, so that its members cannot fork away; but only where
 * every group is the tree's own (in a session that it shares, it may have joined
 * another one). */
static void kill_one(const struct state *state, pid_t pid)
{
	pid_t group = state->keeper->tty ? -1 : getpgid(pid);

	if (group > 1 && group != getpgrp())
		kill(-group, SIGKILL);
	kill(pid, SIGKILL);
}

/* "/proc/PID/task/PID/children"; pid 0: our own. */
static void name_children(char *out, pid_t pid)
{
	char digits[16];
	size_t n = 0;

	if (pid == 0) {
		strcpy(out, CHILDREN);
		return;
	}
	for (pid_t rest = pid; rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	strcpy(out, "/proc/");
	for (int twice = 0; twice < 2; twice++) {
		out += strlen(out);
		for (size_t i = n; i-- > 0;)
			*out++ = digits[i];
		strcpy(out, twice ? "/children" : "/task/");
	}
}

/*
 * All that is below a process. Each is killed before its children are looked up: from
 * then on it cannot fork. Children that come loose meanwhile, and those of other
 * threads, are ours in the next round.
 */
static void kill_below(const struct state *state, pid_t parent, int depth)
{
	char text[512], path[64];
	pid_t pid = 0;
	ssize_t n;

	name_children(path, parent);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((n = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
			} else if (pid) {
				kill_one(state, pid);
				if (depth < DEPTH_MAX)
					kill_below(state, pid, depth + 1);
				pid = 0;
			}
		}
	}
	close(fd);
}

static void reap(struct state *state)
{
	int status;
	pid_t pid;

	for (int i = 0; i < REAPED_MAX; i++) {
		pid = waitpid(-1, &status, WNOHANG | __WALL);
		if (pid <= 0)
			return;
		if (pid != state->command)
			continue;
		state->ended = true;
		state->status = status;
	}
}

static bool is_alone(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
	       errno == ECHILD;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void drop_notices(const struct state *state)
{
	struct signalfd_siginfo info;

	while (read(state->signals, &info, sizeof(info)) > 0)
		;
}

static void end_tree(struct state *state)
{
	struct pollfd polled = {.fd = state->signals, .events = POLLIN};
	int64_t until = now_ms() + PATIENCE_MS;

	reap(state);
	while (!is_alone()) {
		if (state->scoped)
			kill(-1, SIGKILL);
		else
			kill_below(state, 0, 0);
		reap(state);
		if (is_alone())
			return;
		if (state->keeper->ruleset < 0 && now_ms() > until)
			return;
		poll(&polled, 1, 10);
		drop_notices(state);
		reap(state);
	}
}

static uint64_t microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

_Noreturn static void report_end(struct state *state)
{
	bool signaled = WIFSIGNALED(state->status);
	struct init_event event = {
		.kind = signaled ? INIT_SIGNALED : INIT_EXITED,
		.value = signaled ? WTERMSIG(state->status) : WEXITSTATUS(state->status),
	};
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
		event.utime_us = microseconds(usage.ru_utime);
		event.stime_us = microseconds(usage.ru_stime);
		event.maxrss_kib = (uint64_t)usage.ru_maxrss;
	}
	report(state->keeper, &event);
	_exit(0);
}

/* ---- the keeper ---------------------------------------------------------------------- */

/* The command's group, if it has moved to another one, else the one it began with;
 * it is not reaped before its end is known, so the number is its own. */
static void pass_on(const struct state *state, int sig)
{
	pid_t group = getpgid(state->command);

	if (state->ended)
		return;
	if (group > 1 && group != getpgrp())
		kill(-group, sig);
	else
		kill(state->command, sig);
}

/* False when cordon has gone or wants an end. */
static bool take_orders(const struct state *state)
{
	unsigned char signals[16];
	ssize_t n = read(state->keeper->control, signals, sizeof(signals));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t i = 0; i < n; i++)
		pass_on(state, signals[i]);
	return n > 0;
}

/* Our own domain. The proof that kill -1 stays inside is that cordon, a process of
 * the same user, is out of reach. */
static int enter_scope(struct state *state)
{
	const struct keeper *keeper = state->keeper;

	if (keeper->scope < 0)
		return 0;
	int error = -landlock_no_new_privs();
	if (!error)
		error = -landlock_restrict(keeper->scope);
	if (error)
		return error;
	state->scoped = kill(getppid(), 0) < 0 && errno == EPERM;
	return 0;
}

static int prepare(struct state *state)
{
	const struct keeper *keeper = state->keeper;
	const int kept[] = {
		keeper->control, keeper->events, keeper->ruleset, keeper->scope};
	sigset_t child;

	if ((keeper->input >= 0 && dup2(keeper->input, STDIN_FILENO) < 0) ||
		(keeper->output >= 0 && dup2(keeper->output, STDOUT_FILENO) < 0) ||
		(keeper->error >= 0 && dup2(keeper->error, STDERR_FILENO) < 0))
		return errno;
	int error = spawn_keep(kept, sizeof(kept) / sizeof(kept[0]));

	/* No signal of a terminal comes here. */
	if (!error && (keeper->tty ? setpgid(0, 0) : setsid()) < 0)
		error = -errno;
	if (!error && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		error = -errno;
	if (error)
		return -error;
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &standard, NULL); /* ignored: nothing to reap */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	state->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return state->signals < 0 ? errno : 0;
}

static void supervise_command(struct state *state)
{
	struct pollfd polled[] = {{.fd = state->keeper->control, .events = POLLIN},
		{.fd = state->signals, .events = POLLIN}};

	for (;;) {
		reap(state);
		if (state->ended)
			return;
		poll(polled, 2, -1);
		if (polled[1].revents)
			drop_notices(state);
		if (polled[0].revents && !take_orders(state))
			return;
	}
}

void keeper_main(void *arg)
{
	const struct keeper *keeper = arg;
	struct state state = {.keeper = keeper};
	struct init_event event = {.kind = INIT_READY, .value = keeper->abi};

	int error = prepare(&state);
	if (error)
		fail(keeper, INIT_STEP_FORK, error);
	error = enter_scope(&state);
	if (error)
		fail(keeper, INIT_STEP_LOCK, error);
	if (!report(keeper, &event))
		_exit(125); /* nobody would answer for the command */
	start(&state);
	event = (struct init_event){.kind = INIT_EXECUTED};
	bool answered = report(keeper, &event);
	/* A reader at the other end of a pipe waits for the command, not for us. */
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	if (answered)
		supervise_command(&state);
	end_tree(&state);
	report_end(&state);
}
