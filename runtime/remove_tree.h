/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing everything in a directory that a stranger has filled: by descriptor, no
 * link followed, no mount entered, any depth, whatever the permissions.
 *
 * Works on files of the caller; it is not meant to run beside processes that still
 * change the tree, but even then it leaves only what such a process moved in.
 */
#ifndef CORDON_REMOVE_TREE_H
#define CORDON_REMOVE_TREE_H

#include <stddef.h>

/* Empties the directory behind fd (open for reading; stays open). 0, or -errno of
 * the first object that could not be removed (-EBUSY or -EXDEV: a mount point);
 * the others are gone. */
int remove_contents(int fd);

/* Opens the directory name in dir for reading, after giving the owner's
 * permissions back if need be. A descriptor or -errno: -ENOTDIR for what is no
 * directory (a link is none), -EXDEV for a mount point. */
int remove_open(int dir, const char *name);

/* The entries of a directory but `.` and `..`. */
struct remove_names {
	char **list;
	size_t count, cap;
};
int remove_list(int dir, struct remove_names *out);
void remove_names_release(struct remove_names *names);

#endif
