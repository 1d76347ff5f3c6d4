/* SPDX-License-Identifier: Apache-2.0
 *
 * One object under several names by mounts: a bind mount, or one file system mounted
 * twice. A rule protects the name that it says; the others are found here.
 *
 * Source: proc_pid_mountinfo(5).
 */
#ifndef CORDON_MOUNTS_H
#define CORDON_MOUNTS_H

#include <stddef.h>

#include "compiler/arena.h"

struct mount {
	const char *device; /* MAJOR:MINOR of the file system */
	const char *root; /* what of it is mounted, seen from its own root */
	const char *point; /* where */
};

struct mounts {
	struct mount *list; /* in the order of mounting */
	size_t count, cap;
};

/* The mounts of this process. 0 or -errno. */
int mounts_read(struct mounts *mounts, struct arena *arena);

/* The other paths, as the file system has them now, at which the existing object at
 * a canonical path, or a part of what lies below it, is seen. NULL-terminated; NULL if
 * there is none. */
const char *const *mounts_aliases(
	const struct mounts *mounts, struct arena *arena, const char *path);

#endif
