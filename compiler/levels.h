/* SPDX-License-Identifier: Apache-2.0
 *
 * Which level every path has. The rules of a mode are put at their canonical
 * places in a path tree; then judges give levels: judge 0 holds the rules of all
 * layers, every further judge holds the locks of one policy of the chain (or the
 * built-in `self` locks) and is a bound. The level of a path is the lowest that a
 * judge gives, so a bound never raises.
 */
#ifndef CORDON_LEVELS_H
#define CORDON_LEVELS_H

#include "compiler/glob.h"
#include "compiler/path.h"
#include "compiler/policy.h"

#define NO_RULE UINT32_MAX

/* Where a rule stands on this target. */
struct placed {
	path_id node; /* of the canonical path; PATH_NONE for a live pattern */
	const struct fact *fact; /* NULL: imagined */
	uint32_t shadowed; /* the rule of a lower layer at the same node */
	bool off; /* holds for nothing at this launch */
};

struct judged_pattern {
	const struct glob *glob;
	uint32_t rule;
};

struct judge {
	uint32_t *winner; /* by node: the rule that stands there, or NO_RULE */
	uint32_t *deciding; /* by node: the rule that decides, or NO_RULE */
	enum level *level; /* by node */
	enum level *strict; /* by node: as if no best-effort rule took away */
	/* Snapshot matches, by node: the pattern with the lowest level, and the lowest
	 * that is not best-effort. NULL where no pattern matches anything. */
	uint32_t *match, *match_strict;
	const struct judged_pattern *patterns; /* live ones */
	size_t pattern_count;
};

struct levels {
	const struct target *target;
	const struct rules *rules;
	struct path_tree tree;
	struct placed *placed; /* by rule */
	struct judge *judges;
	size_t judge_count;
	const struct fact **match_fact; /* by node: a snapshot match; may be NULL */
	bool has_matches;
};

struct judgement {
	enum level level;
	uint32_t rule;
	path_id node; /* of the deciding literal; PATH_NONE: a live pattern */
};

/* Puts the rules at their places. Findings that follow from places (duplicates,
 * paths that cannot be looked at) go to diags. Rules that are off stay known to
 * the bounds but give no level. */
void levels_place(struct levels *levels, const struct rules *rules,
	const struct target *target, struct arena *arena, struct diags *diags);

/* Makes the judges. with_off: bounds hold for what is missing, too (the test of
 * written rules); without: what is enforced. */
void levels_judge(struct levels *levels, struct arena *arena, bool with_off);

/* What one judge says of any path in normal form. */
struct judgement judge_path(
	const struct levels *levels, const struct judge *judge, const char *path);

/* The lowest of all judges; of equal ones the first. */
struct judgement levels_decide(const struct levels *levels, const char *path);

/* The lowest level of a node, over all judges. */
enum level levels_at(const struct levels *levels, path_id node);
enum level levels_strict(const struct levels *levels, path_id node);
uint32_t levels_rule(const struct levels *levels, path_id node);

#endif
