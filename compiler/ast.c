/* SPDX-License-Identifier: Apache-2.0
 *
 * The constructors of the syntax tree (ast_build.h).
 *
 * A statement is checked in three steps that do not hide each other: its parts
 * when they are built, its place in the block, and how its parts go together.
 * `bad` of the builder collects the verdict; only a clean statement is appended.
 */
#include "compiler/ast_build.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

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
static const struct ast_frame unknown_block = {
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
	b->pending = unknown_block;
}

struct ast_file *ast_build_finish(struct ast_builder *b)
{
	return b->file;
}

/* ---- words -------------------------------------------------------------- */

#define SHORT_MAX 64

/* raw as a string to compare; longer words are in no list. */
static void shorten(const struct ast_raw *raw, char text[SHORT_MAX])
{
	uint32_t len = raw->len < SHORT_MAX ? raw->len : 0;

	memcpy(text, raw->bytes, len);
	text[len] = '\0';
	if (memchr(raw->bytes, '\0', len))
		text[0] = '\0';
}

static const char *shown(struct ast_builder *b, const struct ast_raw *raw)
{
	return diag_quoted(b->diags, raw->bytes, raw->len);
}

/* "a, b or c" */
static const char *list_text(struct ast_builder *b, const struct vocabulary *list)
{
	struct buf out = BUF_INIT;

	for (const struct vocabulary *entry = list; entry->text; entry++)
		buf_printf(&out, "%s`%s`",
			entry == list ? "" : entry[1].text ? ", " : " or ", entry->text);
	const char *text = arena_bytes(b->arena, out.data, out.len);
	buf_release(&out);
	return text;
}

/* What other programs call it. */
static const struct {
	const char *text, *word;
} synonyms[] = {{"darwin", "macos"}, {"osx", "macos"}, {"mac", "macos"}, {"win", "windows"},
	{"win32", "windows"}, {"win64", "windows"}, {"readonly", "read-only"},
	{"ro", "read-only"}, {"rw", "workspace-write"}, {"full", "danger-full-access"},
	{"off", "none"}, {"on", "host"}, {"prompt", "ask"}, {"deny", "never"},
	{"yes", "allow"}, {"no", "never"}};

static const char *find_synonym(const struct vocabulary *list, const char *text)
{
	int value;

	for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
		if (strcmp(synonyms[i].text, text) == 0 &&
			vocabulary_find(list, synonyms[i].word, &value))
			return synonyms[i].word;
	return NULL;
}

/* The value of a word of a list; a word that is not in it is reported. */
static bool take_word(struct ast_builder *b, const struct vocabulary *list,
	const struct ast_raw *raw, enum code code, const char *what, int *value)
{
	char text[SHORT_MAX];

	shorten(raw, text);
	if (vocabulary_find(list, text, value))
		return true;

	const char *near = vocabulary_nearest(list, text);
	if (!near)
		near = find_synonym(list, text);
	struct diag *diag = diag_report(
		b->diags, code, raw->span, "`%s` is not %s", shown(b, raw), what);
	if (near)
		diag_fix(b->diags, diag, raw->span, "%s", near);
	else
		diag_help(b->diags, diag, "%s is possible", list_text(b, list));
	b->bad = true;
	*value = 0;
	return false;
}

static enum mode take_mode(struct ast_builder *b, const struct ast_raw *raw)
{
	int value;

	take_word(b, vocabulary_modes, raw, CODE_E015, "a mode", &value);
	return (enum mode)value;
}

static struct ast_name take_name(
	struct ast_builder *b, const struct ast_raw *raw, const char *what)
{
	if (!ast_text_is_name(raw->bytes, raw->len)) {
		struct diag *diag = diag_report(b->diags, CODE_E023, raw->span,
			"`%s` is not a valid name of %s", shown(b, raw), what);
		diag_help(b->diags, diag,
			"a letter or `_`, then letters, digits, `_` and `-`; not `-` at "
			"the end");
		b->bad = true;
	}
	return (struct ast_name){
		arena_bytes(b->arena, raw->bytes, raw->len), raw->len, raw->span};
}

