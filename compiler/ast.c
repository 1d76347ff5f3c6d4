/* SPDX-License-Identifier: Apache-2.0
 *
 * The constructors of the syntax tree (ast_build.h).
 *
 * A statement is checked in three steps that do not hide each other: its parts
 * when they are built, its place in the block, and how its parts go together.
 * `bad` of the builder collects the verdict; only a clean statement is appended.
 */
#include "compiler/ast_build.h"

#include <string.h>
#include <strings.h>

#include "compiler/ast_parts.h"
#include "compiler/ast_quantity.h"

static const struct {
	const char *text;
	unsigned blocks;
} heads[] = {
#define HEAD_ENTRY(name, text, blocks) [HEAD_##name] = {text, blocks},
	AST_HEADS(HEAD_ENTRY)
#undef HEAD_ENTRY
		[HEAD_EDGE] = {"a ladder entry", IN(LADDER)},
	[HEAD_VERDICT] = {"deny", IN(EXPECT)},
	[HEAD_REFUSAL] = {"deny", IN(GUARD)},
};

static const struct {
	const char *text;
	enum ast_head head;
} blocks[BLOCK_COUNT] = {
	[BLOCK_FILE] = {"at the top level", HEAD_COUNT},
	[BLOCK_POLICY] = {"in a policy", HEAD_POLICY},
	[BLOCK_MODE] = {"in a `mode` block", HEAD_MODE},
	[BLOCK_ON] = {"in an `on` block", HEAD_ON},
	[BLOCK_LADDER] = {"in a `ladder` block", HEAD_LADDER},
	[BLOCK_EXPECT] = {"in an `expect` block", HEAD_EXPECT},
	[BLOCK_GUARD] = {"in a `guard` block", HEAD_GUARD},
	[BLOCK_LIMITS] = {"in a `limits` block", HEAD_LIMITS},
	[BLOCK_ENVIRONMENT] = {"in an `environment` block", HEAD_ENVIRONMENT},
	[BLOCK_UNKNOWN] = {"in a block", HEAD_COUNT},
};

const char *ast_head_text(enum ast_head head)
{
	return heads[head].text;
}

enum ast_block ast_head_block(enum ast_head head)
{
	for (unsigned i = BLOCK_POLICY; i < BLOCK_UNKNOWN; i++)
		if (blocks[i].head == head)
			return (enum ast_block)i;
	return BLOCK_UNKNOWN;
}

const char *ast_block_text(enum ast_block block)
{
	return blocks[block].text;
}

/* What no head announced. */
const struct ast_frame ast_unknown_block = {
	.block = BLOCK_UNKNOWN, .bad = true, .grants = true};

static struct ast_frame *innermost(struct ast_builder *b)
{
	return &b->frames[b->depth];
}

enum ast_block ast_build_block(const struct ast_builder *b)
{
	return b->frames[b->depth].block;
}

void ast_build_init(
	struct ast_builder *b, struct arena *arena, struct diags *diags, uint32_t file)
{
	*b = (struct ast_builder){
		.texts = {arena, diags}, .arena = arena, .diags = diags};
	b->file = arena_alloc(arena, sizeof(*b->file));
	b->file->file = file;
	b->lets = &b->file->lets;
	b->vars = &b->file->vars;
	b->includes = &b->file->includes;
	b->policies = &b->file->policies;
	b->frames[0].block = BLOCK_FILE;
	b->frames[0].grants = true;
	b->pending = ast_unknown_block;
}

struct ast_file *ast_build_finish(struct ast_builder *b)
{
	return b->file;
}

/* One limit for what a file may list; past it nothing more is read. */
static void count_items(struct ast_builder *b, size_t *count, const struct ast_item *item)
{
	for (; item; item = item->next) {
		if (++*count <= AST_RULES_MAX)
			continue;
		if (!b->stop)
			diag_report(b->diags, CODE_E012, item->span,
				"more than %d paths in one file", AST_RULES_MAX);
		b->bad = b->stop = true;
		return;
	}
}

