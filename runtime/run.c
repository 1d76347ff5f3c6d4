/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain, and what the evidence of a launch means.
 */
#include "runtime/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "backends/report.h"
#include "runtime/run_parts.h"
#include "runtime/stdio.h"
#include "runtime/walk.h"

/* ---- before ---------------------------------------------------------------------------- */

static const char *mode_text(enum mode mode)
{
	return vocabulary_text(vocabulary_modes, (int)mode);
}

static bool above_ceiling(struct session *session, const enum mode *asked, enum mode mode)
{
	const struct policy *policy = session->policy;
	struct diag *diag = diag_report(&session->diags, CODE_E057, policy->ceiling_span,
		"mode `%s`%s is above the ceiling `%s`", mode_text(mode),
		asked ? " (--mode)" : " (default mode)", mode_text(policy->ceiling));

	if (!asked && policy->default_mode_span.file)
		diag_second(&session->diags, diag, policy->default_mode_span,
			"the default mode is given here");
	diag_help(&session->diags, diag, "ask for a narrower mode, or raise the ceiling");
	return false;
}

bool run_mode(struct session *session, const enum mode *asked, enum mode *mode)
{
	const struct policy *policy = session->policy;

	*mode = asked ? *asked : policy->default_mode;
	if (*mode > policy->ceiling)
		return above_ceiling(session, asked, *mode);
	if (*mode < MODE_CONFINED_COUNT || asked)
		return true;
	struct diag *diag = diag_report(&session->diags, CODE_E081,
		policy->default_mode_span,
		"`danger-full-access` is unconfined and only used when it is asked for");
	diag_help(
		&session->diags, diag, "say --mode danger-full-access, or another mode");
	return false;
}

bool run_timeout(struct session *session, uint64_t asked_ms, unsigned *timeout_ms)
{
	struct span span = {0};
	uint64_t limit = policy_limit(session->policy, LIMIT_TIMEOUT, &span);

	if (limit && asked_ms > limit) {
		diag_report(&session->diags, CODE_E086, span,
			"--timeout asks for %llu ms, the policy gives %llu ms",
			(unsigned long long)asked_ms, (unsigned long long)limit);
		return false;
	}
	uint64_t holds = asked_ms ? asked_ms : limit;
	*timeout_ms = holds > UINT32_MAX ? UINT32_MAX : (unsigned)holds;
	return true;
}

bool run_output_limit(struct session *session, uint64_t asked, size_t *limit)
{
	struct span span = {0};
	uint64_t holds = policy_limit(session->policy, LIMIT_OUTPUT, &span);

	if (holds && asked > holds) {
		diag_report(&session->diags, CODE_E086, span,
			"--output asks for %llu bytes, the policy gives %llu",
			(unsigned long long)asked, (unsigned long long)holds);
		return false;
	}
	*limit = asked ? asked : holds ? holds : RUN_OUTPUT_DEFAULT;
	return true;
}

/* ---- what a course means ----------------------------------------------------------------- */

static const char *describe_status(struct arena *arena, const struct course *course)
{
	if (!course->status_known)
		return "it ended";
	if (WIFSIGNALED(course->status))
		return arena_printf(
			arena, "it was killed by signal %d", WTERMSIG(course->status));
	return arena_printf(
		arena, "it exited with status %d", WEXITSTATUS(course->status));
}

