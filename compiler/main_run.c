/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon run: one command under a policy. Nothing is printed but what went wrong,
 * and the result as JSON where it is asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "backends/report.h"
#include "compiler/main.h"
#include "runtime/classify.h"
#include "runtime/environment.h"
#include "runtime/run.h"

#define TIMEOUT_GRACE_MS 2000 /* from SIGTERM to SIGKILL */

extern char **environ;

/* ---- JSON ---------------------------------------------------------------------- */

json_t *main_text_json(const char *text)
{
	return text ? report_string(text, strlen(text)) : json_null();
}

json_t *main_passed_json(const struct passed_over *passed, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct passed_over *p = &passed[i];
		const struct cause_text *text = cause_text(p->cause);
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:o, s:s}", "backend",
				      p->backend->name, "verdict", text->verdict,
				      "sentence", text->sentence, "detail",
				      main_text_json(*p->detail ? p->detail : NULL),
				      "fix", text->fix));
	}
	return list;
}

static json_t *off_json(struct session *session, const struct plan *plan)
{
	static const char *const whys[] = {"missing", "unsearchable"};
	json_t *list = json_array();

	for (size_t i = 0; plan && i < plan->off_count; i++) {
		const struct rule *rule = &plan->rules.list[plan->off[i].rule];
		const struct remark remark = {
			.subject = SUBJECT_RULE, .index = plan->off[i].rule};
		if (rule->built_in)
			continue;
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:s}", "rule",
				main_text_json(plan_rule_text(plan, plan->off[i].rule,
					&session->sources, &session->arena)),
				"place",
				main_text_json(report_place(plan, &remark,
					&session->sources, &session->arena)),
				"why", whys[plan->off[i].why]));
	}
	return list;
}

static json_t *remarks_json(struct session *session, const struct run_result *result,
	const struct remarks *remarks)
{
	if (!result->backend)
		return json_array();
	return report_remarks_json(
		result->plan, remarks, &session->sources, &session->arena);
}

static json_t *created_json(const struct created *created)
{
	json_t *list = json_array();

	for (size_t i = 0; i < created->count; i++)
		json_array_append_new(list, main_text_json(created->paths[i]));
	return list;
}

/* The first error, for a refusal that is a finding. */
static const char *first_finding(const struct session *session)
{
	for (const struct diag *d = session->diags.first; d; d = d->next)
		if (diag_severity(d->code) == SEVERITY_ERROR)
			return d->message;
	return NULL;
}

/* -101: timed out (runtime.md); null where there is no status. */
static json_t *exit_code_json(const struct run_result *result)
{
	if (result->outcome == RUN_TIMEOUT)
		return json_integer(-101);
	return result->outcome == RUN_EXITED ? json_integer(result->exit_code)
					     : json_null();
}

/* Where the sandbox refused something, the line that shows it: only from what was
 * captured, and only of a command that failed. */
static struct classification find_denial(
	const struct run_result *result, const struct capture *errors)
{
	static const struct failure_rule nobody = {.fatal = NULL};

	if (result->outcome != RUN_EXITED || !result->backend)
		return (struct classification){CLASSIFIED_COMMAND, NULL, 0};
	return classify(&nobody, result->backend->effects, result->exit_code,
		errors->kept.data, errors->kept.len);
}

static void add_captured(
	json_t *json, const struct run_result *result, const struct capture *captures)
{
	const struct buf *out = &captures[0].kept, *errors = &captures[1].kept;
	struct classification denial = find_denial(result, &captures[1]);
	bool denied = denial.verdict == CLASSIFIED_DENIED;

	json_object_set_new(json, "stdout", report_string(out->data, out->len));
	json_object_set_new(json, "stderr", report_string(errors->data, errors->len));
	json_object_set_new(json, "truncated",
		json_boolean(captures[0].truncated || captures[1].truncated));
	json_object_set_new(json, "denied", json_boolean(denied));
	if (denied)
		json_object_set_new(
			json, "reason", report_string(denial.line, denial.len));
}

