/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of a command that somebody else spawned through a profile, from its
 * exit status and its stderr. A guess by rules, and the only thing that is possible
 * without evidence from inside; `cordon run` has that evidence and never asks this.
 */
#ifndef CORDON_CLASSIFY_H
#define CORDON_CLASSIFY_H

#include "backends/backend.h"

enum classified {
	CLASSIFIED_COMMAND, /* the command's own result */
	CLASSIFIED_DENIED, /* the command failed, and the sandbox refused something */
	CLASSIFIED_RUNNER, /* the runner failed: the command never ran */
};

struct classification {
	enum classified verdict;
	const char *line; /* the line that decided, in the text; NULL: none */
	size_t len;
};

/*
 * In this order: ignored lines are dropped; a fatal line with an exit status of the
 * rule is the runner's failure; a signature of a denial with an exit status that is
 * not 0 is a denial; else it is the command's own result. text need not end with
 * NUL and may hold any bytes.
 */
struct classification classify(const struct failure_rule *rule,
	const char *const *denials, int status, const char *text, size_t len);

/* "command", "denied", "runner-failure". */
const char *classified_text(enum classified verdict);

#endif
