/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters and completes a list of NAME=VALUE.
 */
#include "runtime/environment.h"

#include <string.h>

struct entries {
	struct arena *arena;
	const struct ast_environment *statements;
	const char **list;
	size_t count, cap;
};

/* `*` is any run of characters. */
static bool matches(const char *pattern, const char *name, size_t len)
{
	if (*pattern == '\0')
		return len == 0;
	if (*pattern == '*')
		return matches(pattern + 1, name, len) ||
		       (len && matches(pattern, name + 1, len - 1));
	return len && *pattern == *name && matches(pattern + 1, name + 1, len - 1);
}

static bool is_listed(const struct entries *e, enum environment kind, const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (const struct ast_environment *s = e->statements; s; s = s->next)
		for (const struct ast_word *w = s->kind == kind ? s->words : NULL; w;
			w = w->next)
			if (matches(w->text, entry, len))
				return true;
	return false;
}

static bool has_clear(const struct entries *e)
{
	for (const struct ast_environment *s = e->statements; s; s = s->next)
		if (s->kind == ENVIRONMENT_CLEAR)
			return true;
	return false;
}

static bool is_temp(const char *entry)
{
	static const char *const names[] = {"TMPDIR=", "TMP=", "TEMP="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void push(struct entries *e, const char *entry)
{
	e->list = arena_grow(e->arena, e->list, e->count, &e->cap, sizeof(*e->list));
	e->list[e->count++] = entry;
}

/* A value that is set takes the place of an inherited one. */
static void set(struct entries *e, const char *name, const char *value)
{
	size_t len = strlen(name), used = 0;

	for (size_t i = 0; i < e->count; i++)
		if (strncmp(e->list[i], name, len) != 0 || e->list[i][len] != '=')
			e->list[used++] = e->list[i];
	e->count = used;
	push(e, arena_printf(e->arena, "%s=%s", name, value));
}

const char *const *environment_make(struct arena *arena, const struct policy *policy,
	const struct plan *plan, const char *const *base)
{
	struct entries e = {.arena = arena, .statements = policy_environment(policy)};
	bool clear = has_clear(&e);

	for (; *base; base++) {
		bool is_entry = strchr(*base, '=') > *base && !(plan && is_temp(*base));
		if (is_entry && (!clear || is_listed(&e, ENVIRONMENT_KEEP, *base)) &&
			!is_listed(&e, ENVIRONMENT_DROP, *base))
			push(&e, *base);
	}
	for (const struct ast_environment *s = e.statements; s; s = s->next)
		if (s->kind == ENVIRONMENT_SET)
			set(&e, s->words->text, s->value);
	if (plan && plan->temp_path) {
		set(&e, "TMPDIR", plan->temp_path);
		set(&e, "TMP", plan->temp_path);
		set(&e, "TEMP", plan->temp_path);
	}
	push(&e, NULL);
	return e.list;
}
