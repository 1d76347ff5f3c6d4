/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a command: what cordon was given, as the `environment`
 * statements of the policy say, and the temporary directory of the plan.
 *
 * With `clear` only names that a `keep` lists stay; `drop` takes away from what is
 * left; `set` comes last. The order of the statements does not matter. A child
 * policy's block replaces the one that it inherits as a whole.
 */
#ifndef CORDON_ENVIRONMENT_H
#define CORDON_ENVIRONMENT_H

#include "compiler/plan.h"

/* base: NAME=VALUE, NULL-terminated; what is not of that form is left out. plan
 * NULL: unconfined, the temporary directory is nobody's matter. In the arena;
 * entries may point into base. */
const char *const *environment_make(struct arena *arena, const struct policy *policy,
	const struct plan *plan, const char *const *base);

#endif
