/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser and input that nobody would write: random bytes, deep nesting, a
 * million rules, mutations. No crash, no finding without a place, and a time
 * that grows with the size only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden.h"
#include "parsed.h"

#define GOLDEN "tests/golden"

/* Generous: for a loaded machine and a sanitizer. A time that grows with the
 * square of 64 MiB is hours. */
#define SECONDS_MAX 60

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* xorshift64*: the same bytes on every host. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dU;
}

/* Every finding has a place in the file. */
static void check_spans(const struct parsed *p, size_t len)
{
	for (const struct diag *diag = p->diags.first; diag; diag = diag->next) {
		assert_int_equal(diag->span.file, 1);
		assert_true(diag->span.start <= diag->span.end && diag->span.end <= len);
		assert_true(!diag->second.file || diag->second.end <= len);
		assert_true(!diag->fix_span.file || diag->fix_span.end <= len);
	}
}

/* … that a person can look at. Slow for large files. */
static void check_places(const struct parsed *p)
{
	for (const struct diag *diag = p->diags.first; diag; diag = diag->next) {
		struct place place = source_place(&p->sources, 1, diag->span.start);
		assert_true(place.line > 0 && place.column > 0);
	}
}

static void check_garbage(const char *name, const char *text, size_t len)
{
	struct parsed p;
	double start = seconds();

	parse(&p, name, text, len);
	double took = seconds() - start;
	if (took > 1)
		print_message("%s: %.1f s\n", name, took);
	assert_true(took < SECONDS_MAX);
	check_spans(&p, len);
	release(&p);
}

static void test_random_bytes(void **state)
{
	/* All bytes, then bytes that the grammar knows. */
	static const char *const alphabets[] = {"", "{", "}", "{}", "\"", "'\"/ ", ",;\n",
		"hide /a,\n ", "$\\", "\r", "x {}\n", " \n\t#{"};
	size_t len = SOURCE_SIZE_MAX;
	char *text = malloc(len + 1);
	uint64_t random = 1;

	(void)state;
	assert_non_null(text);
	text[len] = '\0';
	for (size_t a = 0; a < sizeof(alphabets) / sizeof(*alphabets); a++) {
		size_t count = strlen(alphabets[a]);
		for (size_t i = 0; i < len; i++) {
			uint64_t r = next_random(&random) >> 32;
			text[i] = count ? alphabets[a][r % count] : (char)r;
		}
		check_garbage("64 MiB of random bytes", text, len);
		memcpy(text, "cordon 1\n", 9);
		check_garbage("64 MiB of random bytes behind a version", text, len);
	}
	free(text);
}

static void test_long_repetitions(void **state)
{
	static const char *const parts[] = {"guard{};", "x{};", "hide /a;",
		"hide /a\n{\n", "hide \"/a;", "/'\"", "hide /{", "let a = /a,\n",
		"\n\n\n#\n", "a->", "x\n\n\n\n", "hide /a optional optional;",
		"policy a {\n", "policy p { guard {\n}\n", "   }"};
	struct buf text = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		text.len = 0;
		buf_puts(&text, "cordon 1\n");
		while (text.len < SOURCE_SIZE_MAX / 8)
			buf_puts(&text, parts[i]);
		check_garbage(parts[i], text.data, text.len);
	}
	buf_release(&text);
}

static bool has_code(const struct parsed *p, enum code code)
{
	for (const struct diag *diag = p->diags.first; diag; diag = diag->next)
		if (diag->code == code)
			return true;
	return false;
}

static void check_nested(const char *head, unsigned levels)
{
	struct buf text = BUF_INIT;
	struct parsed p;

	buf_puts(&text, "cordon 1\n");
	for (unsigned i = 0; i < levels; i++)
		buf_printf(&text, "  %s {\n", head);
	size_t half = text.len;
	for (unsigned i = 0; i < levels; i++)
		buf_puts(&text, "}\n");

	parse(&p, "nested", text.data, text.len);
	/* Behind a hundred other findings it is only counted. */
	if (!p.diags.dropped && has_code(&p, CODE_E010) != (levels > AST_NESTING_MAX))
		fail_msg("%u levels of `%s`", levels, head);
	check_spans(&p, text.len);
	check_places(&p);
	release(&p);

	parse(&p, "not closed", text.data, half);
	assert_true(p.diags.errors > 0);
	check_spans(&p, text.len);
	release(&p);
	buf_release(&text);
}

