/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold of the rules of a mode at their places: locks, planted links,
 * existence, the temporary directory, the workspace. Each function checks one
 * thing and reports at the rule.
 */
#include <errno.h>
#include <string.h>

#include "compiler/plan_parts.h"

/* Text of a policy or a host for a message. */
static const char *shown(struct making *m, const char *path)
{
	struct buf text = BUF_INIT;

	path_put(&text, m->target->platform, path);
	const char *shown = diag_quoted(m->diags, text.data, text.len);
	buf_release(&text);
	return shown;
}

static const struct rule *rule_at(const struct making *m, uint32_t index)
{
	return &m->plan->rules.list[index];
}

/* A rule that holds: the highest layer at its place, and not off. */
static bool holds(const struct making *m, uint32_t index)
{
	const struct placed *placed = &m->plan->levels.placed[index];

	return placed->node != PATH_NONE &&
	       m->plan->levels.judges[0].winner[placed->node] == index;
}

static const char *level_text(enum level level)
{
	return vocabulary_text(vocabulary_levels, (int)level);
}

/* ---- locks ---------------------------------------------------------------- */

/* Written, or built in through a value that the call chose. */
static bool is_answerable(const struct rule *rule)
{
	return rule->span.file || (rule->from_call && rule->built_in);
}

static void report_lock(
	struct making *m, const struct rule *rule, const struct judgement *bound)
{
	const struct rule *lock = rule_at(m, bound->rule);
	struct diag *diag = diag_report(m->diags, CODE_E052, rule->span,
		"%s gives `%s` to `%s`, a lock permits `%s`",
		rule->built_in ? "the built-in rule" : "this", level_text(rule->level),
		shown(m, rule->path), level_text(bound->level));
	diag_second(m->diags, diag, lock->span, "locked here%s",
		lock->built_in ? ": the file decides how commands are confined" : "");
}

/* Bounds hold whether or not a path exists, so the test has judges of its own. */
static void check_locks(struct making *m)
{
	struct levels all = m->plan->levels;

	if (all.judge_count == 1)
		return;
	levels_judge(&all, m->arena, true);
	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		const struct placed *placed = &all.placed[i];
		if (placed->node == PATH_NONE || !is_answerable(rule) ||
			all.judges[0].winner[placed->node] != i)
			continue;
		char *path = path_of(&all.tree, m->arena, placed->node);
		for (size_t k = 1; k < all.judge_count; k++) {
			struct judgement bound = judge_path(&all, &all.judges[k], path);
			/* `self` lowers what the policy gives; it is no mistake. */
			if (bound.level < rule->level &&
				rule_at(m, bound.rule)->layer != UINT32_MAX) {
				report_lock(m, rule, &bound);
				break;
			}
		}
	}
}

/* A lock that opens again below another one must not be moved by a call. */
static void check_regrants(struct making *m)
{
	const struct levels *levels = &m->plan->levels;

	for (size_t k = 1; k < levels->judge_count; k++) {
		const struct judge *judge = &levels->judges[k];
		for (path_id node = 1; node < levels->tree.count; node++) {
			uint32_t winner = judge->winner[node];
			path_id parent = levels->tree.nodes[node].parent;
			if (winner == NO_RULE || !rule_at(m, winner)->from_call ||
				rule_at(m, winner)->level <= judge->level[parent])
				continue;
			struct diag *diag = diag_report(m->diags, CODE_E053,
				rule_at(m, winner)->span,
				"a lock cannot open `%s` again: the call chooses it",
				shown(m, rule_at(m, winner)->path));
			if (judge->deciding[parent] != NO_RULE)
				diag_second(m->diags, diag,
					rule_at(m, judge->deciding[parent])->span,
					"it is locked here");
		}
	}
}

