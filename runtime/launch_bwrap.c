/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch through bubblewrap. Nothing of the command reaches bwrap's own process:
 * it is started by absolute path with an empty environment, profile and environment
 * of the command travel in a memfd (--args), and its own words go to a pipe, so that
 * the command's stderr is the real one (`stderr` of init.h).
 *
 *     bwrap --args A --json-status-fd D -- /dev/cordon-init CONFIG STATUS -- ARGV...
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/run_parts.h"
#include "runtime/spawn.h"
#include "runtime/trust.h"

#define HELPER_INSIDE "/dev/cordon-init"

/* The descriptors that bwrap gets, by their numbers here. */
enum passed { ARGS, CONFIG, STATUS, DOCUMENT, STDERR, PASSED_COUNT };

struct start {
	const char *path;
	char **argv;
	int passed[PASSED_COUNT];
	int words;
	int input, output; /* -1: ours */
	pid_t parent;
	bool tty;
	bool isolate;
	char maps[2][32]; /* uid_map and gid_map: the caller, as the caller */
	int error; /* set by the child */
	bool not_isolated; /* likewise: that was what failed */
};

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = (ssize_t)strlen(text);
	bool ok = fd >= 0 && write(fd, text, (size_t)len) == len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A mount namespace that hears no more of the host's: bwrap's own is a slave of its
 * parent, and what the host mounted later below a carve-out would appear in there,
 * writable (mount_namespaces(7), user_namespaces(7)). */
