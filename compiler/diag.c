/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings: collected in order of discovery, printed in source order with the
 * line and carets under the span.
 */
#include "compiler/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define QUOTED_MAX 200
#define LINE_MAX   160 /* bytes of a source line that are shown */

static const struct {
	const char *text;
	const char *title;
} codes[CODE_COUNT] = {
#define CODE_ENTRY(code, title) [CODE_##code] = {#code, title},
	CODES(CODE_ENTRY)
#undef CODE_ENTRY
};

void diags_init(struct diags *diags, struct arena *arena)
{
	*diags = (struct diags){.arena = arena};
	diags->tail = &diags->first;
}

enum severity diag_severity(enum code code)
{
	switch (codes[code].text[0]) {
	case 'E': return SEVERITY_ERROR;
	case 'W': return SEVERITY_WARNING;
	default: return SEVERITY_NOTE;
	}
}

const char *diag_code_text(enum code code)
{
	return codes[code].text;
}

const char *diag_code_title(enum code code)
{
	return codes[code].title;
}

static const char *format_text(struct arena *arena, const char *format, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, format, ap);
	if (len < 0)
		abort();
	char *text = arena_alloc(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

static struct diag *find_same(struct diags *diags, const struct diag *new)
{
	for (struct diag *diag = diags->first; diag; diag = diag->next)
		if (diag->code == new->code && diag->span.file == new->span.file &&
			diag->span.start == new->span.start &&
			((diags->once && new->span.file) ||
				strcmp(diag->message, new->message) == 0))
			return diag;
	return NULL;
}

static bool is_full(const struct diags *diags, enum severity severity)
{
	const size_t counts[] = {diags->errors, diags->warnings, diags->notes};

	return counts[severity] >= DIAG_ERRORS_MAX;
}

struct diag *diag_report(
	struct diags *diags, enum code code, struct span span, const char *format, ...)
{
	struct diag *diag = arena_alloc(diags->arena, sizeof(*diag));
	enum severity severity = diag_severity(code);
	va_list ap;

	diag->code = code;
	diag->span = span;
	va_start(ap, format);
	diag->message = format_text(diags->arena, format, ap);
	va_end(ap);

	struct diag *same = find_same(diags, diag);
	if (same)
		return same;

	if (is_full(diags, severity)) {
		diags->dropped++;
	} else {
		*diags->tail = diag;
		diags->tail = &diag->next;
	}
	diags->errors += severity == SEVERITY_ERROR;
	diags->warnings += severity == SEVERITY_WARNING;
	diags->notes += severity == SEVERITY_NOTE;
	return diag;
}

void diag_second(
	struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	va_list ap;

	diag->second = span;
	va_start(ap, format);
	diag->second_message = format_text(diags->arena, format, ap);
	va_end(ap);
}

void diag_fix(
	struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	va_list ap;

	diag->fix_span = span;
	va_start(ap, format);
	diag->fix = format_text(diags->arena, format, ap);
	va_end(ap);
}

void diag_help(struct diags *diags, struct diag *diag, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	diag->help = format_text(diags->arena, format, ap);
	va_end(ap);
}

/* Length of the UTF-8 character at p, 0 if the bytes are not one. */
static size_t utf8_length(const unsigned char *p, size_t len)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;

	if (n == 0 || n > len || *p > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (n == 3 && ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f)))
		return 0;
	if (n == 4 && ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)))
		return 0;
	return n;
}

static unsigned utf8_value(const unsigned char *p, size_t n)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned value = p[0] & mask[n];

	for (size_t i = 1; i < n; i++)
		value = value << 6 | (p[i] & 0x3f);
	return value;
}

/* Characters that move, hide or reorder what is around them. */
static bool is_deceptive(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
		(c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
		(c >= 0xe0000 && c <= 0xe0fff);
}

void diag_put_quoted(struct buf *out, const char *bytes, size_t len, size_t most)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < len;) {
		if (i >= most) {
			buf_puts(out, "…");
			return;
		}
		size_t n = utf8_length(p + i, len - i);
		if (n && !is_deceptive(utf8_value(p + i, n))) {
			buf_put(out, p + i, n);
			i += n;
			continue;
		}
		n = n ? n : 1;
		for (size_t k = 0; k < n; k++)
			buf_printf(out, "\\x%02x", p[i + k]);
		i += n;
	}
}

const char *diag_quoted(struct diags *diags, const char *bytes, size_t len)
{
	struct buf out = BUF_INIT;

	diag_put_quoted(&out, bytes, len, QUOTED_MAX);
	const char *text = arena_bytes(diags->arena, out.data ? out.data : "", out.len);
	buf_release(&out);
	return text;
}

void diags_keep_errors(struct diags *diags)
{
	struct diag **link = &diags->first;

	while (*link) {
		if (diag_severity((*link)->code) == SEVERITY_ERROR)
			link = &(*link)->next;
		else
			*link = (*link)->next;
	}
	diags->tail = link;
}

static int compare(const void *pa, const void *pb)
{
	const struct diag *a = *(struct diag *const *)pa, *b = *(struct diag *const *)pb;

	if (a->span.file != b->span.file)
		return a->span.file < b->span.file ? -1 : 1;
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return strcmp(a->message, b->message);
}

