/* SPDX-License-Identifier: Apache-2.0
 *
 * The values of a call on this host (struct call): from the options of the call,
 * the physical current directory and the user database. No environment variable
 * is read, $HOME least of all.
 *
 * ${git-dir} and ${git-common-dir} are those of a linked worktree: WORKSPACE/.git
 * is a file `gitdir: X`, X/gitdir points back to that very file, X/commondir names
 * the common directory (gitrepository-layout(5)). Both are defined only if all
 * three are small regular files of root or the caller, reached through no link, and X
 * and the common directory lie outside the workspace and every --add-dir. Whether
 * another rule makes them writable is for the policy to see. A `.git` directory
 * defines neither: it is ${workspace}/.git.
 */
#ifndef CORDON_CALL_HOST_H
#define CORDON_CALL_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/arena.h"
#include "compiler/call.h"

/* Relative paths are taken from the current directory. */
struct call_request {
	const char *workspace; /* NULL: the physical current directory */
	const char *const *add_dirs;
	size_t add_dir_count;
};

/* Fills all of call but values and deciding, which are the caller's. False and
 * *error, a sentence. Strings live in the arena. */
__attribute__((warn_unused_result)) bool call_host(struct call *call, struct arena *arena,
	const struct call_request *request, const char **error);

#endif
