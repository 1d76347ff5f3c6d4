/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser: trees and findings against golden files, every statement and rule
 * of the syntax with a passing and a failing case, and input that nobody would
 * write (test_parser_garbage.c). Runs from the root of the repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "parsed.h"

#define GOLDEN "tests/golden"

/* ---- golden files ------------------------------------------------------- */

#define FILES_MAX 512

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the .cordon files of a directory, without the ending, sorted. */
static size_t list_cases(const char *directory, char *names[FILES_MAX])
{
	DIR *dir = opendir(directory);
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) && count < FILES_MAX;) {
		char *dot = strrchr(entry->d_name, '.');
		if (!dot || strcmp(dot, ".cordon") != 0)
			continue;
		names[count++] = strndup(entry->d_name, (size_t)(dot - entry->d_name));
	}
	closedir(dir);
	qsort(names, count, sizeof(*names), by_name);
	return count;
}

/* Parses directory/name.cordon. */
static void load(
	const char *directory, const char *name, struct buf *text, struct parsed *p)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.cordon", directory, name);
	assert_true(golden_read(path, text));
	parse(p, name, text->data, text->len);
}

static bool check_diag_case(const char *name, bool seen[CODE_COUNT])
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct parsed p;
	char path[512];

	load(GOLDEN "/diag", name, &text, &p);
	render(&p, &out);
	bool named = name[0] != 'E' && name[0] != 'W';
	for (const struct diag *diag = p.diags.first; diag; diag = diag->next) {
		seen[diag->code] = true;
		named |= strncmp(diag_code_text(diag->code), name, 4) == 0;
	}
	if (!named)
		fprintf(stderr, "%s: the finding of its name is missing\n", name);
	snprintf(path, sizeof(path), GOLDEN "/diag/%s.expected", name);
	bool same = golden_check(path, &out);
	release(&p);
	buf_release(&text);
	buf_release(&out);
	return same && named;
}

/* What the parser can report, each at least once in the golden files. E012
 * needs a million rules and has a test of its own. */
static const enum code own_codes[] = {CODE_E001, CODE_E002, CODE_E003, CODE_E004,
	CODE_E005, CODE_E006, CODE_E007, CODE_E008, CODE_E009, CODE_E010, CODE_E013,
	CODE_E014, CODE_E015, CODE_E016, CODE_E017, CODE_E018, CODE_E019, CODE_E020,
	CODE_E021, CODE_E022, CODE_E023, CODE_E024, CODE_E025, CODE_E030, CODE_E031,
	CODE_E035, CODE_W101, CODE_W102};

static void test_findings_are_as_written(void **state)
{
	char *names[FILES_MAX];
	size_t count = list_cases(GOLDEN "/diag", names), failed = 0;
	bool seen[CODE_COUNT] = {false};

	(void)state;
	for (size_t i = 0; i < count; i++) {
		failed += !check_diag_case(names[i], seen);
		free(names[i]);
	}
	assert_true(count > 0);
	for (size_t i = 0; i < sizeof(own_codes) / sizeof(*own_codes); i++) {
		if (!seen[own_codes[i]])
			fprintf(stderr, "no case for %s\n", diag_code_text(own_codes[i]));
		failed += !seen[own_codes[i]];
	}
	assert_int_equal(failed, 0);
}

static bool check_tree_case(const char *name)
{
	struct buf text = BUF_INIT, out = BUF_INIT, findings = BUF_INIT;
	struct parsed p;
	char path[512];

	load(GOLDEN "/ast", name, &text, &p);
	render(&p, &findings);
	fputs(findings.data, stderr);
	buf_puts(&out, "");
	ast_dump(p.file, &out);
	snprintf(path, sizeof(path), GOLDEN "/ast/%s.ast", name);
	bool good = golden_check(path, &out) && !p.diags.first;
	release(&p);
	buf_release(&text);
	buf_release(&out);
	buf_release(&findings);
	return good;
}

static void test_trees_are_as_written(void **state)
{
	char *names[FILES_MAX];
	size_t count = list_cases(GOLDEN "/ast", names), failed = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		failed += !check_tree_case(names[i]);
		free(names[i]);
	}
	assert_true(count > 0);
	assert_int_equal(failed, 0);
}

