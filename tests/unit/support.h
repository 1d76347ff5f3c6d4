/* SPDX-License-Identifier: Apache-2.0
 *
 * What the unit tests share: run a program and keep what it said, a place that
 * vanishes, a user without rights, and skipping with a reason.
 *
 * The one idea: a test that is about the kernel needs the real one, so it runs
 * real programs in forked children. As root everything happens in a mount
 * namespace of its own with an empty /tmp: whatever goes wrong, the host keeps
 * nothing of it.
 */
#ifndef CORDON_TEST_SUPPORT_H
#define CORDON_TEST_SUPPORT_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/close_range.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A uid that need not be in any data base. */
#define TEST_UID 1500

/* Leave the test. With CORDON_MUST_WORK=1 (CI) a skip is a failure. */
#define test_skip(reason)                                                                \
	do {                                                                             \
		const char *must_ = getenv("CORDON_MUST_WORK");                          \
		printf("# skip: %s\n", reason);                                          \
		fflush(stdout);                                                          \
		if (must_ && !strcmp(must_, "1"))                                        \
			fail_msg("skipped although CORDON_MUST_WORK=1: %s", reason);     \
		skip();                                                                  \
	} while (0)

static inline const char *build_dir(void)
{
	const char *dir = getenv("B");

	return dir && *dir ? dir : "build";
}

/* --- places -------------------------------------------------------------- */

/* Formatted text that stays valid for the rest of the test program: chained,
 * so that a leak checker sees whose it is. */
__attribute__((format(printf, 1, 2))) static inline char *text(const char *format, ...)
{
	static struct kept {
		struct kept *before;
		char made[];
	} * last;
	struct kept *kept;
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	kept = n < 0 ? NULL : malloc(sizeof *kept + (size_t)n + 1);
	if (!kept)
		abort();
	vsnprintf(kept->made, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	kept->before = last;
	last = kept;
	return kept->made;
}

/* For root: a mount namespace in which nothing reaches the host and /tmp is
 * empty. Returns whether that is so. Copy what you need of /tmp before. */
static inline bool enter_throwaway(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return false;
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") < 0) {
		perror("throw-away mount namespace");
		exit(1);
	}
	return true;
}

static inline char *make_temp_dir(void)
{
	char *dir = text("/tmp/cordon-test-XXXXXX");

	if (!mkdtemp(dir) || chmod(dir, 0755) < 0) {
		perror(dir);
		exit(1);
	}
	return dir;
}

static inline int remove_one(
	const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void remove_tree(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static inline void write_file(const char *path, const char *content, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, content, strlen(content)) != (ssize_t)strlen(content) ||
		fchmod(fd, mode) < 0) {
		perror(path);
		abort();
	}
	close(fd);
}

static inline void copy_file(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	char buf[65536];
	ssize_t n;

	if (in < 0 || out < 0) {
		perror(in < 0 ? from : to);
		exit(1);
	}
	while ((n = read(in, buf, sizeof buf)) > 0)
		if (write(out, buf, (size_t)n) != n)
			abort();
	close(in);
	close(out);
}

/* --- programs ------------------------------------------------------------ */

/* How the child differs from us. All zero: not at all. */
struct manner {
	uid_t uid; /* 0: as we are */
	const char *cwd; /* NULL: as we are */
	char **env; /* NULL: ours */
	int in, out, err; /* descriptors for 0, 1, 2; 0: /dev/null, captured */
	void (*prepare)(void *); /* in the child, before exec */
	void *arg;
};

struct outcome {
	int status; /* of waitpid(2) */
	char out[16384];
	char err[16384];
};

static inline int exit_code(const struct outcome *outcome)
{
	return WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status)
					  : 128 + WTERMSIG(outcome->status);
}

static inline void move_fd(int from, int to)
{
	if (from == to)
		fcntl(to, F_SETFD, 0);
	else if (dup2(from, to) < 0)
		_exit(254);
}

/* In a forked child: become argv. */
_Noreturn static inline void become(
	const struct manner *how, int out, int err, const char *const argv[])
{
	signal(SIGPIPE, SIG_DFL);
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); /* what whoever ran us left open */
	move_fd(how->in ? how->in : open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	move_fd(out, 1);
	move_fd(err, 2);
	if (how->prepare)
		how->prepare(how->arg);
	if (how->cwd && chdir(how->cwd) < 0)
		_exit(254);
	if (how->uid && geteuid() == 0 &&
		(setresgid(how->uid, how->uid, how->uid) < 0 ||
			setresuid(how->uid, how->uid, how->uid) < 0))
		_exit(254);
	if (how->env)
		environ = how->env;
	execvp(argv[0], (char *const *)argv);
	_exit(254);
}

static inline void read_back(int fd, char *buf, size_t size)
{
	ssize_t n = pread(fd, buf, size - 1, 0);

	buf[n < 0 ? 0 : n] = 0;
	close(fd);
}

/* Run argv to its end. Output goes through files, so nothing can block. */
static inline void run(
	struct outcome *outcome, const struct manner *how, const char *const argv[])
{
	static const struct manner plain;
	int out = memfd_create("stdout", MFD_CLOEXEC);
	int err = memfd_create("stderr", MFD_CLOEXEC);
	pid_t pid;

	if (!how)
		how = &plain;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become(how, how->out ? how->out : out, how->err ? how->err : err, argv);
	if (pid < 0 || waitpid(pid, &outcome->status, 0) != pid)
		abort();
	read_back(out, outcome->out, sizeof outcome->out);
	read_back(err, outcome->err, sizeof outcome->err);
}

#define RUN(outcome, how, ...) run(outcome, how, (const char *const[]){__VA_ARGS__, NULL})

static inline bool have_program(const char *name)
{
	struct outcome outcome;

	RUN(&outcome, NULL, "sh", "-c", "command -v \"$1\"", "sh", name);
	return outcome.status == 0;
}

static inline size_t count_lines(const char *output)
{
	size_t n = 0;

	for (; *output; output++)
		n += *output == '\n';
	return n;
}

#endif
