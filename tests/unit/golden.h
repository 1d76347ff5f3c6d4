/* SPDX-License-Identifier: Apache-2.0
 *
 * Golden files: what a test made is compared with a file of the repository.
 * CORDON_BLESS=1 writes the files anew; the difference is then read in git.
 */
#ifndef CORDON_TESTS_GOLDEN_H
#define CORDON_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/buf.h"

/* The bytes of a file; false if it cannot be read. */
static inline bool golden_read(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	char chunk[4096];
	size_t n;

	if (!file)
		return false;
	buf_puts(out, "");
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_put(out, chunk, n);
	fclose(file);
	return true;
}

static inline void golden_print_line(const char *mark, const char *text)
{
	fprintf(stderr, "  %s %.*s\n", mark, (int)strcspn(text, "\n"), text);
}

/* The first line that differs, with its number. */
static inline void golden_print_difference(
	const char *path, const char *want, const char *have)
{
	unsigned line = 1;

	for (;;) {
		size_t a = strcspn(want, "\n"), b = strcspn(have, "\n");
		if (a != b || memcmp(want, have, a) != 0 || !want[a] || !have[b])
			break;
		want += a + 1;
		have += b + 1;
		line++;
	}
	fprintf(stderr, "%s:%u: not as expected (CORDON_BLESS=1 writes it anew)\n", path,
		line);
	golden_print_line("-", want);
	golden_print_line("+", have);
}

/* True if the file holds exactly text. */
static inline bool golden_check(const char *path, const struct buf *text)
{
	const char *bless = getenv("CORDON_BLESS");
	const char *have = text->data ? text->data : "";
	struct buf want = BUF_INIT;

	if (bless && strcmp(bless, "1") == 0) {
		FILE *file = fopen(path, "wb");
		if (!file)
			return false;
		fwrite(have, 1, text->len, file);
		return fclose(file) == 0;
	}
	bool found = golden_read(path, &want);
	bool same = found && want.len == text->len &&
		    memcmp(want.data, have, want.len) == 0;
	if (!found)
		fprintf(stderr, "%s: missing (CORDON_BLESS=1 writes it)\n", path);
	else if (!same)
		golden_print_difference(path, want.data, have);
	buf_release(&want);
	return same;
}

#endif