static void check_setting_locks(struct making *m)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct rule_setting *setting = &m->plan->rules.settings[i];
		const struct vocabulary *values = vocabulary_of_setting((enum setting)i);
		if (!setting->locked || setting->value <= setting->bound)
			continue;
		const char *name = vocabulary_text(vocabulary_settings, i);
		struct diag *diag = diag_report(m->diags, CODE_E052, setting->span,
			"`%s %s` is wider than the locked `%s %s`", name,
			vocabulary_text(values, setting->value), name,
			vocabulary_text(values, setting->bound));
		diag_second(m->diags, diag, setting->bound_span, "locked here");
	}
}

/* ---- planted links -------------------------------------------------------- */

static bool in_writable_area(struct making *m, const char *path)
{
	return levels_decide(&m->plan->levels, path).level == LEVEL_WRITE ||
	       (m->other && levels_decide(m->other, path).level == LEVEL_WRITE);
}

static bool is_planted(struct making *m, uint32_t index)
{
	const struct fact *fact = m->plan->levels.placed[index].fact;

	for (size_t k = 0; fact && k < fact->crossed_count; k++)
		if (in_writable_area(m, fact->crossed[k].name))
			return true;
	return false;
}

/* What the other rules give where a rule stands: those of lower layers that do not
 * come here through such a link themselves, else what stands above. */
static enum level level_without(struct making *m, uint32_t index)
{
	const struct levels *levels = &m->plan->levels;
	const struct placed *placed = &levels->placed[index];
	uint32_t other = placed->shadowed;

	while (other != NO_RULE && (levels->placed[other].off || is_planted(m, other)))
		other = levels->placed[other].shadowed;
	if (other != NO_RULE)
		return rule_at(m, other)->level;
	if (placed->node == PATH_ROOT)
		return LEVEL_HIDE;
	return levels_at(levels, levels->tree.nodes[placed->node].parent);
}

static void add_alias(
	struct making *m, const struct link *link, uint32_t rule, size_t *cap)
{
	struct plan *plan = m->plan;

	plan->aliases = arena_grow(
		m->arena, plan->aliases, plan->alias_count, cap, sizeof(*plan->aliases));
	plan->aliases[plan->alias_count++] = (struct plan_alias){*link, rule};
}

static void report_planted(struct making *m, uint32_t index, const struct link *link)
{
	const struct rule *rule = rule_at(m, index);
	struct diag *diag = diag_report(m->diags, CODE_E072, rule->span,
		"the way to `%s` passes the link `%s` (-> `%s`), which a confined "
		"command "
		"can plant",
		shown(m, rule->path), shown(m, link->name),
		diag_quoted(m->diags, link->text, strlen(link->text)));
	diag_help(m->diags, diag, "remove the link, or name the place it leads to");
}

/* A directory that the call adds is a grant like any other. */
static void check_add_dirs(struct making *m)
{
	for (size_t i = 0; i < m->call->add_dir_link_count; i++) {
		const struct link *link = &m->call->add_dir_links[i];
		if (m->plan->mode < MODE_WORKSPACE_WRITE ||
			!in_writable_area(m, link->name))
			continue;
		struct diag *diag = diag_report(m->diags, CODE_E072, (struct span){0},
			"the way to an additional directory passes the link `%s` (-> "
			"`%s`), which a confined command can plant",
			shown(m, link->name),
			diag_quoted(m->diags, link->text, strlen(link->text)));
		diag_help(m->diags, diag, "name the place it leads to");
	}
}

static void check_links(struct making *m)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct fact *fact = m->plan->levels.placed[i].fact;
		const struct rule *rule = rule_at(m, i);
		if (!fact || !fact->crossed_count || !holds(m, i))
			continue;
		bool more = rule->level > level_without(m, i) ||
			    rule->words & WORD_CREATE;
		for (size_t k = 0; k < fact->crossed_count; k++) {
			if (!in_writable_area(m, fact->crossed[k].name))
				continue;
			if (!more) {
				add_alias(m, &fact->crossed[k], i, &cap);
				continue;
			}
			report_planted(m, i, &fact->crossed[k]);
			break;
		}
	}
	for (path_id n = 0; m->plan->levels.has_matches && n < m->plan->levels.tree.count;
		n++) {
		const struct fact *fact = m->plan->levels.match_fact[n];
		for (size_t k = 0; fact && k < fact->crossed_count; k++)
			if (in_writable_area(m, fact->crossed[k].name))
				add_alias(m, &fact->crossed[k],
					m->plan->levels.judges[0].match[n], &cap);
	}
}

