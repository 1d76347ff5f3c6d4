/* SPDX-License-Identifier: Apache-2.0
 *
 * What `check` says, exactly: every tests/golden/check/NAME.cordon against
 * NAME.expected. Includes are read from parts/ below; parts/deep-N.cordon is
 * made up and includes the next one.
 */
#include "compiler/check.h"
#include "compiler/scope.h"
#include "cases.h"

struct files {
	struct arena *arena;
	struct sources *sources;
	const char *names[64];
	size_t count;
};

/* deep-3.cordon includes deep-4.cordon, and so on: chains of any depth. */
static bool made_up(struct files *files, const char *path, struct buf *text)
{
	unsigned number;

	(void)files;
	if (sscanf(path, "deep-%u.cordon", &number) != 1)
		return false;
	buf_printf(text, "cordon 1\ninclude \"deep-%u.cordon\"\n", number + 1);
	return true;
}

static uint32_t load(void *ctx, uint32_t from, const char *path, const char **error)
{
	struct files *files = ctx;
	struct buf text = BUF_INIT;

	(void)from;
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->names[i], path) == 0)
			return (uint32_t)i + 1;
	if (!made_up(files, path, &text)) {
		if (!golden_read(arena_printf(files->arena, "tests/golden/check/parts/%s",
					 path),
			    &text)) {
			buf_release(&text);
			*error = "no such file";
			return 0;
		}
	}
	const char *copy = arena_bytes(files->arena, text.data, text.len);
	const char *name = arena_bytes(files->arena, path, strlen(path));
	files->names[files->count++] = name;
	uint32_t number = sources_add(files->sources, name, copy, text.len);
	buf_release(&text);
	return number;
}

static void check_text(const char *path, struct arena *arena, struct buf *out)
{
	struct sources sources;
	struct diags diags;
	struct files files = {.arena = arena, .sources = &sources};
	const struct loader loader = {load, &files};
	struct buf text = BUF_INIT;

	assert_true(golden_read(path, &text));
	sources_init(&sources, arena);
	diags_init(&diags, arena);
	files.names[files.count++] = strrchr(path, '/') + 1;
	uint32_t file = sources_add(&sources, strrchr(path, '/') + 1,
		arena_bytes(arena, text.data, text.len), text.len);
	const struct scope *scope = scope_load(arena, &sources, file, &loader, &diags);
	for (const struct ast_policy *p = scope->ast->policies; p; p = p->next) {
		struct policy *policy = policy_resolve(
			arena, scope, p->name.text, &diags);
		struct check_plans plans;
		if (!policy)
			continue;
		check_policy(policy, PLATFORM_ALL, NULL, 0, arena, &diags, &plans);
		check_remarks(policy, &plans, &diags);
	}
	diags_render(&diags, &sources, false, out);
	buf_release(&text);
}

static void test_golden(void **state)
{
	const char *path = *state;
	struct arena arena;
	struct buf out = BUF_INIT;

	arena_init(&arena);
	check_text(path, &arena, &out);
	case_compare(arena_printf(&arena, "%.*s.expected",
			     (int)(strlen(path) - strlen(".cordon")), path),
		&out);
	buf_release(&out);
	arena_release(&arena);
}

int main(void)
{
	return case_run("tests/golden/check/*.cordon", test_golden);
}
