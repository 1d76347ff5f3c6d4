/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the files of a policy and makes one table of names for each of them.
 */
#include "compiler/scope.h"

#include <assert.h>
#include <string.h>

/* A file that was begun; scope NULL while its includes are being loaded. */
struct loaded {
	uint32_t file;
	struct scope *scope;
};

struct load {
	struct arena *arena;
	const struct sources *sources;
	const struct loader *loader;
	struct diags *diags;
	struct loaded *list;
	size_t count, cap;
};

static uint32_t hash(enum name_kind kind, const char *name)
{
	uint32_t h = 2166136261U ^ (uint32_t)kind;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619U;
	return h;
}

static size_t slot_of(const struct scope *scope, enum name_kind kind, const char *name)
{
	size_t mask = scope->index_size - 1, slot = hash(kind, name) & mask;

	for (; scope->index[slot]; slot = (slot + 1) & mask) {
		const struct definition *found =
			&scope->definitions[scope->index[slot] - 1];
		if (found->kind == kind && strcmp(found->name->text, name) == 0)
			break;
	}
	return slot;
}

static void grow_index(struct arena *arena, struct scope *scope)
{
	scope->index_size = scope->index_size ? scope->index_size * 2 : 64;
	scope->index = arena_array(arena, scope->index_size, sizeof(*scope->index));
	for (size_t i = 0; i < scope->count; i++) {
		const struct definition *def = &scope->definitions[i];
		scope->index[slot_of(scope, def->kind, def->name->text)] = (uint32_t)i +
									   1;
	}
}

bool scope_is_built_in(enum name_kind kind, const char *name)
{
	static const char *const variables[] = {
		"workspace", "home", "temp", "user", "git-dir", "git-common-dir"};

	if (kind == NAME_SET)
		return strcmp(name, "roots") == 0;
	for (size_t i = 0;
		kind == NAME_VARIABLE && i < sizeof(variables) / sizeof(variables[0]);
		i++)
		if (strcmp(name, variables[i]) == 0)
			return true;
	return false;
}

static void define(struct load *load, struct scope *scope, struct definition def)
{
	static const char *const nouns[] = {"set", "variable", "policy"};

	if (scope_is_built_in(def.kind, def.name->text)) {
		diag_report(load->diags, CODE_E043, def.name->span, "%s `%s` is built in",
			nouns[def.kind], def.name->text);
		return;
	}
	if ((scope->count + 1) * 2 > scope->index_size)
		grow_index(load->arena, scope);

	size_t slot = slot_of(scope, def.kind, def.name->text);
	if (scope->index[slot]) {
		const struct definition *first =
			&scope->definitions[scope->index[slot] - 1];
		if (first->name == def.name)
			return;
		struct diag *diag = diag_report(load->diags, CODE_E043, def.name->span,
			"%s `%s` is defined twice", nouns[def.kind], def.name->text);
		diag_second(load->diags, diag, first->name->span, "first defined here");
		return;
	}
	scope->definitions = arena_grow(load->arena, scope->definitions, scope->count,
		&scope->cap, sizeof(*scope->definitions));
	scope->definitions[scope->count++] = def;
	scope->index[slot] = (uint32_t)scope->count;
}

static void define_own(struct load *load, struct scope *scope)
{
	const struct ast_file *ast = scope->ast;

	for (const struct ast_let *let = ast->lets; let; let = let->next)
		define(load, scope,
			(struct definition){NAME_SET, &let->name, {.let = let}, scope});
	for (const struct ast_var *var = ast->vars; var; var = var->next)
		define(load, scope,
			(struct definition){
				NAME_VARIABLE, &var->name, {.var = var}, scope});
	for (const struct ast_policy *policy = ast->policies; policy;
		policy = policy->next)
		define(load, scope,
			(struct definition){
				NAME_POLICY, &policy->name, {.policy = policy}, scope});
	scope->own = scope->count;
}

static struct loaded *find_loaded(struct load *load, uint32_t file)
{
	for (size_t i = 0; i < load->count; i++)
		if (load->list[i].file == file)
			return &load->list[i];
	return NULL;
}

static struct scope *load_file(struct load *load, uint32_t file, unsigned depth);

static void load_include(struct load *load, struct scope *scope,
	const struct ast_include *include, unsigned depth)
{
	const char *error = "no file can be included here";
	uint32_t file = 0;

	if (depth >= POLICY_INCLUDE_MAX) {
		diag_report(load->diags, CODE_E048, include->span,
			"includes are nested more than %d deep", POLICY_INCLUDE_MAX);
		return;
	}
	if (load->loader)
		file = load->loader->load(
			load->loader->ctx, include->span.file, include->path, &error);
	if (!file) {
		diag_report(load->diags, CODE_E046, include->span,
			"cannot include `%s`: %s",
			diag_quoted(load->diags, include->path, strlen(include->path)),
			error);
		return;
	}

	const struct loaded *known = find_loaded(load, file);
	if (known && !known->scope) {
		diag_report(load->diags, CODE_E047, include->span,
			"`%s` includes itself through this file",
			diag_quoted(load->diags, include->path, strlen(include->path)));
		return;
	}
	const struct scope *included = known ? known->scope
					     : load_file(load, file, depth + 1);
	for (size_t i = 0; i < included->count; i++)
		define(load, scope, included->definitions[i]);
}

static struct scope *load_file(struct load *load, uint32_t file, unsigned depth)
{
	struct scope *scope = arena_alloc(load->arena, sizeof(*scope));
	size_t mine = load->count;

	load->list = arena_grow(
		load->arena, load->list, load->count, &load->cap, sizeof(*load->list));
	load->list[load->count++] = (struct loaded){.file = file};

	scope->ast = ast_parse(load->arena, load->sources, file, load->diags);
	define_own(load, scope);
	for (const struct ast_include *i = scope->ast->includes; i; i = i->next)
		load_include(load, scope, i, depth);
	load->list[mine].scope = scope;
	return scope;
}

const struct scope *scope_load(struct arena *arena, const struct sources *sources,
	uint32_t file, const struct loader *loader, struct diags *diags)
{
	struct load load = {arena, sources, loader, diags, NULL, 0, 0};

	return load_file(&load, file, 0);
}

const struct definition *scope_find(
	const struct scope *scope, enum name_kind kind, const char *name)
{
	if (!scope->index_size)
		return NULL;

	uint32_t found = scope->index[slot_of(scope, kind, name)];
	return found ? &scope->definitions[found - 1] : NULL;
}

const char *scope_nearest(
	const struct scope *scope, enum name_kind kind, const char *name)
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	for (size_t i = 0; i < scope->count; i++) {
		const struct definition *def = &scope->definitions[i];
		if (def->kind != kind)
			continue;
		size_t distance = vocabulary_distance(def->name->text, name);
		if (distance < best_distance) {
			best = def->name->text;
			best_distance = distance;
		}
	}
	return best;
}
