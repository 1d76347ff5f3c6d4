/* SPDX-License-Identifier: Apache-2.0
 *
 * From written texts to bytes with holes (language.md, 3 and 5): escapes, `~`,
 * `${name}`, and what can be known of a path or pattern by its text alone.
 *
 * Private to the constructors of the tree. Each call reports what is wrong with
 * the text itself and returns false then.
 */
#ifndef CORDON_AST_TEXT_H
#define CORDON_AST_TEXT_H

#include "compiler/ast.h"

/* How a text is written decides what is special in it. */
enum ast_quoting {
	AST_BARE, /* one word */
	AST_DOUBLE, /* "…": escapes, `~`, `${name}`; the quotes are included */
	AST_VERBATIM, /* '…': nothing; the quotes are included */
	AST_PLAIN, /* a scalar of YAML: `~` and `${name}`, no escapes */
};

/* A text as written. Places inside it are found only where the bytes are those
 * of the source (not AST_PLAIN). */
struct ast_raw {
	const char *bytes;
	uint32_t len;
	enum ast_quoting quoting;
	struct span span;
};

struct ast_texts {
	struct arena *arena;
	struct diags *diags;
};

bool ast_text_path(const struct ast_texts *texts, const struct ast_raw *raw,
	struct ast_text *out) __attribute__((warn_unused_result));

bool ast_text_glob(const struct ast_texts *texts, const struct ast_raw *raw,
	struct ast_text *out) __attribute__((warn_unused_result));

/* `@name` or `@name/rest`, with the `@`. */
bool ast_text_set(const struct ast_texts *texts, const struct ast_raw *raw,
	struct ast_name *name, struct ast_text *rest) __attribute__((warn_unused_result));

/* A word that stands where a path must, and is none: reports it. */
void ast_text_relative(const struct ast_texts *texts, const struct ast_raw *raw);

/* A text that is not a path: escapes only, `$` and `~` mean themselves. NULL if
 * it is wrong. With `no_variables`, `${` is reported, because people would
 * expect it to be replaced. */
const char *ast_text_value(
	const struct ast_texts *texts, const struct ast_raw *raw, bool no_variables);

/* True if bytes are a name (language.md, 2). */
bool ast_text_is_name(const char *bytes, size_t len);

#endif
