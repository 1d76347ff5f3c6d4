/* SPDX-License-Identifier: Apache-2.0
 *
 * Between lexer and parser: which line ends end a statement, and braces that
 * always balance.
 *
 * The one idea: the parser is told what people meant. A NL stands behind every
 * statement, also before `}` and at the end; a missing `}` is reported once and
 * then made up; a stray one is reported and left out; a block that is nested too
 * deeply is reported and skipped. So the parser's own recovery never has to
 * look beyond one statement.
 */
#include "grammar/parse.h"

#include <string.h>

#include "compiler/utf8.h"
#include "grammar/parser.h"

/* Findings of one file after which nothing more is read. */
#define ERRORS_READ (10 * DIAG_ERRORS_MAX)

/* ---- encoding ----------------------------------------------------------- */

/* Plain bytes from i on: the usual case, eight at a time. */
static size_t skip_plain(const struct source *source, size_t i)
{
	const uint64_t high = 0x8080808080808080U, low = 0x0101010101010101U;

	for (uint64_t word; i + sizeof(word) <= source->len; i += sizeof(word)) {
		memcpy(&word, source->text + i, sizeof(word));
		uint64_t cr = word ^ (low * '\r');
		if ((word & high) || ((cr - low) & ~cr & high))
			break;
	}
	return i;
}

/* Length of what is right at i, 0 if it is not. */
static size_t take_character(const struct source *source, size_t i)
{
	if (source->text[i] == '\r')
		return i + 1 < source->len && source->text[i + 1] == '\n' ? 2 : 0;
	return utf8_length_at(source->text + i, source->len - i);
}

static bool is_utf16(const struct source *source)
{
	return source->len >= 2 && (memcmp(source->text, "\xff\xfe", 2) == 0 ||
					   memcmp(source->text, "\xfe\xff", 2) == 0);
}

bool parse_check_encoding(const struct parse *parse)
{
	const struct source *source = parse->source;
	struct diags *diags = parse->builder.diags;
	unsigned reported = 0;

	if (is_utf16(source)) {
		diag_report(diags, CODE_E005, (struct span){parse->file, 0, 2},
			"this file is UTF-16; a policy is UTF-8");
		return false;
	}
	for (size_t i = 0; (i = skip_plain(source, i)) < source->len;) {
		size_t n = take_character(source, i);
		if (n) {
			i += n;
			continue;
		}
		struct span span = {parse->file, (uint32_t)i, (uint32_t)i + 1};
		if (source->text[i] == '\r')
			diag_report(diags, CODE_E005, span,
				"a carriage return without a newline");
		else
			diag_report(diags, CODE_E005, span,
				"the byte \\x%02x is not part of a UTF-8 character",
				(unsigned char)source->text[i]);
		if (++reported >= DIAG_ERRORS_MAX)
			return false;

		/* One finding a line: the rest is most likely the same mistake. */
		const char *end = memchr(source->text + i, '\n', source->len - i);
		i = end ? (size_t)(end - source->text) + 1 : source->len;
	}
	return true;
}

/* ---- line ends and braces ----------------------------------------------- */

static void begin_line(struct parse *parse, uint32_t at)
{
	const struct source *source = parse->source;
	uint32_t end = at;

	while (end < source->len &&
		(source->text[end] == ' ' || source->text[end] == '\t'))
		end++;
	parse->line_start = at;
	parse->line_indent = end - at;
}

static bool is_first_on_line(const struct parse *parse, struct span span)
{
	return span.start == parse->line_start + parse->line_indent;
}

/* The next token as written, or the one that was pushed back. */
static int fetch(struct parse *parse, struct span *span)
{
	uint32_t end = (uint32_t)parse->source->len;
	int token = parse->pushed;

	if (token >= 0) {
		*span = parse->pushed_span;
		parse->pushed = -1;
		return token;
	}
	if (parse->builder.stop ||
		parse->builder.diags->errors - parse->errors_before >= ERRORS_READ)
		parse->ended = parse->end_reported = true;
	token = parse->ended ? 0 : cordon_lexer_lex(span, parse->scanner);
	if (token == 0) {
		parse->ended = true;
		*span = (struct span){parse->file, end, end};
	} else if (token == TOKEN_NL && parse->source->text[span->start] != ';') {
		begin_line(parse, span->end);
	}
	return token;
}

