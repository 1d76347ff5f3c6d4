/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/read_file.h"

#define MOST 1000

static void refused(struct scratch *scratch, const char *path, const char *sentence)
{
	struct file_text text;
	const char *error = NULL;

	assert_false(read_file(&scratch->arena, path, MOST, &text, &error));
	assert_string_equal(
		error, arena_printf(&scratch->arena, "`%s` %s", path, sentence));
}

static void test_regular(void **state)
{
	struct scratch *scratch = *state;
	struct file_text text;
	const char *error;
	struct stat st;

	make_file(at(scratch, "/f"), "one\ntwo");
	assert_true(read_file(&scratch->arena, at(scratch, "/f"), MOST, &text, &error));
	assert_int_equal(text.len, 7);
	assert_string_equal(text.text, "one\ntwo");
	assert_int_equal(stat(at(scratch, "/f"), &st), 0);
	assert_true(text.dev == st.st_dev && text.ino == st.st_ino);

	make_file(at(scratch, "/empty"), "");
	assert_true(
		read_file(&scratch->arena, at(scratch, "/empty"), MOST, &text, &error));
	assert_int_equal(text.len, 0);
	assert_string_equal(text.text, "");
}

static void test_limit(void **state)
{
	struct scratch *scratch = *state;
	char bytes[MOST + 2];
	struct file_text text;
	const char *error;

	memset(bytes, 'x', sizeof(bytes));
	bytes[MOST] = '\0';
	make_file(at(scratch, "/most"), bytes);
	assert_true(
		read_file(&scratch->arena, at(scratch, "/most"), MOST, &text, &error));
	assert_int_equal(text.len, MOST);
	bytes[MOST] = 'x';
	bytes[MOST + 1] = '\0';
	make_file(at(scratch, "/more"), bytes);
	refused(scratch, at(scratch, "/more"), "is larger than 1000 bytes");
	/* The size that a file claims is not believed: /proc says 0. */
	refused(scratch, "/proc/kallsyms", "is larger than 1000 bytes");
}

static void test_refused(void **state)
{
	struct scratch *scratch = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	refused(scratch, at(scratch, "/none"), "does not exist");
	refused(scratch, scratch->path, "is a directory");
	refused(scratch, "/dev/zero", "is neither a file nor a FIFO");
	make_file(at(scratch, "/f"), "");
	refused(scratch, at(scratch, "/f/g"), "cannot be read: Not a directory");
	make_link("none", at(scratch, "/dangling"));
	refused(scratch, at(scratch, "/dangling"), "does not exist");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", scratch->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused(scratch, at(scratch, "/s"), "is neither a file nor a FIFO");
	close(fd);
}

static void unreadable(struct scratch *scratch)
{
	struct file_text text;
	const char *error;

	make_file(at(scratch, "/f"), "secret");
	MUST(chmod(at(scratch, "/f"), 0) == 0 && chmod(scratch->path, 0755) == 0);
	become(SCRATCH_OTHER_UID);
	MUST(!read_file(&scratch->arena, at(scratch, "/f"), MOST, &text, &error));
	MUST(strstr(error, "cannot be read: Permission denied"));
}

static void test_unreadable(void **state)
{
	run_in_child(*state, unreadable, "needs root to become another user");
}

static void *feed(void *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < 3; i++)
		if (write(fd, "abc", 3) != 3)
			break;
	close(fd);
	return NULL;
}

static void test_fifo(void **state)
{
	struct scratch *scratch = *state;
	char *path = at(scratch, "/fifo");
	struct file_text text;
	pthread_t feeder;
	const char *error;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&feeder, NULL, feed, path), 0);
	assert_true(read_file(&scratch->arena, path, MOST, &text, &error));
	assert_string_equal(text.text, "abcabcabc");
	pthread_join(feeder, NULL);

	assert_int_equal(pthread_create(&feeder, NULL, feed, path), 0);
	assert_false(read_file(&scratch->arena, path, 8, &text, &error));
	pthread_join(feeder, NULL);
}