/* A pattern where only literal places make sense. */
static void refuse_globs(
	struct ast_builder *b, const struct ast_item *item, const char *why)
{
	for (; item; item = item->next) {
		if (item->kind != AST_GLOB)
			continue;
		diag_report(b->diags, CODE_E021, item->span, "%s", why);
		b->bad = true;
	}
}

/* ---- statements --------------------------------------------------------- */

static struct span head_span(struct span span, const char *text)
{
	return (struct span){span.file, span.start, span.start + (uint32_t)strlen(text)};
}

/* Where a statement could stand, for advice. */
static const char *home_of(struct ast_builder *b, enum ast_head head)
{
	struct buf out = BUF_INIT;

	for (unsigned i = 0, n = 0; i < BLOCK_UNKNOWN; i++) {
		if (!(heads[head].blocks & 1U << i))
			continue;
		buf_printf(&out, "%s%s", n++ ? " or " : "", blocks[i].text);
	}
	const char *text = arena_bytes(b->arena, out.data, out.len);
	buf_release(&out);
	return text;
}

static void misplaced(struct ast_builder *b, struct span span, enum ast_head head)
{
	const struct ast_frame *frame = innermost(b);
	enum ast_block block = frame->block;
	bool edge = head == HEAD_EDGE;
	struct diag *diag = diag_report(b->diags, CODE_E020,
		edge ? span : head_span(span, heads[head].text), "%s%s%s has no place %s",
		edge ? "" : "`", heads[head].text, edge ? "" : "`", blocks[block].text);

	if (head == HEAD_WRITE)
		diag_help(b->diags, diag,
			"`write` stands in a `mode` block, so that it "
			"never holds in read-only by accident");
	else if (head == HEAD_CORDON)
		diag_help(b->diags, diag, "`cordon 1` is the first statement, once");
	else if (head == HEAD_ON && block == BLOCK_ON)
		diag_help(
			b->diags, diag, "`on` does not nest; name all platforms in one");
	else if ((head == HEAD_ALLOW || head == HEAD_VERDICT) &&
		 heads[HEAD_HIDE].blocks & 1U << block)
		diag_help(b->diags, diag, "a rule begins with `hide`, `read` or `write`");
	else
		diag_help(b->diags, diag, "it stands %s", home_of(b, head));
	b->bad = true;
}

/* Checks where a statement stands; the first one must be the version. */
void ast_check_place(struct ast_builder *b, struct span span, enum ast_head head)
{
	const struct ast_frame *frame = innermost(b);

	if (!b->started && head != HEAD_CORDON)
		ast_build_no_version(b, span);
	if (frame->block == BLOCK_UNKNOWN)
		return;
	if (!(heads[head].blocks & 1U << frame->block) ||
		(head == HEAD_WRITE && !frame->grants))
		misplaced(b, span, head);
}

/* Ends the statement; true if it is to be kept. */
bool ast_end(struct ast_builder *b)
{
	bool good = !b->bad && innermost(b)->block != BLOCK_UNKNOWN;

	b->bad = false;
	b->flag_count = 0;
	return good;
}

void ast_build_broken(struct ast_builder *b)
{
	b->started = true;
	b->bad = true;
	ast_end(b);
	b->pending = ast_unknown_block;
}

void ast_build_no_version(struct ast_builder *b, struct span span)
{
	if (b->started)
		return;
	b->started = true;
	struct diag *diag = diag_report(b->diags, CODE_E001, span,
		"a policy begins with the version of its language");
	diag_fix(b->diags, diag, (struct span){span.file, span.start, span.start},
		"cordon 1");
}

void ast_build_version(struct ast_builder *b, struct span span, const struct ast_raw *raw)
{
	if (b->started) {
		misplaced(b, span, HEAD_CORDON);
	} else if (raw->len != 1 || raw->bytes[0] != '1') {
		struct diag *diag = diag_report(b->diags, CODE_E002, raw->span,
			"version `%s` of the language is not known", ast_shown(b, raw));
		diag_fix(b->diags, diag, raw->span, "1");
		b->stop = true;
	}
	b->started = true;
	ast_end(b);
}

void ast_build_let(struct ast_builder *b, struct span span, const struct ast_raw *name,
	struct ast_items items)
{
	struct ast_let *let = arena_alloc(b->arena, sizeof(*let));

