/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that are files: one cmocka test for each file that a pattern names, its
 * output compared with a golden file beside it.
 */
#ifndef CORDON_TEST_CASES_H
#define CORDON_TEST_CASES_H

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "golden.h"

static inline void case_compare(const char *path, const struct buf *got)
{
	if (!golden_check(path, got))
		fail_msg("%s", path);
}

static inline int case_run(const char *pattern, CMUnitTestFunction test)
{
	glob_t files;

	if (glob(pattern, 0, NULL, &files) != 0) {
		print_error("no file matches %s\n", pattern);
		return 1;
	}
	struct CMUnitTest *tests = calloc(files.gl_pathc, sizeof(*tests));
	if (!tests)
		abort();
	for (size_t i = 0; i < files.gl_pathc; i++) {
		tests[i].name = files.gl_pathv[i];
		tests[i].test_func = test;
		tests[i].initial_state = files.gl_pathv[i];
	}
	int failed = _cmocka_run_group_tests(pattern, tests, files.gl_pathc, NULL, NULL);
	free(tests);
	globfree(&files);
	return failed;
}

#endif
