/* SPDX-License-Identifier: Apache-2.0
 *
 * The constructors of the syntax tree. The parser of the policy language and
 * the YAML reader both call them, so both forms give the same tree and the same
 * findings: every word, value, path and place of a statement is checked here.
 *
 * Order of calls: init; version; statements; finish. The parts of a statement
 * (items, words, platforms) are built before it; the statement takes them and
 * appends itself to the innermost open block. A block is head, open, its
 * statements, close. A part that is wrong reports itself and marks the statement,
 * which is then left out of the tree.
 */
#ifndef CORDON_AST_BUILD_H
#define CORDON_AST_BUILD_H

#include "compiler/ast.h"
#include "compiler/ast_text.h"

/* Where a statement may stand. */
enum ast_block {
	BLOCK_FILE,
	BLOCK_POLICY,
	BLOCK_MODE,
	BLOCK_ON,
	BLOCK_LADDER,
	BLOCK_EXPECT,
	BLOCK_GUARD,
	BLOCK_LIMITS,
	BLOCK_ENVIRONMENT,
	BLOCK_UNKNOWN, /* behind a head that is broken: takes everything, keeps nothing */
	BLOCK_COUNT,
};

/* The words that begin a statement: X(name, text, blocks that take it). */
#define IN(block) (1U << BLOCK_##block)
#define AST_HEADS(X)                                                                     \
	X(CORDON, "cordon", IN(FILE))                                                    \
	X(LET, "let", IN(FILE))                                                          \
	X(VAR, "var", IN(FILE))                                                          \
	X(INCLUDE, "include", IN(FILE))                                                  \
	X(POLICY, "policy", IN(FILE))                                                    \
	X(DEFAULT, "default", IN(POLICY))                                                \
	X(CEILING, "ceiling", IN(POLICY))                                                \
	X(REQUIRE, "require", IN(POLICY))                                                \
	X(HIDE, "hide", IN(POLICY) | IN(MODE) | IN(ON))                                  \
	X(READ, "read", IN(POLICY) | IN(MODE) | IN(ON))                                  \
	X(WRITE, "write", IN(MODE) | IN(ON))                                             \
	X(TEMP, "temp", IN(POLICY) | IN(MODE) | IN(ON))                                  \
	X(DEVICES, "devices", IN(POLICY) | IN(MODE) | IN(ON))                            \
	X(NETWORK, "network", IN(POLICY) | IN(MODE) | IN(ON))                            \
	X(ON, "on", IN(POLICY) | IN(MODE))                                               \
	X(MODE, "mode", IN(POLICY))                                                      \
	X(LADDER, "ladder", IN(POLICY))                                                  \
	X(EXPECT, "expect", IN(POLICY))                                                  \
	X(GUARD, "guard", IN(POLICY))                                                    \
	X(LIMITS, "limits", IN(POLICY))                                                  \
	X(ENVIRONMENT, "environment", IN(POLICY))                                        \
	X(ALLOW, "allow", IN(EXPECT))                                                    \
	X(DENY, "deny", IN(EXPECT) | IN(GUARD))                                          \
	X(JAIL, "jail", IN(GUARD))                                                       \
	X(TIMEOUT, "timeout", IN(LIMITS))                                                \
	X(OUTPUT, "output", IN(LIMITS))                                                  \
	X(CLEAR, "clear", IN(ENVIRONMENT))                                               \
	X(KEEP, "keep", IN(ENVIRONMENT))                                                 \
	X(DROP, "drop", IN(ENVIRONMENT))                                                 \
	X(SET, "set", IN(ENVIRONMENT))

enum ast_head {
#define HEAD_NAME(name, text, blocks) HEAD_##name,
	AST_HEADS(HEAD_NAME)
#undef HEAD_NAME
		HEAD_COUNT,
	/* Statements without a word of their own. */
	HEAD_EDGE = HEAD_COUNT, /* a ladder entry */
	HEAD_VERDICT, /* `deny` of an expectation */
	HEAD_REFUSAL, /* `deny` of a guard */
};

/* A word behind a rule, with its place. */
struct ast_flag {
	unsigned word;
	struct span span;
};

#define AST_FLAGS_MAX 8

struct ast_words {
	struct ast_word *first;
	struct ast_word **tail;
};

/* An open block. */
struct ast_frame {
	enum ast_block block;
	bool bad; /* its head is wrong: the block is left out */
	bool grants; /* `write` may stand here */
	struct span brace;
	struct ast_stmt *stmt; /* NULL: a policy, the file, unknown */
	struct ast_policy *policy; /* BLOCK_POLICY */
	void *tail; /* where the next node of the block's list goes */
};

struct ast_builder {
	struct ast_texts texts;
	struct arena *arena;
	struct diags *diags;
	struct ast_file *file;
	struct ast_let **lets;
	struct ast_var **vars;
	struct ast_include **includes;
	struct ast_policy **policies;
	struct ast_frame frames[AST_NESTING_MAX + 2]; /* [0] is the file */
	unsigned depth; /* frames[depth] is the innermost */
	struct ast_frame pending; /* for the next open */
	/* The statement that is being built. */
	bool bad;
	struct ast_flag flags[AST_FLAGS_MAX];
	unsigned flag_count;
	size_t rule_items, other_items;
	bool started; /* the version statement was seen, or missed and reported */
	bool stop; /* nothing that follows can be understood: read no more */
};

