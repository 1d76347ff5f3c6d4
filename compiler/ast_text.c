/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes the bytes of a written path, pattern or value and gives the decoded
 * bytes with the places of variables.
 *
 * One loop (decode) serves every way of writing: a table says which bytes are
 * special in which way, runs of ordinary bytes are copied at once, and each
 * special byte has one handler. What is decoded is then looked at as a path
 * (check_path) or as a pattern (ast_glob.c).
 */
#include "compiler/ast_text.h"

#include <string.h>

#include "compiler/ast_glob.h"
#include "compiler/utf8.h"

/* In which ways of writing is a byte special? */
enum {
	IN_BARE = 1 << AST_BARE,
	IN_DOUBLE = 1 << AST_DOUBLE,
	IN_VERBATIM = 1 << AST_VERBATIM,
	IN_PLAIN = 1 << AST_PLAIN
};
#define IN_ALL (IN_BARE | IN_DOUBLE | IN_VERBATIM | IN_PLAIN)

static const unsigned char special[256] = {
	[0 ... 0x1f] = IN_ALL,
	[0x7f ... 0xff] = IN_ALL,
	['#'] = IN_BARE,
	['"'] = IN_BARE,
	['\''] = IN_BARE,
	['{'] = IN_BARE,
	['*'] = IN_BARE,
	['?'] = IN_BARE,
	['['] = IN_BARE,
	[']'] = IN_BARE,
	['\\'] = IN_BARE | IN_DOUBLE,
	['$'] = IN_BARE | IN_DOUBLE | IN_PLAIN,
};

struct decoder {
	const struct ast_texts *texts;
	const struct ast_raw *raw;
	const char *p; /* what is between the quotes */
	uint32_t len;
	uint32_t i;
	uint32_t base; /* offset of p in the raw text */
	bool variables; /* `${name}` and `~` are replaced */
	bool drive; /* a bare path whose `\` separates */
	bool bad; /* at most one finding of each text */
	char *out;
	uint32_t out_len;
	struct ast_hole *holes;
	size_t hole_count, hole_cap;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_drive(const char *p, size_t len)
{
	return len >= 3 && is_letter(p[0]) && p[1] == ':' &&
	       (p[2] == '\\' || p[2] == '/');
}

bool ast_text_is_name(const char *bytes, size_t len)
{
	if (len == 0 || !(is_letter(bytes[0]) || bytes[0] == '_') ||
		bytes[len - 1] == '-')
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_letter(bytes[i]) && !(bytes[i] >= '0' && bytes[i] <= '9') &&
			bytes[i] != '_' && bytes[i] != '-')
			return false;
	return true;
}

/* The place of bytes [from, to) of what is between the quotes. */
static struct span place(const struct decoder *d, uint32_t from, uint32_t to)
{
	struct span span = d->raw->span;

	if (d->raw->quoting == AST_PLAIN)
		return span;
	return (struct span){
		span.file, span.start + d->base + from, span.start + d->base + to};
}

static const char *shown(const struct decoder *d)
{
	return diag_quoted(d->texts->diags, d->raw->bytes, d->raw->len);
}

/* One character of a path as "…" spells it; what cannot be seen is spelled out. */
static void put_spelled(struct buf *out, const char *p, uint32_t n)
{
	if (n > 1 && utf8_is_invisible(utf8_value_at(p, n)))
		for (uint32_t i = 0; i < n; i++)
			buf_printf(out, "\\x%02x", (unsigned char)p[i]);
	else if (*p == '\\')
		buf_puts(out, "\\\\");
	else
		buf_put(out, p, n);
}

/* The path that a word means in a shell, as a quoted path: shells' quotes and
 * backslashes go, everything else stays. */
static const char *quoted_spelling(const struct decoder *d)
{
	struct buf out = BUF_INIT;
	uint32_t n;

	buf_putc(&out, '"');
	for (uint32_t i = 0; i < d->len; i += n) {
		n = (uint32_t)utf8_length_at(d->p + i, d->len - i);
		n = n ? n : 1;
		if (d->p[i] == '"' || d->p[i] == '\'' || (d->p[i] == '\\' && !d->drive))
			continue;
		put_spelled(&out, d->p + i, n);
	}
	buf_putc(&out, '"');
	const char *text = arena_bytes(d->texts->arena, out.data, out.len);
	buf_release(&out);
	return text;
}