/* A value of the call, in normal form and canonical; NULL if it has none. */
static const char *canonical(struct making *m, const char *native)
{
	const char *path;

	if (!native || path_normalize(m->arena, m->target->platform, native,
			       strlen(native), &path) != PATH_OK)
		return NULL;
	const struct fact *fact = target_find(m->target, path);
	return fact ? fact->canonical : path;
}

/* Whether a write rule stands above a place: a confined command can make up
 * what is there. */
static bool lies_in_writable(const struct levels *levels, const char *place)
{
	for (size_t i = 0; levels && i < levels->rules->count; i++) {
		const struct rule *rule = &levels->rules->list[i];
		const struct fact *fact = levels->placed[i].fact;
		const char *at = fact ? fact->canonical : rule->path;
		if (rule->level == LEVEL_WRITE && rule->path && strcmp(at, place) != 0 &&
			path_covers(at, place))
			return true;
	}
	return false;
}

/* A repository that a command made up could name any place as its common
 * directory: the values hold only outside the writable area. */
static void check_git(struct making *m)
{
	const char *dir = canonical(m, m->call->git_dir);
	const char *common = canonical(m, m->call->git_common_dir);

	if (!dir || m->target->imagined ||
		!(lies_in_writable(&m->plan->levels, dir) ||
			lies_in_writable(m->other, dir)))
		return;
	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		if (rule->span.file && rule->path && rule->from_call &&
			(path_covers(dir, rule->path) ||
				(common && path_covers(common, rule->path))))
			diag_report(m->diags, CODE_E072, rule->span,
				"the repository's directory `%s` lies in the writable "
				"area: a "
				"confined command can plant it",
				shown(m, dir));
	}
}

/* ---- existence ------------------------------------------------------------ */

static void add_created(
	struct making *m, uint32_t index, const struct fact *fact, size_t *cap)
{
	struct plan *plan = m->plan;
	size_t count = plan->created_count;

	plan->created = arena_grow(
		m->arena, plan->created, count, cap, sizeof(*plan->created));
	plan->created[count] = (struct plan_create){
		.path = fact->canonical,
		.file = rule_at(m, index)->words & WORD_CREATE_FILE,
		.rule = index,
	};
	plan->created_count++;
}

static void check_missing(struct making *m, uint32_t index, size_t *cap)
{
	const struct fact *fact = m->plan->levels.placed[index].fact;
	const struct rule *rule = rule_at(m, index);
	struct diag *diag;

	if (fact->dangling && rule->words & WORD_CREATE) {
		diag_report(m->diags, CODE_E072, rule->span,
			"`%s` is a link that leads nowhere; nothing is made through a "
			"link",
			shown(m, rule->path));
	} else if (rule->words & WORD_CREATE) {
		add_created(m, index, fact, cap);
	} else if (rule->words & WORD_RESERVE) {
		m->plan->reserved_count++;
		if (m->launch)
			diag_report(m->diags, CODE_E078, rule->span,
				"`%s` is missing, and `reserve` cannot keep it free yet",
				shown(m, rule->path));
	} else if (!m->launch) {
		diag_report(m->diags, CODE_N202, rule->span,
			"`%s` is missing on this host and taken as present",
			shown(m, rule->path));
	} else {
		diag = diag_report(m->diags, CODE_E070, rule->span, "`%s` %s",
			shown(m, rule->path),
			fact->dangling ? "is a link that leads nowhere"
				       : "does not exist");
		if (fact->dangling)
			diag_help(
				m->diags, diag, "remove the link, or make what it names");
		else
			diag_help(m->diags, diag,
				"make it, or say `optional`%s behind the rule",
				rule->level == LEVEL_HIDE ? " or `reserve`"
							  : " or `create`");
	}
}

