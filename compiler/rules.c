/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of one mode for one call: built-in rules first, then each policy of
 * the chain, layer by layer. Here variables get their values, sets are opened
 * and paths become absolute; nothing is decided yet.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "compiler/glob.h"
#include "compiler/path.h"
#include "compiler/scope.h"
#include "compiler/values.h"

#define SETS_NESTED_MAX 64

struct expand {
	const struct policy *policy;
	const struct call *call;
	struct arena *arena;
	struct diags *diags;
	struct rules *out;
	/* Of the statement at hand. */
	const struct scope *scope;
	const struct ast_stmt *stmt;
	uint32_t layer;
	uint16_t part;
	/* The sets that are open, innermost last. */
	const struct ast_let *open[SETS_NESTED_MAX];
	unsigned open_count;
	bool settings; /* this pass takes settings, the next one rules: the value of
	                * ${temp} follows from a setting */
};

static struct rule *add_rule(struct expand *x, struct rule rule)
{
	struct rules *out = x->out;

	if (out->count >= AST_RULES_MAX + 1000) {
		diag_report(x->diags, CODE_E012, rule.span, "more than %d rules",
			AST_RULES_MAX);
		return NULL;
	}
	out->list = arena_grow(
		x->arena, out->list, out->count, &out->cap, sizeof(*out->list));
	out->list[out->count] = rule;
	return &out->list[out->count++];
}

/* ---- paths -------------------------------------------------------------- */

static void report_path(
	struct expand *x, enum path_error error, const struct buf *text, struct span span)
{
	const char *shown = diag_quoted(
		x->diags, text->data ? text->data : "", text->len);
	const char *platform = vocabulary_text(
		vocabulary_platforms, (int)x->call->platform);

	switch (error) {
	case PATH_OK: break;
	case PATH_NOT_ABSOLUTE:
		if (text->len && (text->data[0] == '/' ||
					 (text->len > 1 && text->data[1] == ':'))) {
			struct diag *diag = diag_report(x->diags, CODE_E037, span,
				"`%s` is not absolute on %s", shown, platform);
			diag_help(x->diags, diag,
				"put the rule into a block `on %s { … }`",
				x->call->platform == PLATFORM_WINDOWS ? "linux, macos"
								      : "windows");
		} else {
			diag_report(
				x->diags, CODE_E030, span, "`%s` is not absolute", shown);
		}
		break;
	case PATH_DOTDOT:
		diag_report(x->diags, CODE_E031, span, "`%s` contains `..`", shown);
		break;
	case PATH_TOO_LONG:
		diag_report(x->diags, CODE_E035, span, "a path of more than %d bytes",
			PATH_BYTES_MAX);
		break;
	case PATH_BAD_BYTE:
		diag_report(x->diags, CODE_E038, span, "`%s` cannot be a path on %s",
			shown, platform);
		break;
	}
}

static bool is_reserved(struct expand *x, const char *path, struct span span)
{
	static const char *const private_trees[] = {"/dev", "/proc"};

	if (x->call->platform == PLATFORM_WINDOWS)
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (!path_covers(private_trees[i], path))
			continue;
		diag_report(x->diags, CODE_E036, span,
			"no rule can stand at or below `%s`: %s", private_trees[i],
			i == 0 ? "`devices` decides there" : "it is private");
		return true;
	}
	return false;
}

static void add_path(struct expand *x, const struct buf *text, struct span span,
	bool from_call, enum level level, unsigned words, const char *built_in)
{
	const char *path;
	enum path_error error = path_normalize(x->arena, x->call->platform,
		text->data ? text->data : "", text->len, &path);

	if (error != PATH_OK) {
		report_path(x, error, text, span);
		return;
	}
	if (is_reserved(x, path, span))
		return;
	add_rule(x, (struct rule){.level = level,
			    .words = words,
			    .span = span,
			    .path = path,
			    .layer = x->layer,
			    .part = x->part,
			    .from_call = from_call,
			    .built_in = built_in});
}