static int hand_out(struct parse *parse, int token, struct span span)
{
	if (parse->last == 0 || parse->last == TOKEN_NL || parse->last == TOKEN_OPEN) {
		parse->head = token;
		parse->head_span = span;
		parse->index = 0;
	} else {
		parse->index++;
	}
	parse->before = parse->last;
	parse->last = token;
	return token;
}

/* Hands out a token that is not written, in front of `token`. */
static int insert(struct parse *parse, int inserted, int token, struct span *span)
{
	parse->pushed = token;
	parse->pushed_span = *span;
	span->end = span->start;
	return hand_out(parse, inserted, *span);
}

static bool needs_nl(const struct parse *parse)
{
	return parse->last != 0 && parse->last != TOKEN_NL && parse->last != TOKEN_OPEN;
}

/* The offset of the next thing that is no white space and no comment. */
static size_t peek(const struct source *source, size_t i)
{
	while (i < source->len) {
		char c = source->text[i];
		if (c == '#') {
			const char *end = memchr(source->text + i, '\n', source->len - i);
			i = end ? (size_t)(end - source->text) : source->len;
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			i++;
		} else {
			break;
		}
	}
	return i;
}

/* A `{` in front of the next statement is one that belongs to this head. */
static bool brace_follows(struct parse *parse, struct span span)
{
	size_t at = peek(parse->source, span.end);

	if (at >= parse->source->len || parse->source->text[at] != '{')
		return false;
	parse->brace_reported = (struct span){
		parse->file, (uint32_t)at, (uint32_t)at + 1};
	struct diag *diag = diag_report(parse->builder.diags, CODE_E003,
		parse->brace_reported, "`{` stands on the line of its head");
	diag_second(parse->builder.diags, diag, parse->head_span, "the head is here");
	return true;
}

static void skip_block(struct parse *parse)
{
	struct span span;

	for (unsigned open = 1; open;) {
		int token = fetch(parse, &span);
		if (token == 0)
			return;
		open += token == TOKEN_OPEN;
		open -= token == TOKEN_CLOSE;
	}
}

static int open_brace(struct parse *parse, struct span span)
{
	if (parse->depth == AST_NESTING_MAX) {
		diag_report(parse->builder.diags, CODE_E010, span,
			"blocks are nested more than %d deep", AST_NESTING_MAX);
		skip_block(parse);
		parse->block_skipped = true;
	} else {
		parse->braces[parse->depth++] = (struct parse_brace){
			span, parse->line_indent};
	}
	return hand_out(parse, TOKEN_OPEN, span);
}

static int close_brace(struct parse *parse, struct span span)
{
	const struct parse_brace *brace = &parse->braces[--parse->depth];

	/* Whoever indents shows which `{` was meant. */
	if (!parse->suspect.file && brace->span.start < parse->line_start &&
		is_first_on_line(parse, span) && parse->line_indent < brace->indent) {
		parse->suspect = brace->span;
		parse->suspect_close = span;
	}
	return hand_out(parse, TOKEN_CLOSE, span);
}

/* A second look at a file that lacks a `}`: it is made up where it is missing,
 * so that what follows is read in its own block. */
static bool closes_outer(struct parse *parse, struct span span)
{
	if (!parse->lacking.file || parse->lacking.start != span.start)
		return false;
	struct diag *diag = diag_report(parse->builder.diags, CODE_E003,
		parse->braces[parse->depth - 1].span, "this `{` is not closed");
	diag_second(parse->builder.diags, diag, span,
		"a `}` is missing in front of this one");
	parse->lacking.file = 0;
	return true;
}

static void report_stray(struct parse *parse, struct span span)
{
	if (parse->forgiven) {
		parse->forgiven--;
		return;
	}
	diag_report(parse->builder.diags, CODE_E003, span, "`}` without a `{`");
}

