/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon confine: the argv to spawn instead of a command, as JSON, for callers that
 * start processes themselves; and cordon classify, for what they saw of the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/report.h"
#include "compiler/main.h"
#include "runtime/classify.h"
#include "runtime/confine.h"

#define STDERR_MAX ((size_t)64 * 1024 * 1024)

static json_t *list_json(const char *const *list)
{
	json_t *json = json_array();

	for (; list && *list; list++)
		json_array_append_new(json, main_text_json(*list));
	return json;
}

/* null: to be unset. */
static json_t *environment_json(const struct plan *plan)
{
	static const char *const names[] = {"TMPDIR", "TMP", "TEMP"};
	json_t *json = json_object();

	for (size_t i = 0; plan && i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set_new(json, names[i], main_text_json(plan->temp_path));
	return json;
}

static json_t *failure_json(const struct failure_rule *rule)
{
	json_t *codes = json_array(), *rules = json_array();

	for (size_t i = 0; i < sizeof(rule->codes) / sizeof(rule->codes[0]); i++)
		if (rule->codes[i])
			json_array_append_new(codes, json_integer(rule->codes[i]));
	if (rule->fatal)
		json_array_append_new(
			rules, json_pack("{s:o, s:o, s:o}", "exitCodes", codes,
				       "ignoredLines", list_json(rule->ignored), "fatal",
				       list_json(rule->fatal)));
	else
		json_decref(codes);
	return rules;
}

static json_t *confined_json(struct session *session, const struct plan *plan,
	const struct confined *confined, const struct launched *launched)
{
	const struct fidelity *f = &confined->fidelity;
	json_t *created = json_array(), *removed = json_array();

	for (size_t i = 0; i < launched->created.count; i++)
		json_array_append_new(
			created, main_text_json(launched->created.paths[i]));
	if (launched->has_temp)
		json_array_append_new(removed, main_text_json(launched->temp.path));
	return json_pack(
		"{s:i, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"version", 1, "mode", vocabulary_text(vocabulary_modes, (int)plan->mode),
		"backend", confined->backend->name, "argv",
		list_json((const char *const *)confined->argv), "env",
		environment_json(plan), "enforcement", fidelity_enforcement(f), "gaps",
		report_remarks_json(plan, &f->gaps, &session->sources, &session->arena),
		"exposures",
		report_remarks_json(
			plan, &f->exposures, &session->sources, &session->arena),
		"denialSignatures", list_json(confined->backend->denials),
		"runnerFailureRules", failure_json(&confined->failure), "passedOver",
		main_passed_json(confined->passed, confined->passed_count), "created",
		created, "remove", removed);
}

static json_t *unconfined_json(const struct confine_request *request)
{
	return json_pack(
		"{s:i, s:s, s:n, s:o, s:{}, s:s, s:[], s:[], s:[], s:[], s:[], s:[], "
		"s:[]}",
		"version", 1, "mode", "danger-full-access", "backend", "argv",
		list_json(request->argv), "env", "enforcement", "none", "gaps",
		"exposures", "denialSignatures", "runnerFailureRules", "passedOver",
		"created", "remove");
}

/* directory: where the caller has to spawn; NULL: not asked. */
static bool print(json_t *json, const char *directory)
{
	if (directory)
		json_object_set_new(json, "directory", main_text_json(directory));

	char *text = json_dumps(json, JSON_INDENT(2));
	struct buf out = BUF_INIT;

	buf_printf(&out, "%s\n", text);
	bool printed = main_print(&out);
	free(text);
	buf_release(&out);
	json_decref(json);
	return printed;
}

static void report_unavailable(enum mode mode, const struct confined *confined)
{
	fprintf(stderr,
		"cordon confine: SANDBOX_UNAVAILABLE: sandbox mode \"%s\" is requested "
		"but no "
		"sandbox backend is usable on this host; refusing to run the command "
		"unconfined\n",
		vocabulary_text(vocabulary_modes, (int)mode));
	for (size_t i = 0; i < confined->passed_count; i++) {
		const struct passed_over *p = &confined->passed[i];
		const struct cause_text *text = cause_text(p->cause);
		fprintf(stderr, "  %s: %s: %s%s%s\n    fix: %s\n", p->backend->name,
			text->verdict, text->sentence, *p->detail ? ": " : "", p->detail,
			text->fix);
	}
}

static int confine_plan(struct session *session, enum mode mode,
	const struct confine_request *request, struct launched *launched)
{
	struct plan *plan = session_plan_launch(session, mode, launched);
	struct confined confined;

	if (!plan)
		return EXIT_UNABLE;
	if (!confine(session, plan, request, &confined)) {
		if (confined.passed_count)
			report_unavailable(mode, &confined);
		return EXIT_UNABLE;
	}
	if (!print(confined_json(session, plan, &confined, launched), request->directory))
		return EXIT_UNABLE;
	/* From here on it is the caller's. */
	if (launched->has_temp)
		temp_dir_keep(&launched->temp);
	launched->has_temp = false;
	return EXIT_CLEAN;
}

static bool check_options(const struct options *options, struct confine_request *request)
{
	request->only = options->backend ? backend_find(options->backend) : NULL;
	request->runner = options->runner;
	request->runner_failure = options->runner_failure;
	request->argv = (const char *const *)options->operands;
	if (options->operand_count == 0)
		main_usage(options, "no command to confine");
	else if (options->backend && !request->only)
		main_usage(options, "unknown backend `%s`; known are bwrap, landlock",
			options->backend);
	else if (!options->runner != !options->runner_failure)
		main_usage(options, "--runner and --runner-failure go together");
	else if (options->runner && options->runner[0] != '/')
		main_usage(options, "--runner takes an absolute path");
	else if (options->runner && options->backend)
		main_usage(options, "--runner is a backend of its own");
	else
		return true;
	return false;
}

int main_confine(struct options *options)
{
	struct confine_request request = {0};
	struct session session;
	struct programs programs;
	struct launched launched = {0};
	int status = EXIT_UNABLE;
	enum mode mode;

	if (!check_options(options, &request))
		return EXIT_UNABLE;
	options->session.host = options->session.launch = options->session.keep_temp =
		true;
	options->quiet = true;
	session_init(&session, &options->session);
	programs_find(&programs, &session.arena);
	request.programs = &programs;
	char *directory = realpath(".", NULL);
	request.directory = directory;
	if (!directory)
		fprintf(stderr, "cordon confine: the current directory has no path that "
				"leads to it\n");
	else if (main_open(&session, options, &programs, &mode)) {
		if (mode == MODE_DANGER_FULL_ACCESS)
			status = print(unconfined_json(&request), directory)
					 ? EXIT_CLEAN
					 : EXIT_UNABLE;
		else
			status = confine_plan(&session, mode, &request, &launched);
	}
	session_finish(&session, &launched);
	main_findings(&session, options);
	session_release(&session);
	free(directory);
	return status;
}

/* ---- classify ------------------------------------------------------------------- */

static bool read_stdin(struct buf *out)
{
	char block[16384];
	ssize_t n;

	buf_puts(out, "");
	while ((n = read(STDIN_FILENO, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || out->len + (size_t)n > STDERR_MAX)
			return false;
		buf_put(out, block, (size_t)n);
	}
	return true;
}

int main_classify(struct options *options)
{
	const struct backend *backend = options->backend ? backend_find(options->backend)
							 : NULL;
	struct buf text = BUF_INIT, out = BUF_INIT;
	int status = EXIT_UNABLE;

	if (!backend)
		return main_usage(options, "--backend bwrap or landlock is needed");
	if (options->status < 0)
		return main_usage(options, "--status N is needed");
	if (options->operand_count)
		return main_usage(
			options, "stderr of the command is read from standard input");
	if (!read_stdin(&text)) {
		fprintf(stderr, "cordon classify: cannot read standard input\n");
		goto out;
	}
	struct classification found = classify(&backend->failure, backend->denials,
		options->status, text.data, text.len);
	if (options->format == FORMAT_JSON) {
		json_t *json = json_pack("{s:i, s:s, s:o}", "version", 1, "verdict",
			classified_text(found.verdict), "line",
			found.line ? report_string(found.line, found.len) : json_null());
		status = print(json, NULL) ? EXIT_CLEAN : EXIT_UNABLE;
		goto out;
	}
	buf_printf(&out, "%s", classified_text(found.verdict));
	if (found.line) {
		buf_puts(&out, ": ");
		diag_put_quoted(&out, found.line, found.len, 1000);
	}
	buf_putc(&out, '\n');
	status = main_print(&out) ? EXIT_CLEAN : EXIT_UNABLE;
out:
	buf_release(&text);
	buf_release(&out);
	return status;
}
