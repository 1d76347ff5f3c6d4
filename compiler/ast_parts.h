/* SPDX-License-Identifier: Apache-2.0
 *
 * What the constructors of statements share (ast.c, ast_parts.c, ast_blocks.c).
 * Everybody else uses ast_build.h.
 */
#ifndef CORDON_AST_PARTS_H
#define CORDON_AST_PARTS_H

#include "compiler/ast_build.h"

/* Words that say what happens when a path does not exist: one at most. */
#define AST_EXISTENCE ((unsigned)(WORD_OPTIONAL | WORD_CREATE | WORD_RESERVE))

static inline const char *ast_shown(struct ast_builder *b, const struct ast_raw *raw)
{
	return diag_quoted(b->diags, raw->bytes, raw->len);
}

const char *ast_flag_text(unsigned word);

/* The value of a word of a list. A word that is not in it is reported ("`x` is
 * not <what>"), marks the statement, and gives the value 0. */
bool ast_take_word(struct ast_builder *builder, const struct vocabulary *list,
	const struct ast_raw *raw, enum code code, const char *what, int *value);
enum mode ast_take_mode(struct ast_builder *builder, const struct ast_raw *raw);
struct ast_name ast_take_name(
	struct ast_builder *builder, const struct ast_raw *raw, const char *what);

/* ast.c: where statements stand and how they end. */
struct ast_stmt *ast_new_stmt(
	struct ast_builder *builder, enum ast_kind kind, struct span span);
/* Checks the block of a statement; the first statement must be the version. */
void ast_check_place(struct ast_builder *builder, struct span span, enum ast_head head);
/* Ends the statement; true if it is to be kept. */
bool ast_end(struct ast_builder *builder);
/* Ends the statement and appends it to the innermost block. */
void ast_append(struct ast_builder *builder, struct ast_stmt *stmt);
/* What no head announced. */
extern const struct ast_frame ast_unknown_block;

#endif
