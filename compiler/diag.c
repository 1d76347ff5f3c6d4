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

#include "compiler/utf8.h"

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

	diags->failures += severity == SEVERITY_ERROR;
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

/* Characters that move, hide or reorder what is around them. */
static bool is_deceptive(uint32_t c)
{
	return utf8_is_control(c) || (utf8_is_invisible(c) && c != 0xa0 && c != 0x3000);
}

/* Bytes of the printable character at text, 0 if there is none. */
static size_t printable(const char *text, size_t len)
{
	size_t n = utf8_length_at(text, len);

	return n && !is_deceptive(utf8_value_at(text, n)) ? n : 0;
}

void diag_put_quoted(struct buf *out, const char *bytes, size_t len, size_t most)
{
	for (size_t i = 0; i < len;) {
		if (i >= most) {
			buf_puts(out, "…");
			return;
		}
		size_t n = printable(bytes + i, len - i);
		if (n) {
			buf_put(out, bytes + i, n);
			i += n;
		} else {
			buf_printf(out, "\\x%02x", (unsigned char)bytes[i++]);
		}
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

void diags_keep_errors(struct diags *diags, struct diag **from)
{
	struct diag **link = from;

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
	while (start < place->offset &&
		((unsigned char)place->text[start] & 0xc0) == 0x80)
		start++;
	return start;
}

/* Tabs stay one column wide and odd bytes are shown as such, so that carets
 * stand below what they mean. Returns the columns that bytes [from, to) take. */
static size_t put_line(struct buf *out, const char *text, size_t from, size_t to)
{
	size_t columns = 0;

	while (from < to) {
		size_t n = printable(text + from, to - from);
		if (text[from] == '\t') {
			buf_putc(out, ' ');
			columns++;
			from++;
		} else if (n) {
			buf_put(out, text + from, n);
			columns++;
			from += n;
		} else {
			buf_printf(out, "\\x%02x", (unsigned char)text[from]);
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
	size_t under = end > place.offset ? put_line(&mark, place.text, place.offset, end)
					  : 1;
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
	if (diag->span.file)
		put_place(out, sources, diag->span);
	else
		buf_puts(out, "cordon"); /* of the call or the host, not of a file */
	buf_printf(out, ": %s%s[%s]%s: %s%s%s\n", colors[severity], names[severity],
		codes[diag->code].text, paint->off, paint->bold, diag->message,
		paint->off);
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
