/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree as text for tests: one node a line, two spaces a level. Variables
 * are shown as ${name}; a `$` that means itself, quotes and backslashes are
 * escaped, so that different trees never look alike.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/ast.h"

static void put_line(struct buf *out, unsigned level, const char *text)
{
	buf_printf(out, "%*s%s", (int)level * 2, "", text);
}

static void put_bytes(struct buf *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c < 0x20 || c >= 0x7f)
			buf_printf(out, "\\x%02x", c);
		else if (c == '"' || c == '\\' || c == '$')
			buf_printf(out, "\\%c", c);
		else
			buf_putc(out, (char)c);
	}
}

static void put_text(struct buf *out, const struct ast_text *text)
{
	uint32_t at = 0;

	buf_putc(out, '"');
	for (uint32_t i = 0; i < text->hole_count; i++) {
		const struct ast_hole *hole = &text->holes[i];
		put_bytes(out, text->bytes + at, hole->at - at);
		buf_printf(out, "${%s}", hole->name.text);
		at = hole->at;
	}
	put_bytes(out, text->bytes + at, text->len - at);
	buf_putc(out, '"');
}

static void put_items(struct buf *out, unsigned level, const struct ast_item *item)
{
	static const char *const kinds[] = {[AST_PATH] = "path ",
		[AST_SET] = "set ",
		[AST_GLOB] = "glob ",
		[AST_EVERYTHING] = "everything"};

	for (; item; item = item->next) {
		put_line(out, level, kinds[item->kind]);
		if (item->kind == AST_SET) {
			buf_puts(out, item->set.text);
			if (item->text.len || item->text.hole_count)
				buf_putc(out, ' ');
		}
		if (item->kind == AST_PATH || item->kind == AST_GLOB || item->text.len ||
			item->text.hole_count)
			put_text(out, &item->text);
		buf_putc(out, '\n');
	}
}

static void put_words(struct buf *out, const struct ast_word *word)
{
	for (; word; word = word->next) {
		buf_puts(out, " \"");
		put_bytes(out, word->text, word->len);
		buf_putc(out, '"');
	}
}

static void put_value(struct buf *out, const char *value)
{
	buf_puts(out, " = \"");
	put_bytes(out, value, strlen(value));
	buf_putc(out, '"');
}

static void put_flags(struct buf *out, unsigned words)
{
	for (const struct vocabulary *word = vocabulary_words; word->text; word++) {
		if (!(words & (unsigned)word->value))
			continue;
		buf_printf(out, " %s", word->text);
		if (word->value == WORD_CREATE && words & WORD_CREATE_FILE)
			buf_puts(out, " file");
	}
}

static void put_platforms(struct buf *out, unsigned platforms)
{
	for (const struct vocabulary *p = vocabulary_platforms; p->text; p++)
		if (platforms & PLATFORM_BIT(p->value))
			buf_printf(out, " %s", p->text);
}

/* The platforms of an optional `on`. */
static void put_on(struct buf *out, unsigned platforms)
{
	if (platforms == PLATFORM_ALL)
		return;
	buf_puts(out, " on");
	put_platforms(out, platforms);
}

static void put_edges(struct buf *out, unsigned level, const struct ast_edge *edge)
{
	for (; edge; edge = edge->next) {
		put_line(out, level, "edge ");
		buf_printf(out, "%s -> %s %s\n",
			vocabulary_text(vocabulary_modes, (int)edge->from),
			vocabulary_text(vocabulary_modes, (int)edge->to),
			vocabulary_text(vocabulary_consent, (int)edge->consent));
	}
}

static void put_expectations(
	struct buf *out, unsigned level, const struct ast_expectation *expectation)
{
	for (; expectation; expectation = expectation->next) {
		put_line(out, level, expectation->allow ? "allow " : "deny ");
		buf_printf(out, "%s\n",
			vocabulary_text(vocabulary_levels, (int)expectation->level));
		put_items(out, level + 1, expectation->items);
	}
}

static void put_guards(struct buf *out, unsigned level, const struct ast_guard *guard)
{
	static const char *const kinds[] = {[GUARD_DENY_COMMAND] = "deny command",
		[GUARD_DENY_ARGUMENT] = "deny argument",
		[GUARD_DENY_EVAL] = "deny eval",
		[GUARD_DENY_METACHARACTERS] = "deny metacharacters",
		[GUARD_JAIL] = "jail"};

	for (; guard; guard = guard->next) {
		put_line(out, level, kinds[guard->kind]);
		put_words(out, guard->words);
		buf_putc(out, '\n');
		put_items(out, level + 1, guard->items);
	}
}

static void put_limits(struct buf *out, unsigned level, const struct ast_limit *limit)
{
	for (; limit; limit = limit->next) {
		put_line(
			out, level, vocabulary_text(vocabulary_limits, (int)limit->kind));
		buf_printf(out, " %" PRIu64 " %s\n", limit->value,
			limit->kind == LIMIT_TIMEOUT ? "milliseconds" : "bytes");
	}
}

