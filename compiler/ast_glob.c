/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks a pattern component by component. The value of a variable is literal,
 * so a variable is like an ordinary character, except that it can be neither in
 * a class nor a part of `**` or `..`.
 */
#include "compiler/ast_glob.h"

#include <string.h>

#include "compiler/utf8.h"

struct check {
	const struct ast_text *text;
	const char *wrong; /* the first mistake, NULL: none yet */
	enum code code;
};

static void reject(struct check *check, enum code code, const char *wrong)
{
	if (check->wrong)
		return;
	check->wrong = wrong;
	check->code = code;
}

/* Is there a variable in front of one of bytes [from, to]? */
static bool has_hole(const struct check *check, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < check->text->hole_count; i++)
		if (check->text->holes[i].at >= from && check->text->holes[i].at <= to)
			return true;
	return false;
}

static uint32_t character(const char *p, uint32_t len)
{
	uint32_t n = (uint32_t)utf8_length_at(p, len);

	return n ? n : 1;
}

/* One member of a class at *i; false if the component ends in it. */
static bool take_member(
	const char *p, uint32_t *i, uint32_t end, const char **at, uint32_t *n)
{
	if (p[*i] == '\\')
		(*i)++;
	if (*i >= end)
		return false;
	*at = p + *i;
	*n = character(*at, end - *i);
	*i += *n;
	return true;
}

/* UTF-8 sorts as the characters do. */
static bool is_reversed(const char *a, uint32_t na, const char *b, uint32_t nb)
{
	int order = memcmp(a, b, na < nb ? na : nb);

	return order > 0 || (order == 0 && na > nb);
}

/* i is behind `[`. Returns the place behind `]`, or end if there is none. */
static uint32_t check_class(struct check *check, uint32_t i, uint32_t end)
{
	const char *p = check->text->bytes;
	const char *low, *high;
	uint32_t n, m, start = i;

	if (i < end && p[i] == '!')
		i++;
	if (i < end && p[i] == ']')
		reject(check, CODE_E025,
			"a class is empty; a `]` in it is written `\\]`");
	while (i < end && p[i] != ']') {
		if (!take_member(p, &i, end, &low, &n))
			break;
		if (i + 1 >= end || p[i] != '-' || p[i + 1] == ']')
			continue;
		i++;
		if (!take_member(p, &i, end, &high, &m))
			break;
		if (is_reversed(low, n, high, m))
			reject(check, CODE_E025, "a range in a class is reversed");
	}
	if (i >= end) {
		reject(check, CODE_E025,
			"a class has no `]`; a `[` that means itself is written `\\[`");
		return end;
	}
	if (has_hole(check, start, i))
		reject(check, CODE_E025, "a variable cannot stand in a class");
	return i + 1;
}

/* Bytes [i, end) between separators. */
static void check_component(struct check *check, uint32_t i, uint32_t end)
{
	const char *p = check->text->bytes;
	uint32_t start = i, dots = 0, others = 0;

	while (i < end) {
		if (p[i] == '\\') {
			i++;
			if (i >= end) {
				reject(check, CODE_E025,
					"a `\\` at the end of a component quotes "
					"nothing");
				return;
			}
		} else if (p[i] == '[') {
			i = check_class(check, i + 1, end);
			others++;
			continue;
		} else if (p[i] == '*' && i + 1 < end && p[i + 1] == '*' &&
			   (end - start != 2 || has_hole(check, start, end))) {
			reject(check, CODE_E025, "`**` stands alone between separators");
		}
		dots += p[i] == '.';
		others += p[i] != '.';
		i += character(p + i, end - i);
	}
	if (dots == 2 && !others && !has_hole(check, start, end))
		reject(check, CODE_E031, "a pattern cannot contain the component `..`");
}

static bool ends_in_any(const struct check *check)
{
	const char *p = check->text->bytes;
	uint32_t len = check->text->len;

	while (len && p[len - 1] == '/')
		len--;
	return len >= 3 && memcmp(p + len - 3, "/**", 3) == 0 &&
	       !has_hole(check, len - 2, check->text->len);
}

bool ast_glob_check(struct diags *diags, const struct ast_text *text, struct span span)
{
	struct check check = {.text = text};
	const char *p = text->bytes;

	for (uint32_t i = 0; i < text->len;) {
		const char *slash = memchr(p + i, '/', text->len - i);
		uint32_t end = slash ? (uint32_t)(slash - p) : text->len;
		check_component(&check, i, end);
		i = end + 1;
	}
	if (ends_in_any(&check))
		reject(&check, CODE_E025,
			"a pattern cannot end in `/**`: a rule covers what is below its "
			"path");
	if (check.wrong) {
		diag_report(diags, check.code, span, "%s", check.wrong);
		return false;
	}
	if (memchr(p, '{', text->len) || memchr(p, '}', text->len)) {
		struct diag *diag = diag_report(diags, CODE_W102, span,
			"braces in a pattern are ordinary characters");
		diag_help(diags, diag, "write one pattern for each alternative");
	}
	return true;
}
