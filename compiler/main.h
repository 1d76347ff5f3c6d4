/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the command line (main*.c). A command is a function in
 * the table of main.c; it gets the options that its row allows, already read.
 */
#ifndef CORDON_MAIN_H
#define CORDON_MAIN_H

#include "runtime/session.h"

/* Exit statuses of commands that look (cli.md); run has its own. */
enum { EXIT_CLEAN = 0, EXIT_FINDINGS = 1, EXIT_UNABLE = 2 };

enum format {
	FORMAT_DEFAULT,
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_NUL,
	FORMAT_SH,
	FORMAT_PLAN
};

struct command;

struct options {
	const struct command *command; /* NULL: none yet */
	struct session_options session;
	bool mode_given;
	enum mode mode;
	const char *backend; /* NULL: not given */
	enum format format;
	const char *output; /* -o */
	bool deny_warnings;
	bool quiet;
	bool color;
	bool json;
	int json_fd; /* -1: none */
	bool tty;
	uint64_t timeout_ms; /* 0: not given */
	uint64_t output_limit; /* bytes; 0: not given */
	bool capture;
	const char *runner, *runner_failure; /* confine: NULL: not given */
	int status; /* classify: -1: not given */
	char **operands; /* files, or the argv of run; NULL-terminated */
	int operand_count;
	bool has_dashes; /* `--` was given */
};

struct command {
	const char *name;
	const char *operands; /* in the usage line */
	const char *summary; /* one line */
	const char *options; /* which options it takes: a letter each, main.c */
	int (*run)(struct options *options);
	const char *details; /* more help, may be NULL */
};

int main_check(struct options *options);
int main_compile(struct options *options);
int main_report(struct options *options);
int main_probe(struct options *options);
int main_run(struct options *options);
int main_confine(struct options *options);
int main_classify(struct options *options);

/* What every command that starts something does first: policy, ownership, mode,
 * host. False: findings say why. */
struct programs;
bool main_open(struct session *session, struct options *options,
	const struct programs *programs, enum mode *mode);

/* An error of usage: "cordon COMMAND: …" on stderr, the usage line, status 2. */
int main_usage(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Parts of JSON results; new references. */
struct passed_over;
json_t *main_text_json(const char *text); /* NULL: null */
json_t *main_passed_json(const struct passed_over *passed, size_t count);

/* Prints the findings of a session on stderr. */
void main_findings(struct session *session, const struct options *options);

/* One line on stderr that names every gap once; nothing without one. */
struct fidelity;
void main_gaps(const struct options *options, const struct fidelity *fidelity);

/* Writes all of a buffer to stdout; false (and a message) if that failed. */
bool main_print(const struct buf *out);

#endif
