/* SPDX-License-Identifier: Apache-2.0
 *
 * The private temporary directory of one call: ROOT/cordon-UID/RANDOM, both 0700.
 *
 * The owner of a directory holds flock(2) LOCK_EX on its descriptor; the kernel
 * lets go of it however the owner ends. So a sweep takes for abandoned what it
 * can lock, and nothing has to be written down. Descriptors are close-on-exec;
 * a child that lives on without exec would keep the lock.
 *
 * A name that begins with TEMP_KEPT outlives its maker, who told somebody else to
 * remove it: a sweep leaves it alone.
 *
 * Removal never looks a name up from above: it works on descriptors, follows no
 * link and enters no mount (openat2(2) RESOLVE_NO_XDEV, which bind mounts of the
 * same file system do not get past either). Directories found below are moved up
 * to the top before they are emptied, so depth costs neither descriptors nor
 * path length. Call it when no process of the command is left.
 *
 * Sources: flock(2), openat2(2), rename(2), unlink(2), proc(5) (/proc/self/fd, by
 * which an O_PATH descriptor of a 0000 directory is given its permissions back).
 */
#ifndef CORDON_TEMP_DIR_H
#define CORDON_TEMP_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/arena.h"

#define TEMP_KEPT "kept-"

struct temp_dir {
	const char *path; /* canonical, in the arena */
	int fd; /* the directory; holds the lock */
	/* Private to temp_dir.c. */
	int root, parent;
	const char *parent_name, *name;
};

/* root: canonical directory; name: "PARENT/NAME" as struct call gives it. False
 * and *error, a sentence, if the directory could not be made; dir then needs no
 * removal. */
__attribute__((warn_unused_result)) bool temp_dir_make(struct temp_dir *dir,
	struct arena *arena, const char *root, const char *name, const char **error);

/* Removes the directory with all that is in it, and the parent if it is empty
 * then. 0, or -errno of the first thing that could not be removed; the rest is
 * gone all the same. dir is released in either case. */
__attribute__((warn_unused_result)) int temp_dir_remove(struct temp_dir *dir);

/* Lets go of the directory, and leaves it. */
void temp_dir_keep(struct temp_dir *dir);

/* Removes the directories below ROOT/PARENT whose owner is gone; parent as in
 * temp_dir_make. Counts them. 0 or -errno; a missing parent is nothing to do, one
 * that belongs to somebody else is -EPERM. */
__attribute__((warn_unused_result)) int temp_dir_sweep(
	const char *root, const char *parent, size_t *removed);

#endif
