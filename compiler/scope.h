/* SPDX-License-Identifier: Apache-2.0
 *
 * Names: which set, variable or policy a name means in a file. A file sees what
 * it defines and what the files that it includes see; a set keeps the meaning of
 * the file that defines it.
 */
#ifndef CORDON_SCOPE_H
#define CORDON_SCOPE_H

#include "compiler/policy.h"

enum name_kind { NAME_SET, NAME_VARIABLE, NAME_POLICY, NAME_KIND_COUNT };

struct definition {
	enum name_kind kind;
	const struct ast_name *name;
	union {
		const struct ast_let *let;
		const struct ast_var *var;
		const struct ast_policy *policy;
	} u;
	const struct scope *scope; /* of the defining file */
};

struct scope {
	const struct ast_file *ast;
	struct definition *definitions; /* own ones first */
	size_t count, cap;
	size_t own;
	uint32_t *index; /* hash of (kind, name) → definition + 1 */
	size_t index_size;
};

/* Parses a file of sources and loads everything that it includes. Never NULL;
 * what is wrong is in diags. */
const struct scope *scope_load(struct arena *arena, const struct sources *sources,
	uint32_t file, const struct loader *loader, struct diags *diags);

/* The names that the language keeps: `@roots`, `${workspace}` and so on. */
bool scope_is_built_in(enum name_kind kind, const char *name);

/* NULL if absent. */
const struct definition *scope_find(
	const struct scope *scope, enum name_kind kind, const char *name);

/* The name of that kind nearest to a mistyped one, or NULL. */
const char *scope_nearest(
	const struct scope *scope, enum name_kind kind, const char *name);

#endif
