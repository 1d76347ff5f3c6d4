/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit status and stderr of commands that others spawned, case by case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/classify.h"

#define NOTICE "landlock-run: partial enforcement (older Landlock ABI)\n"

static const struct {
	const char *backend;
	int status;
	const char *text;
	enum classified want;
	const char *line;
} cases[] = {
	{"landlock", 0, "", CLASSIFIED_COMMAND, NULL},
	{"landlock", 1, "", CLASSIFIED_COMMAND, NULL},
	{"landlock", 125, "", CLASSIFIED_COMMAND, NULL},
	{"landlock", 125, "landlock-run: cannot open rule path `/x'\n", CLASSIFIED_RUNNER,
		"landlock-run: cannot open rule path `/x'"},
	{"landlock", 125, "LANDLOCK-RUN: X", CLASSIFIED_RUNNER, "LANDLOCK-RUN: X"},
	{"landlock", 125, NOTICE "landlock-run: exec failed\r\n", CLASSIFIED_RUNNER,
		"landlock-run: exec failed"},
	/* The partial notice alone is the child's result, with any status. */
	{"landlock", 1, NOTICE, CLASSIFIED_COMMAND, NULL},
	{"landlock", 2, NOTICE, CLASSIFIED_COMMAND, NULL},
	{"landlock", 125, NOTICE, CLASSIFIED_COMMAND, NULL},
	/* A fatal line with a status that is not the runner's. */
	{"landlock", 1, "landlock-run: x\n", CLASSIFIED_COMMAND, NULL},
	{"landlock", 2, "cat: /x: Permission denied\n", CLASSIFIED_DENIED,
		"cat: /x: Permission denied"},
	{"landlock", 0, "cat: /x: Permission denied\n", CLASSIFIED_COMMAND, NULL},
	{"landlock", 1, "touch: Read-only file system\n", CLASSIFIED_COMMAND, NULL},
	{"bwrap", 1, "bwrap: Can't find source path /x: No such file or directory\n",
		CLASSIFIED_RUNNER,
		"bwrap: Can't find source path /x: No such file or directory"},
	{"bwrap", 0, "bwrap: x\n", CLASSIFIED_COMMAND, NULL},
	{"bwrap", 1, "touch: cannot touch '/x': Read-only file system\n",
		CLASSIFIED_DENIED, "touch: cannot touch '/x': Read-only file system"},
	{"bwrap", 1, "cat: /x: Permission denied\n", CLASSIFIED_COMMAND, NULL},
	/* A failure of the runner goes before a denial. */
	{"bwrap", 1, "x: read-only file system\nbwrap: y", CLASSIFIED_RUNNER, "bwrap: y"},
	/* The words of a signature across two lines are none. */
	{"bwrap", 1, "read-only\nfile system\n", CLASSIFIED_COMMAND, NULL},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct backend *backend = backend_find(cases[i].backend);
		struct classification got = classify(&backend->failure, backend->denials,
			cases[i].status, cases[i].text, strlen(cases[i].text));
		if (got.verdict != cases[i].want)
			fail_msg("%s %d \"%s\": %s", cases[i].backend, cases[i].status,
				cases[i].text, classified_text(got.verdict));
		if (cases[i].line)
			assert_true(got.len == strlen(cases[i].line) &&
				    memcmp(got.line, cases[i].line, got.len) == 0);
		else
			assert_null(got.line);
	}
}

static void test_any_bytes(void **state)
{
	static const char text[] = "\0bwrap: \xff\n";
	const struct backend *backend = backend_find("bwrap");

	(void)state;
	struct classification got = classify(
		&backend->failure, backend->denials, 1, text, sizeof(text) - 1);
	assert_int_equal(got.verdict, CLASSIFIED_RUNNER);
	assert_int_equal(got.len, 9);
	got = classify(&backend->failure, backend->denials, 1, "", 0);
	assert_int_equal(got.verdict, CLASSIFIED_COMMAND);
}

/* A runner that cordon does not know names its own failure lines. */
static void test_custom_rule(void **state)
{
	static const char *const fatal[] = {"my-runner failed", NULL};
	const struct failure_rule rule = {.codes = {3, 4}, .fatal = fatal};

	(void)state;
	assert_int_equal(classify(&rule, NULL, 4, "My-Runner failed: x", 19).verdict,
		CLASSIFIED_RUNNER);
	assert_int_equal(classify(&rule, NULL, 5, "my-runner failed", 16).verdict,
		CLASSIFIED_COMMAND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_custom_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
