/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans a policy for the imaginary hosts and compares its modes.
 */
#include "compiler/check.h"

#include <string.h>

static const struct rule *rule_of(const struct plan *plan, uint32_t rule)
{
	return &plan->rules.list[rule];
}

static void report_climb(const struct plan *wide, const char *path, struct diags *diags)
{
	struct judgement judged = plan_decide(wide, path);
	struct buf native = BUF_INIT;

	path_put(&native, wide->target->platform, path);
	struct diag *diag = diag_report(diags, CODE_E054,
		rule_of(wide, judged.rule)->span,
		"`%s` is narrower in workspace-write (`%s`) than in read-only",
		diag_quoted(diags, native.data, native.len),
		vocabulary_text(vocabulary_levels, (int)judged.level));
	diag_help(diags, diag,
		"a wider mode gives at least as much: write the rule "
		"outside the mode blocks, for both");
	buf_release(&native);
}

/* Levels change only where rules stand, so asking there is asking everywhere. */
static void compare_places(const struct plan *asked, const struct plan *narrow,
	const struct plan *wide, struct diags *diags)
{
	for (size_t i = 0; i < asked->entry_count; i++) {
		const char *path = asked->entries[i].path;
		struct judgement low = plan_decide(narrow, path);
		const char *built_in = rule_of(narrow, low.rule)->built_in;
		/* A narrower `temp` is told as such. */
		if (built_in && strcmp(built_in, "temp") == 0)
			continue;
		if (plan_level(wide, path) < low.level)
			report_climb(wide, path, diags);
	}
}

static bool has_pattern(const struct plan *plan, const struct plan_pattern *pattern)
{
	for (size_t i = 0; i < plan->pattern_count; i++)
		if (plan->patterns[i].level <= pattern->level &&
			strcmp(glob_text(plan->patterns[i].glob),
				glob_text(pattern->glob)) == 0)
			return true;
	return false;
}

static bool grants_write(const struct plan *plan)
{
	for (size_t i = 0; i < plan->entry_count; i++)
		if (plan->entries[i].level == LEVEL_WRITE)
			return true;
	return false;
}

/* A pattern of the wider mode alone takes away what the narrower one gives. */
static void compare_patterns(
	const struct plan *narrow, const struct plan *wide, struct diags *diags)
{
	for (size_t i = 0; i < wide->pattern_count; i++) {
		const struct plan_pattern *pattern = &wide->patterns[i];
		if (has_pattern(narrow, pattern) ||
			(pattern->level == LEVEL_READ && !grants_write(narrow)))
			continue;
		struct diag *diag = diag_report(diags, CODE_E054,
			rule_of(wide, pattern->rule)->span,
			"this pattern makes workspace-write narrower than read-only");
		diag_help(diags, diag, "write it outside the mode blocks");
	}
}

static void compare_settings(
	const struct plan *narrow, const struct plan *wide, struct diags *diags)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct rule_setting *low = &narrow->rules.settings[i];
		const struct rule_setting *high = &wide->rules.settings[i];
		const struct vocabulary *values = vocabulary_of_setting((enum setting)i);
		if (high->value >= low->value)
			continue;
		struct diag *diag = diag_report(diags,
			i == SETTING_NETWORK ? CODE_W104 : CODE_E054,
			high->span.file ? high->span : low->span,
			"`%s` is `%s` in workspace-write and `%s` in read-only",
			vocabulary_text(vocabulary_settings, i),
			vocabulary_text(values, high->value),
			vocabulary_text(values, low->value));
		if (high->span.file && low->span.file)
			diag_second(diags, diag, low->span, "wider here");
	}
}

void check_climb(const struct check_plans *plans, struct diags *diags)
{
	for (int p = 0; p < PLATFORM_COUNT; p++) {
		const struct plan *narrow = plans->plan[p][MODE_READ_ONLY];
		const struct plan *wide = plans->plan[p][MODE_WORKSPACE_WRITE];
		if (!narrow || !wide)
			continue;
		compare_places(narrow, narrow, wide, diags);
		compare_places(wide, narrow, wide, diags);
		compare_patterns(narrow, wide, diags);
		compare_settings(narrow, wide, diags);
	}
}