void ast_build_init(struct ast_builder *builder, struct arena *arena, struct diags *diags,
	uint32_t file);
struct ast_file *ast_build_finish(struct ast_builder *builder);

/* The innermost open block. */
enum ast_block ast_build_block(const struct ast_builder *builder);

const char *ast_head_text(enum ast_head head);
/* The block behind the word, BLOCK_UNKNOWN if it has none. */
enum ast_block ast_head_block(enum ast_head head);

/* "in a policy", "at the top level": for messages. */
const char *ast_block_text(enum ast_block block);

/* ---- parts of a statement ---- */

/* Always an item; wrong ones mark the statement. */
struct ast_item *ast_build_path(struct ast_builder *builder, const struct ast_raw *raw);
struct ast_item *ast_build_set(struct ast_builder *builder, const struct ast_raw *raw);
struct ast_item *ast_build_glob(
	struct ast_builder *builder, const struct ast_raw *raw, struct span span);
struct ast_item *ast_build_everything(struct ast_builder *builder, struct span span);
/* A bare word where an item must stand: an error that says what was meant. */
struct ast_item *ast_build_stray(struct ast_builder *builder, const struct ast_raw *raw);
/* What was reported already. */
struct ast_item *ast_build_bad(struct ast_builder *builder, struct span span);
/* `glob` with a pattern that is not in quotes. */
struct ast_item *ast_build_bare_glob(
	struct ast_builder *builder, const struct ast_raw *raw, struct span span);

struct ast_items ast_items_of(struct ast_item *item);
void ast_items_push(struct ast_items *items, struct ast_item *item);

/* One word behind the items or the value of a statement. */
void ast_build_word(struct ast_builder *builder, const struct ast_raw *raw);
/* Adds a platform to a set of bits. */
unsigned ast_build_platform(
	struct ast_builder *builder, unsigned platforms, const struct ast_raw *raw);
/* A word of a guard or an environment list. */
struct ast_words ast_words_of(struct ast_builder *builder, const struct ast_raw *raw);
void ast_words_push(
	struct ast_builder *builder, struct ast_words *words, const struct ast_raw *raw);

/* The same for names of environment variables, which are quoted if they are
 * more than a name. */
struct ast_words ast_variables_of(struct ast_builder *builder, const struct ast_raw *raw);
void ast_variables_push(
	struct ast_builder *builder, struct ast_words *words, const struct ast_raw *raw);

/* ---- statements; span is the whole statement ---- */

/* The first thing in the file that is not the version, or its end. */
void ast_build_no_version(struct ast_builder *builder, struct span span);
void ast_build_version(
	struct ast_builder *builder, struct span span, const struct ast_raw *raw);
void ast_build_let(struct ast_builder *builder, struct span span,
	const struct ast_raw *name, struct ast_items items);
/* value NULL: it must come from the call. */
void ast_build_var(struct ast_builder *builder, struct span span,
	const struct ast_raw *name, const struct ast_raw *value);
void ast_build_include(
	struct ast_builder *builder, struct span span, const struct ast_raw *path);
void ast_build_rule(struct ast_builder *builder, struct span span, enum level level,
	struct ast_items items);
void ast_build_setting(struct ast_builder *builder, struct span span,
	enum setting setting, const struct ast_raw *value);
void ast_build_default_mode(
	struct ast_builder *builder, struct span span, const struct ast_raw *mode);
void ast_build_ceiling(
	struct ast_builder *builder, struct span span, const struct ast_raw *mode);
void ast_build_require(struct ast_builder *builder, struct span span,
	const struct ast_raw *level, unsigned platforms);
void ast_build_edge(struct ast_builder *builder, struct span span,
	const struct ast_raw *from, const struct ast_raw *to,
	const struct ast_raw *consent);
void ast_build_expectation(struct ast_builder *builder, struct span span, bool allow,
	enum level level, struct ast_items items);
void ast_build_guard(struct ast_builder *builder, struct span span, enum guard kind,
	struct ast_words words);
void ast_build_jail(
	struct ast_builder *builder, struct span span, struct ast_items items);
void ast_build_limit(struct ast_builder *builder, struct span span, enum limit kind,
	const struct ast_raw *quantity);
void ast_build_environment(struct ast_builder *builder, struct span span,
	enum environment kind, struct ast_words words, const struct ast_raw *value);

/* The statement was reported already: nothing of it is kept. */
void ast_build_broken(struct ast_builder *builder);

/* ---- blocks: a head, open, statements, close ---- */

void ast_build_policy_head(struct ast_builder *builder, struct span span,
	const struct ast_raw *name, const struct ast_raw *extends);
void ast_build_mode_head(
	struct ast_builder *builder, struct span span, const struct ast_raw *mode);
void ast_build_on_head(struct ast_builder *builder, struct span span, unsigned platforms);
void ast_build_expect_head(struct ast_builder *builder, struct span span,
	const struct ast_raw *mode, unsigned platforms);
/* ladder, guard, limits, environment */
void ast_build_plain_head(
	struct ast_builder *builder, struct span span, enum ast_head head);
/* A head that was reported already, behind which a block begins. */
void ast_build_broken_head(struct ast_builder *builder, enum ast_block block);

void ast_build_open(struct ast_builder *builder, struct span brace);
void ast_build_close(struct ast_builder *builder);

#endif
