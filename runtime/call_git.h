/* SPDX-License-Identifier: Apache-2.0
 *
 * The git directories of a linked worktree; the rules are in call_host.h.
 */
#ifndef CORDON_CALL_GIT_H
#define CORDON_CALL_GIT_H

#include "compiler/arena.h"
#include "compiler/call.h"

/* Sets git_dir and git_common_dir of a call whose roots are known, both or
 * neither. */
void call_git(struct call *call, struct arena *arena);

#endif