/* Why nothing was executed, of a runner that ended by itself. */
static enum cause blame(struct arena *arena, const struct backend *backend,
	const struct course *course, const char **detail)
{
	static const char *const steps[] = {
		[INIT_STEP_USAGE] = "its configuration is wrong",
		[INIT_STEP_FORK] = "no process can be made",
		[INIT_STEP_LOCK] = "Landlock refuses",
		[INIT_STEP_STDERR] = "standard error cannot be passed on"};
	const struct init_event *last = &course->last;

	if (course->timed_out) {
		*detail = "";
		return CAUSE_SLOW;
	}
	if (last->kind == INIT_REFUSED) {
		*detail = arena_printf(arena, "record %u of the plan: %s", last->record,
			last->value ? walk_strerror(arena, last->value)
				    : "not as planned");
		return CAUSE_CHANGED;
	}
	if (last->kind == INIT_FAILED) {
		bool known = last->record &&
			     last->record < sizeof(steps) / sizeof(steps[0]);
		*detail = arena_printf(arena, "%s: %s",
			known ? steps[last->record] : "it failed",
			walk_strerror(arena, last->value));
		if (last->record != INIT_STEP_LOCK)
			return CAUSE_BROKEN;
		return last->value == E2BIG        ? CAUSE_LAYERS
		       : backend == &backend_bwrap ? CAUSE_LOCK
						   : cause_of_landlock(last->value);
	}
	*detail = cause_line(arena, course->words, backend->program);
	if (**detail)
		return cause_of_bwrap(course->words);
	*detail = describe_status(arena, course);
	return CAUSE_BROKEN;
}

/*
 * Whether the command may have run although nobody says so: the first process was
 * ready, or somebody killed the runner, and no report followed. A runner that ends
 * by itself without a report has executed nothing.
 */
static bool is_unclear(const struct course *course)
{
	if (course->executed)
		return !course->ended;
	if (course->last.kind == INIT_READY)
		return true;
	return course->last.kind == 0 && course->status_known &&
	       WIFSIGNALED(course->status) && !course->timed_out;
}

static void read_end(struct run_result *out, const struct course *course)
{
	const struct init_event *last = &course->last;

	if (course->timed_out)
		out->outcome = RUN_TIMEOUT;
	else
		out->outcome = last->kind == INIT_EXITED ? RUN_EXITED : RUN_SIGNALED;
	if (last->kind == INIT_EXITED)
		out->exit_code = last->value;
	else
		out->signal = last->value;
	out->cpu_us = last->utime_us + last->stime_us;
	out->max_rss_kib = last->maxrss_kib;
}

/* The cause for which the next backend is to be tried; CAUSE_NONE: out is final. */
static enum cause judge(struct work *work, const struct backend *backend,
	const struct course *course, struct run_result *out, const char **detail)
{
	struct arena *arena = &work->session->arena;

	if (course->ended || (course->timed_out && course->ready)) {
		read_end(out, course);
	} else if (course->last.kind == INIT_EXEC_FAILED) {
		out->outcome = RUN_EXEC_FAILED;
		out->error = course->last.value;
		out->reason = walk_sentence(
			arena, work->request->argv[0], "cannot be executed", out->error);
	} else if (is_unclear(course)) {
		out->outcome = RUN_RUNNER_KILLED;
		out->reason = arena_printf(arena,
			"the sandbox was ended from outside (%s: %s); the command may "
			"have run",
			backend == &backend_bwrap ? "bwrap" : "keeper",
			describe_status(arena, course));
	} else {
		return blame(
			arena, backend ? backend : &backend_landlock, course, detail);
	}
	out->backend = backend;
	return CAUSE_NONE;
}

/* ---- the chain ----------------------------------------------------------------------------- */

static void pass_over(struct run_result *out, const struct backend *backend,
	enum cause cause, const char *detail)
{
	if (out->passed_count < sizeof(out->passed) / sizeof(out->passed[0]))
		out->passed[out->passed_count++] = (struct passed_over){
			backend, cause, detail};
}

/* The first rule that a backend cannot express, with its place. */
static const char *name_unsupported(
	struct session *session, const struct plan *plan, const struct fidelity *fidelity)
{
	for (size_t i = 0; i < fidelity->notes.count; i++) {
		const struct remark *remark = &fidelity->notes.list[i];
		bool rule = remark->subject == SUBJECT_RULE;
		if (remark->subject == SUBJECT_MECHANISM ||
			(rule ? fidelity->rules : fidelity->settings)[remark->index] !=
				VERDICT_UNSUPPORTED)
			continue;
		return arena_printf(&session->arena, "`%s` (%s): %s",
			rule ? plan_rule_text(plan, remark->index, &session->sources,
				       &session->arena)
			     : plan_setting_text(plan, (enum setting)remark->index,
				       &session->arena),
			report_place(plan, remark, &session->sources, &session->arena),
			reason_text(remark->reason)->sentence);
	}
	return "";
}

