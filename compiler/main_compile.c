/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon compile and cordon report: artifacts of a plan, and what the backends
 * say of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/quote.h"
#include "backends/report.h"
#include "compiler/main.h"

/* Everything about the call at hand. */
struct work {
	struct options *options;
	struct session session;
};

static bool open_work(struct work *work, struct options *options)
{
	struct session *session = &work->session;

	work->options = options;
	session_init(session, &options->session);
	if (options->operand_count)
		options->session.policy_file = options->operands[0];
	return session_load(session) && session_target(session);
}

static int close_work(struct work *work, int status)
{
	main_findings(&work->session, work->options);
	session_release(&work->session);
	return status;
}

/* 2: a file could not be read, 1: it was and is wrong. */
static int failed(const struct work *work)
{
	const struct diag *first = work->session.diags.first;

	return first && !first->span.file && first->code == CODE_E046 ? EXIT_UNABLE
								      : EXIT_FINDINGS;
}

static bool check_operands(const struct options *options)
{
	if (options->operand_count <= 1)
		return true;
	main_usage(options, "one policy at a time");
	return false;
}

static bool is_backend_known(const struct options *options)
{
	if (!options->backend || strcmp(options->backend, "all") == 0 ||
		backend_find(options->backend))
		return true;
	main_usage(options, "unknown backend `%s`; known are bwrap, landlock",
		options->backend);
	return false;
}

/* ---- artifacts ------------------------------------------------------------------ */

static void put_sh(struct buf *out, const struct buf *fields, const char *program)
{
	buf_puts(out, program);
	for (size_t at = 0; at < fields->len; at += strlen(fields->data + at) + 1) {
		/* One option a line: what does not begin with -- belongs to it. */
		buf_puts(out, strncmp(fields->data + at, "--", 2) == 0 ? " \\\n  " : " ");
		quote_sh(out, fields->data + at);
	}
	buf_putc(out, '\n');
}

static void put_json(struct buf *out, const struct buf *fields, const struct plan *plan,
	const struct fidelity *fidelity, struct session *session)
{
	json_t *argv = json_array();

	for (size_t at = 0; at < fields->len; at += strlen(fields->data + at) + 1)
		json_array_append_new(argv,
			report_string(fields->data + at, strlen(fields->data + at)));
	json_t *document = report_json(
		plan, fidelity, &session->sources, &session->arena);
	json_object_set_new(document, "version", json_integer(1));
	json_object_set_new(document, "arguments", argv);
	if (fidelity->backend->describe)
		json_object_set_new(document, "profile",
			fidelity->backend->describe(plan, fidelity, &session->arena));
	char *text = json_dumps(document, JSON_INDENT(2));
	buf_printf(out, "%s\n", text);
	free(text);
	json_decref(document);
}

static void put_text(struct buf *out, const struct buf *fields)
{
	for (size_t at = 0; at < fields->len; at += strlen(fields->data + at) + 1) {
		if (at)
			buf_putc(out,
				strncmp(fields->data + at, "--", 2) == 0 ? '\n' : ' ');
		diag_put_quoted(
			out, fields->data + at, strlen(fields->data + at), SIZE_MAX);
	}
	buf_putc(out, '\n');
}

/* The artifact in a format. False if a finding was reported. */
static bool render(struct work *work, const struct plan *plan,
	const struct fidelity *fidelity, enum format format, struct buf *out)
{
	const struct launch launch = {0};
	struct session *session = &work->session;
	struct buf fields = BUF_INIT;

	if (format != FORMAT_JSON && !work->options->output)
		main_gaps(work->options, fidelity);
	bool emitted = fidelity->backend->emit(
		plan, &launch, fidelity, &session->arena, &fields, &session->diags);
	if (!emitted)
		goto out;
	switch (format) {
	case FORMAT_NUL: buf_put(out, fields.data, fields.len); break;
	case FORMAT_JSON: put_json(out, &fields, plan, fidelity, session); break;
	case FORMAT_SH: put_sh(out, &fields, fidelity->backend->program); break;
	case FORMAT_PLAN: plan_dump(plan, &session->sources, out); break;
	case FORMAT_DEFAULT:
	case FORMAT_TEXT: put_text(out, &fields); break;
	}
out:
	buf_release(&fields);
	return emitted;
}

