/* SPDX-License-Identifier: Apache-2.0
 *
 * How a plan is made, in three steps that share this value: rules at their
 * places (levels.c), what must hold of them (plan_check.c), and the lists that
 * backends read (plan_build.c).
 */
#ifndef CORDON_PLAN_PARTS_H
#define CORDON_PLAN_PARTS_H

#include "compiler/plan.h"

struct making {
	const struct policy *policy;
	const struct call *call;
	const struct target *target;
	bool launch;
	struct arena *arena;
	struct diags *diags;
	struct plan *plan;
	/* The writable area of the other confined mode, for planted links; NULL
	 * where no link was crossed. */
	const struct levels *other;
};

/* The workspace is not too much by itself (E060). Before the rest: what follows from
 * that is no mistake of its own. */
bool plan_check_width(struct making *m);
void plan_check(struct making *m);
void plan_build(struct making *m);

#endif
