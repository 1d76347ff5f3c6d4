/* SPDX-License-Identifier: Apache-2.0
 *
 * The fidelity report.
 */
#include "backends/report.h"

#include <string.h>

#include "backends/quote.h"
#include "compiler/utf8.h"

const char *report_verdict_text(enum verdict verdict)
{
	static const char *const texts[] = {
		"exact", "narrower", "snapshot", "unsupported"};

	return texts[verdict];
}

static const char *place_text(const struct sources *sources, struct span span,
	const char *built_in, struct arena *arena)
{
	if (!span.file)
		return arena_printf(
			arena, "built-in %s", built_in ? built_in : "default");

	struct place place = source_place(sources, span.file, span.start);
	return arena_printf(arena, "%s:%u:%u", sources_get(sources, span.file)->name,
		place.line, place.column);
}

const char *report_place(const struct plan *plan, const struct remark *remark,
	const struct sources *sources, struct arena *arena)
{
	switch (remark->subject) {
	case SUBJECT_MECHANISM: return NULL;
	case SUBJECT_RULE:
		return place_text(sources, plan->rules.list[remark->index].span,
			plan->rules.list[remark->index].built_in, arena);
	case SUBJECT_SETTING:
		return place_text(
			sources, plan->rules.settings[remark->index].span, NULL, arena);
	}
	return NULL;
}

/* ---- text -------------------------------------------------------------------- */

/* Whether a rule plays a part in this plan: it decides somewhere, it is a
 * pattern, or it is off. */
static bool is_shown(const struct plan *plan, uint32_t rule)
{
	const struct placed *placed = &plan->levels.placed[rule];

	if (plan->rules.list[rule].built_in && placed->off)
		return false;
	if (plan->rules.list[rule].layer == UINT32_MAX)
		return levels_rule(&plan->levels, placed->node) == rule;
	return !plan->rules.list[rule].path || placed->off ||
	       plan->levels.judges[0].winner[placed->node] == rule;
}

static bool is_off(const struct plan *plan, uint32_t rule)
{
	return plan->rules.list[rule].path && plan->levels.placed[rule].off;
}

static const char *rule_verdict(
	const struct plan *plan, const struct fidelity *fidelity, uint32_t rule)
{
	if (is_off(plan, rule))
		return "off";
	return report_verdict_text(fidelity->rules[rule]);
}

static void put_cell(struct buf *out, const char *text, int width)
{
	buf_printf(out, "%-*s", width, text);
}

static int width_of(
	const struct plan *plan, const struct sources *sources, struct arena *arena)
{
	size_t width = 20;

	for (uint32_t i = 0; i < plan->rules.count; i++) {
		size_t len = strlen(plan_rule_text(plan, i, sources, arena));
		if (is_shown(plan, i) && len > width)
			width = len;
	}
	return (int)(width > 60 ? 60 : width) + 2;
}

static void put_table(const struct plan *plan, const struct fidelity *fidelities,
	size_t count, const struct sources *sources, struct arena *arena, struct buf *out)
{
	int width = width_of(plan, sources, arena);

	put_cell(out, "rule", width);
	for (size_t b = 0; b < count; b++)
		put_cell(out, fidelities[b].backend->name, 14);
	buf_puts(out, "where\n");
	for (uint32_t i = 0; i < plan->rules.count; i++) {
		const struct rule *rule = &plan->rules.list[i];
		if (!is_shown(plan, i) || is_off(plan, i))
			continue;
		put_cell(out, plan_rule_text(plan, i, sources, arena), width);
		for (size_t b = 0; b < count; b++)
			put_cell(out, rule_verdict(plan, &fidelities[b], i), 14);
		buf_printf(out, "%s\n",
			place_text(sources, rule->span, rule->built_in, arena));
	}
	for (int i = 0; i < SETTING_COUNT; i++) {
		put_cell(out, plan_setting_text(plan, (enum setting)i, arena), width);
		for (size_t b = 0; b < count; b++)
			put_cell(out, report_verdict_text(fidelities[b].settings[i]), 14);
		buf_printf(out, "%s\n",
			place_text(sources, plan->rules.settings[i].span, NULL, arena));
	}
}

static void put_off(const struct plan *plan, const struct sources *sources,
	struct arena *arena, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->off_count; i++) {
		if (plan->rules.list[plan->off[i].rule].built_in)
			continue;
		buf_printf(out, "%s%s",
			count++ ? ", " : "\noff, because the path is missing: ",
			plan_rule_text(plan, plan->off[i].rule, sources, arena));
	}
	if (count)
		buf_putc(out, '\n');
}

static bool same_remark(const struct remark *a, const struct remark *b)
{
	return a->reason == b->reason && a->subject == b->subject && a->index == b->index;
}

