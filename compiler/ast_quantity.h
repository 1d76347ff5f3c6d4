/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities: `60s`, `1MiB`.
 */
#ifndef CORDON_AST_QUANTITY_H
#define CORDON_AST_QUANTITY_H

#include "compiler/ast_text.h"

/* A whole number above 0 with a unit, in milliseconds or bytes as the limit
 * asks; anything else is reported. */
bool ast_quantity(struct diags *diags, enum limit kind, const struct ast_raw *raw,
	uint64_t *value) __attribute__((warn_unused_result));

#endif
