/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses a backend and writes its argv in front of the command's.
 */
#include "runtime/confine.h"

#include <string.h>

/* The arguments of the artifact between the runner and the command. */
static const char **join(struct session *session, const char *runner,
	const struct buf *fields, const char *const *command)
{
	size_t count = 0, used = 0, words = 0;

	for (size_t i = 0; i < fields->len; i++)
		count += fields->data[i] == '\0';
	while (command[words])
		words++;

	const char **argv = arena_array(
		&session->arena, count + words + 3, sizeof(*argv));
	const char *text = arena_bytes(&session->arena, fields->data, fields->len);
	argv[used++] = runner;
	for (size_t i = 0; i < count; i++, text += strlen(text) + 1)
		argv[used++] = text;
	argv[used++] = "--";
	memcpy(argv + used, command, words * sizeof(*argv));
	return argv;
}

static const char *runner_of(
	const struct confine_request *request, const struct backend *backend)
{
	if (request->runner)
		return request->runner;
	return backend == &backend_bwrap ? request->programs->bwrap
					 : request->programs->launcher;
}

static void pass_over(struct confined *out, const struct backend *backend,
	enum cause cause, const char *detail)
{
	if (out->passed_count < sizeof(out->passed) / sizeof(out->passed[0]))
		out->passed[out->passed_count++] = (struct passed_over){
			backend, cause, detail};
}

/* Whether the plan may run on a backend, as far as the plan says. */
static enum cause admit(struct session *session, const struct plan *plan,
	const struct confine_request *request, const struct backend *backend,
	struct fidelity *fidelity, const char **detail)
{
	const struct launch launch = {.directory = request->directory};

	*detail = "";
	if (!runner_of(request, backend))
		return backend == &backend_bwrap ? CAUSE_MISSING : CAUSE_NO_LAUNCHER;
	backend->check(plan, &launch, &session->arena, fidelity);
	if (request->runner)
		fidelity_remark(&session->arena, &fidelity->gaps, GAP_CUSTOM_RUNNER,
			SUBJECT_MECHANISM, 0, request->runner);
	return run_admit(session, plan, fidelity, detail);
}

static bool is_candidate(
	const struct confine_request *request, const struct backend *backend)
{
	if (backend->platform != PLATFORM_LINUX)
		return false;
	if (request->runner)
		return backend == &backend_bwrap;
	return !request->only || request->only == backend;
}

static size_t count_candidates(const struct confine_request *request)
{
	size_t count = 0;

	for (size_t b = 0; backends[b]; b++)
		count += is_candidate(request, backends[b]);
	return count;
}

/* A sole candidate is not probed: its refusal at launch is the end anyway. */
static enum cause probe(struct session *session, const struct plan *plan,
	const struct confine_request *request, const struct backend *backend,
	const char **detail)
{
	struct probe_verdict verdict;

	if (count_candidates(request) == 1)
		return CAUSE_NONE;
	run_probe(session, plan, backend, request->programs, &verdict);
	*detail = verdict.detail;
	return verdict.cause;
}

static void take_failure(struct session *session, const struct confine_request *request,
	const struct backend *backend, struct confined *out)
{
	out->failure = backend->failure;
	if (!request->runner)
		return;
	const char **fatal = arena_array(&session->arena, 2, sizeof(*fatal));
	fatal[0] = request->runner_failure;
	out->failure.fatal = fatal;
}

bool confine(struct session *session, const struct plan *plan,
	const struct confine_request *request, struct confined *out)
{
	const struct launch launch = {.directory = request->directory};

	*out = (struct confined){0};
	for (size_t b = 0; backends[b]; b++) {
		const struct backend *backend = backends[b];
		const char *detail;
		struct buf fields = BUF_INIT;
		if (!is_candidate(request, backend))
			continue;
		enum cause cause = admit(
			session, plan, request, backend, &out->fidelity, &detail);
		if (cause == CAUSE_NONE)
			cause = probe(session, plan, request, backend, &detail);
		if (cause != CAUSE_NONE) {
			pass_over(out, backend, cause, detail);
			continue;
		}
		bool emitted = backend->emit(plan, &launch, &out->fidelity,
			&session->arena, &fields, &session->diags);
		if (emitted) {
			out->backend = backend;
			out->argv = join(session, runner_of(request, backend), &fields,
				request->argv);
			take_failure(session, request, backend, out);
		}
		buf_release(&fields);
		return emitted;
	}
	return false;
}
