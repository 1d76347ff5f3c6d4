/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists that backends read, made from the levels: one walk over the path
 * tree in the order of paths.
 */
#include <errno.h>
#include <string.h>

#include "compiler/plan_parts.h"

struct build {
	struct making *m;
	path_id *order; /* parents first, siblings by bytes */
	bool *pinned, *way, *entry; /* by node */
	uint32_t *entry_of; /* by node: index of the entry there */
	const struct fact **fact; /* by node */
};

static enum level at(const struct build *b, path_id node)
{
	return levels_at(&b->m->plan->levels, node);
}

static path_id parent(const struct build *b, path_id node)
{
	return b->m->plan->levels.tree.nodes[node].parent;
}

static bool changes(const struct build *b, path_id node)
{
	return node == PATH_ROOT || at(b, node) != at(b, parent(b, node)) ||
	       levels_strict(&b->m->plan->levels, node) !=
		       levels_strict(&b->m->plan->levels, parent(b, node));
}

/* Where facts stand: by canonical place, present ones first. */
static void take_facts(struct build *b)
{
	const struct levels *levels = &b->m->plan->levels;

	for (size_t i = 0; i < b->m->plan->rules.count; i++) {
		const struct placed *placed = &levels->placed[i];
		if (placed->fact && placed->node != PATH_NONE &&
			(!b->fact[placed->node] ||
				b->fact[placed->node]->kind == KIND_MISSING))
			b->fact[placed->node] = placed->fact;
	}
	for (path_id n = 0; levels->has_matches && n < levels->tree.count; n++)
		if (levels->match_fact[n])
			b->fact[n] = levels->match_fact[n];
}

/* The kind of an object that is not there yet, or not known. */
static enum kind expected_kind(const struct build *b, path_id node, uint32_t rule)
{
	const struct fact *fact = b->fact[node];

	if (fact && fact->kind != KIND_MISSING)
		return fact->kind;
	if (rule == NO_RULE)
		return KIND_UNKNOWN;
	if (b->m->plan->rules.list[rule].words & WORD_CREATE_FILE)
		return KIND_FILE;
	return b->m->plan->rules.list[rule].words & WORD_CREATE ? KIND_DIRECTORY
								: KIND_UNKNOWN;
}

static void add_entry(struct build *b, path_id node, size_t *cap)
{
	struct plan *plan = b->m->plan;
	const struct fact *fact = b->fact[node];
	uint32_t rule = levels_rule(&plan->levels, node);

	plan->entries = arena_grow(b->m->arena, plan->entries, plan->entry_count, cap,
		sizeof(*plan->entries));
	b->entry_of[node] = (uint32_t)plan->entry_count;
	b->entry[node] = true;
	plan->entries[plan->entry_count++] = (struct plan_entry){
		.path = path_of(&plan->levels.tree, b->m->arena, node),
		.level = at(b, node),
		.strict = levels_strict(&plan->levels, node),
		.kind = node == PATH_ROOT ? KIND_DIRECTORY : expected_kind(b, node, rule),
		.rule = rule,
		.node = node,
		.snapshot = plan->levels.has_matches && rule != NO_RULE &&
			    plan->rules.list[rule].pattern,
		.dev = fact ? fact->dev : 0,
		.ino = fact ? fact->ino : 0,
		.links = fact ? fact->links : 0,
		.owner = fact ? fact->owner : UINT32_MAX,
		.casefold = fact && fact->casefold,
		.mounts = fact ? fact->mounts : NULL,
	};
}

/* The nearest node above that is an entry. */
static path_id entry_above(const struct build *b, path_id node)
{
	do
		node = parent(b, node);
	while (!b->entry[node]);
	return node;
}

static void mark_between(struct build *b, path_id node, path_id above, bool *marks)
{
	for (path_id n = parent(b, node); n != above && n != PATH_ROOT; n = parent(b, n))
		marks[n] = true;
}

static void mark_entry(struct build *b, path_id node)
{
	if (node == PATH_ROOT)
		return;

	path_id above = entry_above(b, node);
	struct plan_entry *over = &b->m->plan->entries[b->entry_of[above]];
	enum level level = at(b, node);

	b->m->plan->entries[b->entry_of[node]].above = b->entry_of[above];
	if (level < LEVEL_WRITE && over->level == LEVEL_WRITE) {
		for (path_id n = parent(b, node); n != above; n = parent(b, n))
			if (!b->pinned[n]) {
				b->pinned[n] = true;
				b->entry_of[n] = b->entry_of[node];
			}
	}
	if (level > LEVEL_HIDE && over->level == LEVEL_HIDE) {
		over->opens = true;
		mark_between(b, node, above, b->way);
	}
}

/* ---- links below a hide ---------------------------------------------------- */

static bool has_link(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->link_count; i++)
		if (strcmp(plan->links[i].name, name) == 0)
			return true;
	return false;
}

/* A link that stands where everything is hidden must be made again. */
static void add_link(struct build *b, const struct link *link, size_t *cap)
{
	struct plan *plan = b->m->plan;
	path_id node = path_lookup(&plan->levels.tree, link->name, NULL);

	if (at(b, node) != LEVEL_HIDE || has_link(plan, link->name))
		return;
	plan->links = arena_grow(
		b->m->arena, plan->links, plan->link_count, cap, sizeof(*plan->links));
	plan->links[plan->link_count++] = *link;

	path_id above = entry_above(b, node);
	plan->entries[b->entry_of[above]].opens = true;
	mark_between(b, node, above, b->way);
}