/* `self`: a deciding file that is missing where the command could make it. */
static void check_self(struct making *m, uint32_t index)
{
	const struct levels *levels = &m->plan->levels;
	path_id node = levels->placed[index].node;

	for (size_t i = 0; i + 1 < levels->judge_count; i++)
		if (levels->judges[i].level[node] < LEVEL_WRITE)
			return;
	struct diag *diag = diag_report(m->diags, CODE_E070, rule_at(m, index)->span,
		"`%s` does not exist and the command could make it, but it decides how "
		"commands are confined",
		shown(m, rule_at(m, index)->path));
	diag_help(m->diags, diag, "make it, or do not make the directory above writable");
}

/* The way to a deciding file must not be for the command to choose either. */
static void check_self_links(struct making *m, uint32_t index)
{
	const struct fact *fact = m->plan->levels.placed[index].fact;

	for (size_t k = 0; k < fact->crossed_count; k++)
		if (in_writable_area(m, fact->crossed[k].name))
			report_planted(m, index, &fact->crossed[k]);
}

static void check_existence(struct making *m)
{
	const struct levels *levels = &m->plan->levels;
	size_t cap = 0;

	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		const struct placed *placed = &levels->placed[i];
		if (placed->fact && rule->layer == UINT32_MAX)
			check_self_links(m, i);
		/* The private directory is made when everything else is known. */
		if (!placed->fact || placed->off || placed->fact->kind != KIND_MISSING ||
			placed->fact->error ||
			(rule->path && rule->path == m->plan->rules.temp))
			continue;
		if (rule->built_in && strcmp(rule->built_in, "temp") == 0)
			continue;
		if (rule->layer == UINT32_MAX)
			check_self(m, i);
		else if (holds(m, i) || rule->words & WORD_LOCKED)
			check_missing(m, i, &cap);
	}
}

/* ---- the temporary directory, the workspace ------------------------------- */

static void check_temp(struct making *m)
{
	const char *temp = m->plan->rules.temp;

	for (uint32_t i = 0; temp && i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		if (!rule->span.file || !rule->path || !holds(m, i))
			continue;
		bool at = strcmp(rule->path, temp) == 0;
		if (at || (rule->level == LEVEL_WRITE && path_covers(rule->path, temp)))
			diag_report(m->diags, CODE_E058, rule->span, "`%s` is %s",
				shown(m, rule->path),
				at ? "the private temporary directory, which has its own "
				     "rule"
				   : "above the private temporary directory");
	}
}

/* A link may lead where no rule can stand. */
static void check_private_trees(struct making *m)
{
	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct fact *fact = m->plan->levels.placed[i].fact;
		if (fact && holds(m, i) &&
			(path_covers("/dev", fact->canonical) ||
				path_covers("/proc", fact->canonical)))
			diag_report(m->diags, CODE_E036, rule_at(m, i)->span,
				"`%s` leads to `%s`, where no rule can stand",
				shown(m, rule_at(m, i)->path), shown(m, fact->canonical));
	}
}

/* Whether the policy itself has a rule for that very path. */
static bool is_written(struct making *m, const char *path)
{
	const char *rest;
	path_id node = path_lookup(&m->plan->levels.tree, path, &rest);

	if (*rest)
		return false;
	for (uint32_t i = 0; i < m->plan->rules.count; i++)
		if (m->plan->levels.placed[i].node == node && rule_at(m, i)->span.file)
			return true;
	return false;
}

bool plan_check_width(struct making *m)
{
	const char *workspace = canonical(m, m->call->workspace);
	const char *home = canonical(m, m->call->home);
	struct span none = {0};

	if (!workspace)
		return true;
	bool wide = strcmp(workspace, "/") == 0 || (home && path_covers(workspace, home));
	if (wide && m->plan->mode == MODE_WORKSPACE_WRITE && !is_written(m, workspace)) {
		struct diag *diag = diag_report(m->diags, CODE_E060, none,
			"the workspace `%s` is %s", shown(m, workspace),
			strcmp(workspace, "/") == 0 ? "the root of the file system"
						    : "a home directory or above one");
		diag_help(m->diags, diag,
			"name a directory with --workspace, or write a rule for that "
			"path");
		return false;
	}
	return true;
}

