/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon check: every policy of every file, each file on its own, so that one
 * bad file does not hide the findings of the others.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/check.h"
#include "compiler/main.h"
#include "compiler/scope.h"
#include <jansson.h>

struct totals {
	size_t files, errors, warnings, unreadable;
};

static void check_file(
	struct session *session, uint32_t file, const struct options *options)
{
	struct loader loader = policy_files_loader(&session->files);
	const struct scope *scope = scope_load(
		&session->arena, &session->sources, file, &loader, &session->diags);
	const char *only = options->session.policy_name;

	for (const struct ast_policy *p = scope->ast->policies; p; p = p->next) {
		if (only && strcmp(p->name.text, only) != 0)
			continue;
		struct policy *policy = policy_resolve(
			&session->arena, scope, p->name.text, &session->diags);
		struct check_plans plans;
		if (!policy)
			continue;
		check_policy(policy, PLATFORM_ALL, options->session.values,
			options->session.value_count, &session->arena, &session->diags,
			&plans);
		check_remarks(policy, &plans, &session->diags);
	}
	if (only && !scope_find(scope, NAME_POLICY, only))
		policy_resolve(&session->arena, scope, only, &session->diags);
}

static json_t *place_json(const struct sources *sources, struct span span)
{
	struct place start = source_place(sources, span.file, span.start);
	struct place end = source_place(sources, span.file, span.end);

	return json_pack("{s:s, s:i, s:i, s:i, s:i}", "file",
		sources_get(sources, span.file)->name, "line", (int)start.line, "column",
		(int)start.column, "endLine", (int)end.line, "endColumn",
		(int)end.column);
}

static void findings_json(struct session *session, json_t *list)
{
	static const char *const severities[] = {"error", "warning", "note"};

	diags_sort(&session->diags);
	for (const struct diag *d = session->diags.first; d; d = d->next) {
		json_t *finding = json_pack("{s:s, s:s, s:s, s:o}", "code",
			diag_code_text(d->code), "severity",
			severities[diag_severity(d->code)], "message", d->message,
			"place", place_json(&session->sources, d->span));
		if (d->second_message)
			json_object_set_new(finding, "related",
				json_pack("{s:s, s:o}", "message", d->second_message,
					"place",
					place_json(&session->sources, d->second)));
		if (d->help)
			json_object_set_new(finding, "help", json_string(d->help));
		if (d->fix)
			json_object_set_new(finding, "fix",
				json_pack("{s:s, s:o}", "text", d->fix, "place",
					place_json(&session->sources, d->fix_span)));
		json_array_append_new(list, finding);
	}
}

/* False if the file could not be read. */
static bool check_one(const char *path, const struct options *options,
	struct totals *totals, json_t *json)
{
	struct session session;
	const char *error;
	bool readable = true;

	session_init(&session, &options->session);
	uint32_t file = policy_files_read(&session.files, path, &error);
	if (!file) {
		fprintf(stderr, "cordon check: %s\n", error);
		readable = false;
		goto out;
	}
	check_file(&session, file, options);
	session_trust(&session, false);
	if (json)
		findings_json(&session, json);
	else
		main_findings(&session, options);
out:
	totals->files++;
	totals->errors += session.diags.errors;
	totals->warnings += session.diags.warnings;
	totals->unreadable += !readable;
	session_release(&session);
	return readable;
}

static bool print_json(json_t *findings)
{
	json_t *document = json_pack("{s:i, s:o}", "version", 1, "findings", findings);
	char *text = json_dumps(document, JSON_INDENT(2));
	struct buf out = BUF_INIT;

	buf_printf(&out, "%s\n", text);
	bool printed = main_print(&out);
	free(text);
	buf_release(&out);
	json_decref(document);
	return printed;
}

int main_check(struct options *options)
{
	struct totals totals = {0};
	json_t *json = options->format == FORMAT_JSON ? json_array() : NULL;

	if (options->operand_count == 0)
		return main_usage(options, "no file to check");
	if (options->format > FORMAT_JSON)
		return main_usage(options, "check prints text or json");
	for (int i = 0; i < options->operand_count; i++)
		check_one(options->operands[i], options, &totals, json);
	if (json && !print_json(json))
		return EXIT_UNABLE;
	if (totals.unreadable)
		return EXIT_UNABLE;
	return totals.errors || (options->deny_warnings && totals.warnings)
		       ? EXIT_FINDINGS
		       : EXIT_CLEAN;
}