static const char *name_gap(const struct fidelity *fidelity)
{
	return fidelity->gaps.count ? reason_text(fidelity->gaps.list[0].reason)->code
				    : "";
}

enum cause run_admit(struct session *session, const struct plan *plan,
	const struct fidelity *fidelity, const char **detail)
{
	*detail = "";
	if (!fidelity->usable) {
		*detail = name_unsupported(session, plan, fidelity);
		return CAUSE_EXPRESS;
	}
	if (session->policy->require[PLATFORM_LINUX] == REQUIRE_FULL &&
		fidelity->gaps.count) {
		*detail = name_gap(fidelity);
		return CAUSE_PARTIAL;
	}
	return CAUSE_NONE;
}

static enum cause admit(struct work *work, const struct backend *backend,
	struct fidelity *fidelity, const char **detail)
{
	const struct launch launch = {
		.helper = work->request->programs->helper,
		.tty = work->request->tty,
		.isolated = true, /* else the launch says so */
	};

	backend->check(work->plan, &launch, &work->session->arena, fidelity);
	return run_admit(work->session, work->plan, fidelity, detail);
}

static const struct {
	const struct backend *backend;
	enum cause (*launch)(
		struct work *, struct fidelity *, struct course *, const char **);
	bool (*works)(struct work *); /* without the plan; NULL: that says nothing */
} chain[] = {{&backend_bwrap, launch_bwrap, bwrap_works},
	{&backend_landlock, launch_landlock, NULL}};
#define CHAIN_COUNT (sizeof(chain) / sizeof(chain[0]))

/* The tail of the message: one line for each backend, its cause and its fix. */
static void put_causes(struct buf *out, const struct run_result *result)
{
	for (size_t i = 0; i < result->passed_count; i++) {
		const struct passed_over *p = &result->passed[i];
		const struct cause_text *text = cause_text(p->cause);
		buf_printf(out, "\n  %s: %s: %s%s%s\n    fix: %s", p->backend->name,
			text->verdict, text->sentence, *p->detail ? ": " : "", p->detail,
			text->fix);
	}
}

