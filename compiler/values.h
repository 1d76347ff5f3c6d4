/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts with variables become texts (language.md, 3).
 */
#ifndef CORDON_VALUES_H
#define CORDON_VALUES_H

#include "compiler/policy.h"

/* What a text is read with. */
struct values {
	const struct scope *scope; /* of the file that holds the text */
	const struct call *call;
	const char *temp; /* of ${temp}; NULL: none */
	struct arena *arena;
	struct diags *diags;
};

enum value_kind {
	VALUE_FOUND,
	VALUE_UNDEFINED, /* a built-in variable that this call does not define: no
	                  * finding, `optional` decides */
	VALUE_WRONG, /* reported */
};

/* Appends the text with its values; pattern: values are made literal. *from_call is
 * set if the text begins with a value that the call chose, else left alone. */
enum value_kind values_put(const struct values *values, const struct ast_text *text,
	bool pattern, struct buf *out, bool *from_call);

#endif
