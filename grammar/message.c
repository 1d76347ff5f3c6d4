/* SPDX-License-Identifier: Apache-2.0
 *
 * What a token that does not fit is told to people: "expected X, found Y", an
 * unknown statement with its nearest relative, and the advice for mistakes that
 * are often made.
 *
 * The parser says which tokens would fit; sets of them that people know as one
 * thing (a path, a name, a statement) are said as one.
 */
#include "grammar/parse.h"

#include <string.h>

#include "grammar/parser.h"

/* The word of a token that begins a statement; HEAD_COUNT if it begins none. */
static enum ast_head head_of(int token)
{
	switch (token) {
#define HEAD_CASE(name, text, blocks)                                                    \
	case TOKEN_##name: return HEAD_##name;
		AST_HEADS(HEAD_CASE)
#undef HEAD_CASE
	default: return HEAD_COUNT;
	}
}

static const char *text_of(struct parse *parse, struct span span)
{
	return diag_quoted(parse->builder.diags, parse->source->text + span.start,
		span.end - span.start);
}

static const char *found(struct parse *parse, int token, struct span span)
{
	const char *kind = token == TOKEN_PATH     ? "the path "
			   : token == TOKEN_STRING ? "the text "
						   : "";

	if (token == TOKEN_NL || token == 0) {
		if (span.start >= parse->source->len)
			return "the end of the file";
		char c = parse->source->text[span.start];
		return c == ';' ? "`;`" : c == '}' ? "`}`" : "the end of the line";
	}
	return arena_printf(parse->builder.arena, "%s`%s`", kind, text_of(parse, span));
}

/* ---- unknown statements ------------------------------------------------- */

/* What other languages say. */
static const struct {
	const char *text;
	enum ast_head head;
} relatives[] = {{"import", HEAD_INCLUDE}, {"profile", HEAD_POLICY},
	{"sandbox", HEAD_POLICY}, {"block", HEAD_HIDE}, {"forbid", HEAD_HIDE},
	{"ro", HEAD_READ}, {"rw", HEAD_WRITE}, {"net", HEAD_NETWORK}, {"tmp", HEAD_TEMP},
	{"dev", HEAD_DEVICES}, {"env", HEAD_ENVIRONMENT}, {"guards", HEAD_GUARD},
	{"unset", HEAD_DROP}, {"export", HEAD_SET}};

#define WORD_SHOWN 32

static void lower(char text[WORD_SHOWN], const char *bytes, uint32_t len)
{
	uint32_t n = len < WORD_SHOWN ? len : 0;

	for (uint32_t i = 0; i < n; i++)
		text[i] = (char)(bytes[i] >= 'A' && bytes[i] <= 'Z' ? bytes[i] + 32
								    : bytes[i]);
	text[n] = '\0';
}

/* The statement that was most likely meant: of two equally near ones the one
 * that may stand here. */
static enum ast_head nearest_head(const struct parse *parse, struct span span)
{
	static const unsigned blocks[HEAD_COUNT] = {
#define HEAD_BLOCKS(name, text, where) [HEAD_##name] = where,
		AST_HEADS(HEAD_BLOCKS)
#undef HEAD_BLOCKS
	};
	unsigned here = 1U << ast_build_block(&parse->builder);
	char text[WORD_SHOWN];
	size_t best = SIZE_MAX;
	enum ast_head head = HEAD_COUNT;

	lower(text, parse->source->text + span.start, span.end - span.start);
	for (unsigned i = 0; i < HEAD_COUNT; i++) {
		size_t distance = vocabulary_distance(
			ast_head_text((enum ast_head)i), text);
		if (distance == SIZE_MAX)
			continue;
		distance = distance * 2 + !(blocks[i] & here);
		if (distance < best) {
			best = distance;
			head = (enum ast_head)i;
		}
	}
	for (size_t i = 0;
		head == HEAD_COUNT && i < sizeof(relatives) / sizeof(*relatives); i++)
		if (strcmp(relatives[i].text, text) == 0)
			head = relatives[i].head;
	return head;
}

/* The statements of a block, for advice. */
static const char *heads_of(struct parse *parse, enum ast_block block)
{
	static const unsigned blocks[HEAD_COUNT] = {
#define HEAD_BLOCKS(name, text, where) [HEAD_##name] = where,
		AST_HEADS(HEAD_BLOCKS)
#undef HEAD_BLOCKS
	};
	struct buf out = BUF_INIT;

	for (unsigned i = HEAD_CORDON + 1; i < HEAD_COUNT; i++)
		if (blocks[i] & 1U << block)
			buf_printf(&out, "%s`%s`", out.len ? ", " : "",
				ast_head_text((enum ast_head)i));
	const char *text = arena_bytes(
		parse->builder.arena, out.data ? out.data : "", out.len);
	buf_release(&out);
	return text;
}