static void give_up(struct work *work, struct run_result *out, const char *failure)
{
	struct buf text = BUF_INIT;

	out->outcome = failure ? RUN_RUNNER_FAILURE : RUN_UNAVAILABLE;
	buf_printf(&text,
		"sandbox mode \"%s\" is requested but no sandbox backend is usable on "
		"this "
		"host; refusing to run the command unconfined",
		mode_text(out->mode));
	put_causes(&text, out);
	buf_puts(&text, "\n  to run it without a sandbox all the same, ask for it: "
			"--mode danger-full-access");
	if (failure)
		buf_printf(&text, " Runner failure: %s", failure);
	out->reason = arena_bytes(&work->session->arena, text.data, text.len);
	buf_release(&text);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Whether a failure lies in this call and not in the host: then no other backend is
 * tried, or who brought it about would choose a weaker one. */
static bool is_of_call(struct work *work, size_t index, enum cause cause)
{
	return cause_is_of_call(cause) ||
	       (cause == CAUSE_BROKEN && chain[index].works && chain[index].works(work));
}

/* One backend. True: out is final. *failure: what a runner died of, kept if another
 * one fails differently. *over: no other backend is to be tried. */
static bool try_backend(struct work *work, size_t index, struct run_result *out,
	const char **failure, bool *over)
{
	const struct backend *backend = chain[index].backend;
	struct course course;
	const char *detail = "";
	enum cause cause = admit(work, backend, &out->fidelity, &detail);

	if (cause == CAUSE_NONE) {
		cause = chain[index].launch(work, &out->fidelity, &course, &detail);
		if (cause == CAUSE_NONE) {
			cause = judge(work, backend, &course, out, &detail);
			if (cause == CAUSE_NONE)
				return true;
			*failure = *detail ? detail : cause_text(cause)->sentence;
		}
	}
	pass_over(out, backend, cause, detail);
	*over = is_of_call(work, index, cause);
	return false;
}

void run_confined(struct session *session, const struct plan *plan,
	const struct run_request *request, struct run_result *out)
{
	struct work work = {
		.session = session, .plan = plan, .request = request, .input = -1};
	const char *failure = NULL, *error;
	uint64_t began = now_us();
	bool done = false, over = false;

	*out = (struct run_result){.mode = plan->mode, .plan = plan};
	if (!preflight(session, plan, request, &work.candidates, out))
		return;
	if (!stdio_prepare(plan, &session->arena, &work.input, &error)) {
		out->outcome = RUN_REFUSED;
		out->reason = error;
		return;
	}
	for (size_t i = 0; i < CHAIN_COUNT && !done && !over; i++)
		if (!request->only || request->only == chain[i].backend)
			done = try_backend(&work, i, out, &failure, &over);
	if (work.input >= 0)
		close(work.input);
	if (!done)
		give_up(&work, out, failure);
	out->duration_us = now_us() - began;
}

void run_unconfined(struct session *session, const struct run_request *request,
	struct run_result *out)
{
	struct work work = {.session = session, .request = request, .input = -1};
	struct course course;
	const char *detail = "";
	uint64_t began = now_us();

	*out = (struct run_result){.mode = MODE_DANGER_FULL_ACCESS};
	if (!preflight(session, NULL, request, &work.candidates, out))
		return;
	enum cause cause = launch_landlock(&work, NULL, &course, &detail);
	if (cause == CAUSE_NONE)
		cause = judge(&work, NULL, &course, out, &detail);
	if (cause != CAUSE_NONE) {
		out->outcome = RUN_RUNNER_FAILURE;
		out->reason = arena_printf(&session->arena,
			"the command could not be started: %s%s%s",
			cause_text(cause)->sentence, *detail ? ": " : "", detail);
	}
	out->duration_us = now_us() - began;
}

/* ---- after ------------------------------------------------------------------------------------ */

int run_exit_status(const struct run_result *result)
{
	switch (result->outcome) {
	case RUN_EXITED: return result->exit_code;
	case RUN_TIMEOUT: return 124;
	case RUN_SIGNALED: return 128 + result->signal;
	case RUN_EXEC_FAILED:
		return result->error == ENOENT || result->error == ENOTDIR ? 127 : 126;
	case RUN_RUNNER_FAILURE:
	case RUN_RUNNER_KILLED:
	case RUN_UNAVAILABLE:
	case RUN_REFUSED: break;
	}
	return 125;
}

const char *run_outcome_text(enum run_outcome outcome)
{
	static const char *const texts[] = {"exited", "signaled", "timeout",
		"exec-failed", "runner-failure", "runner-killed", "unavailable",
		"refused"};

	return texts[outcome];
}

/* ---- the probe -------------------------------------------------------------------------------- */

void run_probe(struct session *session, const struct plan *plan,
	const struct backend *backend, const struct programs *programs,
	struct probe_verdict *out)
{
	static const char *const nothing[] = {NULL};
	const struct run_request request = {
		.output = -1,
		.error = -1,
		.argv = nothing,
		.environment = nothing,
		.directory = "/",
		.programs = programs,
		.supervision = {.signals = -1, .timeout_ms = PROBE_TIMEOUT_MS},
	};
	struct work work = {.session = session,
		.plan = plan,
		.request = &request,
		.check = true,
		.input = -1};
	struct course course;

	*out = (struct probe_verdict){.backend = backend, .detail = ""};
	out->cause = admit(&work, backend, &out->fidelity, &out->detail);
	if (out->cause != CAUSE_NONE)
		return;
	if (backend == &backend_landlock) {
		out->cause = probe_landlock(&work, &out->detail);
		return;
	}
	out->cause = launch_bwrap(&work, &out->fidelity, &course, &out->detail);
	if (out->cause == CAUSE_NONE && !course.ready)
		out->cause = blame(&session->arena, backend, &course, &out->detail);
}