static void test_nesting_has_one_limit(void **state)
{
	static const char *const heads[] = {"x", "on linux", "mode read-only", "policy p",
		"guard", "hide /a", "expect in read-only", "\"x\"", "a b c",
		"= =", "ladder ladder"};
	static const unsigned levels[] = {1, 64, 65, 66, 1000, 100000};

	(void)state;
	for (size_t h = 0; h < sizeof(heads) / sizeof(*heads); h++)
		for (size_t l = 0; l < sizeof(levels) / sizeof(*levels); l++)
			check_nested(heads[h], levels[l]);
}

/* Prints what it took; the figure is read by people, not judged here. */
static void test_a_million_rules(void **state)
{
	static const size_t sizes[] = {100000, AST_RULES_MAX, AST_RULES_MAX + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct buf text = BUF_INIT;
		struct parsed p;

		buf_puts(&text, "cordon 1\npolicy p {\n");
		for (size_t k = 0; k < sizes[i]; k++)
			buf_printf(&text, "    read /srv/data/project-%07zu/x optional\n",
				k);
		buf_puts(&text, "}\n");

		double start = seconds();
		parse(&p, "rules", text.data, text.len);
		double took = seconds() - start;
		print_message("%zu rules of %zu bytes: %.0f ms, %.2f M rules/s\n",
			sizes[i], text.len / sizes[i], took * 1e3,
			(double)sizes[i] / took / 1e6);
		if (sizes[i] > AST_RULES_MAX) {
			assert_int_equal(p.diags.errors, 1);
			assert_int_equal(p.diags.first->code, CODE_E012);
			assert_int_equal(
				source_place(&p.sources, 1, p.diags.first->span.start)
					.line,
				AST_RULES_MAX + 3);
		} else {
			assert_null(p.diags.first);
		}
		release(&p);
		buf_release(&text);
	}
}

/* The list of one statement counts like many statements. */
static void test_a_million_members(void **state)
{
	static const char *const heads[] = {"let a = ", "policy p { hide "};

	(void)state;
	for (size_t h = 0; h < 2; h++) {
		struct buf text = BUF_INIT;
		struct parsed p;

		buf_printf(&text, "cordon 1\n%s", heads[h]);
		for (size_t i = 0; i < AST_RULES_MAX + 1; i++)
			buf_puts(&text, i ? ",/a" : "/a");
		buf_puts(&text, h ? " }\n" : "\n");
		parse(&p, "members", text.data, text.len);
		assert_int_equal(p.diags.errors, 1);
		assert_int_equal(p.diags.first->code, CODE_E012);
		release(&p);
		buf_release(&text);
	}
}

/* Changes, removes or adds one byte, or cuts the end off. */
static size_t mutate(char *copy, const struct buf *text, uint64_t *random)
{
	static const char likely[] = "{}\"'#,;\n\r\t @$~\\/*[]=->\0\x80\xff";
	size_t len = text->len, at = next_random(random) % len;
	uint64_t r = next_random(random);
	char byte = r & 1 ? likely[(r >> 8) % (sizeof(likely) - 1)] : (char)(r >> 8);

	memcpy(copy, text->data, len);
	switch ((r >> 32) % 4) {
	case 0: copy[at] = byte; break;
	case 1:
		len--;
		memmove(copy + at, copy + at + 1, len - at);
		break;
	case 2:
		memmove(copy + at + 1, copy + at, len - at);
		len++;
		copy[at] = byte;
		break;
	default: len = at; break;
	}
	copy[len] = '\0';
	return len;
}

static void check_mutation(const struct buf *text, uint64_t *random)
{
	char *room = malloc(text->len + 2), *copy;
	struct buf out = BUF_INIT;
	struct parsed p;

	assert_non_null(room);
	size_t len = mutate(room, text, random);
	/* Of the exact size, so that a sanitizer sees a read past the end. */
	copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, room, len + 1);
	parse(&p, "mutated", copy, len);
	check_spans(&p, len);
	check_places(&p);
	render(&p, &out);
	ast_dump(p.file, &out);
	buf_release(&out);
	release(&p);
	free(copy);
	free(room);
}

static void test_mutations(void **state)
{
	static const char *const files[] = {GOLDEN "/ast/example.cordon",
		GOLDEN "/ast/statements.cordon",
		GOLDEN "/diag/many-mistakes-in-one-run.cordon"};
	uint64_t random = 42;

	(void)state;
	for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++) {
		struct buf text = BUF_INIT;

		assert_true(golden_read(files[f], &text));
		for (int i = 0; i < 2000; i++)
			check_mutation(&text, &random);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_nesting_has_one_limit),
		cmocka_unit_test(test_a_million_rules),
		cmocka_unit_test(test_a_million_members),
		cmocka_unit_test(test_long_repetitions),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests_name("parser and garbage", tests, NULL, NULL);
}