static void put_remarks(const struct plan *plan, const char *kind,
	const struct remarks *remarks, const struct sources *sources, struct arena *arena,
	struct buf *out)
{
	for (size_t i = 0; i < remarks->count; i++) {
		const struct remark *remark = &remarks->list[i];
		const struct reason_text *text = reason_text(remark->reason);
		const char *place = report_place(plan, remark, sources, arena);
		size_t same = 0;

		/* Many witnesses of one thing are one line. */
		if (i && same_remark(remark, &remarks->list[i - 1]))
			continue;
		while (i + same + 1 < remarks->count &&
			same_remark(remark, &remarks->list[i + same + 1]))
			same++;
		buf_printf(out, "  %s %s: %s", kind, text->code, text->sentence);
		if (remark->witness) {
			buf_puts(out, ": ");
			diag_put_quoted(
				out, remark->witness, strlen(remark->witness), 200);
		}
		if (same)
			buf_printf(out, " and %zu more", same);
		if (place)
			buf_printf(out, " (%s)", place);
		buf_putc(out, '\n');
		if (*text->fix)
			buf_printf(out, "    fix: %s\n", text->fix);
	}
}

void report_put(const struct plan *plan, const struct fidelity *fidelities, size_t count,
	const struct sources *sources, struct arena *arena, struct buf *out)
{
	buf_printf(out, "policy %s, mode %s, %s\n\n", plan->policy->name,
		vocabulary_text(vocabulary_modes, (int)plan->mode),
		vocabulary_text(vocabulary_platforms, (int)plan->target->platform));
	put_table(plan, fidelities, count, sources, arena, out);
	put_off(plan, sources, arena, out);
	for (size_t b = 0; b < count; b++) {
		const struct fidelity *f = &fidelities[b];
		buf_printf(out, "\n%s: %s", f->backend->name,
			f->usable ? fidelity_enforcement(f)
				  : "cannot express the policy");
		if (f->abi)
			buf_printf(out, " (Landlock ABI %u)", f->abi);
		buf_putc(out, '\n');
		put_remarks(plan, "gap", &f->gaps, sources, arena, out);
		put_remarks(plan, "exposure", &f->exposures, sources, arena, out);
		put_remarks(plan, "note", &f->notes, sources, arena, out);
	}
}

/* ---- JSON -------------------------------------------------------------------- */

json_t *report_string(const char *text, size_t len)
{
	struct buf encoded = BUF_INIT;

	if (utf8_is_valid(text, len))
		return json_stringn(text, len);
	quote_base64(&encoded, text, len);
	json_t *json = json_pack("{s:s}", "base64", encoded.data);
	buf_release(&encoded);
	return json;
}

static json_t *string(const char *text)
{
	return text ? report_string(text, strlen(text)) : json_null();
}

json_t *report_remarks_json(const struct plan *plan, const struct remarks *remarks,
	const struct sources *sources, struct arena *arena)
{
	json_t *list = json_array();

	for (size_t i = 0; i < remarks->count; i++) {
		const struct remark *remark = &remarks->list[i];
		const struct reason_text *text = reason_text(remark->reason);
		json_t *object = json_pack(
			"{s:s, s:s}", "code", text->code, "sentence", text->sentence);
		if (*text->fix)
			json_object_set_new(object, "fix", json_string(text->fix));
		if (remark->witness)
			json_object_set_new(object, "witness", string(remark->witness));
		if (remark->subject == SUBJECT_RULE)
			json_object_set_new(object, "rule",
				string(plan_rule_text(
					plan, remark->index, sources, arena)));
		if (remark->subject == SUBJECT_SETTING)
			json_object_set_new(object, "rule",
				string(plan_setting_text(
					plan, (enum setting)remark->index, arena)));
		if (remark->subject != SUBJECT_MECHANISM)
			json_object_set_new(object, "place",
				string(report_place(plan, remark, sources, arena)));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *verdict_json(const char *rule, const char *verdict, const char *place)
{
	return json_pack("{s:o, s:s, s:o}", "rule", string(rule), "verdict", verdict,
		"place", string(place));
}

json_t *report_json(const struct plan *plan, const struct fidelity *fidelity,
	const struct sources *sources, struct arena *arena)
{
	json_t *rules = json_array();

	for (uint32_t i = 0; i < plan->rules.count; i++)
		if (is_shown(plan, i))
			json_array_append_new(rules,
				verdict_json(plan_rule_text(plan, i, sources, arena),
					rule_verdict(plan, fidelity, i),
					place_text(sources, plan->rules.list[i].span,
						plan->rules.list[i].built_in, arena)));
	for (int i = 0; i < SETTING_COUNT; i++)
		json_array_append_new(rules,
			verdict_json(plan_setting_text(plan, (enum setting)i, arena),
				report_verdict_text(fidelity->settings[i]),
				place_text(sources, plan->rules.settings[i].span, NULL,
					arena)));
	return json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o}", "backend",
		fidelity->backend->name, "usable", fidelity->usable, "enforcement",
		fidelity->usable ? fidelity_enforcement(fidelity) : "none", "gaps",
		report_remarks_json(plan, &fidelity->gaps, sources, arena), "exposures",
		report_remarks_json(plan, &fidelity->exposures, sources, arena), "notes",
		report_remarks_json(plan, &fidelity->notes, sources, arena), "rules",
		rules);
}
