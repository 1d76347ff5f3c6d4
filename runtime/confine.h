/* SPDX-License-Identifier: Apache-2.0
 *
 * What somebody else has to spawn so that a command runs under a plan. Nothing of
 * the command is started here; a backend is only probed where there is a choice.
 *
 * A profile that others spawn lacks what cordon-init gives: the checks at launch
 * and the second lock. Its gaps say so.
 */
#ifndef CORDON_CONFINE_H
#define CORDON_CONFINE_H

#include "runtime/run.h"

struct confine_request {
	const char *const *argv; /* of the command; NULL-terminated, at least one */
	const char *directory; /* canonical working directory */
	const struct backend *only; /* NULL: the chain */
	const struct programs *programs;
	/* A runner that speaks bwrap's arguments, by absolute path, and a substring of
	 * its own failure lines. Both or neither. */
	const char *runner, *runner_failure;
};

struct confined {
	const struct backend *backend; /* NULL: none can be used */
	struct fidelity fidelity;
	const char **argv; /* to spawn; NULL-terminated, in the session's arena */
	struct failure_rule failure;
	struct passed_over passed[4];
	size_t passed_count;
};

/* False: no backend can be used (out->passed says why), or a finding was reported. */
bool confine(struct session *session, const struct plan *plan,
	const struct confine_request *request, struct confined *out);

#endif
