/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of statements: words, names, platforms, items. Each is checked when
 * it is built; a wrong one reports itself and marks the statement as bad.
 */
#include "compiler/ast_parts.h"

#include <string.h>

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

/* "a, b or c" */
static const char *list_text(struct ast_builder *b, const struct vocabulary *list)
{
	struct buf out = BUF_INIT;

	for (const struct vocabulary *entry = list; entry->text; entry++)
		buf_printf(&out, "%s`%s`",
			entry == list   ? ""
			: entry[1].text ? ", "
					: " or ",
			entry->text);
	const char *text = arena_bytes(b->arena, out.data, out.len);
	buf_release(&out);
	return text;
}

/* What other programs call it. */
static const struct {
	const char *text, *word;
} synonyms[] = {{"darwin", "macos"}, {"osx", "macos"}, {"mac", "macos"},
	{"win", "windows"}, {"win32", "windows"}, {"win64", "windows"},
	{"readonly", "read-only"}, {"ro", "read-only"}, {"rw", "workspace-write"},
	{"full", "danger-full-access"}, {"off", "none"}, {"on", "host"},
	{"prompt", "ask"}, {"deny", "never"}, {"yes", "allow"}, {"no", "never"}};

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
bool ast_take_word(struct ast_builder *b, const struct vocabulary *list,
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
		b->diags, code, raw->span, "`%s` is not %s", ast_shown(b, raw), what);
	if (near)
		diag_fix(b->diags, diag, raw->span, "%s", near);
	else
		diag_help(b->diags, diag, "%s is possible", list_text(b, list));
	b->bad = true;
	*value = 0;
	return false;
}

enum mode ast_take_mode(struct ast_builder *b, const struct ast_raw *raw)
{
	int value;

	ast_take_word(b, vocabulary_modes, raw, CODE_E015, "a mode", &value);
	return (enum mode)value;
}

struct ast_name ast_take_name(
	struct ast_builder *b, const struct ast_raw *raw, const char *what)
{
	if (!ast_text_is_name(raw->bytes, raw->len)) {
		struct diag *diag = diag_report(b->diags, CODE_E023, raw->span,
			"`%s` is not a valid name of %s", ast_shown(b, raw), what);
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

const char *ast_flag_text(unsigned word)
{
	return vocabulary_text(
		vocabulary_words, (int)(word & ~(unsigned)WORD_CREATE_FILE));
}

static void clash(struct ast_builder *b, const struct ast_raw *raw,
	const struct ast_flag *other, bool same)
{
	struct diag *diag = same ? diag_report(b->diags, CODE_E018, raw->span,
					   "`%s` stands twice", ast_shown(b, raw))
				 : diag_report(b->diags, CODE_E018, raw->span,
					   "`%s` and `%s` exclude each other",
					   ast_shown(b, raw), ast_flag_text(other->word));

	diag_second(b->diags, diag, other->span, "first given here");
	b->bad = true;
}

static void push_flag(struct ast_builder *b, const struct ast_raw *raw, unsigned word)
{
	const struct ast_flag *same = find_flag(b, word);
	const struct ast_flag *other = word & AST_EXISTENCE ? find_flag(b, AST_EXISTENCE)
							    : NULL;

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
	} else if (ast_take_word(b, vocabulary_words, raw, CODE_E014, "a word of a rule",
			   &value)) {
		push_flag(b, raw, (unsigned)value);
	}
}

unsigned ast_build_platform(
	struct ast_builder *b, unsigned platforms, const struct ast_raw *raw)
{
	int value;

	if (!ast_take_word(b, vocabulary_platforms, raw, CODE_E016, "a platform", &value))
		return platforms;
	if (platforms & PLATFORM_BIT(value)) {
		diag_report(b->diags, CODE_E018, raw->span, "`%s` stands twice",
			ast_shown(b, raw));
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

void ast_words_push(
	struct ast_builder *b, struct ast_words *words, const struct ast_raw *raw)
{
	*words->tail = new_word(b, raw);
	words->tail = &(*words->tail)->next;
}

static void check_unquoted(struct ast_builder *b, const struct ast_raw *raw)
{
	if (raw->quoting != AST_BARE || ast_text_is_name(raw->bytes, raw->len))
		return;
	struct diag *diag = diag_report(b->diags, CODE_E023, raw->span,
		"`%s` is more than a name and must be quoted", ast_shown(b, raw));
	diag_fix(b->diags, diag, raw->span, "\"%s\"", ast_shown(b, raw));
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
			"`%s` is not an absolute path", ast_shown(b, raw));
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

	diag_fix(b->diags, diag, raw->span, "\"%s\"", ast_shown(b, raw));
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