static json_t *result_json(struct session *session, const struct run_result *result,
	const struct launched *launched)
{
	const char *code = result->outcome == RUN_UNAVAILABLE ||
					   result->outcome == RUN_RUNNER_FAILURE
				   ? "SANDBOX_UNAVAILABLE"
				   : NULL;
	const char *reason = result->reason || result->outcome != RUN_REFUSED
				     ? result->reason
				     : first_finding(session);
	bool ran = result->outcome <= RUN_TIMEOUT;
	json_t *json = json_pack("{s:i, s:s, s:o, s:o, s:n, s:o, s:o}", "version", 1,
		"outcome", run_outcome_text(result->outcome), "exitCode",
		exit_code_json(result), "signal",
		result->outcome == RUN_SIGNALED ? json_integer(result->signal)
						: json_null(),
		"denied", "reason", main_text_json(reason), "code", main_text_json(code));

	json_object_set_new(
		json, "durationMs", json_real((double)result->duration_us / 1000.0));
	json_object_set_new(json, "cpuMs",
		ran ? json_real((double)result->cpu_us / 1000.0) : json_null());
	json_object_set_new(json, "maxRssKiB",
		ran ? json_integer((json_int_t)result->max_rss_kib) : json_null());
	json_object_set_new(json, "mode",
		result->mode < MODE_COUNT ? json_string(vocabulary_text(
						    vocabulary_modes, (int)result->mode))
					  : json_null());
	json_object_set_new(json, "backend",
		main_text_json(result->backend ? result->backend->name : NULL));
	json_object_set_new(json, "enforcement",
		json_string(result->backend ? fidelity_enforcement(&result->fidelity)
					    : "none"));
	json_object_set_new(json, "passedOver",
		main_passed_json(result->passed, result->passed_count));
	json_object_set_new(
		json, "gaps", remarks_json(session, result, &result->fidelity.gaps));
	json_object_set_new(json, "exposures",
		remarks_json(session, result, &result->fidelity.exposures));
	json_object_set_new(json, "off", off_json(session, result->plan));
	json_object_set_new(json, "created", created_json(&launched->created));
	return json;
}

static bool write_all(int fd, const char *text, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, text + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool print_json(struct session *session, const struct options *options,
	const struct run_result *result, const struct launched *launched,
	const struct capture *captures)
{
	json_t *json = result_json(session, result, launched);
	if (options->capture)
		add_captured(json, result, captures);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12));
	struct buf line = BUF_INIT;
	bool printed = true;

	buf_printf(&line, "%s\n", text);
	if (options->json)
		printed = main_print(&line);
	if (options->json_fd >= 0 && !write_all(options->json_fd, line.data, line.len)) {
		fprintf(stderr, "cordon run: cannot write to descriptor %d: %s\n",
			options->json_fd, strerror(errno));
		printed = false;
	}
	buf_release(&line);
	free(text);
	json_decref(json);
	return printed;
}

/* ---- signals -------------------------------------------------------------------- */

/* Passed on to the command; blocked in cordon and read from a descriptor. */
static int open_signals(void)
{
	static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
		SIGWINCH, SIGCONT, SIGTSTP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&set, passed[i]);
	sigaddset(&set, SIGTTOU); /* the terminal is taken back from the background */
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGTTOU);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A ^Z stops cordon too, as the shell that watches it expects; the kernel sees to it
 * that this does not happen where no shell could continue it. */
static void stop_here(void *ctx)
{
	sigset_t stop;

	(void)ctx;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void take_terminal_back(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, getpgrp()) == 0)
			return;
}

/* ---- the command ------------------------------------------------------------------ */

static void decide_programs(struct session *session, const struct programs *programs)
{
	const char *const paths[] = {
		programs->bwrap, programs->helper, programs->launcher, programs->self};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i])
			session_decides(session, paths[i]);
}

bool main_open(struct session *session, struct options *options,
	const struct programs *programs, enum mode *mode)
{
	if (!session_load(session) || !session_trust(session, true) ||
		!run_mode(session, options->mode_given ? &options->mode : NULL, mode))
		return false;
	decide_programs(session, programs);
	return session_target(session);
}

static bool open_captures(struct session *session, const struct options *options,
	struct run_request *request, struct capture *captures)
{
	size_t limit;

	if (!run_output_limit(session, options->output_limit, &limit))
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (capture_open(&captures[i], limit) < 0)
			return false;
		request->supervision.captures[i] = &captures[i];
	}
	request->output = captures[0].write;
	request->error = captures[1].write;
	return true;
}