/* Returns what was most likely meant. */
static enum ast_head report_unknown(struct parse *parse, struct span span)
{
	enum ast_block block = ast_build_block(&parse->builder);
	enum ast_head near = nearest_head(parse, span);
	struct diags *diags = parse->builder.diags;

	if (block == BLOCK_UNKNOWN)
		return near;
	struct diag *diag = diag_report(
		diags, CODE_E013, span, "`%s` is not a statement", text_of(parse, span));
	if (near != HEAD_COUNT)
		diag_fix(diags, diag, span, "%s", ast_head_text(near));
	else
		diag_help(diags, diag, "what can stand %s: %s", ast_block_text(block),
			heads_of(parse, block));
	return near;
}

/* ---- expected, found ---------------------------------------------------- */

struct expected {
	const char *const *names;
	size_t count;
};

static bool has(const struct expected *expected, const char *name)
{
	for (size_t i = 0; i < expected->count; i++)
		if (strcmp(expected->names[i], name) == 0)
			return true;
	return false;
}

/* Tokens of which each group is said by its first name. */
static const char *const path_words[] = {"path", "text", "set reference", "glob",
	"everything", "name", "word", "number", "bad", NULL};

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Is a token not worth a mention, because a group says it? */
static bool is_covered(const struct expected *expected, const char *name)
{
	bool path = has(expected, "path"), any_name = has(expected, "hide");

	if (path && has(expected, "bad") && is_in(path_words, name))
		return true;
	/* A place for a name takes every keyword. */
	if (any_name && strcmp(name, "text") != 0 && strcmp(name, "path") != 0)
		return true;
	return strcmp(name, "bad") == 0 || strcmp(name, "number") == 0 ||
	       (strcmp(name, "word") == 0 && has(expected, "name"));
}

/* `deny` begins two statements; only one of them stands in this block. */
static bool is_elsewhere(const struct parse *parse, const char *name)
{
	static const char *const guards[] = {
		"command", "argument", "eval", "metacharacters", NULL};
	static const char *const levels[] = {"read", "write", NULL};
	enum ast_block block = ast_build_block(&parse->builder);

	if (parse->head != TOKEN_DENY || parse->index != 1)
		return false;
	return (block == BLOCK_EXPECT && is_in(guards, name)) ||
	       (block == BLOCK_GUARD && is_in(levels, name));
}

/* What is meant where a name is expected. */
static const char *name_called(const struct parse *parse)
{
	if (parse->before == TOKEN_ON)
		return "a platform";
	switch (parse->head) {
	case TOKEN_MODE:
	case TOKEN_DEFAULT:
	case TOKEN_CEILING: return "a mode";
	case TOKEN_NAME:
		return parse->before == TOKEN_ARROW ? "a mode"
						    : "`ask`, `allow` or `never`";
	case TOKEN_EXPECT: return parse->before == TOKEN_IN ? "a mode" : "a platform";
	case TOKEN_ON: return "a platform";
	case TOKEN_REQUIRE:
		return parse->index == 1 ? "`full` or `partial`" : "a platform";
	case TOKEN_TEMP: return "`private`, `host` or `none`";
	case TOKEN_DEVICES: return "`null`, `standard` or `pty`";
	case TOKEN_NETWORK: return "`host` or `none`";
	case TOKEN_TIMEOUT: return "a time like `60s`";
	case TOKEN_OUTPUT: return "a size like `1MiB`";
	case TOKEN_CORDON: return "the version `1`";
	default: return "a name";
	}
}

/* How people call a token. */
static const char *called(
	struct parse *parse, const struct expected *expected, const char *name)
{
	static const struct {
		const char *name, *called;
	} table[] = {{"end of statement", "the end of the statement"},
		{"text", "a quoted text"}, {"set reference", "a set"},
		{"path", "a pattern in quotes"}, {"argument word", "a word"},
		{"word", "a word"}, {"number", "a number"}};

	if (strcmp(name, "name") == 0)
		return has(expected, "end of statement") ? "a word" : name_called(parse);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].called;
	return arena_printf(parse->builder.arena, "`%s`", name);
}

#define SAID_MAX 16