static void add_text(struct expand *x, const char *text, struct span span, bool from_call,
	const char *rest, const char *built_in)
{
	struct buf path = BUF_INIT;

	buf_puts(&path, text);
	buf_puts(&path, rest);
	add_path(x, &path, span, from_call, x->stmt ? x->stmt->u.rule.level : LEVEL_WRITE,
		x->stmt ? x->stmt->u.rule.words : 0, built_in);
	buf_release(&path);
}

static void add_pattern(struct expand *x, const struct buf *text, struct span span)
{
	/* A pattern is normalised as a path is; its special characters are no
	 * separators and `\` quotes, so POSIX rules hold on every platform. */
	const char *pattern;
	bool windows = x->call->platform == PLATFORM_WINDOWS;
	const char *start = windows && text->len > 1 && text->data[1] == ':'
				    ? arena_printf(x->arena, "/%s", text->data)
				    : text->data;
	enum path_error error = start ? path_normalize(x->arena, PLATFORM_LINUX, start,
						strlen(start), &pattern)
				      : PATH_NOT_ABSOLUTE;

	if (error == PATH_OK && windows && start == text->data)
		error = PATH_NOT_ABSOLUTE;
	if (error != PATH_OK) {
		report_path(x, error, text, span);
		return;
	}
	if (path_depth(pattern) > GLOB_COMPONENTS_MAX) {
		diag_report(x->diags, CODE_E025, span,
			"a pattern of more than %d components", GLOB_COMPONENTS_MAX);
		return;
	}
	add_rule(x, (struct rule){.level = x->stmt->u.rule.level,
			    .words = x->stmt->u.rule.words,
			    .span = span,
			    .pattern = pattern,
			    .layer = x->layer,
			    .part = x->part});
}

/* ---- items and sets ----------------------------------------------------- */

static void add_item(struct expand *x, const struct ast_item *item, struct span span,
	const char *rest);

static void add_text_item(
	struct expand *x, const struct ast_item *item, struct span span, const char *rest)
{
	struct buf text = BUF_INIT;
	bool from_call = false, pattern = item->kind == AST_GLOB;
	const struct values values = {
		x->scope, x->call, x->out->temp, x->arena, x->diags};
	enum value_kind kind = values_put(
		&values, &item->text, pattern, &text, &from_call);

	if (kind == VALUE_FOUND && pattern && *rest) {
		diag_report(x->diags, CODE_E021, span,
			"`%s` below a set that contains a pattern", rest);
	} else if (kind == VALUE_FOUND && pattern) {
		add_pattern(x, &text, span);
	} else if (kind == VALUE_FOUND) {
		buf_puts(&text, rest);
		add_path(x, &text, span, from_call, x->stmt->u.rule.level,
			x->stmt->u.rule.words, NULL);
	} else if (kind == VALUE_UNDEFINED && !(x->stmt->u.rule.words & WORD_OPTIONAL)) {
		struct diag *diag = diag_report(x->diags, CODE_E033, item->span,
			"`${%s}` has no value in this call",
			item->text.holes[0].name.text);
		diag_help(x->diags, diag,
			"the rule is left out where the value is missing if it says "
			"`optional`");
	}
	buf_release(&text);
}

static void add_roots(struct expand *x, struct span span, const char *rest)
{
	add_text(x, x->call->workspace, span, true, rest, NULL);
	for (size_t i = 0; i < x->call->add_dir_count; i++)
		add_text(x, x->call->add_dirs[i], span, true, rest, NULL);
}

static bool open_set(struct expand *x, const struct ast_let *let, struct span span)
{
	for (unsigned i = 0; i < x->open_count; i++) {
		if (x->open[i] != let)
			continue;
		struct diag *diag = diag_report(x->diags, CODE_E041, let->name.span,
			"set `%s` contains itself", let->name.text);
		diag_second(x->diags, diag, span, "it is used here");
		return false;
	}
	if (x->open_count == SETS_NESTED_MAX) {
		diag_report(x->diags, CODE_E010, span,
			"sets are nested more than %d deep", SETS_NESTED_MAX);
		return false;
	}
	x->open[x->open_count++] = let;
	return true;
}

