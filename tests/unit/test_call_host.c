/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <limits.h>
#include <pwd.h>

#include "runtime/call_host.h"

static struct call ask(struct scratch *scratch, const char *workspace)
{
	struct call_request request = {.workspace = workspace};
	const char *error = NULL;
	struct call call;

	if (!call_host(&call, &scratch->arena, &request, &error)) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	return call;
}

static void refused(
	struct scratch *scratch, const struct call_request *request, const char *sentence)
{
	const char *error = NULL;
	struct call call;

	assert_false(call_host(&call, &scratch->arena, request, &error));
	assert_string_equal(error, sentence);
}

static void test_workspace(void **state)
{
	struct scratch *scratch = *state;
	char *current = getcwd(NULL, 0);

	make_dir(at(scratch, "/real"), 0755);
	make_dir(at(scratch, "/real/sub"), 0755);
	make_link("real/sub", at(scratch, "/link"));
	assert_string_equal(
		ask(scratch, at(scratch, "/link/..")).workspace, at(scratch, "/real"));
	assert_string_equal(
		ask(scratch, at(scratch, "/link")).workspace, at(scratch, "/real/sub"));
	assert_string_equal(ask(scratch, "/").workspace, "/");
	assert_string_equal(ask(scratch, NULL).workspace, current);
	assert_string_equal(ask(scratch, "./.").workspace, current);
	free(current);
}

static void test_refused(void **state)
{
	struct scratch *scratch = *state;
	char *none = at(scratch, "/none"), *file = at(scratch, "/file");
	const char *dirs[] = {"/", none};

	make_file(file, "");
	refused(scratch, &(struct call_request){.workspace = ""}, "workspace is empty");
	refused(scratch, &(struct call_request){.workspace = none},
		arena_printf(&scratch->arena, "workspace `%s` does not exist", none));
	refused(scratch, &(struct call_request){.workspace = file},
		arena_printf(&scratch->arena, "workspace `%s` is not a directory", file));
	refused(scratch,
		&(struct call_request){
			.workspace = "/", .add_dirs = dirs, .add_dir_count = 2},
		arena_printf(&scratch->arena, "additional directory `%s` does not exist",
			none));
	make_link("loop", at(scratch, "/loop"));
	refused(scratch, &(struct call_request){.workspace = at(scratch, "/loop")},
		arena_printf(&scratch->arena,
			"workspace `%s/loop` cannot be looked up: "
			"Too many levels of symbolic links",
			scratch->path));
}

static void test_add_dirs(void **state)
{
	struct scratch *scratch = *state;
	const char *dirs[] = {at(scratch, "/link"), "/"}, *error;
	struct call_request request = {
		.workspace = "/", .add_dirs = dirs, .add_dir_count = 2};
	struct call call;

	make_dir(at(scratch, "/d"), 0755);
	make_link("d", at(scratch, "/link"));
	assert_true(call_host(&call, &scratch->arena, &request, &error));
	assert_int_equal(call.add_dir_count, 2);
	assert_string_equal(call.add_dirs[0], at(scratch, "/d"));
	assert_string_equal(call.add_dirs[1], "/");
}

static void test_user(void **state)
{
	struct scratch *scratch = *state;
	const struct passwd *entry = getpwuid(getuid());
	char *before = getenv("HOME");

	before = before ? strdup(before) : NULL;
	setenv("HOME", scratch->path, 1);
	struct call call = ask(scratch, scratch->path);
	if (before)
		setenv("HOME", before, 1);
	else
		unsetenv("HOME");
	free(before);
	if (!entry)
		scratch_skip("this user has no entry in the user database");
	assert_string_equal(call.user, entry->pw_name);
	assert_string_not_equal(call.home, scratch->path);
	assert_string_equal(call.home, entry->pw_dir);
}

static void no_entry(struct scratch *scratch)
{
	MUST(chmod(scratch->path, 0755) == 0);
	become(54321);
	struct call call = ask(scratch, scratch->path);
	MUST(!call.user && !call.home);
	MUST(strncmp(call.temp_name, "cordon-54321/", 13) == 0);
}

static void test_no_entry(void **state)
{
	run_in_child(*state, no_entry, "needs root to become another user");
}

static void lost(struct scratch *scratch)
{
	struct call_request request = {0};
	const char *error = NULL;
	struct call call;

	make_dir(at(scratch, "/gone"), 0755);
	MUST(chdir(at(scratch, "/gone")) == 0 && rmdir(at(scratch, "/gone")) == 0);
	MUST(!call_host(&call, &scratch->arena, &request, &error));
	MUST(strcmp(error, "the current directory has no path that leads to it") == 0);
	request.workspace = scratch->path;
	MUST(call_host(&call, &scratch->arena, &request, &error));
}

static void test_lost_directory(void **state)
{
	run_in_child(*state, lost, "");
}

