/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include "runtime/temp_dir.h"

#define PARENT   "cordon-0"
#define DEPTH    3000 /* beyond PATH_MAX and any limit of descriptors */
#define ROUNDS   300
#define SWEEPERS 2

static struct temp_dir make(struct scratch *scratch, const char *name)
{
	struct temp_dir dir;
	const char *error = NULL;

	MUST(temp_dir_make(&dir, &scratch->arena, scratch->path, name, &error));
	return dir;
}

/* Refused, with a sentence. */
static void refused(struct scratch *scratch, const char *root, const char *name)
{
	struct temp_dir dir;
	const char *error = NULL;

	assert_false(temp_dir_make(&dir, &scratch->arena, root, name, &error));
	assert_non_null(error);
}

static void test_make_and_remove(void **state)
{
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/one");
	struct stat st;

	assert_string_equal(dir.path, at(scratch, "/" PARENT "/one"));
	assert_int_equal(stat(dir.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(at(scratch, "/" PARENT), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(fcntl(dir.fd, F_GETFD) & FD_CLOEXEC);

	/* The parent stays as long as somebody uses it. */
	struct temp_dir other = make(scratch, PARENT "/two");
	assert_int_equal(temp_dir_remove(&dir), 0);
	assert_false(is_there(at(scratch, "/" PARENT "/one")));
	assert_true(is_there(at(scratch, "/" PARENT "/two")));
	assert_int_equal(temp_dir_remove(&other), 0);
	assert_false(is_there(at(scratch, "/" PARENT)));
}

static void test_names(void **state)
{
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/one");

	refused(scratch, scratch->path, PARENT "/one"); /* exists */
	refused(scratch, scratch->path, "one");
	refused(scratch, scratch->path, "/one");
	refused(scratch, scratch->path, "a/b/c");
	refused(scratch, at(scratch, "/none"), PARENT "/one");
	assert_int_equal(temp_dir_remove(&dir), 0);
}

static void test_planted_parent(void **state)
{
	struct scratch *scratch = *state;
	char *parent = at(scratch, "/" PARENT);
	size_t removed = 0;

	make_dir(at(scratch, "/outside"), 0700);
	make_link("outside", parent);
	refused(scratch, scratch->path, PARENT "/one");
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), -EPERM);
	unlink(parent);
	make_file(parent, "");
	refused(scratch, scratch->path, PARENT "/one");
	unlink(parent);
	make_dir(parent, 0755);
	refused(scratch, scratch->path, PARENT "/one");
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), -EPERM);
	rmdir(parent);

	/* A root that is reached through a link is not canonical. */
	make_link("outside", at(scratch, "/link"));
	refused(scratch, at(scratch, "/link"), PARENT "/one");
	assert_false(is_there(at(scratch, "/outside/" PARENT)));
	if (geteuid() != 0)
		return;
	make_dir(parent, 0700);
	assert_int_equal(chown(parent, SCRATCH_OTHER_UID, SCRATCH_OTHER_UID), 0);
	refused(scratch, scratch->path, PARENT "/one");
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), -EPERM);
	assert_int_equal(chown(parent, 0, 0), 0);
	struct temp_dir dir = make(scratch, PARENT "/one");
	assert_int_equal(temp_dir_remove(&dir), 0);
}

static void test_planted_links(void **state)
{
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/one");

	make_dir(at(scratch, "/outside"), 0700);
	make_file(at(scratch, "/outside/file"), "kept");
	make_link("../../outside", at(scratch, "/" PARENT "/one/relative"));
	make_link(at(scratch, "/outside"), at(scratch, "/" PARENT "/one/absolute"));
	make_link("../../outside/file", at(scratch, "/" PARENT "/one/file"));
	make_link("..", at(scratch, "/" PARENT "/one/up"));
	make_dir(at(scratch, "/" PARENT "/one/d"), 0700);
	make_link("../../../outside", at(scratch, "/" PARENT "/one/d/link"));
	/* Control: through the links the outside can be reached. */
	assert_true(is_there(at(scratch, "/" PARENT "/one/relative/file")));
	assert_true(is_there(at(scratch, "/" PARENT "/one/absolute/file")));
	assert_true(is_there(at(scratch, "/" PARENT "/one/d/link/file")));

	assert_int_equal(temp_dir_remove(&dir), 0);
	assert_false(is_there(at(scratch, "/" PARENT)));
	assert_true(is_there(at(scratch, "/outside/file")));
}

