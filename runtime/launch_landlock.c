/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch under Landlock, and one under nothing at all. No launcher: the rulesets
 * are made here, where failures have names, and the command's child only has to
 * enter them (keeper.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/keeper.h"
#include "runtime/landlock_uapi.h"
#include "runtime/run_parts.h"
#include "runtime/spawn.h"
#include "runtime/walk.h"

static enum cause failed(struct work *work, enum cause cause, int error, const char *what,
	const char **detail)
{
	*detail = arena_printf(&work->session->arena, "%s: %s", what,
		walk_strerror(&work->session->arena, error));
	return cause;
}

/* ---- rulesets ---------------------------------------------------------------------- */

/* A grant stands on the object that the plan was made for. Device nodes are in no
 * plan: there it must be a device, and one that is missing gives nothing. */
static enum cause allow(struct work *work, int ruleset, const struct grant *grant,
	uint64_t handled, const char **detail)
{
	bool planned = grant->dev || grant->ino;
	struct stat st;
	enum cause cause = CAUSE_NONE;
	int fd = walk_open(AT_FDCWD, grant->path, O_PATH, RESOLVE_NO_SYMLINKS);

	if (fd < 0 && !planned)
		return CAUSE_NONE;
	if (fd < 0)
		return failed(work, CAUSE_CHANGED, -fd, grant->path, detail);
	if (fstat(fd, &st) < 0) {
		cause = failed(work, CAUSE_BROKEN, errno, grant->path, detail);
	} else if (planned && (st.st_dev != grant->dev || st.st_ino != grant->ino)) {
		*detail = grant->path;
		cause = CAUSE_CHANGED;
	} else if (planned || S_ISCHR(st.st_mode) || S_ISDIR(st.st_mode)) {
		int error = landlock_allow(
			ruleset, fd, grant->write ? UINT64_MAX : LANDLOCK_READ, handled);
		if (error < 0)
			cause = failed(work, CAUSE_BROKEN, -error, grant->path, detail);
	}
	close(fd);
	return cause;
}

/* The ruleset of the plan; -1 and a cause on failure. */
static int make_ruleset(struct work *work, const struct fidelity *fidelity, int abi,
	enum cause *cause, const char **detail)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = landlock_handled_fs(abi),
		.handled_access_net = work->plan->network == NETWORK_NONE
					      ? landlock_known(abi, abi).net
					      : 0,
		.scoped = landlock_known(abi, LANDLOCK_SCOPE_ABI).scoped,
	};
	struct grant *grants;
	int ruleset = landlock_create(&attr);

	if (ruleset < 0) {
		*cause = failed(work, cause_of_landlock(-ruleset), -ruleset,
			"no ruleset can be made", detail);
		return -1;
	}
	size_t count = landlock_grants(
		work->plan, fidelity, &work->session->arena, &grants);
	for (size_t i = 0; i < count; i++) {
		*cause = allow(work, ruleset, &grants[i], attr.handled_access_fs, detail);
		if (*cause == CAUSE_NONE)
			continue;
		close(ruleset);
		return -1;
	}
	return ruleset;
}

/*
 * The keeper's own domain: signals, and nothing else. A layer that handles no right
 * of files at all refuses renames between directories on some kernels (Linux before
 * 6.13, landlock_get_fs_access_mask), so REFER is handled and given everywhere.
 */
static int make_scope(int abi)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_REFER,
		.scoped = LANDLOCK_SCOPE_SIGNAL,
	};

	if (abi < LANDLOCK_SCOPE_ABI)
		return -ENOSYS;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	int ruleset = landlock_create(&attr);
	int error = ruleset < 0 ? ruleset
				: landlock_allow(ruleset, root, LANDLOCK_ACCESS_FS_REFER,
					  LANDLOCK_ACCESS_FS_REFER);
	close(root);
	if (error < 0 && ruleset >= 0)
		close(ruleset);
	return error < 0 ? error : ruleset;
}

/* ---- the launch ---------------------------------------------------------------------- */

static char **make_shell_argv(struct arena *arena, const char *const *argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	char **shell = arena_array(arena, count + 2, sizeof(*shell));
	shell[0] = (char *)"/bin/sh";
	for (size_t i = 1; i < count; i++)
		shell[i + 1] = (char *)argv[i];
	return shell;
}

static void equip(struct work *work, struct keeper *keeper)
{
	const struct run_request *request = work->request;
	struct arena *arena = &work->session->arena;
	/* Aligned for any stack. */
	char *stack = arena_alloc(arena, SPAWN_STACK + 16);

	keeper->stack = stack + (-(uintptr_t)stack & 15);
	keeper->candidates = work->candidates;
	keeper->argv = (char **)request->argv;
	keeper->shell = make_shell_argv(arena, request->argv);
	keeper->environment = (char **)request->environment;
	keeper->directory = request->directory;
	keeper->tty = request->tty;
	keeper->input = work->input;
	keeper->output = request->output;
	keeper->error = request->error;
}