/* The place of a word that stands already, or NULL. */
static const struct ast_flag *find_flag(const struct ast_builder *b, unsigned words)
{
	for (unsigned i = 0; i < b->flag_count; i++)
		if (b->flags[i].word & words)
			return &b->flags[i];
	return NULL;
}

static const char *flag_text(unsigned word)
{
	return vocabulary_text(vocabulary_words, (int)(word & ~(unsigned)WORD_CREATE_FILE));
}

#define EXISTENCE (WORD_OPTIONAL | WORD_CREATE | WORD_RESERVE)

static void clash(struct ast_builder *b, const struct ast_raw *raw,
	const struct ast_flag *other, bool same)
{
	struct diag *diag = same ? diag_report(b->diags, CODE_E018, raw->span,
					   "`%s` stands twice", shown(b, raw))
				 : diag_report(b->diags, CODE_E018, raw->span,
					   "`%s` and `%s` exclude each other", shown(b, raw),
					   flag_text(other->word));

	diag_second(b->diags, diag, other->span, "first given here");
	b->bad = true;
}

static void push_flag(struct ast_builder *b, const struct ast_raw *raw, unsigned word)
{
	const struct ast_flag *same = find_flag(b, word);
	const struct ast_flag *other = word & EXISTENCE ? find_flag(b, EXISTENCE) : NULL;

	if (same || other)
		clash(b, raw, same ? same : other, same != NULL);
	else
		b->flags[b->flag_count++] = (struct ast_flag){word, raw->span};
}

void ast_build_word(struct ast_builder *b, const struct ast_raw *raw)
{
	struct ast_flag *last = b->flag_count ? &b->flags[b->flag_count - 1] : NULL;
	int value;

	if (raw->len == 4 && memcmp(raw->bytes, "file", 4) == 0) {
		if (last && last->word == WORD_CREATE) {
			last->word |= WORD_CREATE_FILE;
			last->span.end = raw->span.end;
			return;
		}
		diag_report(b->diags, CODE_E014, raw->span,
			"`file` stands only directly behind `create`");
		b->bad = true;
	} else if (take_word(b, vocabulary_words, raw, CODE_E014, "a word of a rule", &value)) {
		push_flag(b, raw, (unsigned)value);
	}
}

unsigned ast_build_platform(
	struct ast_builder *b, unsigned platforms, const struct ast_raw *raw)
{
	int value;

	if (!take_word(b, vocabulary_platforms, raw, CODE_E016, "a platform", &value))
		return platforms;
	if (platforms & PLATFORM_BIT(value)) {
		diag_report(b->diags, CODE_E018, raw->span, "`%s` stands twice", shown(b, raw));
		b->bad = true;
	}
	return platforms | PLATFORM_BIT(value);
}

static bool is_quoted(const struct ast_raw *raw)
{
	return raw->quoting == AST_DOUBLE || raw->quoting == AST_VERBATIM;
}

static struct ast_word *new_word(struct ast_builder *b, const struct ast_raw *raw)
{
	struct ast_word *word = arena_alloc(b->arena, sizeof(*word));

	word->span = raw->span;
	/* A bare word is what it is: the lexer let only plain characters in. */
	word->text = is_quoted(raw) ? ast_text_value(&b->texts, raw, false)
				    : arena_bytes(b->arena, raw->bytes, raw->len);
	if (!word->text) {
		b->bad = true;
		word->text = "";
	} else if (!*word->text) {
		diag_report(b->diags, CODE_E003, raw->span, "an empty word");
		b->bad = true;
	}
	word->len = (uint32_t)strlen(word->text);
	return word;
}

struct ast_words ast_words_of(struct ast_builder *b, const struct ast_raw *raw)
{
	struct ast_word *word = new_word(b, raw);

	return (struct ast_words){word, &word->next};
}

void ast_words_push(struct ast_builder *b, struct ast_words *words, const struct ast_raw *raw)
{
	*words->tail = new_word(b, raw);
	words->tail = &(*words->tail)->next;
}