/* Where a link directly in `/` leads, by its text. */
static const char *root_target(struct build *b, const struct link *link)
{
	const char *path;
	const char *text = link->text[0] == '/'
				   ? link->text
				   : arena_printf(b->m->arena, "/%s", link->text);

	return path_normalize(b->m->arena, PLATFORM_LINUX, text, strlen(text), &path) ==
			       PATH_OK
		       ? path
		       : NULL;
}

static void add_links(struct build *b)
{
	struct plan *plan = b->m->plan;
	const struct target *target = b->m->target;
	size_t cap = 0;

	for (size_t i = 0; i < plan->rules.count; i++) {
		const struct placed *placed = &plan->levels.placed[i];
		if (!placed->fact || placed->off ||
			plan->levels.judges[0].winner[placed->node] != i ||
			at(b, placed->node) == LEVEL_HIDE)
			continue;
		for (size_t k = 0; k < placed->fact->crossed_count; k++)
			add_link(b, &placed->fact->crossed[k], &cap);
	}
	for (size_t i = 0; at(b, PATH_ROOT) == LEVEL_HIDE && i < target->root_link_count;
		i++) {
		const char *leads = root_target(b, &target->root_links[i]);
		if (leads && levels_decide(&plan->levels, leads).level > LEVEL_HIDE)
			add_link(b, &target->root_links[i], &cap);
	}
}

/* ---- what is left ----------------------------------------------------------- */

static void add_marked(struct build *b)
{
	struct plan *plan = b->m->plan;
	size_t pin_cap = 0, way_cap = 0, count = plan->levels.tree.count;

	for (size_t i = 0; i < count; i++) {
		path_id node = b->order[i];
		if (b->pinned[node] && !b->entry[node]) {
			plan->pins = arena_grow(b->m->arena, plan->pins, plan->pin_count,
				&pin_cap, sizeof(*plan->pins));
			plan->pins[plan->pin_count++] = (struct plan_pin){
				.path = path_of(&plan->levels.tree, b->m->arena, node),
				.entry = b->entry_of[node]};
		}
		if (b->way[node] && !b->entry[node]) {
			plan->ways = arena_grow(b->m->arena, plan->ways, plan->way_count,
				&way_cap, sizeof(*plan->ways));
			plan->ways[plan->way_count++] = path_of(
				&plan->levels.tree, b->m->arena, node);
		}
	}
}

static void add_patterns(struct build *b)
{
	struct plan *plan = b->m->plan;
	size_t cap = 0;

	for (uint32_t i = 0; i < plan->rules.count; i++) {
		const struct rule *rule = &plan->rules.list[i];
		if (!rule->pattern)
			continue;
		plan->patterns = arena_grow(b->m->arena, plan->patterns,
			plan->pattern_count, &cap, sizeof(*plan->patterns));
		plan->patterns[plan->pattern_count++] = (struct plan_pattern){
			.glob = glob_compile(b->m->arena, rule->pattern),
			.level = rule->level,
			.rule = i,
			.listed = plan->levels.placed[i].off,
		};
	}
}

static void add_off(struct build *b)
{
	struct plan *plan = b->m->plan;
	size_t cap = 0;

	for (uint32_t i = 0; i < plan->rules.count; i++) {
		const struct placed *placed = &plan->levels.placed[i];
		if (!placed->off || !placed->fact)
			continue;
		plan->off = arena_grow(b->m->arena, plan->off, plan->off_count, &cap,
			sizeof(*plan->off));
		plan->off[plan->off_count++] = (struct plan_off){
			i, placed->fact->error ? OFF_UNSEARCHABLE : OFF_MISSING};
	}
}

static void take_settings(struct build *b)
{
	struct plan *plan = b->m->plan;
	const struct rule_setting *settings = plan->rules.settings;
	const struct call *call = b->m->call;

	plan->temp = (enum temp)settings[SETTING_TEMP].value;
	plan->devices = (enum devices)settings[SETTING_DEVICES].value;
	plan->network = (enum network)settings[SETTING_NETWORK].value;
	if (plan->temp == TEMP_PRIVATE) {
		for (uint32_t i = 0; i < plan->rules.count; i++)
			if (plan->rules.list[i].built_in &&
				strcmp(plan->rules.list[i].built_in, "temp") == 0)
				plan->temp_path = path_of(&plan->levels.tree, b->m->arena,
					plan->levels.placed[i].node);
	} else if (plan->temp == TEMP_HOST && call->temp_root_count) {
		plan->temp_path = call->temp_roots[0];
	}
}

void plan_build(struct making *m)
{
	struct plan *plan = m->plan;
	size_t count = plan->levels.tree.count, cap = 0;
	struct build b = {
		.m = m,
		.order = arena_array(m->arena, count, sizeof(path_id)),
		.pinned = arena_array(m->arena, count, sizeof(bool)),
		.way = arena_array(m->arena, count, sizeof(bool)),
		.entry = arena_array(m->arena, count, sizeof(bool)),
		.entry_of = arena_array(m->arena, count, sizeof(uint32_t)),
		.fact = arena_array(m->arena, count, sizeof(struct fact *)),
	};

	take_facts(&b);
	path_order(&plan->levels.tree, m->arena, b.order);
	for (size_t i = 0; i < count; i++)
		if (changes(&b, b.order[i]))
			add_entry(&b, b.order[i], &cap);
	for (size_t i = 0; i < plan->entry_count; i++)
		mark_entry(&b, plan->entries[i].node);
	add_links(&b);
	add_marked(&b);
	add_patterns(&b);
	add_off(&b);
	take_settings(&b);
}
