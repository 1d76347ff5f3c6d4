/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of backends and the bookkeeping of what they say of a plan.
 */
#include "backends/backend.h"

#include <string.h>

const struct backend *const backends[] = {
	&backend_bwrap,
	&backend_landlock,
	NULL,
};

const struct backend *backend_find(const char *name)
{
	for (const struct backend *const *backend = backends; *backend; backend++)
		if (strcmp((*backend)->name, name) == 0)
			return *backend;
	return NULL;
}

const struct reason_text *reason_text(enum reason reason)
{
	static const struct reason_text texts[REASON_COUNT] = {
#define REASON_TEXT(name, code, sentence, fix) [name] = {code, sentence, fix},
		GAPS(REASON_TEXT) EXPOSURES(REASON_TEXT) REMARKS(REASON_TEXT)
#undef REASON_TEXT
	};

	return &texts[reason];
}

void fidelity_init(struct fidelity *fidelity, const struct backend *backend,
	const struct plan *plan, struct arena *arena)
{
	*fidelity = (struct fidelity){.backend = backend, .usable = true};
	fidelity->rules = arena_array(arena, plan->rules.count, sizeof(*fidelity->rules));
}

void fidelity_remark(struct arena *arena, struct remarks *list, enum reason reason,
	enum subject subject, uint32_t index, const char *witness)
{
	list->list = arena_grow(
		arena, list->list, list->count, &list->cap, sizeof(*list->list));
	list->list[list->count++] = (struct remark){reason, subject, index, witness};
}

void fidelity_verdict(struct fidelity *fidelity, enum subject subject, uint32_t index,
	enum verdict verdict)
{
	enum verdict *at = subject == SUBJECT_RULE ? &fidelity->rules[index]
						   : &fidelity->settings[index];

	if (verdict > *at)
		*at = verdict;
}

bool fidelity_refuse(struct arena *arena, struct fidelity *fidelity, enum subject subject,
	uint32_t index, bool best_effort, enum reason why, const char *witness)
{
	fidelity_verdict(fidelity, subject, index, VERDICT_UNSUPPORTED);
	if (best_effort) {
		fidelity_remark(
			arena, &fidelity->gaps, GAP_BEST_EFFORT, subject, index, witness);
		return false;
	}
	fidelity_remark(arena, &fidelity->notes, why, subject, index, witness);
	fidelity->usable = false;
	return true;
}

const char *fidelity_enforcement(const struct fidelity *fidelity)
{
	return fidelity->gaps.count ? "partial" : "full";
}

void fidelity_sockets(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	const struct target *target = plan->target;

	for (size_t i = 0; i < target->socket_count; i++) {
		const char *path = target->sockets[i].canonical;
		if (plan_level(plan, path) > LEVEL_HIDE)
			fidelity_remark(arena, &fidelity->exposures,
				EXPOSURE_UNIX_SOCKETS, SUBJECT_MECHANISM, 0, path);
	}
}
