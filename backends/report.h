/* SPDX-License-Identifier: Apache-2.0
 *
 * What the backends say of a plan, as a table for people and as JSON for
 * programs.
 */
#ifndef CORDON_REPORT_H
#define CORDON_REPORT_H

#include <jansson.h>

#include "backends/backend.h"

/* The table of one mode: every rule and setting, a column a backend, then gaps,
 * exposures and notes with what to do. */
void report_put(const struct plan *plan, const struct fidelity *fidelities, size_t count,
	const struct sources *sources, struct arena *arena, struct buf *out);

/* The same facts: {"backend", "enforcement", "usable", "gaps", "exposures",
 * "rules"}. A new reference. */
json_t *report_json(const struct plan *plan, const struct fidelity *fidelity,
	const struct sources *sources, struct arena *arena);

/* [{"code", "sentence", "fix", "witness", "rule", "place"}]. A new reference. */
json_t *report_remarks_json(const struct plan *plan, const struct remarks *remarks,
	const struct sources *sources, struct arena *arena);

/* A string, or {"base64": "…"} where the bytes are not UTF-8. A new reference. */
json_t *report_string(const char *text, size_t len);

/* "policy.cordon:3:7" or "built-in temp", in the arena. */
const char *report_place(const struct plan *plan, const struct remark *remark,
	const struct sources *sources, struct arena *arena);

const char *report_verdict_text(enum verdict verdict);

#endif