static void check_unquoted(struct ast_builder *b, const struct ast_raw *raw)
{
	if (raw->quoting != AST_BARE || ast_text_is_name(raw->bytes, raw->len))
		return;
	struct diag *diag = diag_report(b->diags, CODE_E023, raw->span,
		"`%s` is more than a name and must be quoted", shown(b, raw));
	diag_fix(b->diags, diag, raw->span, "\"%s\"", shown(b, raw));
	b->bad = true;
}

struct ast_words ast_variables_of(struct ast_builder *b, const struct ast_raw *raw)
{
	check_unquoted(b, raw);
	return ast_words_of(b, raw);
}

void ast_variables_push(
	struct ast_builder *b, struct ast_words *words, const struct ast_raw *raw)
{
	check_unquoted(b, raw);
	ast_words_push(b, words, raw);
}

/* ---- items -------------------------------------------------------------- */

static struct ast_item *new_item(
	struct ast_builder *b, enum ast_item_kind kind, struct span span)
{
	struct ast_item *item = arena_alloc(b->arena, sizeof(*item));

	item->kind = kind;
	item->span = span;
	return item;
}

static struct ast_item *keep(struct ast_builder *b, struct ast_item *item, bool good)
{
	b->bad |= !good;
	return item;
}

struct ast_item *ast_build_path(struct ast_builder *b, const struct ast_raw *raw)
{
	struct ast_item *item = new_item(b, AST_PATH, raw->span);

	return keep(b, item, ast_text_path(&b->texts, raw, &item->text));
}

struct ast_item *ast_build_set(struct ast_builder *b, const struct ast_raw *raw)
{
	struct ast_item *item = new_item(b, AST_SET, raw->span);

	return keep(b, item, ast_text_set(&b->texts, raw, &item->set, &item->text));
}

struct ast_item *ast_build_glob(
	struct ast_builder *b, const struct ast_raw *raw, struct span span)
{
	struct ast_item *item = new_item(b, AST_GLOB, span);

	return keep(b, item, ast_text_glob(&b->texts, raw, &item->text));
}

struct ast_item *ast_build_everything(struct ast_builder *b, struct span span)
{
	return new_item(b, AST_EVERYTHING, span);
}

struct ast_item *ast_build_stray(struct ast_builder *b, const struct ast_raw *raw)
{
	static const struct vocabulary special[] = {{"everything", 0}, {NULL, 0}};
	char text[SHORT_MAX];
	int value;

	shorten(raw, text);
	const char *near = vocabulary_nearest(special, text);
	if (vocabulary_find(vocabulary_words, text, &value)) {
		diag_report(b->diags, CODE_E003, raw->span,
			"expected a path, found the word `%s`", text);
	} else if (near) {
		struct diag *diag = diag_report(b->diags, CODE_E030, raw->span,
			"`%s` is not an absolute path", shown(b, raw));
		diag_fix(b->diags, diag, raw->span, "%s", near);
	} else {
		ast_text_relative(&b->texts, raw);
	}
	return keep(b, new_item(b, AST_PATH, raw->span), false);
}

struct ast_item *ast_build_bad(struct ast_builder *b, struct span span)
{
	return keep(b, new_item(b, AST_PATH, span), false);
}

struct ast_item *ast_build_bare_glob(
	struct ast_builder *b, const struct ast_raw *raw, struct span span)
{
	struct diag *diag = diag_report(
		b->diags, CODE_E003, raw->span, "a pattern is written in quotes");

	diag_fix(b->diags, diag, raw->span, "\"%s\"", shown(b, raw));
	return keep(b, new_item(b, AST_GLOB, span), false);
}

struct ast_items ast_items_of(struct ast_item *item)
{
	return (struct ast_items){item, &item->next};
}

