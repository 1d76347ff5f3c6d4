/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include "runtime/create.h"

static bool create(
	struct scratch *scratch, const char *path, bool file, struct created *out)
{
	const char *error = NULL;
	bool ok = create_path(&scratch->arena, path, file, out, &error);

	assert_true(ok == (error == NULL));
	return ok;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

static void test_directories(void **state)
{
	struct scratch *scratch = *state;
	struct created out = {0};

	assert_true(create(scratch, at(scratch, "/a/b/c"), false, &out));
	assert_int_equal(out.count, 3);
	assert_string_equal(out.paths[0], at(scratch, "/a"));
	assert_string_equal(out.paths[2], at(scratch, "/a/b/c"));
	assert_int_equal(mode_of(at(scratch, "/a/b/c")) & S_IFMT, S_IFDIR);

	/* Existing meanwhile is fine, and not reported as made. */
	assert_true(create(scratch, at(scratch, "/a/b/c"), false, &out));
	assert_int_equal(out.count, 3);
	assert_true(create(scratch, "/", false, &out));
}

static void test_files(void **state)
{
	struct scratch *scratch = *state;
	struct created out = {0};
	struct stat st;

	assert_true(create(scratch, at(scratch, "/d/f"), true, &out));
	assert_int_equal(out.count, 2);
	assert_int_equal(mode_of(at(scratch, "/d/f")) & S_IFMT, S_IFREG);
	make_file(at(scratch, "/d/f"), "kept");
	assert_true(create(scratch, at(scratch, "/d/f"), true, &out));
	assert_int_equal(stat(at(scratch, "/d/f"), &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(out.count, 2);
}

static void test_wrong_kind(void **state)
{
	struct scratch *scratch = *state;
	struct created out = {0};

	make_file(at(scratch, "/file"), "");
	make_dir(at(scratch, "/dir"), 0755);
	assert_int_equal(mkfifo(at(scratch, "/fifo"), 0600), 0);
	assert_false(create(scratch, at(scratch, "/file"), false, &out));
	assert_false(create(scratch, at(scratch, "/file/below"), false, &out));
	assert_false(create(scratch, at(scratch, "/dir"), true, &out));
	assert_false(create(scratch, at(scratch, "/fifo"), true, &out));
	assert_int_equal(out.count, 0);
}

static void test_never_through_links(void **state)
{
	struct scratch *scratch = *state;
	struct created out = {0};

	make_dir(at(scratch, "/outside"), 0755);
	make_link("outside", at(scratch, "/link"));
	make_link("outside/new", at(scratch, "/dangling"));
	assert_false(create(scratch, at(scratch, "/link/x"), false, &out));
	assert_false(create(scratch, at(scratch, "/link"), false, &out));
	assert_false(create(scratch, at(scratch, "/dangling"), true, &out));
	assert_false(create(scratch, at(scratch, "/dangling"), false, &out));
	assert_int_equal(out.count, 0);
	assert_false(is_there(at(scratch, "/outside/x")));
	assert_false(is_there(at(scratch, "/outside/new")));
	/* The same place under its own name. */
	assert_true(create(scratch, at(scratch, "/outside/x"), false, &out));
}

static void test_planned(void **state)
{
	struct scratch *scratch = *state;
	struct plan_create created[] = {{.path = at(scratch, "/one")},
		{.path = at(scratch, "/two/file"), .file = true}};
	struct plan plan = {.created = created, .created_count = 2};
	struct created out = {0};
	const char *error = NULL;

	assert_true(create_planned(&scratch->arena, &plan, &out, &error));
	assert_int_equal(out.count, 3);

	/* What was made before the failure is told. */
	created[0].path = at(scratch, "/three");
	created[1].path = at(scratch, "/two/file/below");
	out = (struct created){0};
	assert_false(create_planned(&scratch->arena, &plan, &out, &error));
	assert_int_equal(out.count, 1);
	assert_string_equal(out.paths[0], created[0].path);
	assert_non_null(strstr(error, "/two/file`"));
}

static void with_umask(struct scratch *scratch)
{
	static const struct {
		mode_t mask, dir, file;
	} cases[] = {{022, 0755, 0644}, {077, 0700, 0600}, {0, 0755, 0644}};
	const char *error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct created out = {0};
		char *dir = at(scratch, "/%zu", i), *file = at(scratch, "/%zu/f", i);
		struct stat st;
		umask(cases[i].mask);
		MUST(create_path(&scratch->arena, dir, false, &out, &error));
		MUST(create_path(&scratch->arena, file, true, &out, &error));
		MUST(stat(dir, &st) == 0 && (st.st_mode & 07777) == cases[i].dir);
		MUST(stat(file, &st) == 0 && (st.st_mode & 07777) == cases[i].file);
	}
}

static void test_umask(void **state)
{
	run_in_child(*state, with_umask, "");
}

static void unprivileged(struct scratch *scratch)
{
	struct created out = {0};
	const char *error = NULL;

	MUST(chmod(scratch->path, 0755) == 0);
	become(SCRATCH_OTHER_UID);
	MUST(!create_path(&scratch->arena, at(scratch, "/x"), false, &out, &error));
	MUST(strstr(error, "cannot be created: Permission denied"));
}

static void test_permission(void **state)
{
	run_in_child(*state, unprivileged, "needs root to become another user");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_directories),
		TEST(test_files),
		TEST(test_wrong_kind),
		TEST(test_never_through_links),
		TEST(test_planned),
		TEST(test_umask),
		TEST(test_permission),
	};
	int status;

	if (scratch_cannot_run(&status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
