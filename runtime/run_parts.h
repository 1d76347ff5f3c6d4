/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by run*.c and launch_*.c; others call run.h.
 */
#ifndef CORDON_RUN_PARTS_H
#define CORDON_RUN_PARTS_H

#include "runtime/run.h"

/* A launch at hand. */
struct work {
	struct session *session;
	const struct plan *plan; /* NULL: unconfined */
	const struct run_request *request;
	const char *const *candidates; /* absolute or relative paths to execute, in this
	                                * order; NULL-terminated */
	int input; /* becomes 0 of the command; -1: ours */
	bool check; /* a check instead of a command */
};

/* One launch of one backend, to its end. What cause other than CAUSE_NONE means: not
 * started, with *detail; else course is filled. fidelity is that of this launch. */
enum cause launch_bwrap(struct work *work, struct fidelity *fidelity,
	struct course *course, const char **detail);
enum cause launch_landlock(struct work *work, struct fidelity *fidelity,
	struct course *course, const char **detail);

/* Whether bwrap can make any sandbox at all on this host. */
bool bwrap_works(struct work *work);

/* Landlock: the functional test beside the launch. */
enum cause probe_landlock(struct work *work, const char **detail);

/* Whether the command can start under the plan: its directory, program and
 * interpreters. True: *candidates is filled. False: out is (refused or
 * exec-failed), a rule that is in the way is a finding. */
bool preflight(struct session *session, const struct plan *plan,
	const struct run_request *request, const char *const **candidates,
	struct run_result *out);

#endif
