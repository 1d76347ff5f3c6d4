/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules at their places, and the judges. Parents come before children in the
 * path tree, so each judge is one loop over the nodes: no sort, no search.
 */
#include "compiler/levels.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- places --------------------------------------------------------------- */

struct place_rules {
	struct levels *levels;
	struct arena *arena;
	struct diags *diags;
	uint32_t *at; /* by node: the highest rule so far */
	size_t at_cap;
};

static const char *shown(struct place_rules *p, const char *path)
{
	struct buf native = BUF_INIT;

	path_put(&native, p->levels->target->platform, path);
	const char *text = diag_quoted(p->diags, native.data, native.len);
	buf_release(&native);
	return text;
}

static uint32_t *slot(struct place_rules *p, path_id node)
{
	size_t had = p->at_cap;

	while (node >= p->at_cap)
		p->at = arena_grow(
			p->arena, p->at, p->at_cap, &p->at_cap, sizeof(*p->at));
	for (size_t i = had; i < p->at_cap; i++)
		p->at[i] = NO_RULE;
	return &p->at[node];
}

/* Two rules of one layer at one place: an error, or one rule with the stricter
 * words. */
static void report_twice(struct place_rules *p, uint32_t first, uint32_t second)
{
	struct rule *a = &p->levels->rules->list[first],
		    *b = &p->levels->rules->list[second];
	bool same_text = strcmp(a->path, b->path) == 0;
	struct diag *diag;

	if (!b->span.file)
		return;
	if (same_text) {
		diag = diag_report(p->diags, CODE_E050, b->span,
			"`%s` has two rules in one layer", shown(p, b->path));
	} else if (a->level != b->level) {
		diag = diag_report(p->diags, CODE_E073, b->span,
			"`%s` and `%s` are one path on this host and have different "
			"levels",
			shown(p, a->path), shown(p, b->path));
	} else {
		diag = diag_report(p->diags, CODE_N204, b->span,
			"`%s` and `%s` are one path on this host", shown(p, a->path),
			shown(p, b->path));
		unsigned weak = WORD_OPTIONAL | WORD_BEST_EFFORT | WORD_SNAPSHOT;
		unsigned words = (a->words & b->words & weak) |
				 ((a->words | b->words) & ~weak);
		a->words = b->words = words;
	}
	diag_second(p->diags, diag, a->span, "first given here");
}

static void judge_existence(struct place_rules *p, uint32_t index)
{
	const struct rule *rule = &p->levels->rules->list[index];
	struct placed *placed = &p->levels->placed[index];
	const struct fact *fact = placed->fact;

	if (!fact) {
		/* The parent of private directories is there when one was made; an
		 * imaginary host has none. */
		placed->off = rule->built_in &&
			      strcmp(rule->built_in, "temp-parent") == 0;
		return;
	}
	if (fact->changed) {
		diag_report(p->diags, CODE_E074, rule->span,
			"`%s` changed while it was looked at; try again",
			shown(p, rule->path));
	} else if (fact->error == EACCES && rule->level < LEVEL_WRITE &&
		   (rule->words & WORD_OPTIONAL || rule->built_in)) {
		placed->off = true; /* the command cannot get there either */
	} else if (fact->error) {
		diag_report(p->diags, CODE_E071, rule->span, "cannot look at `%s`: %s",
			shown(p, rule->path), strerror(fact->error));
	} else if (fact->kind == KIND_MISSING && !fact->dangling) {
		placed->off = rule->words & WORD_OPTIONAL;
	}
}

static void place_rule(struct place_rules *p, uint32_t index)
{
	struct levels *levels = p->levels;
	const struct rule *rule = &levels->rules->list[index];
	struct placed *placed = &levels->placed[index];

	placed->shadowed = NO_RULE;
	if (!rule->path) {
		placed->node = PATH_NONE;
		return;
	}
	placed->fact = target_find(levels->target, rule->path);
	const char *canonical = placed->fact ? placed->fact->canonical : rule->path;
	placed->node = path_intern(&levels->tree, canonical);

	/* `self` is a lock and nothing else: it stands beside the layers. */
	if (rule->layer == UINT32_MAX)
		return;
	uint32_t *at = slot(p, placed->node);
	placed->shadowed = *at;
	if (*at != NO_RULE && levels->rules->list[*at].layer == rule->layer)
		report_twice(p, *at, index);
	if (*at == NO_RULE || levels->rules->list[*at].layer <= rule->layer)
		*at = index;
}

