/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan: the one value between a policy and every artifact. Backends, report,
 * run and all commands that answer questions read it; nothing else decides
 * access. plan_level is the reference semantics: whatever an artifact gives is
 * held against it.
 */
#ifndef CORDON_PLAN_H
#define CORDON_PLAN_H

#include <stdbool.h>

#include "compiler/levels.h"

/* A path whose level differs from its parent's. */
struct plan_entry {
	const char *path; /* canonical, normal form */
	enum level level;
	enum kind kind;
	uint32_t rule; /* index into rules.list: the rule that decided */
	uint32_t above; /* index of the nearest entry above; 0 for the root */
	path_id node;
	enum level strict; /* the level if no best-effort rule took away: a backend
	                    * that cannot express `level` may give up to this, and
	                    * reports a gap */
	bool snapshot; /* stands for a match of a pattern */
	bool opens; /* hide: an entry below gives more */
	uint64_t dev, ino; /* 0, 0 if not known */
	uint64_t links; /* st_nlink, 0 if not known */
	uint32_t owner; /* st_uid, UINT32_MAX if not known */
	bool casefold;
	const char *const *mounts; /* as in struct fact */
};

/* A directory that must keep its name: strictly between a writable entry and a
 * stricter one below it. */
struct plan_pin {
	const char *path;
	uint32_t entry; /* one of the entries that it protects */
	uint64_t dev, ino; /* filled before a launch; 0, 0: not known */
};

/* A protected name that is a symbolic link in the writable area: a gap. */
struct plan_alias {
	struct link link;
	uint32_t rule;
};

struct plan_pattern {
	const struct glob *glob;
	enum level level;
	uint32_t rule;
	bool listed; /* a snapshot whose matches are entries */
};

/* An object that is missing and that a rule says to make. */
struct plan_create {
	const char *path; /* canonical: the deepest existing ancestor holds no link */
	bool file;
	uint32_t rule;
};

enum plan_off_why { OFF_MISSING, OFF_UNSEARCHABLE };

/* A rule that does nothing at this launch. */
struct plan_off {
	uint32_t rule;
	enum plan_off_why why;
};

struct plan {
	const struct policy *policy;
	const struct target *target;
	enum mode mode;
	struct rules rules; /* as they are in this plan */

	struct plan_entry *entries; /* sorted by component; [0] is the root */
	size_t entry_count;
	struct plan_pin *pins; /* sorted */
	size_t pin_count;
	const char **ways; /* directories that are passed, not listed: below a hide,
	                    * above an entry that gives more; sorted; the hidden
	                    * entry itself is not repeated */
	size_t way_count;
	struct link *links; /* to be there again below a hide, by name */
	size_t link_count;
	struct plan_alias *aliases;
	size_t alias_count;
	struct plan_pattern *patterns;
	size_t pattern_count;
	struct plan_create *created; /* what `create` has to make first; then facts
	                              * and plan are made anew */
	size_t created_count;
	size_t reserved_count; /* rules with `reserve` whose path is missing */
	struct plan_off *off;
	size_t off_count;

	enum temp temp;
	const char *temp_path; /* TMPDIR of the command; NULL: unset */
	enum devices devices;
	enum network network;

	struct levels levels; /* which level every path has, and why */
};

/*
 * Makes the plan of a confined mode. NULL if errors were reported. `launch`
 * says that a command is about to run (missing required paths are errors, not
 * notes).
 */
struct plan *plan_make(const struct policy *policy, enum mode mode,
	const struct call *call, const struct target *target, bool launch,
	struct arena *arena, struct diags *diags);

/* The reference semantics. path in normal form and canonical; rule is the one
 * that decided, never NO_RULE. */
struct judgement plan_decide(const struct plan *plan, const char *path);
enum level plan_level(const struct plan *plan, const char *path);

/* Stable text, one line an entry (`compile --format plan`). */
void plan_dump(const struct plan *plan, const struct sources *sources, struct buf *out);

/* What a rule is called in messages: its text as written, or the built-in name. */
const char *plan_rule_text(const struct plan *plan, uint32_t rule,
	const struct sources *sources, struct arena *arena);

/* "network none". */
const char *plan_setting_text(
	const struct plan *plan, enum setting setting, struct arena *arena);

#endif
