/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <sys/xattr.h>

#include "runtime/trust.h"

#define TRUSTED(path)   assert_null(trust_check(&scratch->arena, path))
#define FAULT(path, at) fault(scratch, path, at)

/* Refused, and the sentence names the path at fault first. */
static void fault(struct scratch *scratch, const char *path, const char *at_fault)
{
	const char *sentence = trust_check(&scratch->arena, path);
	char *begin = arena_printf(&scratch->arena, "`%s` ", at_fault);

	assert_non_null(sentence);
	if (strncmp(sentence, begin, strlen(begin)) != 0)
		fail_msg("%s, not about %s", sentence, at_fault);
}

static void test_file_modes(void **state)
{
	struct scratch *scratch = *state;
	char *file = at(scratch, "/policy");

	make_file(file, "");
	TRUSTED(file);
	chmod(file, 0666);
	FAULT(file, file);
	chmod(file, 0664);
	TRUSTED(file); /* the caller's own group */
	if (geteuid() == 0) {
		assert_int_equal(chown(file, 0, SCRATCH_OTHER_UID), 0);
		chmod(file, 0664);
		FAULT(file, file);
		chmod(file, 0644);
		TRUSTED(file);
	}
}

static void test_access_control_list(void **state)
{
	struct scratch *scratch = *state;
	char *file = at(scratch, "/policy");
	/* user::rw-, user:1500:rw-, group::r--, mask::rw-, other::r--; acl(5) */
	static const unsigned char acl[] = {2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2,
		0, 6, 0, 0xdc, 5, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16, 0, 6, 0, 255,
		255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255};

	make_file(file, "");
	if (setxattr(file, "system.posix_acl_access", acl, sizeof(acl), 0) < 0)
		scratch_skip("the file system of /tmp has no access control lists");
	FAULT(file, file);
	removexattr(file, "system.posix_acl_access");
	chmod(file, 0664);
	TRUSTED(file);
}

static void test_directories(void **state)
{
	struct scratch *scratch = *state;
	char *dir = at(scratch, "/a"), *file = at(scratch, "/a/b");

	make_dir(dir, 0755);
	make_file(file, "");
	TRUSTED(file);
	TRUSTED(dir);
	chmod(dir, 0777);
	FAULT(file, dir);
	if (geteuid() == 0) {
		chmod(dir, 01777); /* sticky, of root */
		TRUSTED(file);
	}
}

static void test_links(void **state)
{
	struct scratch *scratch = *state;
	char *file = at(scratch, "/good/file"), *link = at(scratch, "/bad/link");

	make_dir(at(scratch, "/good"), 0755);
	make_dir(at(scratch, "/bad"), 0755);
	make_file(file, "");
	make_link("../good/file", link);
	TRUSTED(link);
	chmod(at(scratch, "/bad"), 0777);
	FAULT(link, at(scratch, "/bad"));
	TRUSTED(file);
	/* A good link into a bad place. */
	make_link("../bad/file", at(scratch, "/good/link"));
	make_file(at(scratch, "/bad/file"), "");
	FAULT(at(scratch, "/good/link"), at(scratch, "/bad"));
}

static void test_missing(void **state)
{
	struct scratch *scratch = *state;

	FAULT(at(scratch, "/none"), at(scratch, "/none"));
	make_link("loop", at(scratch, "/loop"));
	FAULT(at(scratch, "/loop"), at(scratch, "/loop"));
	FAULT("relative", "relative");
}

static void test_program(void **state)
{
	struct scratch *scratch = *state;
	char *file = at(scratch, "/program");

	make_file(file, "");
	assert_non_null(trust_check_program(&scratch->arena, file));
	chmod(file, 0755);
	assert_null(trust_check_program(&scratch->arena, file));
	assert_non_null(trust_check_program(&scratch->arena, scratch->path));
}

static void others(struct scratch *scratch)
{
	char *own = at(scratch, "/sticky/own"), *foreign = at(scratch, "/sticky/foreign");
	char *file = at(scratch, "/plain"), *link = at(scratch, "/sticky/link");

	if (geteuid() != 0)
		_exit(SCRATCH_SKIPPED);
	MUST(chmod(scratch->path, 0755) == 0);
	MUST(mkdir(at(scratch, "/sticky"), 0777) == 0);
	MUST(chmod(at(scratch, "/sticky"), 01777) == 0);
	make_file(own, ""), make_file(foreign, ""), make_file(file, "");
	MUST(symlink("../plain", link) == 0);
	MUST(chown(own, SCRATCH_OTHER_UID, SCRATCH_OTHER_UID) == 0);
	MUST(chown(foreign, SCRATCH_OTHER_UID + 1, 0) == 0);
	MUST(lchown(link, SCRATCH_OTHER_UID + 1, 0) == 0);
	/* For root, a file of another user is not to be trusted. */
	MUST(trust_check(&scratch->arena, own) != NULL);
	/* A sticky directory of the caller is no protection by root. */
	MUST(mkdir(at(scratch, "/mine"), 0755) == 0);
	MUST(chmod(at(scratch, "/mine"), 01777) == 0);
	make_file(at(scratch, "/mine/file"), "");
	MUST(trust_check(&scratch->arena, at(scratch, "/mine/file")) == NULL);
	MUST(chown(at(scratch, "/mine"), SCRATCH_OTHER_UID, 0) == 0);
	MUST(chown(scratch->path, SCRATCH_OTHER_UID, 0) == 0);

	become(SCRATCH_OTHER_UID);
	MUST(trust_check(&scratch->arena, own) == NULL);
	MUST(trust_check(&scratch->arena, file) == NULL);
	MUST(strstr(trust_check(&scratch->arena, foreign),
		"/sticky/foreign` belongs to user"));
	MUST(strstr(trust_check(&scratch->arena, link), "/sticky/link` belongs to user"));
	MUST(strstr(trust_check(&scratch->arena, at(scratch, "/mine/file")),
		"/mine` can be written by every user"));
}

static void test_other_users(void **state)
{
	run_in_child(*state, others, "needs root for files of several users");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_file_modes),
		TEST(test_access_control_list),
		TEST(test_directories),
		TEST(test_links),
		TEST(test_missing),
		TEST(test_program),
		TEST(test_other_users),
	};
	int status;

	if (scratch_cannot_run(&status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
