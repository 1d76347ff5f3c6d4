/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon probe: which backends work on this host for this policy, and why not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/report.h"
#include "compiler/main.h"
#include "runtime/run.h"

#define PROBED_MAX 8

static void put_text(struct buf *out, const struct probe_verdict *v)
{
	const struct cause_text *text = cause_text(v->cause);

	buf_printf(out, "%s: %s", v->backend->name, text->verdict);
	if (v->cause == CAUSE_NONE) {
		buf_printf(out, ", %s enforcement", fidelity_enforcement(&v->fidelity));
		if (v->fidelity.abi)
			buf_printf(out, " (Landlock ABI %u)", v->fidelity.abi);
		buf_putc(out, '\n');
		return;
	}
	buf_printf(out, ": %s%s%s\n  fix: %s\n", text->sentence, *v->detail ? ": " : "",
		v->detail, text->fix);
}

static json_t *verdict_json(const struct probe_verdict *v)
{
	const struct cause_text *text = cause_text(v->cause);
	json_t *json = json_pack("{s:s, s:b, s:s}", "backend", v->backend->name, "usable",
		v->cause == CAUSE_NONE, "verdict", text->verdict);

	if (v->cause == CAUSE_NONE) {
		json_object_set_new(json, "enforcement",
			json_string(fidelity_enforcement(&v->fidelity)));
		json_object_set_new(
			json, "landlockAbi", json_integer((json_int_t)v->fidelity.abi));
		return json;
	}
	json_object_set_new(json, "sentence", json_string(text->sentence));
	json_object_set_new(json, "detail",
		*v->detail ? report_string(v->detail, strlen(v->detail)) : json_null());
	json_object_set_new(json, "fix", json_string(text->fix));
	return json;
}

static bool print_verdicts(const struct options *options, enum mode mode,
	const struct probe_verdict *verdicts, size_t count)
{
	struct buf out = BUF_INIT;
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		if (options->format == FORMAT_JSON)
			json_array_append_new(list, verdict_json(&verdicts[i]));
		else
			put_text(&out, &verdicts[i]);
	}
	json_t *document = json_pack("{s:i, s:s, s:o}", "version", 1, "mode",
		vocabulary_text(vocabulary_modes, (int)mode), "backends", list);
	if (options->format == FORMAT_JSON) {
		char *text = json_dumps(document, JSON_INDENT(2));
		buf_printf(&out, "%s\n", text);
		free(text);
	}
	json_decref(document);
	bool printed = main_print(&out);
	buf_release(&out);
	return printed;
}

static int probe(struct session *session, struct options *options,
	const struct programs *programs, enum mode mode, struct launched *launched)
{
	struct probe_verdict verdicts[PROBED_MAX];
	size_t count = 0;
	int status = EXIT_FINDINGS;
	struct plan *plan = session_plan_launch(session, mode, launched);

	if (!plan)
		return EXIT_UNABLE;
	for (size_t b = 0; backends[b] && count < PROBED_MAX; b++) {
		if (backends[b]->platform != PLATFORM_LINUX ||
			(options->backend &&
				strcmp(options->backend, backends[b]->name) != 0))
			continue;
		run_probe(session, plan, backends[b], programs, &verdicts[count]);
		if (verdicts[count++].cause == CAUSE_NONE)
			status = EXIT_CLEAN;
	}
	return print_verdicts(options, mode, verdicts, count) ? status : EXIT_UNABLE;
}

int main_probe(struct options *options)
{
	struct session session;
	struct programs programs;
	struct launched launched = {0};
	int status = EXIT_UNABLE;
	enum mode mode;

	if (options->operand_count)
		return main_usage(
			options, "probe takes no file; the policy is --policy FILE");
	if (options->backend && !backend_find(options->backend))
		return main_usage(options,
			"unknown backend `%s`; known are bwrap, landlock",
			options->backend);
	if (options->format > FORMAT_JSON)
		return main_usage(options, "probe prints text or json");
	options->session.host = options->session.launch = true;
	session_init(&session, &options->session);
	programs_find(&programs, &session.arena);
	if (session_load(&session)) {
		mode = options->mode_given ? options->mode : session.policy->default_mode;
		session_trust(&session, false);
		if (mode >= MODE_CONFINED_COUNT)
			status = main_usage(
				options, "danger-full-access needs no backend");
		else if (session_target(&session))
			status = probe(&session, options, &programs, mode, &launched);
	}
	session_finish(&session, &launched);
	main_findings(&session, options);
	session_release(&session);
	return status;
}