static void check_workspace(struct making *m)
{
	const char *workspace = canonical(m, m->call->workspace);

	if (!workspace)
		return;
	struct judgement level = levels_decide(&m->plan->levels, workspace);
	if (level.level == LEVEL_HIDE && level.rule != NO_RULE &&
		rule_at(m, level.rule)->span.file)
		diag_report(m->diags, CODE_W105, rule_at(m, level.rule)->span,
			"the workspace is hidden in mode `%s`",
			vocabulary_text(vocabulary_modes, (int)m->plan->mode));
}

/* ---- remarks about single rules ------------------------------------------- */

static void remark_rules(struct making *m)
{
	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		const struct placed *placed = &m->plan->levels.placed[i];
		if (!rule->span.file || !holds(m, i))
			continue;
		if (placed->shadowed != NO_RULE && rule_at(m, placed->shadowed)->built_in)
			diag_report(m->diags, CODE_N201, rule->span,
				"replaces the built-in rule of `%s` for `%s`",
				rule_at(m, placed->shadowed)->built_in,
				shown(m, rule->path));
		if (rule->level == LEVEL_WRITE && placed->fact &&
			placed->fact->kind == KIND_FILE) {
			struct diag *diag = diag_report(m->diags, CODE_W103, rule->span,
				"`%s` is a file: it can be changed in place only",
				shown(m, rule->path));
			diag_help(m->diags, diag,
				"programs that save by renaming need `write` on its "
				"directory");
		}
		if (rule->level == LEVEL_WRITE && m->plan->mode == MODE_READ_ONLY)
			diag_report(m->diags, CODE_W107, rule->span,
				"mode `read-only` grants `write` on `%s`",
				shown(m, rule->path));
	}
}

/* A promise that this version cannot keep is not run without it. */
static void check_promises(struct making *m)
{
	for (size_t i = 0; m->launch && i < m->policy->chain_count; i++) {
		const struct ast_stmt *stmt = m->policy->chain[i].ast->body;
		for (; stmt; stmt = stmt->next)
			if (stmt->kind == AST_GUARD)
				diag_report(m->diags, CODE_E078, stmt->span,
					"`guard` is checked, but not enforced in this "
					"version");
	}
}

/* A child that takes a directory away may not know what its parents open below. */
static void remark_inherited(struct making *m)
{
	const struct levels *levels = &m->plan->levels;
	const struct judge *rules = &levels->judges[0];

	for (uint32_t i = 0; i < m->plan->rules.count; i++) {
		const struct rule *rule = rule_at(m, i);
		if (!rule->span.file || !holds(m, i))
			continue;
		path_id node = levels->placed[i].node;
		while (node != PATH_ROOT) {
			node = levels->tree.nodes[node].parent;
			uint32_t above = rules->winner[node];
			if (above == NO_RULE || !rule_at(m, above)->span.file ||
				rule_at(m, above)->part <= rule->part ||
				rule_at(m, above)->level >= rule->level)
				continue;
			struct diag *diag = diag_report(m->diags, CODE_N203,
				rule_at(m, above)->span,
				"an inherited rule still gives `%s` to `%s` below",
				level_text(rule->level), shown(m, rule->path));
			diag_second(m->diags, diag, rule->span, "inherited from here");
			break;
		}
	}
}

void plan_check(struct making *m)
{
	check_promises(m);
	check_locks(m);
	check_regrants(m);
	check_setting_locks(m);
	check_links(m);
	check_add_dirs(m);
	check_git(m);
	check_existence(m);
	check_private_trees(m);
	check_temp(m);
	check_workspace(m);
	remark_rules(m);
	remark_inherited(m);
}