void ast_items_push(struct ast_items *items, struct ast_item *item)
{
	*items->tail = item;
	items->tail = &item->next;
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
static void refuse_globs(struct ast_builder *b, const struct ast_item *item, const char *why)
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
		diag_help(b->diags, diag, "`write` stands in a `mode` block, so that it "
					  "never holds in read-only by accident");
	else if (head == HEAD_CORDON)
		diag_help(b->diags, diag, "`cordon 1` is the first statement, once");
	else if (head == HEAD_ON && block == BLOCK_ON)
		diag_help(b->diags, diag, "`on` does not nest; name all platforms in one");
	else if ((head == HEAD_ALLOW || head == HEAD_VERDICT) && heads[HEAD_HIDE].blocks & 1U << block)
		diag_help(b->diags, diag, "a rule begins with `hide`, `read` or `write`");
	else
		diag_help(b->diags, diag, "it stands %s", home_of(b, head));
	b->bad = true;
}

/* Checks where a statement stands; the first one must be the version. */
static void check_place(struct ast_builder *b, struct span span, enum ast_head head)
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
static bool end(struct ast_builder *b)
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
	end(b);
	b->pending = unknown_block;
}

void ast_build_no_version(struct ast_builder *b, struct span span)
{
	if (b->started)
		return;
	b->started = true;
	struct diag *diag = diag_report(b->diags, CODE_E001, span,
		"a policy begins with the version of its language");
	diag_fix(b->diags, diag, (struct span){span.file, span.start, span.start}, "cordon 1");
}

void ast_build_version(struct ast_builder *b, struct span span, const struct ast_raw *raw)
{
	if (b->started) {
		misplaced(b, span, HEAD_CORDON);
	} else if (raw->len != 1 || raw->bytes[0] != '1') {
		struct diag *diag = diag_report(b->diags, CODE_E002, raw->span,
			"version `%s` of the language is not known", shown(b, raw));
		diag_fix(b->diags, diag, raw->span, "1");
		b->stop = true;
	}
	b->started = true;
	end(b);
}

void ast_build_let(struct ast_builder *b, struct span span, const struct ast_raw *name,
	struct ast_items items)
{
	struct ast_let *let = arena_alloc(b->arena, sizeof(*let));

	check_place(b, span, HEAD_LET);
	count_items(b, &b->other_items, items.first);
	let->name = take_name(b, name, "a set");
	let->items = items.first;
	if (!end(b))
		return;
	*b->lets = let;
	b->lets = &let->next;
}

void ast_build_var(struct ast_builder *b, struct span span, const struct ast_raw *name,
	const struct ast_raw *value)
{
	struct ast_var *var = arena_alloc(b->arena, sizeof(*var));

	check_place(b, span, HEAD_VAR);
	var->name = take_name(b, name, "a variable");
	if (value) {
		var->value = ast_text_value(&b->texts, value, true);
		b->bad |= !var->value;
	}
	if (!end(b))
		return;
	*b->vars = var;
	b->vars = &var->next;
}

void ast_build_include(struct ast_builder *b, struct span span, const struct ast_raw *path)
{
	struct ast_include *include = arena_alloc(b->arena, sizeof(*include));

	check_place(b, span, HEAD_INCLUDE);
	include->span = path->span;
	include->path = ast_text_value(&b->texts, path, true);
	b->bad |= !include->path;
	if (include->path && !*include->path) {
		diag_report(b->diags, CODE_E003, path->span, "an empty file name");
		b->bad = true;
	}
	if (!end(b))
		return;
	*b->includes = include;
	b->includes = &include->next;
}

static struct ast_stmt *new_stmt(struct ast_builder *b, enum ast_kind kind, struct span span)
{
	struct ast_stmt *stmt = arena_alloc(b->arena, sizeof(*stmt));

	stmt->kind = kind;
	stmt->span = span;
	return stmt;
}

/* Appends to the list of statements of the innermost block. */
static void append(struct ast_builder *b, struct ast_stmt *stmt)
{
	struct ast_frame *frame = innermost(b);

	if (!end(b))
		return;
	*(struct ast_stmt **)frame->tail = stmt;
	frame->tail = &stmt->next;
}