/* keeper->ruleset and scope stay the caller's. */
static enum cause run_keeper(struct work *work, struct keeper *keeper,
	struct course *course, const char **detail)
{
	struct runner runner = RUNNER_INIT;
	int control[2] = {-1, -1}, events[2] = {-1, -1};
	enum cause cause = CAUSE_NONE;
	pid_t pid = -1;

	equip(work, keeper);
	int error = spawn_pipe(control);
	if (!error)
		error = spawn_pipe(events);
	keeper->control = control[0];
	keeper->events = events[1];
	if (!error) {
		pid = spawn_copy(keeper_main, keeper, &runner.pidfd);
		error = pid < 0 ? pid : 0;
	}
	if (error)
		cause = failed(
			work, CAUSE_BROKEN, -error, "no process can be made", detail);
	if (control[0] >= 0)
		close(control[0]);
	if (events[1] >= 0)
		close(events[1]);
	runner.pid = pid;
	runner.control = control[1];
	runner.events = events[0];
	if (pid < 0)
		runner.pidfd = -1;
	else
		supervise(&runner, &work->request->supervision, course);
	runner_release(&runner);
	return cause;
}

enum cause launch_landlock(struct work *work, struct fidelity *fidelity,
	struct course *course, const char **detail)
{
	const struct launch launch = {.tty = work->request->tty};
	struct keeper keeper = {.ruleset = -1, .scope = -1};
	enum cause cause = CAUSE_NONE;

	if (work->plan) {
		int abi = landlock_abi();
		if (abi < 1)
			return cause_of_landlock(-abi);
		backend_landlock.check(
			work->plan, &launch, &work->session->arena, fidelity);
		keeper.abi = abi;
		keeper.ruleset = make_ruleset(work, fidelity, abi, &cause, detail);
		if (keeper.ruleset < 0)
			return cause;
		keeper.scope = make_scope(abi);
	}
	if (keeper.scope < 0 && !keeper_can_list())
		cause = CAUSE_KERNEL_OLD;
	else
		cause = run_keeper(work, &keeper, course, detail);
	if (keeper.scope >= 0)
		close(keeper.scope);
	if (keeper.ruleset >= 0)
		close(keeper.ruleset);
	return cause;
}

/* ---- the probe ------------------------------------------------------------------------ */

struct trial {
	int ruleset, directory;
	int error; /* of the open that must be refused; 0: it was not */
	int step; /* of a call before that */
};

static int try_write(void *arg)
{
	struct trial *trial = arg;

	trial->step = landlock_no_new_privs();
	if (trial->step == 0)
		trial->step = landlock_restrict(trial->ruleset);
	if (trial->step < 0)
		return 1;
	int fd = openat(trial->directory, "refused", O_CREAT | O_EXCL | O_WRONLY, 0600);
	trial->error = fd < 0 ? errno : 0;
	return 0;
}

/* In a directory of our own, which the plan says nothing of: what is asked is whether
 * restriction works here, not whether the call exists. */
enum cause probe_landlock(struct work *work, const char **detail)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = landlock_handled_fs(1)};
	struct trial trial = {.ruleset = -1, .directory = -1};
	char path[] = "/tmp/cordon-probe-XXXXXX";
	enum cause cause = CAUSE_BROKEN;
	char *stack = arena_alloc(&work->session->arena, SPAWN_STACK + 16);
	int pidfd = -1, status, abi = landlock_abi();

	if (abi < 1)
		return cause_of_landlock(-abi);
	trial.ruleset = landlock_create(&attr);
	if (trial.ruleset < 0)
		return failed(work, cause_of_landlock(-trial.ruleset), -trial.ruleset,
			"no ruleset can be made", detail);
	if (!mkdtemp(path)) {
		failed(work, CAUSE_BROKEN, errno, "no directory to try in", detail);
		goto out;
	}
	trial.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spawn_sharing(try_write, &trial, stack + (-(uintptr_t)stack & 15), &pidfd) >
		0)
		(void)!spawn_wait(pidfd, &status);
	if (trial.step < 0)
		cause = failed(work, cause_of_landlock(-trial.step), -trial.step,
			"a process cannot be restricted", detail);
	else if (trial.error == EACCES)
		cause = CAUSE_NONE;
	else
		*detail = "a write that was not granted was not refused";
	unlinkat(trial.directory, "refused", 0);
	rmdir(path);
out:
	if (pidfd >= 0)
		close(pidfd);
	if (trial.directory >= 0)
		close(trial.directory);
	close(trial.ruleset);
	return cause;
}
