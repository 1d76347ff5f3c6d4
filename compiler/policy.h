/* SPDX-License-Identifier: Apache-2.0
 *
 * From syntax trees to a policy: names, sets, includes, inheritance, layers
 * (resolve.c). A policy does not depend on a call or a host; policy_rules turns
 * it into the rules of one mode for one call.
 */
#ifndef CORDON_POLICY_H
#define CORDON_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ast.h"
#include "compiler/call.h"
#include "compiler/diag.h"
#include "compiler/target.h"

#define POLICY_INCLUDE_MAX 16 /* depth */

/*
 * How included files are read. `from` is the number of the including file, path
 * is as written there. Returns the number of the file in sources (the same
 * number for the same file), or 0 and *error, a sentence.
 */
struct loader {
	uint32_t (*load)(void *ctx, uint32_t from, const char *path, const char **error);
	void *ctx;
};

struct policy_edge {
	enum consent consent;
	struct span span; /* file 0: by default */
};

struct scope; /* the names that a file sees */

/* One policy of the chain root → named. */
struct policy_part {
	const struct ast_policy *ast;
	const struct scope *scope;
};

struct policy {
	const char *name;
	struct span span; /* of its name */
	struct policy_part *chain;
	size_t chain_count;
	enum mode default_mode;
	struct span default_mode_span;
	enum mode ceiling;
	struct span ceiling_span;
	enum require require[PLATFORM_COUNT];
	struct span require_span[PLATFORM_COUNT];
	struct policy_edge ladder[MODE_COUNT][MODE_COUNT]; /* [from][to] */
};

/*
 * The policy `name` of a file (NULL: the only one that the file defines, else the
 * one named "default"). NULL if there is none or its chain is broken; everything
 * that is wrong is in diags. The scope comes from scope_load (scope.h).
 */
struct policy *policy_resolve(struct arena *arena, const struct scope *scope,
	const char *name, struct diags *diags);

/* What holds in every mode, danger-full-access included. */

/* The value of a limit (milliseconds, bytes), the one nearest to the named policy;
 * 0 if none is set. *span is where. */
uint64_t policy_limit(const struct policy *policy, enum limit kind, struct span *span);

/* The environment block that holds, NULL without one. */
const struct ast_environment *policy_environment(const struct policy *policy);

/* Which layer of a policy a rule stands in; greater holds. */
enum layer { LAYER_COMMON, LAYER_COMMON_ON, LAYER_MODE, LAYER_MODE_ON, LAYER_COUNT };

/* One target of one rule, for one mode and one call. */
struct rule {
	enum level level;
	unsigned words; /* enum word */
	struct span span; /* of the item; file 0: built-in */
	const char *path; /* normal form; NULL for a pattern */
	const char *pattern; /* normal form; NULL for a path */
	uint32_t layer; /* policy * LAYER_COUNT + layer + 1; 0: built-in */
	uint16_t part; /* index into the chain; UINT16_MAX: built-in */
	bool from_call; /* begins with a value of the call */
	const char *built_in; /* which built-in rule: "workspace-write", "temp",
	                       * "self", …; NULL for a written rule */
};

struct rule_setting {
	int value;
	unsigned words;
	struct span span; /* file 0: built-in */
	/* The lowest locked value of the chain, and where; locked false: none. */
	bool locked;
	int bound;
	struct span bound_span;
	unsigned bound_words;
};

struct rules {
	enum mode mode;
	const struct call *call;
	struct rule *list; /* layers from low to high */
	size_t count, cap;
	struct rule_setting settings[SETTING_COUNT];
	const char *temp; /* the private directory, normal form; NULL without one */
};

/*
 * The rules of a confined mode for a call; temp_root is the index of the root
 * for `temp private`. Errors (paths, values, duplicates on the text) go to diags;
 * what is wrong is left out.
 */
void policy_rules(const struct policy *policy, enum mode mode, const struct call *call,
	size_t temp_root, struct arena *arena, struct diags *diags, struct rules *out);

/* The paths that items of the named policy mean in a call (expectations): as
 * rules of which only path and span count. */
void policy_expand(const struct policy *policy, const struct ast_item *items,
	const struct call *call, const char *temp, struct arena *arena,
	struct diags *diags, struct rules *out);

/* What the plans of all modes need to know of a host: appended to needs. */
void policy_needs(const struct policy *policy, const struct call *call,
	struct arena *arena, struct needs *needs);

#endif
