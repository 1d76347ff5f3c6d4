/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a plan and answers what it says of a path.
 */
#include "compiler/plan.h"

#include <string.h>

#include "compiler/plan_parts.h"

static void place(struct making *m, size_t temp_root)
{
	struct plan *plan = m->plan;

	policy_rules(m->policy, plan->mode, m->call, temp_root, m->arena, m->diags,
		&plan->rules);
	levels_place(&plan->levels, &plan->rules, m->target, m->arena, m->diags);
	levels_judge(&plan->levels, m->arena, false);
}

/* `temp private` goes to the first root that no rule makes writable: a parent
 * that the command can change would not be private. */
static bool place_rules(struct making *m)
{
	struct plan *plan = m->plan;

	for (size_t root = 0; root < m->call->temp_root_count; root++) {
		place(m, root);
		if (root == 0 && !plan_check_width(m))
			return false;
		if (!plan->rules.temp)
			return true;
		const struct fact *fact = target_find(
			m->target, m->call->temp_roots[root]);
		if (fact && fact->kind != KIND_DIRECTORY)
			continue;
		char *parent = path_parent(
			m->arena, fact ? fact->canonical : plan->rules.temp);
		const char *at = fact ? fact->canonical : path_parent(m->arena, parent);
		if (levels_decide(&plan->levels, at).level < LEVEL_WRITE)
			return true;
	}
	if (m->call->temp_root_count == 0) {
		place(m, 0);
		if (!plan_check_width(m))
			return false;
		if (plan->rules.settings[SETTING_TEMP].value != TEMP_PRIVATE)
			return true;
	}
	const struct rule_setting *temp = &plan->rules.settings[SETTING_TEMP];
	struct diag *diag = diag_report(m->diags, CODE_E076, temp->span,
		"no place for a private temporary directory: each candidate is writable "
		"or missing");
	diag_help(m->diags, diag, "use `temp host`, or do not make /tmp writable");
	plan->rules.temp = NULL; /* what follows from it is no mistake of its own */
	return true;
}

static bool crossed_links(const struct levels *levels)
{
	for (size_t i = 0; i < levels->rules->count; i++)
		if (levels->placed[i].fact && levels->placed[i].fact->crossed_count)
			return true;
	return levels->has_matches;
}

/* Places that the other mode makes writable count for planted links, too: what
 * one run plants must not widen the next. */
static void place_other(struct making *m)
{
	struct diags *unheard = arena_alloc(m->arena, sizeof(*unheard));
	struct rules *rules = arena_alloc(m->arena, sizeof(*rules));
	struct levels *levels = arena_alloc(m->arena, sizeof(*levels));
	enum mode other = m->plan->mode == MODE_READ_ONLY ? MODE_WORKSPACE_WRITE
							  : MODE_READ_ONLY;

	if (!crossed_links(&m->plan->levels) && !m->call->git_dir &&
		!m->call->add_dir_link_count)
		return;
	diags_init(unheard, m->arena);
	policy_rules(m->policy, other, m->call, 0, m->arena, unheard, rules);
	levels_place(levels, rules, m->target, m->arena, unheard);
	levels_judge(levels, m->arena, false);
	m->other = levels;
}

struct plan *plan_make(const struct policy *policy, enum mode mode,
	const struct call *call, const struct target *target, bool launch,
	struct arena *arena, struct diags *diags)
{
	struct plan *plan = arena_alloc(arena, sizeof(*plan));
	struct making m = {policy, call, target, launch, arena, diags, plan, NULL};
	size_t failures = diags->failures;

	plan->policy = policy;
	plan->target = target;
	plan->mode = mode;
	if (!place_rules(&m))
		return NULL;
	place_other(&m);
	plan_check(&m);
	if (diags->failures > failures)
		return NULL;
	plan_build(&m);
	return diags->failures > failures ? NULL : plan;
}

struct judgement plan_decide(const struct plan *plan, const char *path)
{
	/* A protected name that is a link: the name itself has the rule's level. */
	for (size_t i = 0; i < plan->alias_count; i++) {
		const struct plan_alias *alias = &plan->aliases[i];
		if (strcmp(alias->link.name, path) == 0)
			return (struct judgement){plan->rules.list[alias->rule].level,
				alias->rule, PATH_NONE};
	}
	return levels_decide(&plan->levels, path);
}

enum level plan_level(const struct plan *plan, const char *path)
{
	return plan_decide(plan, path).level;
}