/* ---- remarks about a whole policy ------------------------------------------- */

static bool reaches_danger(const struct policy *policy)
{
	if (policy->ceiling < MODE_DANGER_FULL_ACCESS)
		return false;
	if (policy->default_mode == MODE_DANGER_FULL_ACCESS)
		return true;
	for (int from = 0; from < MODE_DANGER_FULL_ACCESS; from++)
		if (policy->ladder[from][MODE_DANGER_FULL_ACCESS].consent !=
			CONSENT_NEVER)
			return true;
	return false;
}

static bool restricts(const struct plan *plan)
{
	if (plan->network == NETWORK_NONE)
		return true;
	for (size_t i = 0; i < plan->rules.count; i++) {
		const struct rule *rule = &plan->rules.list[i];
		if (rule->span.file &&
			(rule->level == LEVEL_HIDE || rule->words & WORD_LOCKED))
			return true;
	}
	return false;
}

static void remark_danger(
	const struct policy *policy, const struct check_plans *plans, struct diags *diags)
{
	const struct plan *plan = plans->plan[PLATFORM_LINUX][MODE_READ_ONLY];

	if (!plan || !reaches_danger(policy) || !restricts(plan))
		return;
	struct diag *diag = diag_report(diags, CODE_W106, policy->span,
		"policy `%s` hides or locks, and can reach `danger-full-access`, where "
		"no "
		"rule holds",
		policy->name);
	diag_help(diags, diag, "say `ceiling workspace-write`");
}

/* Services behind these sockets act with the user's or root's full rights. */
static void remark_sockets(const struct check_plans *plans, struct diags *diags)
{
	static const char *const known[] = {"/run/docker.sock", "/run/podman/podman.sock",
		"/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
		"/run/user/1000/bus"};
	const struct plan *plan = plans->plan[PLATFORM_LINUX][MODE_READ_ONLY];
	struct buf open = BUF_INIT;

	for (size_t i = 0; plan && i < sizeof(known) / sizeof(known[0]); i++)
		if (plan_level(plan, known[i]) > LEVEL_HIDE)
			buf_printf(&open, "%s`%s`", open.len ? ", " : "", known[i]);
	if (open.len) {
		struct diag *diag = diag_report(diags, CODE_N205, plan->policy->span,
			"control sockets stay open where they exist: %s", open.data);
		diag_help(diags, diag,
			"`hide` them: who talks to one can leave the sandbox");
	}
	buf_release(&open);
}

void check_policy(const struct policy *policy, unsigned platforms,
	const struct call_value *values, size_t value_count, struct arena *arena,
	struct diags *diags, struct check_plans *plans)
{
	size_t failures = diags->failures;
	bool once = diags->once;

	*plans = (struct check_plans){0};
	diags->once = true;
	for (int p = 0; p < PLATFORM_COUNT; p++) {
		if (!(platforms & PLATFORM_BIT(p)))
			continue;
		struct target *target = arena_alloc(arena, sizeof(*target));
		target_imagine(target, (enum platform)p);
		plans->call[p] = *call_imagined((enum platform)p);
		plans->call[p].values = values;
		plans->call[p].value_count = value_count;
		plans->call[p].placeholders = true;
		for (int m = 0; m < MODE_CONFINED_COUNT; m++)
			plans->plan[p][m] = plan_make(policy, (enum mode)m,
				&plans->call[p], target, false, arena, diags);
	}
	/* What follows from a rule that was left out is no mistake of its own. */
	if (diags->failures == failures) {
		check_climb(plans, diags);
		check_expectations(policy, plans, arena, diags);
	}
	diags->once = once;
}

void check_remarks(
	const struct policy *policy, const struct check_plans *plans, struct diags *diags)
{
	if (diags->failures)
		return;
	remark_danger(policy, plans, diags);
	remark_sockets(plans, diags);
}
