/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that are files: one cmocka test for each file that a pattern names, its
 * output compared with a file beside it. CORDON_BLESS=1 writes that file anew.
 */
#ifndef CORDON_TEST_CASES_H
#define CORDON_TEST_CASES_H

#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/buf.h"

/* A missing file is an empty text. */
static inline void case_read(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	char block[4096];
	size_t len;

	buf_puts(out, "");
	if (!file)
		return;
	while ((len = fread(block, 1, sizeof(block), file)) > 0)
		buf_put(out, block, len);
	fclose(file);
}

static inline void case_write(const char *path, const struct buf *text)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(text->data, 1, text->len, file) != text->len ||
		fclose(file) != 0)
		fail_msg("cannot write %s", path);
}

/* The first line that differs, with its number. */
static inline void case_explain(const char *path, const char *want, const char *got)
{
	unsigned line = 1;
	const char *w = want, *g = got;

	for (size_t i = 0; want[i] && want[i] == got[i]; i++) {
		if (want[i] != '\n')
			continue;
		line++;
		w = want + i + 1;
		g = got + i + 1;
	}
	print_error("%s:%u differs\n  want: %.*s\n  got:  %.*s\n", path, line,
		(int)strcspn(w, "\n"), w, (int)strcspn(g, "\n"), g);
}

static inline void case_compare(const char *path, struct buf *got)
{
	struct buf want = BUF_INIT;

	buf_puts(got, "");
	if (getenv("CORDON_BLESS")) {
		case_write(path, got);
		return;
	}
	case_read(path, &want);
	bool same = strcmp(want.data, got->data) == 0 && want.len == got->len;
	if (!same)
		case_explain(path, want.data, got->data);
	buf_release(&want);
	if (!same)
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