static void from_stdin(struct scratch *scratch)
{
	struct file_text text;
	const char *error;

	make_file(at(scratch, "/f"), "hello");
	int fd = open(at(scratch, "/f"), O_RDONLY | O_CLOEXEC);
	MUST(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	MUST(read_file(&scratch->arena, "-", MOST, &text, &error));
	MUST(strcmp(text.text, "hello") == 0);
	close(STDIN_FILENO);
	MUST(!read_file(&scratch->arena, "-", MOST, &text, &error));
	MUST(open(scratch->path, O_RDONLY | O_CLOEXEC) == STDIN_FILENO);
	MUST(!read_file(&scratch->arena, "-", MOST, &text, &error));
	MUST(strcmp(error, "`-` is a directory") == 0);
}

static void test_stdin(void **state)
{
	run_in_child(*state, from_stdin, "");
}

struct includes {
	struct sources sources;
	struct policy_files files;
	struct loader loader;
};

static void start(struct includes *includes, struct scratch *scratch)
{
	sources_init(&includes->sources, &scratch->arena);
	policy_files_init(&includes->files, &scratch->arena, &includes->sources);
	includes->loader = policy_files_loader(&includes->files);
}

static uint32_t load(struct includes *includes, uint32_t from, const char *path)
{
	const char *error = NULL;
	uint32_t file = includes->loader.load(includes->loader.ctx, from, path, &error);

	assert_true((file == 0) == (error != NULL));
	return file;
}

static void test_includes(void **state)
{
	struct scratch *scratch = *state;
	struct includes includes;
	const char *error;

	make_dir(at(scratch, "/d"), 0755);
	make_file(at(scratch, "/main"), "main");
	make_file(at(scratch, "/d/a"), "a");
	make_file(at(scratch, "/b"), "b");
	make_file(at(scratch, "/-"), "dash");
	start(&includes, scratch);

	uint32_t top = policy_files_read(&includes.files, at(scratch, "/main"), &error);
	assert_int_equal(top, 1);
	uint32_t a = load(&includes, top, "d/a");
	assert_int_equal(a, 2);
	uint32_t b = load(&includes, a, "../b");
	assert_string_equal(sources_get(&includes.sources, b)->text, "b");
	assert_string_equal(
		sources_get(&includes.sources, b)->name, at(scratch, "/d/../b"));

	/* One file under other names has one number. */
	make_link("d", at(scratch, "/e"));
	assert_int_equal(load(&includes, top, "b"), b);
	assert_int_equal(load(&includes, top, "e/a"), a);
	assert_int_equal(load(&includes, top, at(scratch, "/d/a")), a);
	assert_int_equal(load(&includes, b, "main"), top);
	/* And every name is a file that decides. */
	assert_int_equal(includes.files.count, 6);

	/* Not standard input. */
	uint32_t dash = load(&includes, top, "-");
	assert_string_equal(sources_get(&includes.sources, dash)->text, "dash");
	assert_int_equal(load(&includes, top, "none"), 0);
	assert_int_equal(load(&includes, top, "d"), 0);
}

static void include_relative(struct scratch *scratch)
{
	struct includes includes;
	const char *error;

	make_file(at(scratch, "/main"), "main");
	make_file(at(scratch, "/a"), "a");
	MUST(chdir(scratch->path) == 0);
	start(&includes, scratch);
	uint32_t top = policy_files_read(&includes.files, "main", &error);
	uint32_t a = includes.loader.load(includes.loader.ctx, top, "a", &error);
	MUST(a == 2 && strcmp(includes.files.list[1].path, "./a") == 0);
}

static void test_include_relative(void **state)
{
	run_in_child(*state, include_relative, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_regular),
		TEST(test_limit),
		TEST(test_refused),
		TEST(test_unreadable),
		TEST(test_fifo),
		TEST(test_stdin),
		TEST(test_includes),
		TEST(test_include_relative),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