void diags_sort(struct diags *diags)
{
	size_t count = 0;

	for (struct diag *diag = diags->first; diag; diag = diag->next)
		count++;
	if (count < 2)
		return;

	struct diag **list = arena_array(diags->arena, count, sizeof(*list));
	size_t i = 0;
	for (struct diag *diag = diags->first; diag; diag = diag->next)
		list[i++] = diag;
	qsort(list, count, sizeof(*list), compare);

	diags->tail = &diags->first;
	for (i = 0; i < count; i++) {
		*diags->tail = list[i];
		diags->tail = &list[i]->next;
	}
	*diags->tail = NULL;
}

/* Color by severity; the empty strings are "no color". */
struct paint {
	const char *error, *warning, *note, *bold, *off;
};

static const struct paint plain = {"", "", "", "", ""};
static const struct paint ansi = {
	"\033[1;31m", "\033[1;33m", "\033[1;36m", "\033[1m", "\033[0m"};

/* The window of the line that is shown: starts at a character. */
static size_t window_start(const struct place *place)
{
	if (place->len <= LINE_MAX || place->offset < LINE_MAX / 2)
		return 0;

	size_t start = place->offset - LINE_MAX / 4;
	while (start < place->offset && ((unsigned char)place->text[start] & 0xc0) == 0x80)
		start++;
	return start;
}

/* Tabs stay one column wide and odd bytes are shown as such, so that carets
 * stand below what they mean. Returns the columns that bytes [from, to) take. */
static size_t put_line(struct buf *out, const char *text, size_t from, size_t to)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t columns = 0;

	while (from < to) {
		size_t n = utf8_length(p + from, to - from);
		if (p[from] == '\t') {
			buf_putc(out, ' ');
			columns++;
			from++;
		} else if (n && !is_deceptive(utf8_value(p + from, n))) {
			buf_put(out, p + from, n);
			columns++;
			from += n;
		} else {
			buf_printf(out, "\\x%02x", p[from]);
			columns += 4;
			from++;
		}
	}
	return columns;
}

static void put_excerpt(struct buf *out, const struct sources *sources, struct span span,
	const struct paint *paint, const char *color)
{
	struct place place = source_place(sources, span.file, span.start);
	size_t from = window_start(&place);
	size_t to = place.len - from > LINE_MAX ? from + LINE_MAX : place.len;
	size_t length = span.end > span.start ? span.end - span.start : 1;
	size_t end = place.offset + length < to ? place.offset + length : to;
	struct buf mark = BUF_INIT, skip = BUF_INIT;

	while (to < place.len && ((unsigned char)place.text[to] & 0xc0) == 0x80)
		to++;
	buf_printf(out, "%5u | %s", place.line, from ? "…" : "");
	put_line(out, place.text, from, to);
	buf_puts(out, to < place.len ? "…\n" : "\n");

	size_t before = put_line(&skip, place.text, from, place.offset) + (from > 0);
	size_t under = end > place.offset ? put_line(&mark, place.text, place.offset, end) : 1;
	buf_printf(out, "      | %*s%s", (int)before, "", color);
	for (size_t i = 0; i < under; i++)
		buf_putc(out, '^');
	buf_printf(out, "%s\n", paint->off);
	buf_release(&mark);
	buf_release(&skip);
}

static void put_place(struct buf *out, const struct sources *sources, struct span span)
{
	const char *name = sources_get(sources, span.file)->name;

	diag_put_quoted(out, name, strlen(name), 4096);
	if (span.file) {
		struct place place = source_place(sources, span.file, span.start);
		buf_printf(out, ":%u:%u", place.line, place.column);
	}
}

static void put_diag(struct buf *out, const struct diag *diag,
	const struct sources *sources, const struct paint *paint)
{
	static const char *const names[] = {"error", "warning", "note"};
	const char *colors[] = {paint->error, paint->warning, paint->note};
	enum severity severity = diag_severity(diag->code);

	buf_puts(out, paint->bold);
	put_place(out, sources, diag->span);
	buf_printf(out, ": %s%s[%s]%s: %s%s%s\n", colors[severity], names[severity],
		codes[diag->code].text, paint->off, paint->bold, diag->message, paint->off);
	if (diag->span.file)
		put_excerpt(out, sources, diag->span, paint, colors[severity]);
	if (diag->second_message) {
		buf_puts(out, "  ");
		put_place(out, sources, diag->second);
		buf_printf(out, ": %s\n", diag->second_message);
		if (diag->second.file)
			put_excerpt(out, sources, diag->second, paint, paint->note);
	}
	if (diag->help)
		buf_printf(out, "  help: %s\n", diag->help);
	if (diag->fix)
		buf_printf(out, "  help: write `%s`\n", diag->fix);
}

void diags_render(
	struct diags *diags, const struct sources *sources, bool color, struct buf *out)
{
	diags_sort(diags);
	for (const struct diag *diag = diags->first; diag; diag = diag->next)
		put_diag(out, diag, sources, color ? &ansi : &plain);
	if (diags->dropped)
		buf_printf(out, "%zu more findings not shown\n", diags->dropped);
}