static void report_unsupported(
	struct work *work, const struct plan *plan, const struct fidelity *fidelity)
{
	struct session *session = &work->session;

	for (size_t i = 0; i < fidelity->notes.count; i++) {
		const struct remark *remark = &fidelity->notes.list[i];
		const struct reason_text *text = reason_text(remark->reason);
		if (remark->subject == SUBJECT_MECHANISM)
			continue;
		enum verdict verdict = remark->subject == SUBJECT_RULE
					       ? fidelity->rules[remark->index]
					       : fidelity->settings[remark->index];
		if (verdict != VERDICT_UNSUPPORTED)
			continue;
		struct span span = remark->subject == SUBJECT_RULE
					   ? plan->rules.list[remark->index].span
					   : plan->rules.settings[remark->index].span;
		struct diag *diag = diag_report(&session->diags, CODE_E080, span,
			"%s cannot express this: %s (%s)", fidelity->backend->name,
			text->sentence, text->code);
		if (*text->fix)
			diag_help(&session->diags, diag, "%s", text->fix);
	}
}

/* ---- bundles -------------------------------------------------------------------- */

/* Written under another name first: whole or not at all. */
static bool write_file(const char *directory, const char *name, const struct buf *text)
{
	char path[4096], temporary[4096 + 8];
	ssize_t wrote = -1;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	int fd = open(
		temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0) {
		size_t done = 0;
		while (done < text->len &&
			(wrote = write(fd, text->data + done, text->len - done)) > 0)
			done += (size_t)wrote;
		if (done == text->len)
			wrote = 0;
		if (fsync(fd) < 0 || close(fd) < 0)
			wrote = -1;
	}
	if (fd < 0 || wrote < 0 || rename(temporary, path) < 0) {
		fprintf(stderr, "cordon compile: cannot write `%s`: %s\n", path,
			strerror(errno));
		unlink(temporary);
		return false;
	}
	return true;
}

static bool write_artifact(struct work *work, const struct plan *plan,
	const struct fidelity *fidelity, json_t *manifest)
{
	struct session *session = &work->session;
	struct buf text = BUF_INIT;
	const char *mode = vocabulary_text(vocabulary_modes, (int)plan->mode);
	const char *name = arena_printf(
		&session->arena, "%s.%s", mode, fidelity->backend->extension);
	json_t *entry = report_json(plan, fidelity, &session->sources, &session->arena);
	bool written = true;

	json_object_set_new(entry, "mode", json_string(mode));
	if (fidelity->usable) {
		written = render(work, plan, fidelity, FORMAT_NUL, &text) &&
			  write_file(work->options->output, name, &text);
		json_object_set_new(entry, "file", json_string(name));
		json_object_set_new(entry, "bytes", json_integer((json_int_t)text.len));
	}
	json_array_append_new(manifest, entry);
	buf_release(&text);
	return written;
}

static bool write_plan(struct work *work, const struct plan *plan)
{
	struct buf text = BUF_INIT;

	plan_dump(plan, &work->session.sources, &text);
	bool written = write_file(work->options->output,
		arena_printf(&work->session.arena, "%s.plan",
			vocabulary_text(vocabulary_modes, (int)plan->mode)),
		&text);
	buf_release(&text);
	return written;
}

static bool wants_backend(const struct options *options, const struct backend *backend)
{
	if (backend->platform != options->session.platform)
		return false;
	return !options->backend || strcmp(options->backend, "all") == 0 ||
	       strcmp(options->backend, backend->name) == 0;
}

static int write_mode(struct work *work, enum mode mode, json_t *manifest)
{
	struct options *options = work->options;
	const struct launch launch = {0};
	struct plan *plan = session_plan(&work->session, mode, false);
	int status = EXIT_CLEAN;

	if (!plan)
		return EXIT_FINDINGS;
	if (!write_plan(work, plan))
		return EXIT_UNABLE;
	for (size_t b = 0; backends[b]; b++) {
		struct fidelity fidelity;
		if (!wants_backend(options, backends[b]))
			continue;
		backends[b]->check(plan, &launch, &work->session.arena, &fidelity);
		if (!fidelity.usable && options->backend &&
			strcmp(options->backend, "all") != 0) {
			report_unsupported(work, plan, &fidelity);
			status = EXIT_FINDINGS;
		}
		if (!write_artifact(work, plan, &fidelity, manifest))
			return work->session.diags.errors ? EXIT_FINDINGS : EXIT_UNABLE;
	}
	return status;
}