static void add_set(
	struct expand *x, const struct ast_item *item, struct span span, const char *rest)
{
	const char *name = item->set.text;
	const char *below = arena_printf(
		x->arena, "%.*s%s", (int)item->text.len, item->text.bytes, rest);

	if (strcmp(name, "roots") == 0) {
		add_roots(x, span, below);
		return;
	}
	const struct definition *def = scope_find(x->scope, NAME_SET, name);
	if (!def) {
		const char *near = vocabulary_distance("roots", name) != SIZE_MAX
					   ? "roots"
					   : scope_nearest(x->scope, NAME_SET, name);
		struct diag *diag = diag_report(
			x->diags, CODE_E040, item->set.span, "unknown set `@%s`", name);
		if (near)
			diag_help(x->diags, diag, "did you mean `@%s`?", near);
		return;
	}
	if (!def->u.let->items && x->stmt->u.rule.level == LEVEL_HIDE)
		diag_report(x->diags, CODE_E042, span,
			"the set `@%s` is empty: nothing would be hidden", name);
	if (!open_set(x, def->u.let, span))
		return;

	const struct scope *outer = x->scope;
	x->scope = def->scope;
	for (const struct ast_item *member = def->u.let->items; member;
		member = member->next)
		add_item(x, member, span, below);
	x->scope = outer;
	x->open_count--;
}

/* span is the place in the policy, also for what a set brings in. */
static void add_item(
	struct expand *x, const struct ast_item *item, struct span span, const char *rest)
{
	switch (item->kind) {
	case AST_PATH:
	case AST_GLOB: add_text_item(x, item, span, rest); break;
	case AST_SET: add_set(x, item, span, rest); break;
	case AST_EVERYTHING: {
		struct rule rule = {.level = x->stmt->u.rule.level,
			.words = x->stmt->u.rule.words,
			.span = span,
			.path = "/",
			.layer = x->layer,
			.part = x->part};
		if (*rest)
			diag_report(x->diags, CODE_E021, span,
				"`%s` below a set that contains `everything`", rest);
		else
			add_rule(x, rule);
		break;
	}
	}
}

/* ---- layers ------------------------------------------------------------- */

static void take_rule(struct expand *x, const struct ast_stmt *stmt)
{
	x->stmt = stmt;
	for (const struct ast_item *item = stmt->u.rule.items; item; item = item->next)
		add_item(x, item, item->span, "");
	x->stmt = NULL;
}

static void take_setting(
	struct expand *x, const struct ast_stmt *stmt, struct span seen[SETTING_COUNT])
{
	enum setting kind = stmt->u.setting.setting;
	struct rule_setting *setting = &x->out->settings[kind];
	const char *name = vocabulary_text(vocabulary_settings, (int)kind);

	if (seen[kind].file) {
		struct diag *diag = diag_report(x->diags, CODE_E051, stmt->span,
			"`%s` is given twice in one layer", name);
		diag_second(x->diags, diag, seen[kind], "first given here");
		return;
	}
	seen[kind] = stmt->span;
	setting->value = stmt->u.setting.value;
	setting->words = stmt->u.setting.words;
	setting->span = stmt->span;
	if (!(setting->words & WORD_LOCKED))
		return;
	if (!setting->locked || setting->value < setting->bound) {
		setting->bound = setting->value;
		setting->bound_span = stmt->span;
		setting->bound_words = stmt->u.setting.words;
	}
	setting->locked = true;
}

static void take_stmt(
	struct expand *x, const struct ast_stmt *stmt, struct span seen[SETTING_COUNT])
{
	if (stmt->kind == AST_SETTING && x->settings)
		take_setting(x, stmt, seen);
	else if (stmt->kind == AST_RULE && !x->settings)
		take_rule(x, stmt);
}

static void take_layer(struct expand *x, const struct ast_stmt *body, enum layer layer,
	struct span seen[SETTING_COUNT])
{
	bool on = layer == LAYER_COMMON_ON || layer == LAYER_MODE_ON;