static void report_open(struct parse *parse, struct span span, const char *before)
{
	struct span brace = parse->suspect.file ? parse->suspect
						: parse->braces[parse->depth - 1].span;
	struct diag *diag = diag_report(
		parse->builder.diags, CODE_E003, span, "expected `}`, found %s", before);

	diag_second(parse->builder.diags, diag, brace, "this `{` is not closed");
}

static int finish(struct parse *parse, struct span *span)
{
	if (needs_nl(parse))
		return insert(parse, TOKEN_NL, 0, span);
	if (parse->depth == 0)
		return hand_out(parse, 0, *span);
	if (!parse->end_reported)
		report_open(parse, *span, "the end of the file");
	parse->unbalanced |= !parse->end_reported;
	parse->end_reported = true;
	parse->depth--;
	return insert(parse, TOKEN_CLOSE, 0, span);
}

/* A statement of the top level that begins a line at its first column, with
 * blocks open: a `}` is missing, and nobody meant to nest policies. */
static bool unwinds(struct parse *parse, int token, struct span span)
{
	if (parse->depth == 0 || span.start != parse->line_start)
		return false;
	if (token != TOKEN_POLICY && token != TOKEN_LET && token != TOKEN_VAR &&
		token != TOKEN_INCLUDE)
		return false;
	return parse->last == TOKEN_NL || parse->last == TOKEN_OPEN || parse->unwinding;
}

static int unwind(struct parse *parse, int token, struct span *span)
{
	if (!parse->unwinding)
		report_open(parse, *span,
			arena_printf(parse->builder.arena, "`%.*s`",
				(int)(span->end - span->start),
				parse->source->text + span->start));
	parse->unwinding = true;
	if (needs_nl(parse))
		return insert(parse, TOKEN_NL, token, span);
	parse->depth--;
	parse->forgiven++;
	parse->suspect = (struct span){0};
	return insert(parse, TOKEN_CLOSE, token, span);
}

/* A block ends its statement: were this left to the parser, its recovery would
 * go back into the block. */
static int separate(struct parse *parse, int token, struct span *span)
{
	if (!parse->unwinding)
		diag_report(parse->builder.diags, CODE_E003, *span,
			"expected the end of the statement behind `}`, found `%s`",
			diag_quoted(parse->builder.diags,
				parse->source->text + span->start,
				span->end - span->start));
	parse->separated = *span;
	return insert(parse, TOKEN_NL, token, span);
}

/* A token that is neither a line end nor a `}`. */
static int ordinary(struct parse *parse, int token, struct span *span)
{
	if (unwinds(parse, token, *span))
		return unwind(parse, token, span);
	if (parse->last == TOKEN_CLOSE)
		return separate(parse, token, span);
	parse->unwinding = false;
	return token == TOKEN_OPEN ? open_brace(parse, *span)
				   : hand_out(parse, token, *span);
}

int parse_next(struct parse *parse, struct span *span)
{
	if (parse->block_skipped) {
		parse->block_skipped = false;
		return hand_out(parse, TOKEN_CLOSE, *span);
	}
	for (;;) {
		int token = fetch(parse, span);
		switch (token) {
		case 0: return finish(parse, span);
		case TOKEN_CLOSE:
			if (parse->depth == 0)
				report_stray(parse, *span);
			else if (needs_nl(parse))
				return insert(parse, TOKEN_NL, token, span);
			else if (closes_outer(parse, *span)) {
				parse->depth--;
				return insert(parse, TOKEN_CLOSE, token, span);
			} else
				return close_brace(parse, *span);
			if (!needs_nl(parse))
				continue;
			return hand_out(parse, TOKEN_NL, *span);
		case TOKEN_NL:
			if (!needs_nl(parse) || parse->last == TOKEN_COMMA ||
				brace_follows(parse, *span))
				continue;
			return hand_out(parse, token, *span);
		default: return ordinary(parse, token, span);
		}
	}
}