static const char *wanted(struct parse *parse, const struct expected *expected)
{
	const char *said[SAID_MAX];
	size_t count = 0;
	struct buf out = BUF_INIT;

	if (has(expected, "path") && has(expected, "bad"))
		said[count++] = "a path";
	else if (has(expected, "hide"))
		said[count++] = has(expected, "word") ? name_called(parse)
						      : "a statement";
	for (size_t i = 0; i < expected->count && count < SAID_MAX; i++)
		if (!is_covered(expected, expected->names[i]) &&
			!is_elsewhere(parse, expected->names[i]))
			said[count++] = called(parse, expected, expected->names[i]);
	/* The end of the statement is always the last resort. */
	for (size_t i = 0; i + 1 < count; i++) {
		if (strcmp(said[i], "the end of the statement") != 0)
			continue;
		memmove(said + i, said + i + 1, (count - i - 1) * sizeof(*said));
		said[count - 1] = "the end of the statement";
		break;
	}
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s%s",
			i == 0          ? ""
			: i + 1 < count ? ", "
					: " or ",
			said[i]);
	const char *text = arena_bytes(
		parse->builder.arena, out.data ? out.data : "", out.len);
	buf_release(&out);
	return text;
}

/* A keyword that was meant by a mistyped word. */
static const char *nearest_keyword(
	struct parse *parse, const struct expected *expected, struct span span)
{
	char text[WORD_SHOWN];
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	if (has(expected, "hide"))
		return NULL;
	lower(text, parse->source->text + span.start, span.end - span.start);
	for (size_t i = 0; i < expected->count; i++) {
		const char *name = expected->names[i];
		if (is_in(path_words, name) || strchr(name, ' ') ||
			is_elsewhere(parse, name))
			continue;
		size_t distance = vocabulary_distance(name, text);
		if (distance < best_distance) {
			best = name;
			best_distance = distance;
		}
	}
	return best;
}

static bool is_bare_word(int token)
{
	return token == TOKEN_NAME || token == TOKEN_WORD || token == TOKEN_NUMBER;
}

static bool is_item(int token)
{
	return token == TOKEN_PATH || token == TOKEN_STRING || token == TOKEN_SETREF ||
	       token == TOKEN_GLOB || token == TOKEN_EVERYTHING;
}

static void advise(struct parse *parse, struct diag *diag, int token, struct span span,
	const struct expected *expected)
{
	struct diags *diags = parse->builder.diags;
	const char *near = is_bare_word(token) ? nearest_keyword(parse, expected, span)
					       : NULL;
	bool filter = parse->head == TOKEN_KEEP || parse->head == TOKEN_DROP;
	bool filter_word = token == TOKEN_CLEAR || token == TOKEN_KEEP ||
			   token == TOKEN_DROP || token == TOKEN_SET;

	if (near)
		diag_fix(diags, diag, span, "%s", near);
	else if (parse->index == 0 && (is_item(token) || token == TOKEN_COMMA))
		diag_help(diags, diag,
			"a list goes on in the next line only after a comma");
	else if (filter && filter_word)
		diag_fix(diags, diag, span, "\"%s\"", text_of(parse, span));
	else if (has(expected, "text") && (is_bare_word(token) || token == TOKEN_PATH))
		diag_fix(diags, diag, span, "\"%s\"", text_of(parse, span));
	else if (has(expected, ",") && (is_item(token) || token == TOKEN_ARGUMENT))
		diag_help(diags, diag, "members of a list are separated by commas");
	else if (has(expected, "end of statement") && head_of(token) != HEAD_COUNT)
		diag_help(
			diags, diag, "a statement ends at the end of its line or at `;`");
}

static void report_expected(
	struct parse *parse, int token, struct span span, const struct expected *expected)
{
	const char *what = parse->index == 0 ? "a statement" : wanted(parse, expected);
	struct diag *diag = diag_report(parse->builder.diags, CODE_E003, span,
		"expected %s, found %s", what, found(parse, token, span));

	advise(parse, diag, token, span, expected);
}

static bool is_reported(const struct parse *parse, int token, struct span span)
{
	const struct span *brace = &parse->brace_reported, *behind = &parse->separated;

	return token == TOKEN_BAD || (brace->file && brace->start == span.start) ||
	       (behind->file && behind->start == span.start);
}

void parse_unexpected(struct parse *parse, int token, struct span span,
	const char *const *names, size_t count)
{
	struct ast_builder *builder = &parse->builder;
	struct expected expected = {names, count};
	enum ast_head head = head_of(parse->head);
	bool named = parse->head == TOKEN_NAME && parse->index == 1 &&
		     ast_build_block(builder) != BLOCK_LADDER;

	if (parse->head != TOKEN_CORDON)
		ast_build_no_version(
			builder, (struct span){parse->file, parse->head_span.start,
					 parse->head_span.start});
	if (named || (parse->index == 0 && token == TOKEN_WORD))
		head = report_unknown(parse, parse->head_span);
	else if (!is_reported(parse, token, span))
		report_expected(parse, token, span, &expected);
	ast_build_broken_head(builder, ast_head_block(head));
}