	x->layer = (uint32_t)x->part * LAYER_COUNT + (uint32_t)layer + 1;
	for (const struct ast_stmt *stmt = body; stmt; stmt = stmt->next) {
		if (!on)
			take_stmt(x, stmt, seen);
		else if (stmt->kind == AST_ON &&
			 stmt->u.on.platforms & PLATFORM_BIT(x->call->platform))
			for (const struct ast_stmt *s = stmt->u.on.body; s; s = s->next)
				take_stmt(x, s, seen);
	}
}

static void take_part(struct expand *x, uint16_t index)
{
	const struct policy_part *part = &x->policy->chain[index];
	struct span seen[LAYER_COUNT][SETTING_COUNT] = {0};

	x->part = index;
	x->scope = part->scope;
	take_layer(x, part->ast->body, LAYER_COMMON, seen[LAYER_COMMON]);
	take_layer(x, part->ast->body, LAYER_COMMON_ON, seen[LAYER_COMMON_ON]);
	for (int layer = LAYER_MODE; layer <= LAYER_MODE_ON; layer++)
		for (const struct ast_stmt *stmt = part->ast->body; stmt;
			stmt = stmt->next)
			if (stmt->kind == AST_MODE && stmt->u.block.mode == x->out->mode)
				take_layer(x, stmt->u.block.body, (enum layer)layer,
					seen[layer]);
}

/* ---- built-in rules ------------------------------------------------------ */

static void add_built_in(struct expand *x, const char *text, enum level level,
	unsigned words, bool from_call, const char *name)
{
	struct buf path = BUF_INIT;

	buf_puts(&path, text);
	add_path(x, &path, (struct span){0}, from_call, level, words, name);
	buf_release(&path);
}

static void take_built_in(struct expand *x)
{
	struct rule everything = {.level = LEVEL_READ,
		.path = "/",
		.part = UINT16_MAX,
		.built_in = vocabulary_text(vocabulary_modes, (int)x->out->mode)};

	x->part = UINT16_MAX;
	x->layer = 0;
	add_rule(x, everything);
	if (x->out->mode != MODE_WORKSPACE_WRITE)
		return;
	add_built_in(x, x->call->workspace, LEVEL_WRITE, 0, true, "workspace-write");
	for (size_t i = 0; i < x->call->add_dir_count; i++)
		add_built_in(x, x->call->add_dirs[i], LEVEL_WRITE, 0, true, "add-dir");
}

static void default_settings(struct rules *rules)
{
	bool write = rules->mode == MODE_WORKSPACE_WRITE;

	rules->settings[SETTING_TEMP].value = write ? TEMP_PRIVATE : TEMP_NONE;
	rules->settings[SETTING_DEVICES].value = DEVICES_STANDARD;
	rules->settings[SETTING_NETWORK].value = NETWORK_HOST;
}

/* A locked value is a bound; a built-in value above it is only lowered, a
 * written one is an error that the plan reports. */
static void lower_settings(struct rules *rules)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		struct rule_setting *setting = &rules->settings[i];
		if (setting->locked && setting->value > setting->bound &&
			!setting->span.file)
			setting->value = setting->bound;
	}
}

/* Everybody's private directories lie in one parent, which is hidden so that
 * one call does not see those of another. */
static void take_temp(struct expand *x)
{
	const struct call *call = x->call;
	int value = x->out->settings[SETTING_TEMP].value;

	x->part = UINT16_MAX;
	x->layer = 0;
	for (size_t i = 0; i < call->temp_root_count && call->temp_name; i++) {
		const char *slash = strchr(call->temp_name, '/');
		int len = slash ? (int)(slash - call->temp_name) : 0;
		if (len)
			add_built_in(x,
				arena_printf(x->arena, "%s/%.*s", call->temp_roots[i],
					len, call->temp_name),
				LEVEL_HIDE, WORD_OPTIONAL | WORD_BEST_EFFORT, false,
				"temp-parent");
		if (value == TEMP_HOST)
			add_built_in(x, call->temp_roots[i], LEVEL_WRITE, WORD_OPTIONAL,
				false, "temp");
	}
	if (value == TEMP_PRIVATE && x->out->temp)
		add_built_in(x, x->out->temp, LEVEL_WRITE, 0, false, "temp");
}