static bool run(struct session *session, struct options *options, enum mode mode,
	struct run_request *request, struct launched *launched, struct run_result *result,
	struct capture *captures)
{
	if (!run_timeout(session, options->timeout_ms, &request->supervision.timeout_ms))
		return false;
	request->supervision.grace_ms = TIMEOUT_GRACE_MS;
	if (options->capture && !open_captures(session, options, request, captures))
		return false;
	if (mode == MODE_DANGER_FULL_ACCESS) {
		request->environment = environment_make(&session->arena, session->policy,
			NULL, (const char *const *)environ);
		run_unconfined(session, request, result);
		return true;
	}
	struct plan *plan = session_plan_launch(session, mode, launched);
	if (!plan)
		return false;
	request->environment = environment_make(
		&session->arena, session->policy, plan, (const char *const *)environ);
	run_confined(session, plan, request, result);
	if (options->tty)
		take_terminal_back();
	return true;
}

static int finish(struct session *session, struct options *options,
	const struct run_result *result, const struct launched *launched,
	const struct capture *captures)
{
	int status = run_exit_status(result);

	if (result->outcome > RUN_TIMEOUT) {
		main_findings(session, options);
		if (result->reason)
			fprintf(stderr, "cordon run: %s%s\n",
				result->outcome == RUN_UNAVAILABLE ||
						result->outcome == RUN_RUNNER_FAILURE
					? "SANDBOX_UNAVAILABLE: "
					: "",
				result->reason);
	} else if (isatty(STDERR_FILENO) && !options->json && options->json_fd < 0) {
		/* Programs read it from the result; a person has no other sign. */
		main_gaps(options, &result->fidelity);
	}
	if ((options->json || options->json_fd >= 0) &&
		!print_json(session, options, result, launched, captures))
		/* 125 would say that nothing ran. */
		return result->outcome <= RUN_TIMEOUT ? status : 125;
	return status;
}

static bool check_options(struct options *options, const struct backend **only)
{
	if (options->operand_count == 0) {
		main_usage(options, "no command to run");
		return false;
	}
	*only = options->backend ? backend_find(options->backend) : NULL;
	if (options->backend && !*only) {
		main_usage(options, "unknown backend `%s`; known are bwrap, landlock",
			options->backend);
		return false;
	}
	if (options->capture && !options->json && options->json_fd < 0) {
		main_usage(options, "--capture needs --json or --json-fd");
		return false;
	}
	if (options->output_limit && !options->capture) {
		main_usage(options, "--output is for --capture");
		return false;
	}
	if (options->json_fd >= 0 && fcntl(options->json_fd, F_GETFD) < 0) {
		main_usage(options, "descriptor %d of --json-fd is not open",
			options->json_fd);
		return false;
	}
	return true;
}

int main_run(struct options *options)
{
	struct session session;
	struct programs programs;
	struct launched launched = {0};
	struct capture captures[2] = {CAPTURE_INIT, CAPTURE_INIT};
	/* No mode holds before a policy was read. */
	struct run_result result = {.outcome = RUN_REFUSED, .mode = MODE_COUNT};
	struct run_request request = {
		.argv = (const char *const *)options->operands,
		.programs = &programs,
		.tty = options->tty,
		.output = -1,
		.error = -1,
		.supervision = {.signals = -1, .stop = stop_here},
	};
	enum mode mode;

	if (!check_options(options, &request.only))
		return 125;
	options->session.host = options->session.launch = true;
	session_init(&session, &options->session);
	programs_find(&programs, &session.arena);
	char *directory = realpath(".", NULL);
	request.directory = directory;
	if (!directory)
		result.reason = "the current directory has no path that leads to it";
	else if (main_open(&session, options, &programs, &mode)) {
		result.mode = mode;
		/* Not earlier: while policies are read a signal ends cordon itself. */
		request.supervision.signals = open_signals();
		run(&session, options, mode, &request, &launched, &result, captures);
		for (size_t i = 0; options->capture && i < 2; i++)
			capture_finish(&captures[i]);
	}
	session_finish(&session, &launched);
	int status = finish(&session, options, &result, &launched, captures);
	for (size_t i = 0; i < 2; i++)
		capture_release(&captures[i]);
	session_release(&session);
	free(directory);
	return status;
}