	ast_check_place(b, span, HEAD_LET);
	count_items(b, &b->other_items, items.first);
	let->name = ast_take_name(b, name, "a set");
	let->items = items.first;
	if (!ast_end(b))
		return;
	*b->lets = let;
	b->lets = &let->next;
}

void ast_build_var(struct ast_builder *b, struct span span, const struct ast_raw *name,
	const struct ast_raw *value)
{
	struct ast_var *var = arena_alloc(b->arena, sizeof(*var));

	ast_check_place(b, span, HEAD_VAR);
	var->name = ast_take_name(b, name, "a variable");
	if (value) {
		var->value = ast_text_value(&b->texts, value, true);
		b->bad |= !var->value;
	}
	if (!ast_end(b))
		return;
	*b->vars = var;
	b->vars = &var->next;
}

void ast_build_include(
	struct ast_builder *b, struct span span, const struct ast_raw *path)
{
	struct ast_include *include = arena_alloc(b->arena, sizeof(*include));

	ast_check_place(b, span, HEAD_INCLUDE);
	include->span = path->span;
	include->path = ast_text_value(&b->texts, path, true);
	b->bad |= !include->path;
	if (include->path && !*include->path) {
		diag_report(b->diags, CODE_E003, path->span, "an empty file name");
		b->bad = true;
	}
	if (!ast_end(b))
		return;
	*b->includes = include;
	b->includes = &include->next;
}

struct ast_stmt *ast_new_stmt(struct ast_builder *b, enum ast_kind kind, struct span span)
{
	struct ast_stmt *stmt = arena_alloc(b->arena, sizeof(*stmt));

	stmt->kind = kind;
	stmt->span = span;
	return stmt;
}

/* Appends to the list of statements of the innermost block. */
void ast_append(struct ast_builder *b, struct ast_stmt *stmt)
{
	struct ast_frame *frame = innermost(b);

	if (!ast_end(b))
		return;
	*(struct ast_stmt **)frame->tail = stmt;
	frame->tail = &stmt->next;
}

/* Why a word does not go with a target; NULL if it does. */
static const char *misfit(unsigned word, enum level level, enum ast_item_kind kind)
{
	bool literal = kind == AST_PATH || kind == AST_SET;

	if (word & AST_EXISTENCE && !literal)
		return kind == AST_GLOB ? "does not go with a pattern"
					: "does not go with `everything`";
	if (word & WORD_SNAPSHOT && (kind == AST_PATH || kind == AST_EVERYTHING))
		return "goes with patterns only";
	if (word & WORD_RESERVE && level == LEVEL_WRITE)
		return "goes with `read` and `hide` only; `create` makes what `write` "
		       "needs";
	/* What is made only to be hidden is a placeholder: `reserve` keeps the name
	 * free and takes the placeholder away again. */
	if (word & WORD_CREATE && level == LEVEL_HIDE)
		return "does not go with `hide`; `reserve` keeps a name from being made";
	return NULL;
}

static void check_flags(
	struct ast_builder *b, enum level level, const struct ast_item *items)
{
	for (unsigned i = 0; i < b->flag_count; i++) {
		unsigned word = b->flags[i].word;
		for (const struct ast_item *item = items; item; item = item->next) {
			const char *why = misfit(word, level, item->kind);
			if (!why)
				continue;
			struct diag *diag = diag_report(b->diags, CODE_E019,
				b->flags[i].span, "`%s` %s", ast_flag_text(word), why);
			if (items->next)
				diag_second(b->diags, diag, item->span,
					"words hold for every target, also for this");
			b->bad = true;
			break;
		}
	}
}

static unsigned flags_of(const struct ast_builder *b)
{
	unsigned words = 0;

	for (unsigned i = 0; i < b->flag_count; i++)
		words |= b->flags[i].word;
	return words;
}

void ast_build_rule(
	struct ast_builder *b, struct span span, enum level level, struct ast_items items)
{
	static const enum ast_head head[] = {[LEVEL_HIDE] = HEAD_HIDE,
		[LEVEL_READ] = HEAD_READ,
		[LEVEL_WRITE] = HEAD_WRITE};
	struct ast_stmt *stmt = ast_new_stmt(b, AST_RULE, span);

