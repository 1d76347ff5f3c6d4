/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes what the `create` rules of a plan ask for (language.md, 4): directories
 * 0755 and empty files 0644, both less umask, parents as directories.
 *
 * Each path is walked down from `/` by descriptor and no component may be a
 * symbolic link; what exists meanwhile is fine if it is of the right kind.
 *
 * Sources: openat2(2) RESOLVE_NO_SYMLINKS, mkdirat(2), open(2) O_EXCL.
 */
#ifndef CORDON_CREATE_H
#define CORDON_CREATE_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/arena.h"
#include "compiler/plan.h"

struct created {
	const char **paths; /* in the order in which they were made */
	size_t count, cap;
};

/* One canonical path in normal form: a directory or, if file, an empty file.
 * False and *error, a sentence; what was made until then is in out. */
__attribute__((warn_unused_result)) bool create_path(struct arena *arena,
	const char *path, bool file, struct created *out, const char **error);

/* plan->created, in its order. */
__attribute__((warn_unused_result)) bool create_planned(struct arena *arena,
	const struct plan *plan, struct created *out, const char **error);

#endif