static void put_environment(
	struct buf *out, unsigned level, const struct ast_environment *environment)
{
	for (; environment; environment = environment->next) {
		put_line(out, level,
			vocabulary_text(vocabulary_environment, (int)environment->kind));
		put_words(out, environment->words);
		if (environment->value)
			put_value(out, environment->value);
		buf_putc(out, '\n');
	}
}

static void put_stmts(struct buf *out, unsigned level, const struct ast_stmt *stmt);

/* The line of a statement behind its indentation, without the newline. */
static void put_head(struct buf *out, const struct ast_stmt *stmt)
{
	switch (stmt->kind) {
	case AST_RULE:
		buf_puts(
			out, vocabulary_text(vocabulary_levels, (int)stmt->u.rule.level));
		put_flags(out, stmt->u.rule.words);
		break;
	case AST_SETTING:
		buf_printf(out, "%s %s",
			vocabulary_text(
				vocabulary_settings, (int)stmt->u.setting.setting),
			vocabulary_text(vocabulary_of_setting(stmt->u.setting.setting),
				stmt->u.setting.value));
		put_flags(out, stmt->u.setting.words);
		break;
	case AST_ON:
		buf_puts(out, "on");
		put_platforms(out, stmt->u.on.platforms);
		break;
	case AST_MODE:
		buf_printf(out, "mode %s",
			vocabulary_text(vocabulary_modes, (int)stmt->u.block.mode));
		break;
	case AST_DEFAULT_MODE:
		buf_printf(out, "default mode %s",
			vocabulary_text(vocabulary_modes, (int)stmt->u.mode));
		break;
	case AST_CEILING:
		buf_printf(out, "ceiling %s",
			vocabulary_text(vocabulary_modes, (int)stmt->u.mode));
		break;
	case AST_REQUIRE:
		buf_printf(out, "require %s",
			vocabulary_text(vocabulary_require, (int)stmt->u.require.level));
		put_on(out, stmt->u.require.platforms);
		break;
	case AST_EXPECT:
		buf_printf(out, "expect in %s",
			vocabulary_text(vocabulary_modes, (int)stmt->u.expect.mode));
		put_on(out, stmt->u.expect.platforms);
		break;
	case AST_LADDER: buf_puts(out, "ladder"); break;
	case AST_GUARD: buf_puts(out, "guard"); break;
	case AST_LIMITS: buf_puts(out, "limits"); break;
	case AST_ENVIRONMENT: buf_puts(out, "environment"); break;
	}
}

/* What stands below the line of a statement. */
static void put_body(struct buf *out, unsigned level, const struct ast_stmt *stmt)
{
	switch (stmt->kind) {
	case AST_RULE: put_items(out, level, stmt->u.rule.items); break;
	case AST_ON: put_stmts(out, level, stmt->u.on.body); break;
	case AST_MODE: put_stmts(out, level, stmt->u.block.body); break;
	case AST_LADDER: put_edges(out, level, stmt->u.edges); break;
	case AST_EXPECT: put_expectations(out, level, stmt->u.expect.list); break;
	case AST_GUARD: put_guards(out, level, stmt->u.guards); break;
	case AST_LIMITS: put_limits(out, level, stmt->u.limits); break;
	case AST_ENVIRONMENT: put_environment(out, level, stmt->u.environment); break;
	case AST_SETTING:
	case AST_DEFAULT_MODE:
	case AST_CEILING:
	case AST_REQUIRE: break;
	}
}

static void put_stmts(struct buf *out, unsigned level, const struct ast_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		put_line(out, level, "");
		put_head(out, stmt);
		buf_putc(out, '\n');
		put_body(out, level + 1, stmt);
	}
}

void ast_dump(const struct ast_file *file, struct buf *out)
{
	for (const struct ast_let *let = file->lets; let; let = let->next) {
		buf_printf(out, "let %s\n", let->name.text);
		put_items(out, 1, let->items);
	}
	for (const struct ast_var *var = file->vars; var; var = var->next) {
		buf_printf(out, "var %s", var->name.text);
		if (var->value)
			put_value(out, var->value);
		buf_putc(out, '\n');
	}
	for (const struct ast_include *i = file->includes; i; i = i->next) {
		buf_puts(out, "include \"");
		put_bytes(out, i->path, strlen(i->path));
		buf_puts(out, "\"\n");
	}
	for (const struct ast_policy *p = file->policies; p; p = p->next) {
		buf_printf(out, "policy %s", p->name.text);
		if (p->extends.text)
			buf_printf(out, " extends %s", p->extends.text);
		buf_putc(out, '\n');
		put_stmts(out, 1, p->body);
	}
}