static void test_strange_contents(void **state)
{
	static const char *const names[] = {" ", "a b", "new\nline", "\"'`$(x)",
		"\xff\xfe", "-rf", "*", ".0", ".1", ".2", "...", "\x01"};
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/one");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *sub = at(scratch, "/" PARENT "/one/%s", names[i]);
		make_dir(sub, 0700);
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			make_dir(at(scratch, "/" PARENT "/one/%s/%s", names[i], names[k]),
				0700);
			make_file(at(scratch, "/" PARENT "/one/%s/%s/f", names[i],
					  names[k]),
				"");
		}
	}
	assert_int_equal(mkfifo(at(scratch, "/" PARENT "/one/fifo"), 0600), 0);
	assert_int_equal(temp_dir_remove(&dir), 0);
	assert_false(is_there(at(scratch, "/" PARENT)));
}

static void no_permissions(struct scratch *scratch)
{
	MUST(chmod(scratch->path, 0777) == 0);
	if (geteuid() == 0)
		become(SCRATCH_OTHER_UID); /* root would not notice */

	struct temp_dir dir = make(scratch, PARENT "/one");
	make_dir(at(scratch, "/" PARENT "/one/a"), 0700);
	make_dir(at(scratch, "/" PARENT "/one/a/b"), 0700);
	make_dir(at(scratch, "/" PARENT "/one/a/b/c"), 0700);
	make_file(at(scratch, "/" PARENT "/one/a/b/c/f"), "");
	make_dir(at(scratch, "/" PARENT "/one/a/x"), 0500);
	MUST(chmod(at(scratch, "/" PARENT "/one/a/b/c"), 0) == 0);
	MUST(chmod(at(scratch, "/" PARENT "/one/a/b"), 0) == 0);
	MUST(chmod(at(scratch, "/" PARENT "/one/a"), 0400) == 0);
	MUST(chmod(at(scratch, "/" PARENT "/one"), 0) == 0);
	MUST(open(at(scratch, "/" PARENT "/one"), O_RDONLY) < 0); /* control */
	MUST(temp_dir_remove(&dir) == 0);
	MUST(!is_there(at(scratch, "/" PARENT)));
}

static void test_no_permissions(void **state)
{
	run_in_child(*state, no_permissions, "");
}

static void test_deep(void **state)
{
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/one");
	int fd = dup(dir.fd);

	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(fd, "directory", 0700), 0);
		int next = openat(fd, "directory", O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		close(fd);
		fd = next;
	}
	close(fd);
	assert_int_equal(temp_dir_remove(&dir), 0);
	assert_false(is_there(at(scratch, "/" PARENT)));
}

static void mounted(struct scratch *scratch)
{
	char *top = at(scratch, "/" PARENT "/one"), *outside = at(scratch, "/outside");

	own_mounts();
	make_dir(outside, 0700);
	make_file(at(scratch, "/outside/file"), "kept");
	struct temp_dir dir = make(scratch, PARENT "/one");
	make_dir(at(scratch, "/" PARENT "/one/gone"), 0700);
	make_file(at(scratch, "/" PARENT "/one/gone/f"), "");
	make_dir(at(scratch, "/" PARENT "/one/bind"), 0700);
	make_dir(at(scratch, "/" PARENT "/one/d"), 0700);
	make_dir(at(scratch, "/" PARENT "/one/d/tmpfs"), 0700);
	make_file(at(scratch, "/" PARENT "/one/d/file"), "");
	/* The bind mount has the st_dev of its surroundings. */
	MUST(mount(outside, at(scratch, "/" PARENT "/one/bind"), "", MS_BIND, NULL) == 0);
	MUST(mount("none", at(scratch, "/" PARENT "/one/d/tmpfs"), "tmpfs", 0, NULL) ==
		0);
	MUST(mount(at(scratch, "/outside/file"), at(scratch, "/" PARENT "/one/d/file"),
		     "", MS_BIND, NULL) == 0);
	make_file(at(scratch, "/" PARENT "/one/d/tmpfs/f"), "");

	int error = temp_dir_remove(&dir);
	MUST(error == -EXDEV || error == -EBUSY);
	MUST(is_there(at(scratch, "/outside/file")));
	MUST(is_there(at(scratch, "/" PARENT "/one/bind/file")));
	MUST(is_there(at(scratch, "/" PARENT "/one/d/tmpfs/f")));
	MUST(!is_there(at(scratch, "/" PARENT "/one/gone")));

	/* Without the mounts the next sweep takes the rest. */
	size_t removed = 0;
	MUST(umount(at(scratch, "/" PARENT "/one/bind")) == 0);
	MUST(umount(at(scratch, "/" PARENT "/one/d/tmpfs")) == 0);
	MUST(umount(at(scratch, "/" PARENT "/one/d/file")) == 0);
	MUST(temp_dir_sweep(scratch->path, PARENT, &removed) == 0 && removed == 1);
	MUST(!is_there(top) && !is_there(at(scratch, "/" PARENT)));
	MUST(is_there(at(scratch, "/outside/file")));
}