static int write_bundle(struct work *work)
{
	struct options *options = work->options;
	json_t *manifest = json_array();
	struct buf text = BUF_INIT;
	int status = EXIT_CLEAN;

	if (mkdir(options->output, 0755) < 0 && errno != EEXIST) {
		fprintf(stderr, "cordon compile: cannot make `%s`: %s\n", options->output,
			strerror(errno));
		json_decref(manifest);
		return EXIT_UNABLE;
	}
	for (int mode = 0; mode < MODE_CONFINED_COUNT && status < EXIT_UNABLE; mode++) {
		if (options->mode_given && (int)options->mode != mode)
			continue;
		int one = write_mode(work, (enum mode)mode, manifest);
		status = one > status ? one : status;
	}
	json_t *document = json_pack("{s:i, s:s, s:s, s:s, s:b, s:o}", "version", 1,
		"cordon", CORDON_VERSION, "policy", work->session.policy->name, "target",
		vocabulary_text(vocabulary_platforms, (int)options->session.platform),
		"host", options->session.host, "artifacts", manifest);
	char *dumped = json_dumps(document, JSON_INDENT(2));
	buf_printf(&text, "%s\n", dumped);
	if (status < EXIT_UNABLE && !write_file(options->output, "manifest.json", &text))
		status = EXIT_UNABLE;
	free(dumped);
	buf_release(&text);
	json_decref(document);
	return status;
}

/* ---- commands ------------------------------------------------------------------- */

static const struct backend *first_backend(enum platform platform)
{
	for (size_t b = 0; backends[b]; b++)
		if (backends[b]->platform == platform)
			return backends[b];
	return NULL;
}

static int print_artifact(
	struct work *work, const struct plan *plan, const struct backend *backend)
{
	const struct launch launch = {0};
	struct fidelity fidelity;
	struct buf out = BUF_INIT;
	int status = EXIT_FINDINGS;

	backend->check(plan, &launch, &work->session.arena, &fidelity);
	if (!fidelity.usable)
		report_unsupported(work, plan, &fidelity);
	else if (render(work, plan, &fidelity, work->options->format, &out))
		status = main_print(&out) ? EXIT_CLEAN : EXIT_UNABLE;
	buf_release(&out);
	return status;
}

static int print_all(struct work *work, const struct plan *plan)
{
	const struct launch launch = {0};
	struct buf out = BUF_INIT;
	int status = EXIT_CLEAN;

	for (size_t b = 0; backends[b]; b++) {
		struct fidelity fidelity;
		if (backends[b]->platform != work->options->session.platform)
			continue;
		backends[b]->check(plan, &launch, &work->session.arena, &fidelity);
		buf_printf(&out, "# %s\n", backends[b]->name);
		if (!fidelity.usable)
			buf_puts(
				&out, "# cannot express the policy: see cordon report\n");
		else if (!render(work, plan, &fidelity, work->options->format, &out))
			status = EXIT_FINDINGS;
	}
	if (!main_print(&out))
		status = EXIT_UNABLE;
	buf_release(&out);
	return status;
}

static enum mode mode_of(const struct work *work)
{
	return work->options->mode_given ? work->options->mode
					 : work->session.policy->default_mode;
}

/* danger-full-access is unconfined: no artifact, and the reason said. */
static bool is_confined(struct work *work, enum mode mode)
{
	if (mode < MODE_CONFINED_COUNT)
		return true;
	diag_report(&work->session.diags, CODE_E081, work->session.policy->span,
		"`danger-full-access` is unconfined and has no profile");
	return false;
}

