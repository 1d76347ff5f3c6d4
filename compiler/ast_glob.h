/* SPDX-License-Identifier: Apache-2.0
 *
 * The form of patterns (language.md, 5): what is wrong with a pattern by its
 * text alone. What a pattern matches is compiler/glob.h.
 */
#ifndef CORDON_AST_GLOB_H
#define CORDON_AST_GLOB_H

#include "compiler/ast.h"

/* Reports the first thing that is wrong with an absolute pattern at span and
 * returns false then; braces are only warned of. */
bool ast_glob_check(struct diags *diags, const struct ast_text *text, struct span span)
	__attribute__((warn_unused_result));

#endif
