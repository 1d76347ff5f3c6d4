/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit status and stderr → verdict, line by line.
 */
#include "runtime/classify.h"

#include <string.h>
#include <strings.h>

struct line {
	const char *text;
	size_t len;
};

/* The next line at *at, without its end; false behind the last one. */
static bool next_line(const char *text, size_t len, size_t *at, struct line *line)
{
	if (*at >= len)
		return false;

	const char *start = text + *at;
	const char *end = memchr(start, '\n', len - *at);
	line->text = start;
	line->len = end ? (size_t)(end - start) : len - *at;
	*at += line->len + 1;
	if (line->len && start[line->len - 1] == '\r')
		line->len--;
	return true;
}

static bool contains(const struct line *line, const char *part)
{
	size_t len = strlen(part);

	for (size_t i = 0; len <= line->len && i <= line->len - len; i++)
		if (strncasecmp(line->text + i, part, len) == 0)
			return true;
	return false;
}

static bool is_listed(const struct line *line, const char *const *lines)
{
	for (; lines && *lines; lines++)
		if (strlen(*lines) == line->len &&
			strncasecmp(*lines, line->text, line->len) == 0)
			return true;
	return false;
}

static bool contains_any(const struct line *line, const char *const *parts)
{
	for (; parts && *parts; parts++)
		if (contains(line, *parts))
			return true;
	return false;
}

static bool may_match(const struct failure_rule *rule, int status)
{
	if (rule->codes[0] == 0)
		return status != 0;
	for (size_t i = 0; i < sizeof(rule->codes) / sizeof(rule->codes[0]); i++)
		if (rule->codes[i] && rule->codes[i] == status)
			return true;
	return false;
}

/* The first line that is not ignored and contains one of the parts. */
static bool find(const struct failure_rule *rule, const char *const *parts,
	const char *text, size_t len, struct line *line)
{
	for (size_t at = 0; next_line(text, len, &at, line);)
		if (!is_listed(line, rule->ignored) && contains_any(line, parts))
			return true;
	return false;
}

struct classification classify(const struct failure_rule *rule,
	const char *const *denials, int status, const char *text, size_t len)
{
	struct line line;

	if (may_match(rule, status) && find(rule, rule->fatal, text, len, &line))
		return (struct classification){CLASSIFIED_RUNNER, line.text, line.len};
	if (status != 0 && find(rule, denials, text, len, &line))
		return (struct classification){CLASSIFIED_DENIED, line.text, line.len};
	return (struct classification){CLASSIFIED_COMMAND, NULL, 0};
}

const char *classified_text(enum classified verdict)
{
	static const char *const texts[] = {"command", "denied", "runner-failure"};

	return texts[verdict];
}
