/* SPDX-License-Identifier: Apache-2.0
 *
 * From syntax trees to a policy: which policy, what it extends, and the
 * statements that hold for all modes and calls. Rules are rules.c.
 */
#include <string.h>

#include "compiler/scope.h"

static const struct ast_policy *default_policy(
	const struct ast_file *ast, uint32_t file, struct diags *diags)
{
	const struct ast_policy *only = ast->policies;

	if (!only) {
		if (!diags->errors)
			diag_report(diags, CODE_E049, (struct span){file, 0, 0},
				"the file defines no policy");
		return NULL;
	}
	if (!only->next)
		return only;
	for (const struct ast_policy *p = ast->policies; p; p = p->next)
		if (strcmp(p->name.text, "default") == 0)
			return p;

	struct diag *diag = diag_report(diags, CODE_E049, only->name.span,
		"the file defines several policies and none is named `default`");
	diag_help(diags, diag, "name one with --policy-name");
	return NULL;
}

static struct definition *choose(struct arena *arena, const struct scope *scope,
	const char *name, struct diags *diags)
{
	uint32_t file = scope->ast->file;
	struct definition *def = arena_alloc(arena, sizeof(*def));

	if (!name) {
		const struct ast_policy *policy = default_policy(scope->ast, file, diags);
		if (!policy)
			return NULL;
		*def = (struct definition){
			NAME_POLICY, &policy->name, {.policy = policy}, scope};
		return def;
	}

	const struct definition *found = scope_find(scope, NAME_POLICY, name);
	if (found) {
		*def = *found;
		return def;
	}
	const char *near = scope_nearest(scope, NAME_POLICY, name);
	struct diag *diag = diag_report(diags, CODE_E044, (struct span){file, 0, 0},
		"no policy is named `%s`", diag_quoted(diags, name, strlen(name)));
	if (near)
		diag_help(diags, diag, "did you mean `%s`?", near);
	return NULL;
}

/* A cycle is one mistake, whichever of its policies is asked for: it is told at
 * the first one of the text. */
static void report_cycle(
	const struct policy_part *cycle, size_t count, struct diags *diags)
{
	const struct ast_policy *first = cycle[0].ast;

	for (size_t i = 1; i < count; i++) {
		const struct span *a = &cycle[i].ast->name.span, *b = &first->name.span;
		if (a->file < b->file || (a->file == b->file && a->start < b->start))
			first = cycle[i].ast;
	}
	diag_report(diags, CODE_E045, first->extends.span, "policy `%s` extends itself",
		first->name.text);
}

/* Fills the chain from its end. False if it is broken. */
static bool make_chain(struct arena *arena, struct policy *policy, struct definition def,
	struct diags *diags)
{
	struct policy_part *parts = NULL;
	size_t count = 0, cap = 0;

	for (;;) {
		const struct ast_policy *ast = def.u.policy;
		for (size_t i = 0; i < count; i++) {
			if (parts[i].ast != ast)
				continue;
			report_cycle(parts + i, count - i, diags);
			return false;
		}
		parts = arena_grow(arena, parts, count, &cap, sizeof(*parts));
		parts[count++] = (struct policy_part){ast, def.scope};
		if (!ast->extends.text)
			break;

		const struct definition *parent = scope_find(
			def.scope, NAME_POLICY, ast->extends.text);
		if (!parent) {
			const char *near = scope_nearest(
				def.scope, NAME_POLICY, ast->extends.text);
			struct diag *diag = diag_report(diags, CODE_E044,
				ast->extends.span, "no policy is named `%s`",
				ast->extends.text);
			if (near)
				diag_fix(diags, diag, ast->extends.span, "%s", near);
			return false;
		}
		def = *parent;
	}

	policy->chain = arena_array(arena, count, sizeof(*policy->chain));
	policy->chain_count = count;
	for (size_t i = 0; i < count; i++)
		policy->chain[i] = parts[count - 1 - i];
	return true;
}

/* A statement that may stand once in a policy: *seen is where it was. */
static bool is_second(
	struct diags *diags, struct span *seen, struct span here, const char *what)
{
	if (!seen->file) {
		*seen = here;
		return false;
	}
	struct diag *diag = diag_report(
		diags, CODE_E051, here, "%s is given twice in one policy", what);
	diag_second(diags, diag, *seen, "first given here");
	return true;
}

static void take_ceiling(
	struct policy *policy, const struct ast_stmt *stmt, struct diags *diags)
{
	if (stmt->u.mode > policy->ceiling) {
		struct diag *diag = diag_report(diags, CODE_E055, stmt->span,
			"the ceiling cannot be raised from `%s` to `%s`",
			vocabulary_text(vocabulary_modes, (int)policy->ceiling),
			vocabulary_text(vocabulary_modes, (int)stmt->u.mode));
		diag_second(diags, diag, policy->ceiling_span, "the ceiling is set here");
		return;
	}
	policy->ceiling = stmt->u.mode;
	policy->ceiling_span = stmt->span;
}

static void take_require(struct policy *policy, const struct ast_stmt *stmt,
	struct span seen[PLATFORM_COUNT], struct diags *diags)
{
	for (int p = 0; p < PLATFORM_COUNT; p++) {
		if (!(stmt->u.require.platforms & PLATFORM_BIT(p)))
			continue;
		if (is_second(diags, &seen[p], stmt->span, "`require`"))
			return;
		if (stmt->u.require.level < policy->require[p]) {
			struct diag *diag = diag_report(diags, CODE_E055, stmt->span,
				"`require full` cannot be lowered to `partial`");
			diag_second(
				diags, diag, policy->require_span[p], "required here");
			return;
		}
		policy->require[p] = stmt->u.require.level;
		policy->require_span[p] = stmt->span;
	}
}

