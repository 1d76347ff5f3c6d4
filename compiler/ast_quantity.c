/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a quantity: digits, then one unit of the table.
 */
#include "compiler/ast_quantity.h"

#include <string.h>

static const struct {
	const char *text;
	enum limit kind;
	uint64_t factor;
} units[] = {
	{"ms", LIMIT_TIMEOUT, 1},
	{"s", LIMIT_TIMEOUT, 1000},
	{"m", LIMIT_TIMEOUT, 60 * 1000},
	{"h", LIMIT_TIMEOUT, 60 * 60 * 1000},
	{"B", LIMIT_OUTPUT, 1},
	{"KiB", LIMIT_OUTPUT, 1024},
	{"MiB", LIMIT_OUTPUT, 1024 * 1024},
	{"GiB", LIMIT_OUTPUT, 1024 * 1024 * 1024},
};

#define UNIT_COUNT (sizeof(units) / sizeof(*units))

static const char *const advice[] = {
	[LIMIT_TIMEOUT] =
		"a time is a whole number above 0 with `ms`, `s`, `m` or `h`: `60s`",
	[LIMIT_OUTPUT] = "a size is a whole number above 0 with `B`, `KiB`, `MiB` or "
			 "`GiB`: `1MiB`",
};

/* Digits at the start; false if the number does not fit. */
static bool read_digits(const struct ast_raw *raw, uint32_t *i, uint64_t *number)
{
	for (*i = 0, *number = 0; *i < raw->len; (*i)++) {
		unsigned digit = (unsigned)(unsigned char)raw->bytes[*i] - '0';
		if (digit > 9)
			break;
		if (__builtin_mul_overflow(*number, 10, number) ||
			__builtin_add_overflow(*number, digit, number))
			return false;
	}
	return true;
}

/* NULL if good, else what is wrong. */
static const char *read_quantity(
	enum limit kind, const struct ast_raw *raw, uint64_t *value)
{
	uint64_t number;
	uint32_t i;
	size_t u = 0;

	if (memchr(raw->bytes, ' ', raw->len) || memchr(raw->bytes, '\t', raw->len))
		return "is written in one word";
	if (!read_digits(raw, &i, &number))
		return "is too large";
	if (i == 0)
		return "is not a quantity";
	while (u < UNIT_COUNT &&
		(strlen(units[u].text) != raw->len - i ||
			memcmp(units[u].text, raw->bytes + i, raw->len - i) != 0))
		u++;
	if (i == raw->len)
		return "has no unit";
	if (u == UNIT_COUNT)
		return "has no unit that is known";
	if (units[u].kind != kind)
		return kind == LIMIT_TIMEOUT ? "is a size, not a time"
					     : "is a time, not a size";
	if (number == 0)
		return "is not above 0";
	/* Readers keep quantities in signed 64 bits. */
	if (__builtin_mul_overflow(number, units[u].factor, value) || *value > INT64_MAX)
		return "is too large";
	return NULL;
}

bool ast_quantity(
	struct diags *diags, enum limit kind, const struct ast_raw *raw, uint64_t *value)
{
	const char *wrong = read_quantity(kind, raw, value);

	if (!wrong)
		return true;
	struct diag *diag = diag_report(diags, CODE_E022, raw->span, "`%s` %s",
		diag_quoted(diags, raw->bytes, raw->len), wrong);
	diag_help(diags, diag, "%s", advice[kind]);
	return false;
}