static bool isolate(const struct start *start)
{
	if (unshare(CLONE_NEWNS) < 0 &&
		(unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
			!write_file("/proc/self/setgroups", "deny") ||
			!write_file("/proc/self/uid_map", start->maps[0]) ||
			!write_file("/proc/self/gid_map", start->maps[1])))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* In the child, which shares our memory. */
static int become_bwrap(void *arg)
{
	static char *const nothing[] = {NULL};
	struct start *start = arg;

	if (start->isolate && !isolate(start)) {
		start->not_isolated = true;
		return 125;
	}
	/* bwrap asks for the same a little later (--die-with-parent). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != start->parent)
		return 125;
	if (!start->tty)
		setpgid(0, 0);
	if (start->input >= 0 && dup2(start->input, STDIN_FILENO) < 0)
		start->error = errno;
	if (start->output >= 0 && dup2(start->output, STDOUT_FILENO) < 0)
		start->error = errno;
	if (!start->error)
		start->error = -spawn_seal();
	for (size_t i = 0; !start->error && i < PASSED_COUNT; i++)
		if (start->passed[i] >= 0 && fcntl(start->passed[i], F_SETFD, 0) < 0)
			start->error = errno;
	if (!start->error && dup2(start->words, STDERR_FILENO) < 0)
		start->error = errno;
	if (start->error)
		return 125;
	spawn_reset();
	execve(start->path, start->argv, nothing);
	start->error = errno;
	return 125;
}

/* bwrap's argv; numbers are cut into fields of the arena. */
static char **make_argv(struct arena *arena, const struct work *work, const int *passed)
{
	const char *const fixed[] = {"bwrap", "--args",
		arena_printf(arena, "%d", passed[ARGS]), "--json-status-fd",
		arena_printf(arena, "%d", passed[DOCUMENT]), "--", HELPER_INSIDE,
		arena_printf(arena, "%d", passed[CONFIG]),
		arena_printf(arena, "%d", passed[STATUS]), "--"};
	const size_t count = sizeof(fixed) / sizeof(fixed[0]);
	const char *const *argv = work->request->argv;
	size_t operands = 0;

	while (!work->check && argv[operands])
		operands++;
	char **out = arena_array(arena, count + operands + 1, sizeof(*out));
	memcpy(out, fixed, sizeof(fixed));
	if (operands)
		memcpy(out + count, argv, operands * sizeof(*argv));
	return out;
}

static enum cause failed(
	struct work *work, int error, const char *what, const char **detail)
{
	*detail = arena_printf(&work->session->arena, "%s: %s", what, strerror(error));
	return CAUSE_BROKEN;
}

/* Config and profile as files without names. 0 or -errno. */
static int make_files(struct work *work, const struct launch *launch,
	const struct fidelity *fidelity, const struct buf *profile, int *passed)
{
	struct buf config = BUF_INIT;
	char number[16];

	snprintf(number, sizeof(number), "%d", passed[STDERR]);
	bwrap_init_config(work->plan, launch, fidelity, &config);
	buf_field(&config, "stderr");
	buf_field(&config, number);
	if (work->check)
		buf_field(&config, "check");
	passed[CONFIG] = spawn_memory("cordon-config", config.data, config.len);
	passed[ARGS] = spawn_memory("cordon-profile", profile->data, profile->len);
	buf_release(&config);
	return passed[CONFIG] < 0 ? passed[CONFIG] : passed[ARGS] < 0 ? passed[ARGS] : 0;
}

static enum cause start_bwrap(struct work *work, struct start *start,
	struct runner *runner, const char **detail)
{
	struct arena *arena = &work->session->arena;
	/* Aligned for any stack. */
	char *stack = arena_alloc(arena, SPAWN_STACK + 16);

	stack += -(uintptr_t)stack & 15;
	start->path = work->request->programs->bwrap;
	start->parent = getpid();
	snprintf(start->maps[0], sizeof(start->maps[0]), "%u %u 1", geteuid(), geteuid());
	snprintf(start->maps[1], sizeof(start->maps[1]), "%u %u 1", getegid(), getegid());
	start->tty = work->request->tty;
	pid_t pid = spawn_sharing(become_bwrap, start, stack, &runner->pidfd);
	if (pid < 0) {
		runner->pidfd = -1;
		return failed(work, -pid, "no process can be made", detail);
	}
	runner->pid = pid;
	if (!start->error && !start->not_isolated)
		return CAUSE_NONE;
	int status;
	(void)!spawn_wait(runner->pidfd, &status);
	if (start->not_isolated)
		return CAUSE_NOT_ISOLATED;
	return failed(work, start->error,
		arena_printf(arena, "`%s` cannot be started", start->path), detail);
}

static enum cause run_bwrap(struct work *work, const struct launch *launch,
	const struct fidelity *fidelity, const struct buf *profile, struct course *course,
	const char **detail)
{
	struct start start = {.passed = {-1, -1, -1, -1, -1}, .words = -1};
	struct runner runner = RUNNER_INIT;
	int status[2] = {-1, -1}, document[2] = {-1, -1}, words[2] = {-1, -1};
	enum cause cause;

	int error = spawn_pipe(status);
	if (!error)
		error = spawn_pipe(document);
	if (!error)
		error = spawn_pipe(words);
	runner.events = status[0];
	runner.document = document[0];
	runner.words = words[0];
	start.passed[STATUS] = status[1];
	start.passed[DOCUMENT] = document[1];
	start.words = words[1];
	start.isolate = launch->isolated;
	start.input = work->input;
	start.output = work->request->output;
	start.passed[STDERR] = fcntl(
		work->request->error >= 0 ? work->request->error : STDERR_FILENO,
		F_DUPFD_CLOEXEC, 3);
	if (!error && start.passed[STDERR] < 0)
		error = -errno;
	if (!error)
		error = make_files(work, launch, fidelity, profile, start.passed);
	start.argv = make_argv(&work->session->arena, work, start.passed);
	cause = error ? failed(work, -error, "no descriptor can be made", detail)
		      : start_bwrap(work, &start, &runner, detail);

	/* Our copies of what bwrap writes to: with them no reader would see an end. */
	for (size_t i = 0; i < PASSED_COUNT; i++)
		if (start.passed[i] >= 0)
			close(start.passed[i]);
	if (start.words >= 0)
		close(start.words);
	if (cause == CAUSE_NONE)
		supervise(&runner, &work->request->supervision, course);
	runner_release(&runner);
	return cause;
}

static enum cause find_programs(struct work *work, const char **detail)
{
	const struct programs *programs = work->request->programs;
	const char *wrong;

	if (!programs->bwrap)
		return CAUSE_MISSING;
	if (!programs->helper)
		return CAUSE_NO_HELPER;
	wrong = trust_check_program(&work->session->arena, programs->bwrap);
	if (!wrong)
		wrong = trust_check_program(&work->session->arena, programs->helper);
	if (!wrong)
		return CAUSE_NONE;
	*detail = wrong;
	return CAUSE_UNTRUSTED;
}

/* With a profile that needs nothing of the plan. cordon-init then ends at once, for
 * want of its operands, with 125. */
bool bwrap_works(struct work *work)
{
	const struct programs *programs = work->request->programs;
	static const char *const profile[] = {"bwrap", "--unshare-user", "--unshare-ipc",
		"--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc",
		"/proc", "--dev", "/dev", "--"};
	const size_t count = sizeof(profile) / sizeof(profile[0]);
	const char *argv[sizeof(profile) / sizeof(profile[0]) + 2];
	struct start start = {.passed = {-1, -1, -1, -1, -1},
		.input = -1,
		.output = -1,
		.words = open("/dev/null", O_WRONLY | O_CLOEXEC),
		.argv = (char **)argv};
	struct runner runner = RUNNER_INIT;
	const char *detail;
	int status = 0;

	memcpy(argv, profile, sizeof(profile));
	argv[count] = programs->helper;
	argv[count + 1] = NULL;
	if (start.words >= 0 && start_bwrap(work, &start, &runner, &detail) == CAUSE_NONE)
		spawn_wait(runner.pidfd, &status);
	if (start.words >= 0)
		close(start.words);
	runner_release(&runner);
	return WIFEXITED(status) && WEXITSTATUS(status) == 125;
}

/* bwrap counts the words of the command, too (bubblewrap.c, parse_args). */
static bool is_too_long(const struct work *work, const struct buf *profile)
{
	size_t count = 16;

	for (size_t i = 0; i < profile->len; i++)
		count += profile->data[i] == '\0';
	for (const char *const *word = work->request->argv; *word; word++)
		count++;
	return count > BWRAP_ARGUMENTS_MAX;
}

enum cause launch_bwrap(struct work *work, struct fidelity *fidelity,
	struct course *course, const char **detail)
{
	struct session *session = work->session;
	const struct run_request *request = work->request;
	struct launch launch = {
		.helper = request->programs->helper,
		.directory = request->directory,
		.environment = request->environment,
		.tty = request->tty,
		.isolated = true,
	};
	struct buf profile = BUF_INIT;
	enum cause cause = find_programs(work, detail);

	if (cause != CAUSE_NONE)
		return cause;
	backend_bwrap.check(work->plan, &launch, &session->arena, fidelity);
	if (!backend_bwrap.emit(work->plan, &launch, fidelity, &session->arena, &profile,
		    &session->diags))
		cause = CAUSE_SIZE;
	else if (is_too_long(work, &profile))
		cause = CAUSE_LONG;
	else
		cause = run_bwrap(work, &launch, fidelity, &profile, course, detail);
	if (cause == CAUSE_NOT_ISOLATED) {
		/* bwrap may have a right that we have not (AppArmor gives it by name). */
		launch.isolated = false;
		backend_bwrap.check(work->plan, &launch, &session->arena, fidelity);
		cause = run_admit(session, work->plan, fidelity, detail);
		if (cause == CAUSE_NONE)
			cause = run_bwrap(
				work, &launch, fidelity, &profile, course, detail);
	}
	buf_release(&profile);
	return cause;
}