static void check_edge(const struct ast_edge *edge, struct diags *diags)
{
	const char *to = vocabulary_text(vocabulary_modes, (int)edge->to);

	if (edge->to <= edge->from)
		diag_report(diags, CODE_E056, edge->span,
			"`%s` is not strictly wider than `%s`", to,
			vocabulary_text(vocabulary_modes, (int)edge->from));
	else if (edge->to == MODE_DANGER_FULL_ACCESS && edge->consent == CONSENT_ALLOW)
		diag_report(diags, CODE_E056, edge->span,
			"`danger-full-access` can be `ask` or `never`, not `allow`");
}

static void take_ladder(struct policy *policy, const struct ast_stmt *stmt,
	struct span seen[MODE_COUNT][MODE_COUNT], struct diags *diags)
{
	for (const struct ast_edge *edge = stmt->u.edges; edge; edge = edge->next) {
		struct policy_edge *entry = &policy->ladder[edge->from][edge->to];
		check_edge(edge, diags);
		if (is_second(diags, &seen[edge->from][edge->to], edge->span,
			    "this step of the ladder"))
			continue;
		*entry = (struct policy_edge){edge->consent, edge->span};
	}
}

static void take_part(
	struct policy *policy, const struct ast_policy *ast, struct diags *diags)
{
	struct span default_mode = {0}, ceiling = {0};
	struct span require[PLATFORM_COUNT] = {0}, ladder[MODE_COUNT][MODE_COUNT] = {0};

	for (const struct ast_stmt *stmt = ast->body; stmt; stmt = stmt->next) {
		if (stmt->kind == AST_DEFAULT_MODE) {
			if (is_second(diags, &default_mode, stmt->span, "`default mode`"))
				continue;
			policy->default_mode = stmt->u.mode;
			policy->default_mode_span = stmt->span;
		} else if (stmt->kind == AST_CEILING) {
			if (!is_second(diags, &ceiling, stmt->span, "`ceiling`"))
				take_ceiling(policy, stmt, diags);
		} else if (stmt->kind == AST_REQUIRE) {
			take_require(policy, stmt, require, diags);
		} else if (stmt->kind == AST_LADDER) {
			take_ladder(policy, stmt, ladder, diags);
		}
	}
}

static bool has_ladder(const struct policy *policy)
{
	for (size_t i = 0; i < policy->chain_count; i++)
		for (const struct ast_stmt *s = policy->chain[i].ast->body; s;
			s = s->next)
			if (s->kind == AST_LADDER)
				return true;
	return false;
}

/* What holds when all parts are taken: nothing above the ceiling. */
static void check_ceiling(struct policy *policy, struct diags *diags)
{
	const char *ceiling = vocabulary_text(vocabulary_modes, (int)policy->ceiling);

	if (policy->default_mode > policy->ceiling) {
		struct diag *diag = diag_report(diags, CODE_E057,
			policy->default_mode_span,
			"the default mode `%s` is above the ceiling `%s`",
			vocabulary_text(vocabulary_modes, (int)policy->default_mode),
			ceiling);
		diag_second(diags, diag, policy->ceiling_span, "the ceiling is set here");
	}
	for (int from = 0; from < MODE_COUNT; from++) {
		for (int to = (int)policy->ceiling + 1; to < MODE_COUNT; to++) {
			struct policy_edge *edge = &policy->ladder[from][to];
			if (edge->consent == CONSENT_NEVER)
				continue;
			struct diag *diag = diag_report(diags, CODE_E057, edge->span,
				"`%s` is above the ceiling `%s`",
				vocabulary_text(vocabulary_modes, to), ceiling);
			diag_second(diags, diag, policy->ceiling_span,
				"the ceiling is set here");
			diag_help(diags, diag, "only `never` may stand here");
		}
	}
}

static void default_ladder(struct policy *policy)
{
	for (int from = 0; from < MODE_COUNT; from++)
		for (int to = from + 1; to <= (int)policy->ceiling; to++)
			policy->ladder[from][to].consent = CONSENT_ASK;
}

struct policy *policy_resolve(struct arena *arena, const struct scope *scope,
	const char *name, struct diags *diags)
{
	struct definition *def = choose(arena, scope, name, diags);

	if (!def)
		return NULL;

	struct policy *policy = arena_alloc(arena, sizeof(*policy));
	policy->name = def->name->text;
	policy->span = def->name->span;
	policy->default_mode = MODE_READ_ONLY;
	policy->ceiling = MODE_DANGER_FULL_ACCESS;
	if (!make_chain(arena, policy, *def, diags))
		return NULL;

	for (size_t i = 0; i < policy->chain_count; i++)
		take_part(policy, policy->chain[i].ast, diags);
	check_ceiling(policy, diags);
	if (!has_ladder(policy))
		default_ladder(policy);
	return policy;
}

uint64_t policy_limit(const struct policy *policy, enum limit kind, struct span *span)
{
	for (size_t i = policy->chain_count; i-- > 0;) {
		const struct ast_stmt *stmt = policy->chain[i].ast->body;
		for (; stmt; stmt = stmt->next) {
			if (stmt->kind != AST_LIMITS)
				continue;
			for (const struct ast_limit *l = stmt->u.limits; l; l = l->next) {
				if (l->kind != kind)
					continue;
				*span = l->span;
				return l->value;
			}
		}
	}
	return 0;
}

const struct ast_environment *policy_environment(const struct policy *policy)
{
	for (size_t i = policy->chain_count; i-- > 0;)
		for (const struct ast_stmt *s = policy->chain[i].ast->body; s;
			s = s->next)
			if (s->kind == AST_ENVIRONMENT)
				return s->u.environment;
	return NULL;
}