	ast_check_place(b, span, head[level]);
	count_items(b, &b->rule_items, items.first);
	if (level == LEVEL_WRITE)
		refuse_globs(b, items.first,
			"a pattern cannot grant `write`; patterns only take away");
	check_flags(b, level, items.first);
	stmt->u.rule.level = level;
	stmt->u.rule.words = flags_of(b);
	stmt->u.rule.items = items.first;
	ast_append(b, stmt);
}

void ast_build_setting(struct ast_builder *b, struct span span, enum setting setting,
	const struct ast_raw *value)
{
	static const enum ast_head head[] = {[SETTING_TEMP] = HEAD_TEMP,
		[SETTING_DEVICES] = HEAD_DEVICES,
		[SETTING_NETWORK] = HEAD_NETWORK};
	const char *name = vocabulary_text(vocabulary_settings, (int)setting);
	struct ast_stmt *stmt = ast_new_stmt(b, AST_SETTING, span);

	ast_check_place(b, span, head[setting]);
	stmt->u.setting.setting = setting;
	ast_take_word(b, vocabulary_of_setting(setting), value, CODE_E017,
		arena_printf(b->arena, "a value of `%s`", name), &stmt->u.setting.value);
	for (unsigned i = 0; i < b->flag_count; i++) {
		if (b->flags[i].word & (WORD_BEST_EFFORT | WORD_LOCKED))
			continue;
		diag_report(b->diags, CODE_E019, b->flags[i].span,
			"`%s` does not go with `%s`; only `best-effort` and `locked` do",
			ast_flag_text(b->flags[i].word), name);
		b->bad = true;
	}
	stmt->u.setting.words = flags_of(b);
	ast_append(b, stmt);
}

static void build_mode(struct ast_builder *b, struct span span, enum ast_kind kind,
	enum ast_head head, const struct ast_raw *mode)
{
	struct ast_stmt *stmt = ast_new_stmt(b, kind, span);

	ast_check_place(b, span, head);
	stmt->u.mode = ast_take_mode(b, mode);
	ast_append(b, stmt);
}

void ast_build_default_mode(
	struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	build_mode(b, span, AST_DEFAULT_MODE, HEAD_DEFAULT, mode);
}

void ast_build_ceiling(
	struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	build_mode(b, span, AST_CEILING, HEAD_CEILING, mode);
}

void ast_build_require(struct ast_builder *b, struct span span,
	const struct ast_raw *level, unsigned platforms)
{
	struct ast_stmt *stmt = ast_new_stmt(b, AST_REQUIRE, span);
	int value;

	ast_check_place(b, span, HEAD_REQUIRE);
	ast_take_word(
		b, vocabulary_require, level, CODE_E017, "a value of `require`", &value);
	stmt->u.require.level = (enum require)value;
	stmt->u.require.platforms = platforms;
	ast_append(b, stmt);
}

void ast_build_edge(struct ast_builder *b, struct span span, const struct ast_raw *from,
	const struct ast_raw *to, const struct ast_raw *consent)
{
	struct ast_frame *frame = innermost(b);
	struct ast_edge *edge = arena_alloc(b->arena, sizeof(*edge));
	int value;

	ast_check_place(b, span, HEAD_EDGE);
	edge->span = span;
	edge->from = ast_take_mode(b, from);
	edge->to = ast_take_mode(b, to);
	ast_take_word(b, vocabulary_consent, consent, CODE_E017,
		"an answer of the ladder", &value);
	edge->consent = (enum consent)value;
	if (!ast_end(b))
		return;
	*(struct ast_edge **)frame->tail = edge;
	frame->tail = &edge->next;
}

void ast_build_expectation(struct ast_builder *b, struct span span, bool allow,
	enum level level, struct ast_items items)
{
	struct ast_frame *frame = innermost(b);
	struct ast_expectation *expectation = arena_alloc(b->arena, sizeof(*expectation));