/* A rule under one of a higher layer plays no part, unless it is a bound. */
static bool holds_somewhere(struct place_rules *p, uint32_t index)
{
	path_id node = p->levels->placed[index].node;

	return p->levels->rules->list[index].words & WORD_LOCKED ||
	       (node < p->at_cap && p->at[node] == index);
}

/* Matches of snapshot patterns: the lowest level holds where several match. */
static void place_matches(struct place_rules *p, uint32_t index)
{
	struct levels *levels = p->levels;
	const struct rule *rule = &levels->rules->list[index];
	const struct match_set *set = target_matches(levels->target, rule->pattern);

	if (!set)
		return;
	levels->placed[index].off = true; /* as a live pattern */
	if (set->error) {
		diag_report(p->diags, CODE_E075, rule->span, "%s%s%s", set->error,
			set->error_path ? ": " : "",
			set->error_path ? shown(p, set->error_path) : "");
		return;
	}
	for (size_t i = 0; i < set->count; i++)
		path_intern(&levels->tree, set->matches[i].canonical);
	levels->has_matches |= set->count > 0;
}

static void note_facts(struct levels *levels, uint32_t index)
{
	const struct rule *rule = &levels->rules->list[index];
	const struct match_set *set = target_matches(levels->target, rule->pattern);

	for (size_t i = 0; set && !set->error && i < set->count; i++) {
		path_id node = path_lookup(
			&levels->tree, set->matches[i].canonical, NULL);
		levels->match_fact[node] = &set->matches[i];
	}
}

/* Names of links must be nodes too: what stands at a link is asked later. */
static void intern_links(struct levels *levels)
{
	for (size_t i = 0; i < levels->rules->count; i++) {
		const struct fact *fact = levels->placed[i].fact;
		for (size_t k = 0; fact && k < fact->crossed_count; k++)
			path_intern(&levels->tree, fact->crossed[k].name);
	}
	for (size_t i = 0; i < levels->target->root_link_count; i++)
		path_intern(&levels->tree, levels->target->root_links[i].name);
}

void levels_place(struct levels *levels, const struct rules *rules,
	const struct target *target, struct arena *arena, struct diags *diags)
{
	struct place_rules p = {.levels = levels, .arena = arena, .diags = diags};

	*levels = (struct levels){.target = target, .rules = rules};
	path_tree_init(&levels->tree, arena, target->casefold);
	levels->placed = arena_array(arena, rules->count, sizeof(*levels->placed));
	for (uint32_t i = 0; i < rules->count; i++)
		place_rule(&p, i);
	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->list[i].path && holds_somewhere(&p, i))
			judge_existence(&p, i);
	for (uint32_t i = 0; i < rules->count; i++)
		if (!rules->list[i].path)
			place_matches(&p, i);
	intern_links(levels);

	if (!levels->has_matches)
		return;
	levels->match_fact = arena_array(
		arena, levels->tree.count, sizeof(*levels->match_fact));
	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->list[i].pattern)
			note_facts(levels, i);
}

/* ---- judges --------------------------------------------------------------- */

/* Which rules a judge holds: all, or the locks of one policy. */
static bool is_member(const struct rule *rule, size_t judge, size_t parts)
{
	if (judge == 0)
		return rule->layer != UINT32_MAX;
	if (!(rule->words & WORD_LOCKED))
		return false;
	return judge == parts + 1 ? rule->layer == UINT32_MAX
				  : rule->part == (uint16_t)(judge - 1);
}

static size_t count_parts(const struct rules *rules)
{
	size_t parts = 0;

	for (size_t i = 0; i < rules->count; i++)
		if (rules->list[i].part != UINT16_MAX && rules->list[i].part + 1U > parts)
			parts = rules->list[i].part + 1U;
	return parts;
}