/* ---- every statement: what passes and what does not ---------------------- */

enum where { TOP, POLICY, MODE, LADDER, EXPECT, GUARD, LIMITS, ENVIRONMENT };

static const char *const around[][2] = {
	[TOP] = {"cordon 1\n", "\n"},
	[POLICY] = {"cordon 1\npolicy p {\n", "\n}\n"},
	[MODE] = {"cordon 1\npolicy p { mode workspace-write {\n", "\n} }\n"},
	[LADDER] = {"cordon 1\npolicy p { ladder {\n", "\n} }\n"},
	[EXPECT] = {"cordon 1\npolicy p { expect in read-only {\n", "\n} }\n"},
	[GUARD] = {"cordon 1\npolicy p { guard {\n", "\n} }\n"},
	[LIMITS] = {"cordon 1\npolicy p { limits {\n", "\n} }\n"},
	[ENVIRONMENT] = {"cordon 1\npolicy p { environment {\n", "\n} }\n"},
};

#define GOOD CODE_COUNT

/* One statement; code: the only finding that it gives, GOOD for none. */
static const struct {
	enum where where;
	const char *text;
	enum code code;
} statements[] = {
	{TOP, "", GOOD},
	{TOP, "cordon 1", CODE_E020},
	{TOP, "let a = /a", GOOD},
	{TOP, "let a /a", CODE_E003},
	{TOP, "let a = a", CODE_E030},
	{TOP, "let a- = /a", CODE_E023},
	{TOP, "let a = glob \"/a/*\", everything, @b", GOOD},
	{TOP, "var a", GOOD},
	{TOP, "var a = \"x\"", GOOD},
	{TOP, "var a=\"x\"", GOOD},
	{TOP, "var a = x", CODE_E003},
	{TOP, "var a = \"${b}\"", CODE_E023},
	{TOP, "include \"a\"", GOOD},
	{TOP, "include a", CODE_E003},
	{TOP, "policy a { }", GOOD},
	{TOP, "policy a{hide /a}", GOOD},
	{TOP, "policy a extends b { }", GOOD},
	{TOP, "policy a extend b { }", CODE_E003},
	{TOP, "policy a, b { }", CODE_E003},
	{TOP, "hide /a", CODE_E020},
	{POLICY, "default mode read-only", GOOD},
	{POLICY, "default mode readonly", CODE_E015},
	{POLICY, "default read-only", CODE_E003},
	{POLICY, "ceiling danger-full-access", GOOD},
	{POLICY, "ceiling none", CODE_E015},
	{POLICY, "require full", GOOD},
	{POLICY, "require partial on linux, macos", GOOD},
	{POLICY, "require some", CODE_E017},
	{POLICY, "require full on plan9", CODE_E016},
	{POLICY, "hide /a", GOOD},
	{POLICY, "hide a/b", CODE_E030},
	{POLICY, "hide glob \"/a/*\" snapshot", GOOD},
	{POLICY, "hide glob \"/a/**\"", CODE_E025},
	{POLICY, "hide everything locked best-effort", GOOD},
	{POLICY, "hide everything optional", CODE_E019},
	{POLICY, "read @roots/.git optional", GOOD},
	{POLICY, "read /a snapshot", CODE_E019},
	{POLICY, "read @a snapshot", GOOD}, /* a set may hold patterns */
	{POLICY, "read /a create file", GOOD},
	{POLICY, "read /a file", CODE_E014},
	{POLICY, "hide /a reserve", GOOD},
	{POLICY, "hide /a create", CODE_E019},
	{POLICY, "write /a", CODE_E020},
	{POLICY, "temp private", GOOD},
	{POLICY, "temp public", CODE_E017},
	{POLICY, "devices pty best-effort", GOOD},
	{POLICY, "devices pty optional", CODE_E019},
	{POLICY, "network none locked", GOOD},
	{POLICY, "network none locked locked", CODE_E018},
	{POLICY, "on linux { hide /a }", GOOD},
	{POLICY, "on linux { write /a }", CODE_E020},
	{POLICY, "on linux { on macos { hide /a } }", CODE_E020},
	{POLICY, "on linux, linux { hide /a }", CODE_E018},
	{POLICY, "mode read-only { hide /a }", GOOD},
	{POLICY, "mode danger-full-access { }", CODE_E020},
	{POLICY, "mode read-only { mode read-only { } }", CODE_E020},
	{POLICY, "ladder { }", GOOD},
	{POLICY, "ladder { hide /a }", CODE_E020},
	{POLICY, "expect in read-only on linux { deny read /a }", GOOD},
	{POLICY, "expect read-only { deny read /a }", CODE_E003},
	{POLICY, "guard { deny eval }", GOOD},
	{POLICY, "guard on linux { deny eval }", CODE_E003},
	{POLICY, "limits { timeout 1s }", GOOD},
	{POLICY, "environment { clear }", GOOD},
	{POLICY, "nonsense", CODE_E013},
	{MODE, "write /a, /b optional", GOOD},
	{MODE, "write glob \"/a/*\"", CODE_E021},
	{MODE, "write /a reserve", CODE_E019},
	{MODE, "on windows { write C:\\a create }", GOOD},
	{MODE, "require full", CODE_E020},
	{LADDER, "read-only -> workspace-write ask", GOOD},
	{LADDER, "read-only->workspace-write allow", GOOD},
	{LADDER, "read-only -> workspace-write", CODE_E003},
	{LADDER, "read-only -> workspace-write maybe", CODE_E017},
	{LADDER, "read-only -> everything ask", CODE_E015},
	{EXPECT, "allow read /a, @b/c, \"/d e\"", GOOD},
	{EXPECT, "deny write everything", GOOD},
	{EXPECT, "deny write glob \"/a/*\"", CODE_E021},
	{EXPECT, "deny eval", CODE_E020},
	{EXPECT, "allow hide /a", CODE_E003},
	{EXPECT, "allow read /a optional", CODE_E003},
	{GUARD, "deny command rm, sudo", GOOD},
	{GUARD, "deny command rm sudo", CODE_E003},
	{GUARD, "deny argument chmod -R 777", GOOD},
	{GUARD, "deny argument a, b", CODE_E003},
	{GUARD, "deny argument {}", CODE_E004},
	{GUARD, "deny argument \"{}\"", GOOD},
	{GUARD, "deny eval", GOOD},
	{GUARD, "deny metacharacters", GOOD},
	{GUARD, "deny evil", CODE_E003},
	{GUARD, "jail @roots", GOOD},
	{GUARD, "jail glob \"/a/*\"", CODE_E021},
	{GUARD, "allow read /a", CODE_E020},
	{LIMITS, "timeout 60s", GOOD},
	{LIMITS, "timeout 9223372036854775807ms", GOOD},
	{LIMITS, "timeout 9223372036854775808ms", CODE_E022},
	{LIMITS, "timeout 0s", CODE_E022},
	{LIMITS, "timeout 60", CODE_E022},
	{LIMITS, "output 1GiB", GOOD},
	{LIMITS, "output 1GB", CODE_E022},
	{LIMITS, "memory 1GiB", CODE_E013},
	{ENVIRONMENT, "clear; keep PATH, \"LC_*\"; drop A; set B = \"c\"", GOOD},
	{ENVIRONMENT, "keep LC_*", CODE_E023},
	{ENVIRONMENT, "keep clear", CODE_E003},
	{ENVIRONMENT, "keep \"clear\"", GOOD},
	{ENVIRONMENT, "set TMPDIR = \"/a\"", CODE_E024},
	{ENVIRONMENT, "keep TMPDIR", GOOD},
	{ENVIRONMENT, "set A", CODE_E003},
	/* Line ends, comments, names. */
	{POLICY, "hide /a,\n\n# comment\n/b", GOOD},
	{POLICY, "hide /a\n, /b", CODE_E003},
	{POLICY, "hide /a;;;hide /b;", GOOD},
	{POLICY, "hide /a # comment", GOOD},
	{POLICY, "hide /a# comment", CODE_E008},
	{POLICY, "hide \"/a\"# comment", CODE_E004},
	{POLICY, "hide /a\r\nhide /b\rhide /c", CODE_E005},
	{POLICY, "hide /a\r\nhide /b\r\n", GOOD},
	{POLICY, "mode read-only\n{ hide /a }", CODE_E003},
	{POLICY, "hide @read, @on/x", GOOD},
	/* Paths. */
	{POLICY, "hide ~, ~/a, ${home}, /, C:\\, C:/a", GOOD},
	{POLICY, "hide ~a", CODE_E030},
	{POLICY, "hide /a~, /~/b", GOOD},
	{POLICY, "hide \"/a b\", '/a \"b\"', \"/\\xff\"", GOOD},
	{POLICY, "hide \"/a", CODE_E006},
	{POLICY, "hide \"/a\\n\"", CODE_E007},
	{POLICY, "hide /a*", CODE_E008},
	{POLICY, "hide /a\\ b", CODE_E008},
	{POLICY, "hide /a/${", CODE_E023},
	{POLICY, "hide /a\x01", CODE_E009},
	{POLICY, "hide /a/../b", CODE_E031},
	{POLICY, "hide /a/..b/...", GOOD},
	{POLICY, "hide '~/a'", CODE_E030},
	{POLICY, "hide \"/a*\"", CODE_W101},
	{POLICY, "hide glob \"/{a}\"", CODE_W102},
};