/* `self`: what decides how the command is confined cannot be changed by it. A
 * lock of its own, above every layer. */
static void take_deciding(struct expand *x)
{
	x->part = UINT16_MAX;
	x->layer = UINT32_MAX;
	for (size_t i = 0; i < x->call->deciding_count; i++)
		add_built_in(
			x, x->call->deciding[i], LEVEL_READ, WORD_LOCKED, false, "self");
}

void policy_rules(const struct policy *policy, enum mode mode, const struct call *call,
	size_t temp_root, struct arena *arena, struct diags *diags, struct rules *out)
{
	struct expand x = {.policy = policy,
		.call = call,
		.arena = arena,
		.diags = diags,
		.out = out};

	assert(mode < MODE_CONFINED_COUNT);
	*out = (struct rules){.mode = mode, .call = call};
	default_settings(out);
	x.settings = true;
	for (size_t i = 0; i < policy->chain_count; i++)
		take_part(&x, (uint16_t)i);
	lower_settings(out);
	if (out->settings[SETTING_TEMP].value == TEMP_PRIVATE &&
		temp_root < call->temp_root_count && call->temp_name)
		out->temp = arena_printf(
			arena, "%s/%s", call->temp_roots[temp_root], call->temp_name);

	x.settings = false;
	take_built_in(&x);
	for (size_t i = 0; i < policy->chain_count; i++)
		take_part(&x, (uint16_t)i);
	take_temp(&x);
	take_deciding(&x);
}

void policy_expand(const struct policy *policy, const struct ast_item *items,
	const struct call *call, const char *temp, struct arena *arena,
	struct diags *diags, struct rules *out)
{
	uint16_t part = (uint16_t)(policy->chain_count - 1);
	const struct ast_stmt stmt = {.kind = AST_RULE, .u.rule.level = LEVEL_READ};
	struct expand x = {.policy = policy,
		.call = call,
		.arena = arena,
		.diags = diags,
		.out = out,
		.scope = policy->chain[part].scope,
		.stmt = &stmt,
		.part = part};

	*out = (struct rules){.call = call, .temp = temp};
	for (const struct ast_item *item = items; item; item = item->next)
		add_item(&x, item, item->span, "");
}

/* ---- what a host must tell ------------------------------------------------ */

static void need(struct arena *arena, const char ***list, size_t *count, size_t *cap,
	const char *text)
{
	*list = arena_grow(arena, *list, *count, cap, sizeof(**list));
	(*list)[(*count)++] = text;
}

void policy_needs(const struct policy *policy, const struct call *call,
	struct arena *arena, struct needs *needs)
{
	struct diags unheard;

	/* What is wrong is reported when the plan is made. */
	diags_init(&unheard, arena);
	for (int mode = 0; mode < MODE_CONFINED_COUNT; mode++) {
		struct rules rules;
		policy_rules(policy, (enum mode)mode, call, 0, arena, &unheard, &rules);
		for (size_t i = 0; i < rules.count; i++) {
			const struct rule *rule = &rules.list[i];
			if (rule->path)
				need(arena, &needs->paths, &needs->path_count,
					&needs->path_cap, rule->path);
			else if (rule->words & WORD_SNAPSHOT)
				need(arena, &needs->patterns, &needs->pattern_count,
					&needs->pattern_cap, rule->pattern);
		}
	}
	for (size_t i = 0; i < call->temp_root_count; i++) {
		need(arena, &needs->paths, &needs->path_count, &needs->path_cap,
			call->temp_roots[i]);
		need(arena, &needs->paths, &needs->path_count, &needs->path_cap,
			arena_printf(arena, "%s/%s", call->temp_roots[i],
				call->temp_name ? call->temp_name : ""));
	}
}