static void take_winners(struct levels *levels, struct judge *judge, size_t index,
	size_t parts, bool with_off)
{
	const struct rules *rules = levels->rules;

	for (size_t i = 0; i < levels->tree.count; i++)
		judge->winner[i] = NO_RULE;
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct placed *placed = &levels->placed[i];
		if (placed->node == PATH_NONE ||
			!is_member(&rules->list[i], index, parts))
			continue;
		uint32_t *winner = &judge->winner[placed->node];
		if (*winner == NO_RULE ||
			rules->list[*winner].layer <= rules->list[i].layer)
			*winner = i;
	}
	/* The highest layer holds with its words, also when it then is off. */
	for (size_t i = 0; i < levels->tree.count && !with_off; i++)
		if (judge->winner[i] != NO_RULE && levels->placed[judge->winner[i]].off)
			judge->winner[i] = NO_RULE;
}

static void take_patterns(struct levels *levels, struct judge *judge, size_t index,
	size_t parts, struct arena *arena)
{
	struct judged_pattern *patterns = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < levels->rules->count; i++) {
		const struct rule *rule = &levels->rules->list[i];
		if (!rule->pattern || levels->placed[i].off ||
			!is_member(rule, index, parts))
			continue;
		patterns = arena_grow(
			arena, patterns, judge->pattern_count, &cap, sizeof(*patterns));
		patterns[judge->pattern_count++] = (struct judged_pattern){
			glob_compile(arena, rule->pattern), i};
	}
	judge->patterns = patterns;
}

static enum level lower(enum level a, enum level b)
{
	return a < b ? a : b;
}

static void lower_match(const struct levels *levels, uint32_t *at, uint32_t rule)
{
	if (*at == NO_RULE ||
		levels->rules->list[rule].level < levels->rules->list[*at].level)
		*at = rule;
}

static void note_match_set(struct levels *levels, struct judge *judge, uint32_t index)
{
	const struct rule *rule = &levels->rules->list[index];
	const struct match_set *set = target_matches(levels->target, rule->pattern);

	for (size_t i = 0; set && !set->error && i < set->count; i++) {
		path_id node = path_lookup(
			&levels->tree, set->matches[i].canonical, NULL);
		lower_match(levels, &judge->match[node], index);
		if (!(rule->words & WORD_BEST_EFFORT))
			lower_match(levels, &judge->match_strict[node], index);
	}
}

/* What the snapshots among a judge's own patterns match: of several the lowest. */
static void take_matches(struct levels *levels, struct judge *judge, size_t index,
	size_t parts, struct arena *arena)
{
	size_t nodes = levels->tree.count;

	if (!levels->has_matches)
		return;
	judge->match = arena_array(arena, nodes, sizeof(*judge->match));
	judge->match_strict = arena_array(arena, nodes, sizeof(*judge->match_strict));
	for (size_t i = 0; i < nodes; i++)
		judge->match[i] = judge->match_strict[i] = NO_RULE;
	for (uint32_t i = 0; i < levels->rules->count; i++)
		if (levels->rules->list[i].pattern &&
			is_member(&levels->rules->list[i], index, parts))
			note_match_set(levels, judge, i);
}

/* The level at a node from its own rule or its parent, then a match. */
static void judge_node(
	const struct levels *levels, struct judge *judge, path_id node, bool bound)
{
	const struct rules *rules = levels->rules;
	path_id parent = levels->tree.nodes[node].parent;
	uint32_t winner = judge->winner[node];

	if (node == PATH_ROOT) {
		judge->level[node] = judge->strict[node] = bound ? LEVEL_WRITE
								 : LEVEL_READ;
		judge->deciding[node] = NO_RULE;
	} else {
		judge->level[node] = judge->level[parent];
		judge->strict[node] = judge->strict[parent];
		judge->deciding[node] = judge->deciding[parent];
	}
	if (winner != NO_RULE) {
		const struct rule *rule = &rules->list[winner];
		bool weak = rule->words & WORD_BEST_EFFORT &&
			    rule->level < judge->strict[node];
		judge->level[node] = rule->level;
		judge->deciding[node] = winner;
		if (!weak)
			judge->strict[node] = rule->level;
	} else if (judge->match && judge->match[node] != NO_RULE) {
		enum level level = rules->list[judge->match[node]].level;
		uint32_t strict = judge->match_strict[node];
		if (level < judge->level[node])
			judge->deciding[node] = judge->match[node];
		judge->level[node] = lower(judge->level[node], level);
		if (strict != NO_RULE)
			judge->strict[node] = lower(
				judge->strict[node], rules->list[strict].level);
	}
}