	ast_check_place(b, span, allow ? HEAD_ALLOW : HEAD_VERDICT);
	count_items(b, &b->other_items, items.first);
	refuse_globs(b, items.first, "an expectation names a path, not a pattern");
	*expectation = (struct ast_expectation){
		.allow = allow, .level = level, .items = items.first, .span = span};
	if (!ast_end(b))
		return;
	*(struct ast_expectation **)frame->tail = expectation;
	frame->tail = &expectation->next;
}

static void push_guard(struct ast_builder *b, struct span span, enum ast_head head,
	struct ast_guard guard)
{
	struct ast_frame *frame = innermost(b);
	struct ast_guard *copy = arena_alloc(b->arena, sizeof(*copy));

	ast_check_place(b, span, head);
	*copy = guard;
	copy->span = span;
	if (!ast_end(b))
		return;
	*(struct ast_guard **)frame->tail = copy;
	frame->tail = &copy->next;
}

void ast_build_guard(
	struct ast_builder *b, struct span span, enum guard kind, struct ast_words words)
{
	push_guard(b, span, HEAD_REFUSAL,
		(struct ast_guard){.kind = kind, .words = words.first});
}

void ast_build_jail(struct ast_builder *b, struct span span, struct ast_items items)
{
	count_items(b, &b->other_items, items.first);
	refuse_globs(b, items.first, "a jail is a place, not a pattern");
	push_guard(b, span, HEAD_JAIL,
		(struct ast_guard){.kind = GUARD_JAIL, .items = items.first});
}

void ast_build_limit(struct ast_builder *b, struct span span, enum limit kind,
	const struct ast_raw *quantity)
{
	struct ast_frame *frame = innermost(b);
	struct ast_limit *limit = arena_alloc(b->arena, sizeof(*limit));

	ast_check_place(b, span, kind == LIMIT_TIMEOUT ? HEAD_TIMEOUT : HEAD_OUTPUT);
	limit->kind = kind;
	limit->span = span;
	b->bad |= !ast_quantity(b->diags, kind, quantity, &limit->value);
	if (!ast_end(b))
		return;
	*(struct ast_limit **)frame->tail = limit;
	frame->tail = &limit->next;
}

/* Names that the runtime sets itself. Windows does not tell cases apart, so no
 * spelling may pass. */
static bool is_temp_name(const char *name)
{
	return strcasecmp(name, "TMPDIR") == 0 || strcasecmp(name, "TMP") == 0 ||
	       strcasecmp(name, "TEMP") == 0;
}

static void check_variable(struct ast_builder *b, const struct ast_word *word, bool set)
{
	const char *why = NULL;
	const char *name = diag_quoted(b->diags, word->text, word->len);

	if (set && is_temp_name(word->text))
		why = "is decided by `temp`; it cannot be set";
	else if (set && strchr(word->text, '*'))
		why = "is a wildcard, which cannot be set";
	else if (strchr(word->text, '='))
		why = "cannot be the name of a variable";
	if (!why)
		return;
	diag_report(b->diags, CODE_E024, word->span, "`%s` %s", name, why);
	b->bad = true;
}

void ast_build_environment(struct ast_builder *b, struct span span, enum environment kind,
	struct ast_words words, const struct ast_raw *value)
{
	static const enum ast_head head[] = {[ENVIRONMENT_CLEAR] = HEAD_CLEAR,
		[ENVIRONMENT_KEEP] = HEAD_KEEP,
		[ENVIRONMENT_DROP] = HEAD_DROP,
		[ENVIRONMENT_SET] = HEAD_SET};
	struct ast_frame *frame = innermost(b);
	struct ast_environment *environment = arena_alloc(b->arena, sizeof(*environment));

	ast_check_place(b, span, head[kind]);
	*environment = (struct ast_environment){
		.kind = kind, .words = words.first, .span = span};
	for (const struct ast_word *word = words.first; word; word = word->next)
		check_variable(b, word, kind == ENVIRONMENT_SET);
	if (value) {
		environment->value = ast_text_value(&b->texts, value, true);
		b->bad |= !environment->value;
	}
	if (!ast_end(b))
		return;
	*(struct ast_environment **)frame->tail = environment;
	frame->tail = &environment->next;
}
