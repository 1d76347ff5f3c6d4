/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests that need a real directory, another user or mounts of their own.
 *
 * Tests that change the process (user, mounts, umask) run in a child; there
 * MUST() takes the place of cmocka's assertions, which would jump back into the
 * runner.
 */
#ifndef CORDON_TEST_SCRATCH_H
#define CORDON_TEST_SCRATCH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/arena.h"

#define SCRATCH_OTHER_UID 1500
#define SCRATCH_SKIPPED   77

#define MUST(condition)                                                                  \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__,    \
				#condition, errno);                                      \
			_exit(1);                                                        \
		}                                                                        \
	} while (0)

struct scratch {
	char path[64];
	struct arena arena;
	int descriptors; /* open when the test began */
};

static inline int scratch_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static inline int scratch_setup(void **state)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return -1;
	strcpy(scratch->path, "/tmp/cordon-test-XXXXXX");
	arena_init(&scratch->arena);
	scratch->descriptors = scratch_descriptors();
	*state = scratch;
	return mkdtemp(scratch->path) ? 0 : -1;
}

static inline int scratch_forget(
	const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int scratch_teardown(void **state)
{
	struct scratch *scratch = *state;
	int left = nftw(scratch->path, scratch_forget, 16, FTW_DEPTH | FTW_PHYS);

	if (scratch_descriptors() != scratch->descriptors) {
		fprintf(stderr, "descriptors were left open\n");
		left = -1;
	}
	arena_release(&scratch->arena);
	free(scratch);
	return left;
}

/* A path below the scratch directory; format begins with `/`. */
__attribute__((format(printf, 2, 3))) static inline char *at(
	struct scratch *scratch, const char *format, ...)
{
	char *rest = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&rest, format, ap) < 0)
		abort();
	va_end(ap);
	char *path = arena_printf(&scratch->arena, "%s%s", scratch->path, rest);
	free(rest);
	return path;
}

static inline void make_dir(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0 || chmod(path, mode) < 0)
		fail_msg("mkdir %s: %s", path, strerror(errno));
}

static inline void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		fail_msg("write %s: %s", path, strerror(errno));
	close(fd);
}

static inline void make_link(const char *text, const char *path)
{
	if (symlink(text, path) < 0)
		fail_msg("symlink %s: %s", path, strerror(errno));
}

static inline bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static inline void scratch_skip(const char *reason)
{
	const char *must = getenv("CORDON_MUST_WORK");

	printf("# skip: %s\n", reason);
	fflush(stdout);
	if (must && strcmp(must, "1") == 0)
		fail_msg("skipped where everything must work: %s", reason);
	skip();
}

/* For main: what is tested here cannot run without openat2(2) (an old kernel, or
 * an old valgrind). True: return *status at once. */
static inline bool scratch_cannot_run(int *status)
{
	const char *must = getenv("CORDON_MUST_WORK");

	if (syscall(SYS_openat2, -1, "", NULL, (size_t)0) >= 0 || errno != ENOSYS)
		return false;
	printf("# skip: openat2(2) is not known here\n");
	*status = must && strcmp(must, "1") == 0;
	return true;
}

/* Runs body in a child; 0 is a pass, SCRATCH_SKIPPED a skip for that reason. */
static inline void run_in_child(
	struct scratch *scratch, void (*body)(struct scratch *), const char *skip_reason)
{
	int status = 0;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		body(scratch);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SCRATCH_SKIPPED)
		scratch_skip(skip_reason);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child: a mount namespace of its own. */
static inline void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		_exit(SCRATCH_SKIPPED);
	MUST(mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0);
}

/* In a child: become another user, for good. */
static inline void become(uid_t uid)
{
	if (geteuid() != 0)
		_exit(SCRATCH_SKIPPED);
	MUST(setresgid(uid, uid, uid) == 0);
	MUST(setresuid(uid, uid, uid) == 0);
}

#endif