static bool has_members(const struct levels *levels, size_t index, size_t parts)
{
	for (size_t i = 0; i < levels->rules->count; i++)
		if (is_member(&levels->rules->list[i], index, parts))
			return true;
	return false;
}

void levels_judge(struct levels *levels, struct arena *arena, bool with_off)
{
	size_t parts = count_parts(levels->rules), nodes = levels->tree.count;

	levels->judges = arena_array(arena, parts + 2, sizeof(*levels->judges));
	levels->judge_count = 0;
	for (size_t i = 0; i < parts + 2; i++) {
		if (i && !has_members(levels, i, parts))
			continue;
		struct judge *judge = &levels->judges[levels->judge_count++];
		judge->winner = arena_array(arena, nodes, sizeof(*judge->winner));
		judge->deciding = arena_array(arena, nodes, sizeof(*judge->deciding));
		judge->level = arena_array(arena, nodes, sizeof(*judge->level));
		judge->strict = arena_array(arena, nodes, sizeof(*judge->strict));
		take_winners(levels, judge, i, parts, with_off);
		take_patterns(levels, judge, i, parts, arena);
		take_matches(levels, judge, i, parts, arena);
		for (path_id node = 0; node < nodes; node++)
			judge_node(levels, judge, node, i > 0);
	}
}

/* ---- questions ------------------------------------------------------------ */

/* True if the pattern matches path or an ancestor deeper than depth. */
static bool matches_below(const struct glob *glob, const char *path, unsigned depth)
{
	glob_set set = glob_start(glob);

	for (unsigned at = 1; set; at++) {
		while (*path == '/')
			path++;
		size_t len = strcspn(path, "/");
		if (!len)
			return false;
		set = glob_step(glob, set, path, len);
		if (at > depth && glob_accepts(glob, set))
			return true;
		path += len;
	}
	return false;
}

struct judgement judge_path(
	const struct levels *levels, const struct judge *judge, const char *path)
{
	path_id node = path_lookup(&levels->tree, path, NULL);
	struct judgement found = {judge->level[node], judge->deciding[node], PATH_ROOT};

	/* The literal that decides stands at or above the node. */
	path_id at = node;
	while (at != PATH_ROOT && judge->winner[at] == NO_RULE)
		at = levels->tree.nodes[at].parent;
	found.node = at;

	unsigned depth = levels->tree.nodes[at].depth;
	for (size_t i = 0; i < judge->pattern_count; i++) {
		const struct judged_pattern *pattern = &judge->patterns[i];
		enum level level = levels->rules->list[pattern->rule].level;
		if (level >= found.level || !matches_below(pattern->glob, path, depth))
			continue;
		found = (struct judgement){level, pattern->rule, PATH_NONE};
	}
	return found;
}

struct judgement levels_decide(const struct levels *levels, const char *path)
{
	struct judgement best = judge_path(levels, &levels->judges[0], path);

	for (size_t i = 1; i < levels->judge_count; i++) {
		struct judgement next = judge_path(levels, &levels->judges[i], path);
		if (next.level < best.level)
			best = next;
	}
	return best;
}

enum level levels_at(const struct levels *levels, path_id node)
{
	enum level level = levels->judges[0].level[node];

	for (size_t i = 1; i < levels->judge_count; i++)
		level = lower(level, levels->judges[i].level[node]);
	return level;
}

enum level levels_strict(const struct levels *levels, path_id node)
{
	enum level level = levels->judges[0].strict[node];

	for (size_t i = 1; i < levels->judge_count; i++)
		level = lower(level, levels->judges[i].strict[node]);
	return level;
}

uint32_t levels_rule(const struct levels *levels, path_id node)
{
	enum level level = levels_at(levels, node);

	for (size_t i = 0; i < levels->judge_count; i++)
		if (levels->judges[i].level[node] == level)
			return levels->judges[i].deciding[node];
	assert(!"a judge that gives the lowest level");
	return NO_RULE;
}