static void test_temp(void **state)
{
	struct scratch *scratch = *state;
	struct call one = ask(scratch, "/"), two = ask(scratch, "/");
	const char *random = strchr(one.temp_name, '/');

	assert_non_null(random);
	assert_true(strlen(random + 1) >= 16);
	assert_int_equal(strspn(random + 1, "abcdefghijklmnopqrstuvwxyz0123456789"),
		strlen(random + 1));
	assert_string_not_equal(one.temp_name, two.temp_name);
	assert_true(one.temp_root_count <= 2);
	for (size_t i = 0; i < one.temp_root_count; i++) {
		char real[PATH_MAX];
		assert_non_null(realpath(one.temp_roots[i], real));
		assert_string_equal(one.temp_roots[i], real);
	}
}

/* A linked worktree as git makes it. */
static void make_worktree(struct scratch *scratch)
{
	make_dir(at(scratch, "/repo"), 0755);
	make_dir(at(scratch, "/repo/.git"), 0755);
	make_dir(at(scratch, "/repo/.git/worktrees"), 0755);
	make_dir(at(scratch, "/repo/.git/worktrees/ws"), 0755);
	make_dir(at(scratch, "/ws"), 0755);
	make_file(at(scratch, "/ws/.git"),
		arena_printf(&scratch->arena, "gitdir: %s/repo/.git/worktrees/ws\n",
			scratch->path));
	make_file(
		at(scratch, "/repo/.git/worktrees/ws/gitdir"), at(scratch, "/ws/.git\n"));
	make_file(at(scratch, "/repo/.git/worktrees/ws/commondir"), "../..\n");
}

static void defined(struct scratch *scratch, bool yes)
{
	struct call call = ask(scratch, at(scratch, "/ws"));

	if (!yes) {
		assert_null(call.git_dir);
		assert_null(call.git_common_dir);
		return;
	}
	assert_string_equal(call.git_dir, at(scratch, "/repo/.git/worktrees/ws"));
	assert_string_equal(call.git_common_dir, at(scratch, "/repo/.git"));
}

static void test_worktree(void **state)
{
	struct scratch *scratch = *state;
	char *git = at(scratch, "/ws/.git");

	make_worktree(scratch);
	defined(scratch, true);
	/* Relative pointers, as newer versions of git write them. */
	make_file(git, "gitdir: ../repo/.git/worktrees/ws\n");
	make_file(at(scratch, "/repo/.git/worktrees/ws/gitdir"), "../../../../ws/.git\n");
	defined(scratch, true);

	const char *dirs[] = {at(scratch, "/repo")}, *error;
	struct call_request request = {
		.workspace = at(scratch, "/ws"), .add_dirs = dirs, .add_dir_count = 1};
	struct call call;
	assert_true(call_host(&call, &scratch->arena, &request, &error));
	assert_null(call.git_dir); /* in the writable area */

	assert_null(ask(scratch, at(scratch, "/repo")).git_dir); /* a directory */
}

static void test_worktree_forged(void **state)
{
	struct scratch *scratch = *state;
	char *git = at(scratch, "/ws/.git"),
	     *back = at(scratch, "/repo/.git/worktrees/ws/gitdir");
	char *common = at(scratch, "/repo/.git/worktrees/ws/commondir");
	char *good = arena_printf(
		&scratch->arena, "gitdir: %s/repo/.git/worktrees/ws\n", scratch->path);

	make_worktree(scratch);
	const char *const claims[] = {"", "gitdir: \n", "gitdir: /\n", "gitdir: /etc\n",
		"gitdir: .\n", "gitdir: none\n", "../repo/.git/worktrees/ws\n",
		"gitdir: ../repo/.git\n", arena_printf(&scratch->arena, "%sx\n", good)};
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		make_file(git, claims[i]);
		defined(scratch, false);
	}
	make_file(git, good);
	defined(scratch, true);

	/* The directory belongs to another worktree. */
	make_dir(at(scratch, "/other"), 0755);
	make_file(at(scratch, "/other/.git"), good);
	assert_null(ask(scratch, at(scratch, "/other")).git_dir);
	make_file(back, at(scratch, "/other/.git\n"));
	defined(scratch, false);
	make_file(back, at(scratch, "/ws/.git\n"));
	defined(scratch, true);

	make_file(common, "/none\n");
	defined(scratch, false);
	make_file(common, at(scratch, "/ws\n")); /* in the writable area */
	defined(scratch, false);
	make_file(common, "../..\n");

	/* Links, FIFOs and large files are no pointers. */
	unlink(git);
	make_link("../pointer", git);
	make_file(at(scratch, "/pointer"), good);
	defined(scratch, false);
	unlink(git);
	assert_int_equal(mkfifo(git, 0600), 0);
	defined(scratch, false);
	unlink(git);
	make_file(git, arena_printf(&scratch->arena, "%s%05000d", good, 0));
	defined(scratch, false);
	make_file(git, good);
	defined(scratch, true);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(back, SCRATCH_OTHER_UID, SCRATCH_OTHER_UID), 0);
	defined(scratch, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_workspace),
		TEST(test_refused),
		TEST(test_add_dirs),
		TEST(test_user),
		TEST(test_no_entry),
		TEST(test_lost_directory),
		TEST(test_temp),
		TEST(test_worktree),
		TEST(test_worktree_forged),
	};
	int status;

	if (scratch_cannot_run(&status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
