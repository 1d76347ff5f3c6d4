/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the programs are that confine commands. They are found by absolute path
 * in a fixed list, never in PATH (a `bwrap` in front of it would run commands
 * unconfined), and each must pass trust_check_program before it is started.
 *
 *     bwrap                       /usr/bin, /usr/local/bin, /bin
 *     cordon-init, landlock-run   the directory of /proc/self/exe if that program is
 *                                 called `cordon` (a build tree), then LIBEXECDIR
 *
 * In a program that uses the library the directory of the program means nothing:
 * it may be a place that confined commands write.
 */
#ifndef CORDON_PROGRAMS_H
#define CORDON_PROGRAMS_H

#include "compiler/arena.h"

/* Absolute paths; NULL: not found. Tests fill this by hand. */
struct programs {
	const char *bwrap;
	const char *helper; /* cordon-init */
	const char *launcher; /* landlock-run */
	const char *self; /* the running command line */
};

/* Looks on this host. Strings live in the arena. */
void programs_find(struct programs *programs, struct arena *arena);

#endif
