/* SPDX-License-Identifier: Apache-2.0
 *
 * The values that a call brings, and where they come from: the physical current
 * directory or --workspace, --add-dir, the user database, --set. No environment
 * variable is among them.
 */
#ifndef CORDON_CALL_H
#define CORDON_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/target.h"
#include "compiler/vocabulary.h"

struct call_value {
	const char *name;
	const char *value;
};

/* All paths in the target's own spelling, canonical where they exist. NULL:
 * not defined. */
struct call {
	enum platform platform;
	const char *workspace;
	const char *const *add_dirs;
	size_t add_dir_count;
	/* The links that the given names of add_dirs passed. One in the writable area
	 * could be planted. */
	const struct link *add_dir_links;
	size_t add_dir_link_count;
	const char *home;
	const char *user;
	const char *git_dir, *git_common_dir;
	const struct call_value *values; /* --set */
	size_t value_count;
	bool placeholders; /* a `var` without a value is its own name: a policy can
	                    * be checked without a call */
	const char *const *temp_roots; /* where `temp private` may lie and what
	                                * `temp host` opens; best first */
	size_t temp_root_count;
	const char *temp_name; /* relative: "cordon-1000/k3v9…", below a root */
	/* Files and directories that decide how the command is confined: each at
	 * or below a writable root gets the rule `self` (read). */
	const char *const *deciding;
	size_t deciding_count;
};

/* The call of the imaginary host on which policies are checked (language.md,
 * 10): workspace /workspace, home /home/user, and so on. Static. */
const struct call *call_imagined(enum platform platform);

#endif