/* Why a word does not go with a target; NULL if it does. */
static const char *misfit(unsigned word, enum level level, enum ast_item_kind kind)
{
	bool literal = kind == AST_PATH || kind == AST_SET;

	if (word & EXISTENCE && !literal)
		return kind == AST_GLOB ? "does not go with a pattern"
					: "does not go with `everything`";
	if (word & WORD_SNAPSHOT && (kind == AST_PATH || kind == AST_EVERYTHING))
		return "goes with patterns only";
	if (word & WORD_RESERVE && level == LEVEL_WRITE)
		return "goes with `read` and `hide` only; `create` makes what `write` needs";
	/* What is made only to be hidden is a placeholder: `reserve` keeps the name
	 * free and takes the placeholder away again. */
	if (word & WORD_CREATE && level == LEVEL_HIDE)
		return "does not go with `hide`; `reserve` keeps a name from being made";
	return NULL;
}

static void check_flags(struct ast_builder *b, enum level level, const struct ast_item *items)
{
	for (unsigned i = 0; i < b->flag_count; i++) {
		unsigned word = b->flags[i].word;
		for (const struct ast_item *item = items; item; item = item->next) {
			const char *why = misfit(word, level, item->kind);
			if (!why)
				continue;
			struct diag *diag = diag_report(b->diags, CODE_E019,
				b->flags[i].span, "`%s` %s",
				flag_text(word), why);
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
	static const enum ast_head head[] = {
		[LEVEL_HIDE] = HEAD_HIDE, [LEVEL_READ] = HEAD_READ, [LEVEL_WRITE] = HEAD_WRITE};
	struct ast_stmt *stmt = new_stmt(b, AST_RULE, span);

	check_place(b, span, head[level]);
	count_items(b, &b->rule_items, items.first);
	if (level == LEVEL_WRITE)
		refuse_globs(b, items.first,
			"a pattern cannot grant `write`; patterns only take away");
	check_flags(b, level, items.first);
	stmt->u.rule.level = level;
	stmt->u.rule.words = flags_of(b);
	stmt->u.rule.items = items.first;
	append(b, stmt);
}

void ast_build_setting(struct ast_builder *b, struct span span, enum setting setting,
	const struct ast_raw *value)
{
	static const enum ast_head head[] = {[SETTING_TEMP] = HEAD_TEMP,
		[SETTING_DEVICES] = HEAD_DEVICES, [SETTING_NETWORK] = HEAD_NETWORK};
	const char *name = vocabulary_text(vocabulary_settings, (int)setting);
	struct ast_stmt *stmt = new_stmt(b, AST_SETTING, span);

	check_place(b, span, head[setting]);
	stmt->u.setting.setting = setting;
	take_word(b, vocabulary_of_setting(setting), value, CODE_E017,
		arena_printf(b->arena, "a value of `%s`", name), &stmt->u.setting.value);
	for (unsigned i = 0; i < b->flag_count; i++) {
		if (b->flags[i].word & (WORD_BEST_EFFORT | WORD_LOCKED))
			continue;
		diag_report(b->diags, CODE_E019, b->flags[i].span,
			"`%s` does not go with `%s`; only `best-effort` and `locked` do",
			flag_text(b->flags[i].word), name);
		b->bad = true;
	}
	stmt->u.setting.words = flags_of(b);
	append(b, stmt);
}

static void build_mode(struct ast_builder *b, struct span span, enum ast_kind kind,
	enum ast_head head, const struct ast_raw *mode)
{
	struct ast_stmt *stmt = new_stmt(b, kind, span);

	check_place(b, span, head);
	stmt->u.mode = take_mode(b, mode);
	append(b, stmt);
}

void ast_build_default_mode(
	struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	build_mode(b, span, AST_DEFAULT_MODE, HEAD_DEFAULT, mode);
}

void ast_build_ceiling(struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	build_mode(b, span, AST_CEILING, HEAD_CEILING, mode);
}

void ast_build_require(struct ast_builder *b, struct span span, const struct ast_raw *level,
	unsigned platforms)
{
	struct ast_stmt *stmt = new_stmt(b, AST_REQUIRE, span);
	int value;

	check_place(b, span, HEAD_REQUIRE);
	take_word(b, vocabulary_require, level, CODE_E017, "a value of `require`", &value);
	stmt->u.require.level = (enum require)value;
	stmt->u.require.platforms = platforms;
	append(b, stmt);
}

void ast_build_edge(struct ast_builder *b, struct span span, const struct ast_raw *from,
	const struct ast_raw *to, const struct ast_raw *consent)
{
	struct ast_frame *frame = innermost(b);
	struct ast_edge *edge = arena_alloc(b->arena, sizeof(*edge));
	int value;

	check_place(b, span, HEAD_EDGE);
	edge->span = span;
	edge->from = take_mode(b, from);
	edge->to = take_mode(b, to);
	take_word(b, vocabulary_consent, consent, CODE_E017, "an answer of the ladder", &value);
	edge->consent = (enum consent)value;
	if (!end(b))
		return;
	*(struct ast_edge **)frame->tail = edge;
	frame->tail = &edge->next;
}

void ast_build_expectation(struct ast_builder *b, struct span span, bool allow,
	enum level level, struct ast_items items)
{
	struct ast_frame *frame = innermost(b);
	struct ast_expectation *expectation = arena_alloc(b->arena, sizeof(*expectation));

	check_place(b, span, allow ? HEAD_ALLOW : HEAD_VERDICT);
	count_items(b, &b->other_items, items.first);
	refuse_globs(b, items.first, "an expectation names a path, not a pattern");
	*expectation = (struct ast_expectation){
		.allow = allow, .level = level, .items = items.first, .span = span};
	if (!end(b))
		return;
	*(struct ast_expectation **)frame->tail = expectation;
	frame->tail = &expectation->next;
}

static void push_guard(struct ast_builder *b, struct span span, enum ast_head head,
	struct ast_guard guard)
{
	struct ast_frame *frame = innermost(b);
	struct ast_guard *copy = arena_alloc(b->arena, sizeof(*copy));

	check_place(b, span, head);
	*copy = guard;
	copy->span = span;
	if (!end(b))
		return;
	*(struct ast_guard **)frame->tail = copy;
	frame->tail = &copy->next;
}

void ast_build_guard(
	struct ast_builder *b, struct span span, enum guard kind, struct ast_words words)
{
	push_guard(b, span, HEAD_REFUSAL, (struct ast_guard){.kind = kind, .words = words.first});
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

	check_place(b, span, kind == LIMIT_TIMEOUT ? HEAD_TIMEOUT : HEAD_OUTPUT);
	limit->kind = kind;
	limit->span = span;
	b->bad |= !ast_quantity(b->diags, kind, quantity, &limit->value);
	if (!end(b))
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
		[ENVIRONMENT_KEEP] = HEAD_KEEP, [ENVIRONMENT_DROP] = HEAD_DROP,
		[ENVIRONMENT_SET] = HEAD_SET};
	struct ast_frame *frame = innermost(b);
	struct ast_environment *environment = arena_alloc(b->arena, sizeof(*environment));

	check_place(b, span, head[kind]);
	*environment = (struct ast_environment){
		.kind = kind, .words = words.first, .span = span};
	for (const struct ast_word *word = words.first; word; word = word->next)
		check_variable(b, word, kind == ENVIRONMENT_SET);
	if (value) {
		environment->value = ast_text_value(&b->texts, value, true);
		b->bad |= !environment->value;
	}
	if (!end(b))
		return;
	*(struct ast_environment **)frame->tail = environment;
	frame->tail = &environment->next;
}

/* ---- blocks ------------------------------------------------------------- */

/* Ends a head: its verdict goes with the block that follows. */
static void set_pending(struct ast_builder *b, enum ast_block block, struct ast_stmt *stmt)
{
	const struct ast_frame *frame = innermost(b);
	bool good = end(b);

	b->pending = (struct ast_frame){.block = block, .bad = !good, .stmt = stmt};
	/* `write` needs a mode around it. Where the block itself is misplaced that
	 * is said once, not again for what stands in it. */
	b->pending.grants = block == BLOCK_ON ? frame->grants : block != BLOCK_POLICY;
}

void ast_build_policy_head(struct ast_builder *b, struct span span,
	const struct ast_raw *name, const struct ast_raw *extends)
{
	struct ast_policy *policy = arena_alloc(b->arena, sizeof(*policy));

	check_place(b, span, HEAD_POLICY);
	policy->name = take_name(b, name, "a policy");
	if (extends)
		policy->extends = take_name(b, extends, "a policy");
	set_pending(b, BLOCK_POLICY, NULL);
	b->pending.policy = policy;
}

void ast_build_mode_head(struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	struct ast_stmt *stmt = new_stmt(b, AST_MODE, span);

	check_place(b, span, HEAD_MODE);
	stmt->u.block.mode = take_mode(b, mode);
	if (stmt->u.block.mode == MODE_DANGER_FULL_ACCESS) {
		struct diag *diag = diag_report(b->diags, CODE_E020, mode->span,
			"danger-full-access is unconfined and has no block");
		diag_help(b->diags, diag, "no rule holds in this mode");
		b->bad = true;
	}
	set_pending(b, BLOCK_MODE, stmt);
}

void ast_build_on_head(struct ast_builder *b, struct span span, unsigned platforms)
{
	struct ast_stmt *stmt = new_stmt(b, AST_ON, span);

	check_place(b, span, HEAD_ON);
	stmt->u.on.platforms = platforms;
	set_pending(b, BLOCK_ON, stmt);
}

void ast_build_expect_head(struct ast_builder *b, struct span span,
	const struct ast_raw *mode, unsigned platforms)
{
	struct ast_stmt *stmt = new_stmt(b, AST_EXPECT, span);

	check_place(b, span, HEAD_EXPECT);
	stmt->u.expect.mode = take_mode(b, mode);
	stmt->u.expect.platforms = platforms;
	set_pending(b, BLOCK_EXPECT, stmt);
}

void ast_build_plain_head(struct ast_builder *b, struct span span, enum ast_head head)
{
	static const enum ast_kind kinds[BLOCK_COUNT] = {[BLOCK_LADDER] = AST_LADDER,
		[BLOCK_GUARD] = AST_GUARD, [BLOCK_LIMITS] = AST_LIMITS,
		[BLOCK_ENVIRONMENT] = AST_ENVIRONMENT};
	enum ast_block block = ast_head_block(head);

	check_place(b, span, head);
	set_pending(b, block, new_stmt(b, kinds[block], span));
}

void ast_build_broken_head(struct ast_builder *b, enum ast_block block)
{
	b->bad = true;
	set_pending(b, block, NULL);
}

/* Where the first node of a block goes. */
static void *first_of(struct ast_builder *b, struct ast_frame *frame)
{
	/* What hangs on a node that is never appended is forgotten with it. */
	struct ast_stmt *stmt = frame->stmt ? frame->stmt : new_stmt(b, AST_RULE, frame->brace);

	switch (frame->block) {
	case BLOCK_POLICY:
		return frame->policy ? &frame->policy->body : &stmt->next;
	case BLOCK_MODE: return &stmt->u.block.body;
	case BLOCK_ON: return &stmt->u.on.body;
	case BLOCK_LADDER: return &stmt->u.edges;
	case BLOCK_EXPECT: return &stmt->u.expect.list;
	case BLOCK_GUARD: return &stmt->u.guards;
	case BLOCK_LIMITS: return &stmt->u.limits;
	case BLOCK_ENVIRONMENT: return &stmt->u.environment;
	case BLOCK_FILE:
	case BLOCK_UNKNOWN:
	case BLOCK_COUNT: break;
	}
	return NULL;
}

void ast_build_open(struct ast_builder *b, struct span brace)
{
	assert(b->depth < AST_NESTING_MAX + 1);
	struct ast_frame *frame = &b->frames[++b->depth];

	*frame = b->pending;
	frame->brace = brace;
	frame->tail = first_of(b, frame);
	b->pending = unknown_block;
}

void ast_build_close(struct ast_builder *b)
{
	struct ast_frame *frame = innermost(b);

	assert(b->depth > 0);
	b->depth--;
	b->bad = frame->bad;
	if (frame->policy && end(b)) {
		*b->policies = frame->policy;
		b->policies = &frame->policy->next;
	} else if (frame->stmt) {
		append(b, frame->stmt);
	}
	end(b);
}
