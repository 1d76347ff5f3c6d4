/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be said of a policy without a host: it is planned for an imaginary
 * host of every platform, in every confined mode, and held against its own
 * expectations (language.md, 6 and 10).
 */
#ifndef CORDON_CHECK_H
#define CORDON_CHECK_H

#include "compiler/plan.h"

/* The plans of one policy on the imaginary hosts; NULL where errors were found or
 * the platform is not asked for. */
struct check_plans {
	const struct plan *plan[PLATFORM_COUNT][MODE_CONFINED_COUNT];
	struct call call[PLATFORM_COUNT];
};

/* Mistakes. platforms: PLATFORM_BIT of those to check for; values: of --set, may
 * be NULL. */
void check_policy(const struct policy *policy, unsigned platforms,
	const struct call_value *values, size_t value_count, struct arena *arena,
	struct diags *diags, struct check_plans *plans);

/* What a reviewer should know, though it is no mistake. */
void check_remarks(const struct policy *policy, const struct check_plans *plans,
	struct diags *diags);

/* Climbing must not take away. */
void check_climb(const struct check_plans *plans, struct diags *diags);

/* The expectations of the named policy (expect.c). */
void check_expectations(const struct policy *policy, const struct check_plans *plans,
	struct arena *arena, struct diags *diags);

#endif