static bool check_statement(size_t i)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct parsed p;

	buf_printf(&text, "%s%s%s", around[statements[i].where][0], statements[i].text,
		around[statements[i].where][1]);
	parse(&p, "statement", text.data, text.len);
	const struct diag *first = p.diags.first;
	bool good = statements[i].code == GOOD
			    ? !first
			    : first && !first->next && first->code == statements[i].code;
	if (!good) {
		render(&p, &out);
		fprintf(stderr, "%s\nshould give %s, gave:\n%s", statements[i].text,
			statements[i].code == GOOD ? "nothing"
						   : diag_code_text(statements[i].code),
			out.data);
	}
	release(&p);
	buf_release(&text);
	buf_release(&out);
	return good;
}

static void test_statements_pass_and_fail(void **state)
{
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		failed += !check_statement(i);
	assert_int_equal(failed, 0);
}

/* ---- the rest ------------------------------------------------------------ */

/* The second look at a file without a `}` takes back only its own findings. */
static void test_findings_of_an_earlier_file_stay(void **state)
{
	static const char bad[] = "cordon 1\npolicy p {\n  network off\n}\n";
	static const char open[] =
		"cordon 1\npolicy p {\n  mode read-only {\n    hide /a\n"
		"  on linux { }\n}\n  network off\n";
	struct parsed p;

	(void)state;
	parse(&p, "bad", bad, sizeof(bad) - 1);
	assert_int_equal(p.diags.errors, 1);
	uint32_t file = sources_add(&p.sources, "open", open, sizeof(open) - 1);
	ast_parse(&p.arena, &p.sources, file, &p.diags);
	assert_int_equal(p.diags.first->span.file, 1);
	assert_int_equal(p.diags.errors, 4);
	release(&p);
}