/* A character that a bare path cannot hold. A set has no quoted spelling. */
static void reject_bare(struct decoder *d, uint32_t n, const char *what)
{
	struct diags *diags = d->texts->diags;
	char c = d->p[d->i];

	if (!d->bad) {
		struct diag *diag = diag_report(diags, CODE_E008,
			place(d, d->i, d->i + n), "%s cannot stand in a bare path", what);
		if (d->raw->bytes[0] == '@')
			diag_help(diags, diag,
				"give the path a name with `let` and quote it "
				"there");
		else
			diag_fix(diags, diag, d->raw->span, "%s", quoted_spelling(d));
		if (c == '#')
			diag_help(diags, diag,
				"a comment begins at the start of a line or "
				"after white space");
		if (c == '*' || c == '?' || c == '[')
			diag_help(diags, diag,
				"a quoted path is literal; a pattern is "
				"written `glob \"…\"`");
	}
	d->bad = true;
	d->i += n;
}

static void put(struct decoder *d, const char *bytes, uint32_t n)
{
	memcpy(d->out + d->out_len, bytes, n);
	d->out_len += n;
	d->i += n;
}

/* Control characters, and in bare paths what cannot be seen. Bytes that are
 * not UTF-8 were reported for the whole file. */
static void take_character(struct decoder *d)
{
	uint32_t n = (uint32_t)utf8_length_at(d->p + d->i, d->len - d->i);

	if (n == 0) {
		d->bad = true;
		d->i++;
		return;
	}

	uint32_t c = utf8_value_at(d->p + d->i, n);
	if (utf8_is_control(c)) {
		if (!d->bad)
			diag_report(d->texts->diags, CODE_E009, place(d, d->i, d->i + n),
				"the control character U+%04X cannot stand in a text", c);
		d->bad = true;
		d->i += n;
	} else if (d->raw->quoting == AST_BARE && utf8_is_invisible(c)) {
		reject_bare(d, n,
			arena_printf(d->texts->arena,
				"U+%04X, which looks like a space or like nothing,", c));
	} else {
		put(d, d->p + d->i, n);
	}
}

static void add_hole(struct decoder *d, const char *name, uint32_t len, struct span span)
{
	d->holes = arena_grow(d->texts->arena, d->holes, d->hole_count, &d->hole_cap,
		sizeof(*d->holes));
	d->holes[d->hole_count++] = (struct ast_hole){
		d->out_len, {arena_bytes(d->texts->arena, name, len), len, span}};
}

static void reject_variable(struct decoder *d, uint32_t end, const char *what)
{
	if (!d->bad) {
		struct diag *diag = diag_report(d->texts->diags, CODE_E023,
			place(d, d->i, end), "`%s` %s",
			diag_quoted(d->texts->diags, d->p + d->i, end - d->i), what);
		diag_help(d->texts->diags, diag,
			"a variable is written `${name}`; in '…' a `$` means itself");
	}
	d->bad = true;
	d->i = end;
}

/* `$NAME` of a shell, in a bare path. */
static void reject_dollar(struct decoder *d)
{
	uint32_t end = d->i + 1;

	while (end < d->len && (is_letter(d->p[end]) || d->p[end] == '_'))
		end++;
	bool home = end - d->i == 5 && memcmp(d->p + d->i, "$HOME", 5) == 0;
	if (home && !d->bad) {
		struct diag *diag = diag_report(d->texts->diags, CODE_E008,
			place(d, d->i, end), "`$HOME` is not a variable of a policy");
		diag_fix(d->texts->diags, diag, place(d, d->i, end), "${home}");
		diag_help(d->texts->diags, diag,
			"environment variables are never read; `${home}` comes from the "
			"user database");
		d->bad = true;
	}
	reject_bare(d, 1, "a `$` without `{name}`");
}

