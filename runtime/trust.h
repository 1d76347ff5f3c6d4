/* SPDX-License-Identifier: Apache-2.0
 *
 * Who may change a file that decides how a command is confined (policy, include,
 * floor, settings, approver, runner, helper, audit file).
 *
 * The caller is the effective user; trusted are root and the caller. Everything
 * that the look-up of the path passes, links included, belongs to one of them
 * and cannot be written by others: not world-writable, and group-writable only
 * for the caller's own group (effective gid) and without an access control list,
 * whose entries may name anybody. One exception: in a root-owned sticky
 * directory others cannot rename or remove what is not theirs (rename(2),
 * unlink(2)), so it may be writable by all.
 *
 * When the test is passed, only root and the caller can put something else at
 * the path, so the file may be opened by name afterwards.
 *
 * Sources: inode(7), acl(5), path_resolution(7).
 */
#ifndef CORDON_TRUST_H
#define CORDON_TRUST_H

#include "compiler/arena.h"

/* NULL if the existing object at an absolute path is trusted, else a sentence
 * that names the path at fault. */
__attribute__((warn_unused_result)) const char *trust_check(
	struct arena *arena, const char *path);

/* The same for a program: also a regular file that the caller may execute. */
__attribute__((warn_unused_result)) const char *trust_check_program(
	struct arena *arena, const char *path);

#endif