static void test_spans_are_what_is_written(void **state)
{
	static const char text[] = "cordon 1\npolicy p {\n"
				   "  mode read-only { read  /a, ~/b optional }\n}\n";
	struct parsed p;

	(void)state;
	parse(&p, "spans", text, sizeof(text) - 1);
	const struct ast_stmt *mode = p.file->policies->body;
	const struct ast_stmt *rule = mode->u.block.body;
	const struct ast_item *second = rule->u.rule.items->next;
	assert_memory_equal(text + mode->span.start, "mode read-only", 14);
	assert_int_equal(mode->span.end - mode->span.start, 14);
	assert_memory_equal(text + rule->span.start, "read  /a, ~/b optional", 22);
	assert_int_equal(rule->span.end - rule->span.start, 22);
	assert_memory_equal(text + second->span.start, "~/b", 3);
	assert_int_equal(second->text.hole_count, 1);
	assert_int_equal(second->text.holes[0].name.span.start, second->span.start);
	assert_string_equal(second->text.holes[0].name.text, "home");
	assert_memory_equal(second->text.bytes, "/b", 3);
	release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings_are_as_written),
		cmocka_unit_test(test_trees_are_as_written),
		cmocka_unit_test(test_statements_pass_and_fail),
		cmocka_unit_test(test_spans_are_what_is_written),
		cmocka_unit_test(test_findings_of_an_earlier_file_stay),
	};

	return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