static void take_dollar(struct decoder *d)
{
	const char *name = d->p + d->i + 2;

	if (d->i + 1 >= d->len || d->p[d->i + 1] != '{') {
		if (d->raw->quoting == AST_BARE)
			reject_dollar(d);
		else
			put(d, "$", 1);
		return;
	}

	const char *close = memchr(name, '}', d->len - d->i - 2);
	if (!close) {
		reject_variable(d, d->len, "has no `}`");
		return;
	}
	uint32_t len = (uint32_t)(close - name), end = d->i + 2 + len + 1;
	if (!ast_text_is_name(name, len)) {
		reject_variable(d, end, "is not a variable");
		return;
	}
	add_hole(d, name, len, place(d, d->i, end));
	d->i = end;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void reject_escape(struct decoder *d, uint32_t n, const char *what)
{
	if (!d->bad) {
		struct diag *diag = diag_report(d->texts->diags, CODE_E007,
			place(d, d->i, d->i + n), "`%s` %s",
			diag_quoted(d->texts->diags, d->p + d->i, n), what);
		diag_help(d->texts->diags, diag,
			"a backslash is written `\\\\`, or the text in '…', where it "
			"means "
			"itself");
	}
	d->bad = true;
	d->i += n;
}

/* `\\`, `\"` and `\x80` to `\xFF`. */
static void take_escape(struct decoder *d)
{
	const char *p = d->p + d->i;
	uint32_t left = d->len - d->i;

	if (left >= 2 && (p[1] == '\\' || p[1] == '"')) {
		d->out[d->out_len++] = p[1];
		d->i += 2;
	} else if (left >= 4 && p[1] == 'x' && hex_digit(p[2]) >= 0 &&
		   hex_digit(p[3]) >= 0) {
		int value = hex_digit(p[2]) * 16 + hex_digit(p[3]);
		if (value < 0x80) {
			reject_escape(d, 4, "is not an escape: only \\x80 to \\xFF are");
			return;
		}
		d->out[d->out_len++] = (char)value;
		d->i += 4;
	} else {
		uint32_t n = left > 1 ? (uint32_t)utf8_length_at(p + 1, left - 1) : 0;
		reject_escape(d, 1 + n, "is not an escape");
	}
}

static void take_special(struct decoder *d)
{
	unsigned char c = (unsigned char)d->p[d->i];

	if (c < 0x20 || c >= 0x7f)
		take_character(d);
	else if (c == '$' && d->variables)
		take_dollar(d);
	else if (c == '$')
		put(d, "$", 1);
	else if (c == '\\' && d->raw->quoting == AST_DOUBLE)
		take_escape(d);
	else if (c == '\\' && d->drive)
		put(d, "\\", 1);
	else
		reject_bare(d, 1, arena_printf(d->texts->arena, "`%c`", c));
}

/* `~` is the home directory only as the whole first component. */
static void take_home(struct decoder *d)
{
	if (d->len == 0 || d->p[0] != '~' || d->raw->quoting == AST_VERBATIM)
		return;
	if (d->len == 1 || d->p[1] == '/') {
		add_hole(d, "home", 4, place(d, 0, 1));
		d->i = 1;
		return;
	}

	const char *slash = memchr(d->p, '/', d->len);
	uint32_t end = slash ? (uint32_t)(slash - d->p) : d->len;
	struct diag *diag = diag_report(d->texts->diags, CODE_E030, place(d, 0, end),
		"`%s` is not a home directory: `~` stands only for the whole first "
		"component",
		diag_quoted(d->texts->diags, d->p, end));
	diag_help(d->texts->diags, diag,
		"write the absolute path of another user's "
		"directory");
	d->bad = true;
}

static void decode(struct decoder *d, const struct ast_texts *texts,
	const struct ast_raw *raw, bool variables)
{
	bool quotes = raw->quoting == AST_DOUBLE || raw->quoting == AST_VERBATIM;
	unsigned char in = (unsigned char)(1U << raw->quoting);

	*d = (struct decoder){.texts = texts, .raw = raw, .variables = variables};
	d->base = quotes;
	d->p = raw->bytes + d->base;
	d->len = raw->len - 2 * d->base;
	d->drive = raw->quoting == AST_BARE && is_drive(d->p, d->len);
	d->out = arena_alloc(texts->arena, (size_t)d->len + 1);
	if (variables)
		take_home(d);

	while (d->i < d->len) {
		uint32_t run = d->i;
		while (run < d->len && !(special[(unsigned char)d->p[run]] & in))
			run++;
		if (run > d->i)
			put(d, d->p + d->i, run - d->i);
		else
			take_special(d);
	}
}

static struct ast_text decoded(const struct decoder *d)
{
	return (struct ast_text){d->out, d->out_len, (uint32_t)d->hole_count, d->holes};
}

/* A `..` between separators. Where `\` may be a separator on one platform it is
 * taken for one: a policy that climbs on Windows is wrong everywhere. */
static bool climbs(const struct decoder *d)
{
	const char *p = d->out;

	for (uint32_t i = 0; i + 1 < d->out_len; i++) {
		if (p[i] != '.' || p[i + 1] != '.')
			continue;
		bool first = i == 0 || p[i - 1] == '/' || p[i - 1] == '\\';
		bool last = i + 2 == d->out_len || p[i + 2] == '/' || p[i + 2] == '\\';
		for (size_t k = 0; k < d->hole_count; k++)
			if (d->holes[k].at >= i && d->holes[k].at <= i + 2)
				first = false;
		if (first && last)
			return true;
	}
	return false;
}

static bool is_absolute(const struct decoder *d)
{
	if (d->hole_count && d->holes[0].at == 0)
		return true;
	if (d->out_len && d->out[0] == '/')
		return true;
	return is_drive(d->out, d->out_len) && (!d->hole_count || d->holes[0].at > 2);
}

static bool starts(const struct decoder *d, const char *text)
{
	size_t len = strlen(text);

	return d->len >= len && memcmp(d->p, text, len) == 0;
}

static bool has_pattern_character(const char *p, size_t len)
{
	return memchr(p, '*', len) || memchr(p, '?', len) || memchr(p, '[', len);
}

/* What was probably meant by a path that is not absolute. */
static void report_relative(struct decoder *d)
{
	struct diags *diags = d->texts->diags;
	struct diag *diag;
	const char *text = diag_quoted(diags, d->p, d->len);
	uint32_t dot = starts(d, "./") ? 2 : 0;
	const char *quote = d->raw->quoting == AST_BARE &&
					    !has_pattern_character(d->p, d->len)
				    ? ""
				    : "\"";

	if (d->len == 0) {
		diag_report(diags, CODE_E030, d->raw->span, "an empty path");
		return;
	}
	diag = diag_report(
		diags, CODE_E030, d->raw->span, "`%s` is not an absolute path", text);
	if (d->raw->quoting == AST_VERBATIM && (starts(d, "~") || starts(d, "${"))) {
		diag_fix(diags, diag, d->raw->span, "\"%s\"", text);
		diag_help(diags, diag,
			"'…' is verbatim: `~` and `${name}` mean themselves "
			"in it");
	} else if (starts(d, "@")) {
		diag_help(diags, diag, "a set is written without quotes: `%s`", text);
	} else if (d->len >= 2 && is_letter(d->p[0]) && d->p[1] == ':') {
		diag_help(diags, diag, "a drive is followed by `\\` or `/`");
	} else if (starts(d, "\\")) {
		diag_help(
			diags, diag, "a path begins with `/`, `~`, `${name}` or a drive");
	} else if (starts(d, "..")) {
		diag_help(diags, diag,
			"write the whole path; a policy has no current "
			"directory");
	} else {
		diag_fix(diags, diag, d->raw->span, "%s${workspace}/%s%s", quote,
			diag_quoted(diags, d->p + dot, d->len - dot), quote);
	}
}

/* What a path and a pattern have in common. */
static bool check_common(struct decoder *d)
{
	if (d->bad)
		return false;
	if (!is_absolute(d)) {
		report_relative(d);
		return false;
	}
	if (d->out_len > AST_PATH_MAX) {
		diag_report(d->texts->diags, CODE_E035, d->raw->span,
			"a path of %u bytes; at most %d are possible", d->out_len,
			AST_PATH_MAX);
		return false;
	}
	return true;
}

bool ast_text_path(
	const struct ast_texts *texts, const struct ast_raw *raw, struct ast_text *out)
{
	struct decoder d;

	decode(&d, texts, raw, true);
	if (!check_common(&d))
		return false;
	if (climbs(&d)) {
		struct diag *diag = diag_report(texts->diags, CODE_E031, raw->span,
			"`%s` contains the component `..`", shown(&d));
		diag_help(
			texts->diags, diag, "write the path that is meant without `..`");
		return false;
	}
	if (raw->quoting != AST_BARE && has_pattern_character(d.out, d.out_len)) {
		struct diag *diag = diag_report(texts->diags, CODE_W101, raw->span,
			"`* ? [` in a path mean themselves");
		diag_help(texts->diags, diag, "a pattern is written `glob \"…\"`");
	}
	*out = decoded(&d);
	return true;
}

bool ast_text_glob(
	const struct ast_texts *texts, const struct ast_raw *raw, struct ast_text *out)
{
	struct decoder d;

	decode(&d, texts, raw, true);
	if (!check_common(&d))
		return false;
	if (is_drive(d.out, d.out_len) && d.out[2] == '\\') {
		diag_report(texts->diags, CODE_E025, raw->span,
			"in a pattern `\\` quotes a character; components are separated "
			"by `/`");
		return false;
	}
	*out = decoded(&d);
	return ast_glob_check(texts->diags, out, raw->span);
}

bool ast_text_set(const struct ast_texts *texts, const struct ast_raw *raw,
	struct ast_name *name, struct ast_text *rest)
{
	struct decoder d;
	const char *slash = memchr(raw->bytes, '/', raw->len);
	uint32_t end = slash ? (uint32_t)(slash - raw->bytes) : raw->len;

	if (!ast_text_is_name(raw->bytes + 1, end - 1)) {
		struct diag *diag = diag_report(texts->diags, CODE_E023, raw->span,
			"`%s` is not a set",
			diag_quoted(texts->diags, raw->bytes, raw->len));
		diag_help(texts->diags, diag, "a set is written `@name` or `@name/rest`");
		return false;
	}

	decode(&d, texts, raw, true);
	if (d.bad)
		return false;
	if (climbs(&d)) {
		diag_report(texts->diags, CODE_E031, raw->span,
			"`%s` contains the component `..`", shown(&d));
		return false;
	}
	if (d.out_len - end > AST_PATH_MAX) {
		diag_report(texts->diags, CODE_E035, raw->span,
			"a path of %u bytes; at most %d are possible", d.out_len - end,
			AST_PATH_MAX);
		return false;
	}
	*name = (struct ast_name){
		arena_bytes(texts->arena, raw->bytes + 1, end - 1), end - 1, raw->span};
	name->span.end = name->span.start + end;
	for (size_t i = 0; i < d.hole_count; i++)
		d.holes[i].at -= end;
	*rest = decoded(&d);
	rest->bytes += end;
	rest->len -= end;
	return true;
}

void ast_text_relative(const struct ast_texts *texts, const struct ast_raw *raw)
{
	struct decoder d = {.texts = texts, .raw = raw, .p = raw->bytes, .len = raw->len};

	report_relative(&d);
}

const char *ast_text_value(
	const struct ast_texts *texts, const struct ast_raw *raw, bool no_variables)
{
	struct decoder d;

	decode(&d, texts, raw, false);
	if (!d.bad && no_variables && raw->quoting == AST_DOUBLE) {
		const char *hole = memmem(d.p, d.len, "${", 2);
		if (hole) {
			d.i = (uint32_t)(hole - d.p);
			const char *close = memchr(hole, '}', d.len - d.i);
			reject_variable(&d, close ? (uint32_t)(close - d.p) + 1 : d.len,
				"is not replaced in this text");
		}
	}
	return d.bad ? NULL : d.out;
}
