/* SPDX-License-Identifier: Apache-2.0
 *
 * Expectations: a policy says what it should give, and every compile holds the
 * plans of the imaginary hosts against it.
 */
#include <string.h>

#include "compiler/check.h"

/* One item that failed, on which platforms, and what decided first. */
struct failure {
	unsigned platforms;
	const struct plan *plan;
	struct judgement judged;
	const char *path;
};

static bool holds(const struct ast_expectation *expectation, enum level level)
{
	return (level >= expectation->level) == expectation->allow;
}

static void judge_item(const struct policy *policy, const struct plan *plan,
	const struct ast_expectation *expectation, const struct ast_item *item,
	struct arena *arena, struct diags *diags, struct failure *failure)
{
	struct ast_item alone = *item;
	struct rules paths;

	alone.next = NULL;
	policy_expand(
		policy, &alone, plan->rules.call, plan->rules.temp, arena, diags, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		struct judgement judged = plan_decide(plan, paths.list[i].path);
		if (holds(expectation, judged.level))
			continue;
		failure->platforms |= PLATFORM_BIT(plan->target->platform);
		if (failure->plan)
			continue;
		failure->plan = plan;
		failure->judged = judged;
		failure->path = paths.list[i].path;
	}
}

static const char *platform_list(struct arena *arena, unsigned platforms)
{
	const char *text = "";

	for (int p = 0; p < PLATFORM_COUNT; p++)
		if (platforms & PLATFORM_BIT(p))
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
				vocabulary_text(vocabulary_platforms, p));
	return text;
}

static void report(const struct ast_expectation *expectation, const struct ast_item *item,
	enum mode mode, unsigned asked, const struct failure *failure,
	struct arena *arena, struct diags *diags)
{
	const struct rule *rule = &failure->plan->rules.list[failure->judged.rule];
	struct buf native = BUF_INIT;

	path_put(&native, failure->plan->target->platform, failure->path);
	struct diag *diag = diag_report(diags, CODE_E059, item->span,
		"`%s %s` of `%s` does not hold in mode `%s`%s%s: the path has `%s`",
		expectation->allow ? "allow" : "deny",
		vocabulary_text(vocabulary_levels, (int)expectation->level),
		diag_quoted(diags, native.data, native.len),
		vocabulary_text(vocabulary_modes, (int)mode),
		failure->platforms == asked ? "" : " on ",
		failure->platforms == asked ? ""
					    : platform_list(arena, failure->platforms),
		vocabulary_text(vocabulary_levels, (int)failure->judged.level));
	diag_second(diags, diag, rule->span, "decided here%s%s",
		rule->built_in ? ": the built-in rule of " : "",
		rule->built_in ? rule->built_in : "");
	buf_release(&native);
}

static void check_statement(const struct policy *policy, const struct ast_stmt *stmt,
	const struct check_plans *plans, struct arena *arena, struct diags *diags)
{
	enum mode mode = stmt->u.expect.mode;

	unsigned asked = 0;

	/* danger-full-access is unconfined: there is nothing to hold it against. */
	if (mode >= MODE_CONFINED_COUNT)
		return;
	for (int p = 0; p < PLATFORM_COUNT; p++)
		if (stmt->u.expect.platforms & PLATFORM_BIT(p) && plans->plan[p][mode])
			asked |= PLATFORM_BIT(p);
	for (const struct ast_expectation *e = stmt->u.expect.list; e; e = e->next) {
		for (const struct ast_item *item = e->items; item; item = item->next) {
			struct failure failure = {0};
			for (int p = 0; p < PLATFORM_COUNT; p++)
				if (asked & PLATFORM_BIT(p))
					judge_item(policy, plans->plan[p][mode], e, item,
						arena, diags, &failure);
			if (failure.plan)
				report(e, item, mode, asked, &failure, arena, diags);
		}
	}
}

void check_expectations(const struct policy *policy, const struct check_plans *plans,
	struct arena *arena, struct diags *diags)
{
	const struct ast_policy *named = policy->chain[policy->chain_count - 1].ast;

	for (const struct ast_stmt *stmt = named->body; stmt; stmt = stmt->next)
		if (stmt->kind == AST_EXPECT)
			check_statement(policy, stmt, plans, arena, diags);
}