int main_compile(struct options *options)
{
	struct work work;
	int status;

	if (!check_operands(options) || !is_backend_known(options))
		return EXIT_UNABLE;
	if (!open_work(&work, options))
		return close_work(&work, failed(&work));
	session_trust(&work.session, false);
	if (options->output)
		return close_work(&work, write_bundle(&work));

	enum mode mode = mode_of(&work);
	const struct backend *backend = options->backend
						? backend_find(options->backend)
						: first_backend(
							  options->session.platform);
	struct plan *plan = is_confined(&work, mode)
				    ? session_plan(&work.session, mode, false)
				    : NULL;
	if (!plan)
		status = EXIT_FINDINGS;
	else if (options->format == FORMAT_PLAN) {
		struct buf out = BUF_INIT;
		plan_dump(plan, &work.session.sources, &out);
		status = main_print(&out) ? EXIT_CLEAN : EXIT_UNABLE;
		buf_release(&out);
	} else if (options->backend && strcmp(options->backend, "all") == 0)
		status = print_all(&work, plan);
	else if (backend && backend->platform == options->session.platform)
		status = print_artifact(&work, plan, backend);
	else
		status = main_usage(options, "no backend for that target");
	return close_work(&work, status);
}

static bool meets_requirement(
	const struct work *work, const struct fidelity *fidelities, size_t count)
{
	if (work->session.policy->require[work->options->session.platform] !=
		REQUIRE_FULL)
		return true;
	for (size_t b = 0; b < count; b++)
		if (fidelities[b].usable && fidelities[b].gaps.count == 0)
			return true;
	return false;
}

/* What `run` would give: with the helper where it is a matter of the backend. */
static size_t check_all(struct work *work, const struct plan *plan, struct fidelity *out)
{
	const struct launch launch = {.helper = "/dev/cordon-init", .isolated = true};
	size_t count = 0;

	for (size_t b = 0; backends[b]; b++)
		if (wants_backend(work->options, backends[b]))
			backends[b]->check(
				plan, &launch, &work->session.arena, &out[count++]);
	return count;
}

static bool report_mode(
	struct work *work, enum mode mode, struct buf *out, json_t *json, int *status)
{
	struct session *session = &work->session;
	struct fidelity fidelities[8];
	struct plan *plan = session_plan(session, mode, false);

	if (!plan)
		return false;
	size_t count = check_all(work, plan, fidelities);
	if (!meets_requirement(work, fidelities, count)) {
		diag_report(&session->diags, CODE_E082,
			session->policy->require_span[work->options->session.platform],
			"no backend gives full enforcement in mode `%s`",
			vocabulary_text(vocabulary_modes, (int)mode));
		*status = EXIT_FINDINGS;
	}
	if (!json) {
		if (out->len)
			buf_putc(out, '\n');
		report_put(
			plan, fidelities, count, &session->sources, &session->arena, out);
		return true;
	}
	json_t *list = json_array();
	for (size_t b = 0; b < count; b++)
		json_array_append_new(list, report_json(plan, &fidelities[b],
						    &session->sources, &session->arena));
	json_array_append_new(json,
		json_pack("{s:s, s:o}", "mode",
			vocabulary_text(vocabulary_modes, (int)mode), "backends", list));
	return true;
}

int main_report(struct options *options)
{
	struct work work;
	struct buf out = BUF_INIT;
	int status = EXIT_CLEAN;

	if (!check_operands(options) || !is_backend_known(options))
		return EXIT_UNABLE;
	if (!open_work(&work, options))
		return close_work(&work, failed(&work));
	session_trust(&work.session, false);

	json_t *json = options->format == FORMAT_JSON ? json_array() : NULL;
	for (int mode = 0; mode < MODE_CONFINED_COUNT; mode++)
		if ((!options->mode_given || (int)options->mode == mode) &&
			!report_mode(&work, (enum mode)mode, &out, json, &status))
			status = EXIT_FINDINGS;
	if (json) {
		json_t *document = json_pack("{s:i, s:s, s:o}", "version", 1, "policy",
			work.session.policy->name, "modes", json);
		char *text = json_dumps(document, JSON_INDENT(2));
		buf_printf(&out, "%s\n", text);
		free(text);
		json_decref(document);
	}
	if (!main_print(&out))
		status = EXIT_UNABLE;
	buf_release(&out);
	return close_work(&work, status);
}