static void test_mounts(void **state)
{
	run_in_child(*state, mounted, "needs root for a mount namespace");
}

static void test_sweep(void **state)
{
	struct scratch *scratch = *state;
	struct temp_dir dir = make(scratch, PARENT "/mine");
	int status, ready[2];
	size_t removed = 9;
	char byte;

	/* Two owners: one is killed. */
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
		make(scratch, PARENT "/abandoned");
		make_file(at(scratch, "/" PARENT "/abandoned/f"), "");
		MUST(chmod(at(scratch, "/" PARENT "/abandoned"), 0) == 0);
		MUST(write(ready[1], "", 1) == 1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]), close(ready[1]);

	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), 0);
	assert_int_equal(removed, 0);
	assert_true(is_there(at(scratch, "/" PARENT "/abandoned")));

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), 0);
	assert_int_equal(removed, 1);
	assert_false(is_there(at(scratch, "/" PARENT "/abandoned")));
	assert_true(is_there(dir.path));

	assert_int_equal(temp_dir_remove(&dir), 0);
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), 0);
	assert_int_equal(temp_dir_sweep(at(scratch, "/none"), PARENT, &removed), -ENOENT);
}

static void test_sweep_planted(void **state)
{
	struct scratch *scratch = *state;
	size_t removed = 9;

	make_dir(at(scratch, "/outside"), 0700);
	make_file(at(scratch, "/outside/file"), "");
	make_dir(at(scratch, "/" PARENT), 0700);
	make_link("../outside", at(scratch, "/" PARENT "/link"));
	make_file(at(scratch, "/" PARENT "/file"), "");
	assert_int_equal(temp_dir_sweep(scratch->path, PARENT, &removed), 0);
	assert_int_equal(removed, 0);
	assert_true(is_there(at(scratch, "/outside/file")));
	assert_true(is_there(at(scratch, "/" PARENT "/file")));
}

struct race {
	struct scratch *scratch;
	volatile bool *stop;
};

static void *sweep_on(void *ctx)
{
	struct race *race = ctx;
	size_t removed;

	while (!*race->stop)
		(void)!temp_dir_sweep(race->scratch->path, PARENT, &removed);
	return NULL;
}

static void *make_on(void *ctx)
{
	struct scratch mine = *(struct scratch *)ctx;
	bool ok = true;

	arena_init(&mine.arena);
	for (int i = 0; ok && i < ROUNDS; i++) {
		char *name = arena_printf(
			&mine.arena, PARENT "/%d-%lu", i, (unsigned long)pthread_self());
		struct temp_dir dir;
		const char *error;
		ok = temp_dir_make(&dir, &mine.arena, mine.path, name, &error) &&
		     mkdirat(dir.fd, "d", 0700) == 0 && is_there(dir.path) &&
		     temp_dir_remove(&dir) == 0;
	}
	arena_release(&mine.arena);
	return ok ? ctx : NULL;
}

/* Calls that come and go in one parent, and sweeps over them: nobody loses the
 * directory that it has, and nothing is left. */
static void test_races(void **state)
{
	struct scratch *scratch = *state;
	volatile bool stop = false;
	struct race race = {scratch, &stop};
	pthread_t sweepers[SWEEPERS], makers[2];
	void *ok[2];

	for (int i = 0; i < SWEEPERS; i++)
		assert_int_equal(pthread_create(&sweepers[i], NULL, sweep_on, &race), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&makers[i], NULL, make_on, scratch), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(makers[i], &ok[i]);
	stop = true;
	for (int i = 0; i < SWEEPERS; i++)
		pthread_join(sweepers[i], NULL);
	assert_non_null(ok[0]);
	assert_non_null(ok[1]);
	assert_false(is_there(at(scratch, "/" PARENT)));
}

static void with_umask(struct scratch *scratch)
{
	MUST(chmod(scratch->path, 0777) == 0);
	if (geteuid() == 0)
		become(SCRATCH_OTHER_UID);
	umask(0277);
	struct temp_dir dir = make(scratch, PARENT "/one");
	umask(022);
	make_file(at(scratch, "/" PARENT "/one/f"), "");
	MUST(temp_dir_remove(&dir) == 0);
	MUST(!is_there(at(scratch, "/" PARENT)));
}

static void test_umask(void **state)
{
	run_in_child(*state, with_umask, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_make_and_remove),
		TEST(test_names),
		TEST(test_planted_parent),
		TEST(test_planted_links),
		TEST(test_strange_contents),
		TEST(test_no_permissions),
		TEST(test_deep),
		TEST(test_mounts),
		TEST(test_sweep),
		TEST(test_sweep_planted),
		TEST(test_races),
		TEST(test_umask),
	};
	int status;

	if (scratch_cannot_run(&status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
