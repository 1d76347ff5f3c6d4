/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of the host this process runs on, as a struct target. What a fact
 * says of a path comes from one walk (walk.h) that was confirmed afterwards; a
 * path that kept changing has `changed` set and the launch must be refused.
 *
 * Patterns: the literal prefix is looked up like the path of a rule (a link in it
 * is followed and recorded in every match); below it no link is followed. A
 * match that is a link has the facts of a path: where it leads, and itself in
 * `crossed`. Mount points are crossed, since a pattern speaks of names; /proc and
 * /dev, where no rule may be, and every other procfs are not entered. A
 * directory that vanishes during the walk had no match.
 *
 * casefold holds if any directory on the way disregards case: FS_CASEFOLD_FL
 * (ioctl_iflags(2)) where the directory can be opened for reading, or a file
 * system that always does. A directory that may be searched but not read is
 * taken to respect case.
 *
 * Sockets come from /proc/net/unix (proc(5)): bound pathname sockets of this
 * network namespace whose inode the effective user may write (unix(7): connect
 * takes write permission), by canonical path, in byte order. Abstract names and
 * relative ones, which lead nowhere, are left out. Without that file the list is
 * empty.
 */
#ifndef CORDON_TARGET_HOST_H
#define CORDON_TARGET_HOST_H

#include "compiler/target.h"

/* Fills target, indexed. Strings live in the arena. 0, or -errno if `/` or the
 * list of sockets cannot be read; what is wrong with a single path is in its
 * fact. */
__attribute__((warn_unused_result)) int target_host(
	struct target *target, const struct needs *needs, struct arena *arena);

#endif
