/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line: the table of commands, the options that they share, help.
 * What a command does is in main_NAME.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "compiler/main.h"

/* ---- options --------------------------------------------------------------- */

enum {
	OPTION_HELP = 'h',
	OPTION_VERSION = 'V',
	OPTION_OUTPUT = 'o',
	OPTION_QUIET = 'q',
	OPTION_POLICY = 'p',
	OPTION_POLICY_NAME = 'n',
	OPTION_MODE = 'm',
	OPTION_BACKEND = 'b',
	OPTION_WORKSPACE = 'w',
	OPTION_ADD_DIR = 'a',
	OPTION_HOME = 'H',
	OPTION_USER = 'u',
	OPTION_SET = 's',
	OPTION_HOST = 'l',
	OPTION_TARGET = 't',
	OPTION_FORMAT = 'f',
	OPTION_DENY = 'd',
	OPTION_COLOR = 'c',
	OPTION_JSON = 'j',
	OPTION_JSON_FD = 'J',
	OPTION_TTY = 'T',
	OPTION_TIMEOUT = 'O',
	OPTION_CAPTURE = 'C',
	OPTION_LIMIT = 'L',
	OPTION_RUNNER = 'r',
	OPTION_RUNNER_FAILURE = 'R',
	OPTION_STATUS = 'S',
};

/* Only -h, -o, -q and -V have short forms; the letters of the others are how a
 * command names what it takes. */
static const struct {
	int letter;
	const char *name;
	const char *argument; /* NULL: none */
	const char *help;
} option_table[] = {
	{OPTION_POLICY, "policy", "FILE", "the policy; default: see cordon(1)"},
	{OPTION_POLICY_NAME, "policy-name", "NAME", "which policy of the file"},
	{OPTION_MODE, "mode", "MODE", "read-only, workspace-write, danger-full-access"},
	{OPTION_BACKEND, "backend", "NAME", "bwrap, landlock (compile: or all)"},
	{OPTION_WORKSPACE, "workspace", "DIR",
		"the workspace; default: the current directory,\n"
		"                          of an imaginary machine /workspace"},
	{OPTION_ADD_DIR, "add-dir", "DIR", "one more writable root (may be repeated)"},
	{OPTION_HOME, "home", "DIR", "the home directory, for another machine"},
	{OPTION_USER, "user", "NAME", "the user's name, for another machine"},
	{OPTION_SET, "set", "NAME=TEXT", "give a `var` its value (may be repeated)"},
	{OPTION_HOST, "host", NULL, "ask this host which paths exist"},
	{OPTION_TARGET, "target", "PLATFORM", "linux, macos, windows"},
	{OPTION_FORMAT, "format", "FORMAT", "text, json; compile: also nul, sh, plan"},
	{OPTION_OUTPUT, "directory", "DIR", "write a bundle into DIR"},
	{OPTION_DENY, "deny", "warning", "warnings count as errors"},
	{OPTION_QUIET, "quiet", NULL, "print errors only"},
	{OPTION_JSON, "json", NULL, "the result as one JSON object, last line of stdout"},
	{OPTION_JSON_FD, "json-fd", "N", "the result as JSON to descriptor N"},
	{OPTION_TTY, "tty", NULL, "leave the terminal to the command"},
	{OPTION_TIMEOUT, "timeout", "TIME", "end the command after 500ms, 60s, 5m, 1h"},
	{OPTION_CAPTURE, "capture", NULL, "stdout and stderr go into the JSON result"},
	{OPTION_LIMIT, "output", "SIZE", "keep so much of each: 512KiB, 1MiB"},
	{OPTION_RUNNER, "runner", "PATH", "a runner that takes bwrap's arguments"},
	{OPTION_RUNNER_FAILURE, "runner-failure", "TEXT", "how its own failures begin"},
	{OPTION_STATUS, "status", "N", "the exit status that was seen"},
	{OPTION_COLOR, "color", "WHEN", "auto, always, never"},
	{OPTION_HELP, "help", NULL, "this text"},
};
#define OPTION_COUNT (sizeof(option_table) / sizeof(option_table[0]))

static const struct command commands[] = {
	{"check", "FILE…", "parse, resolve and test policies", "nsfdqc", main_check,
		"Each policy of each file is planned for imaginary hosts of all "
		"platforms and\n"
		"held against its expectations. Exit status 0: clean, 1: errors, 2: a "
		"file\n"
		"could not be read.\n"},
	{"compile", "[FILE]", "print the profile of a backend", "nmbwaHusltfoqc",
		main_compile,
		"Without --mode the policy's default mode, without --backend the first "
		"one of\n"
		"the target's chain. With -o DIR all of both, and a manifest. Without "
		"--host\n"
		"nothing depends on this machine: every path is taken as present.\n"
		"Exit status 0, 1: errors or the backend cannot express the policy, "
		"2.\n"},
	{"report", "[FILE]", "how faithfully each backend enforces each rule",
		"nmbwaHusltfqc", main_report,
		"Exit status 0, 1: a `require` of the policy fails, 2.\n"},
	{"probe", "", "which backends work on this host, and why not", "pnmbwasfqc",
		main_probe, "Exit status 0: some backend is usable, 1: none, 2.\n"},
	{"run", "-- COMMAND…", "run a command under a policy", "pnmbwasjJTOCLqc",
		main_run,
		"The first backend that really works here is used; `enforcement` says "
		"what it\n"
		"enforces. Exit status: the command's; 128+N for signal N; 125 if "
		"nothing was\n"
		"run; 126, 127 as in sh(1).\n"},
	{"confine", "-- COMMAND…", "the argv to spawn instead of a command, as JSON",
		"pnmbwasrRqc", main_confine,
		"For programs that start processes themselves. The profile lacks the "
		"checks\n"
		"and the second lock of `cordon run`; its gaps say so. Remove what "
		"`remove`\n"
		"lists when the command has ended. Exit status 0, 2.\n"},
	{"classify", "<STDERR", "what became of a command that was spawned so", "bSfqc",
		main_classify,
		"Reads the command's stderr and prints `command`, `denied` or\n"
		"`runner-failure`, with the line that decided. Exit status 0, 2.\n"},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

int main_usage(const struct options *options, const char *format, ...)
{
	const struct command *current = options->command;
	va_list ap;

	fprintf(stderr, "cordon%s%s: ", current ? " " : "", current ? current->name : "");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	if (current)
		fprintf(stderr, "\nusage: cordon %s [options] %s\n", current->name,
			current->operands);
	else
		fprintf(stderr,
			"\nusage: cordon COMMAND [options] [FILE…]; cordon --help\n");
	return EXIT_UNABLE;
}

/* ---- help -------------------------------------------------------------------- */

static void print_commands(FILE *out)
{
	fputs("cordon compiles one declarative policy to process sandboxes, and runs "
	      "commands\n"
	      "under it.\n\nusage: cordon COMMAND [options] [FILE…]\n\n",
		out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n  --help     this text; cordon COMMAND --help: options of a command\n"
	      "  --version  the version\n",
		out);
}

static void print_help(const struct command *command)
{
	printf("cordon %s: %s\n\nusage: cordon %s [options] %s\n\n", command->name,
		command->summary, command->name, command->operands);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		int letter = option_table[i].letter;
		if (letter != OPTION_HELP && !strchr(command->options, letter))
			continue;
		int width = printf("  --%s%s%s", option_table[i].name,
			option_table[i].argument ? " " : "",
			option_table[i].argument ? option_table[i].argument : "");
		if (letter == OPTION_HELP || letter == OPTION_OUTPUT ||
			letter == OPTION_QUIET)
			width += printf(", -%c", letter);
		printf("%*s%s\n", width < 26 ? 26 - width : 1, "", option_table[i].help);
	}
	if (command->details)
		printf("\n%s", command->details);
}

/* ---- reading options ----------------------------------------------------------- */

/* Lists that grow while options are read; they live until the process ends. */
struct lists {
	const char **add_dirs;
	struct call_value *values;
};

static bool read_word(const struct options *options, const struct vocabulary *words,
	const char *option, const char *text, int *value)
{
	if (vocabulary_find(words, text, value))
		return true;
	const char *near = vocabulary_nearest(words, text);
	main_usage(options, "unknown %s `%s`%s%s%s", option, text,
		near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	return false;
}

static bool read_set(struct options *options, struct lists *lists, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t count = options->session.value_count;

	if (!equals || equals == text) {
		main_usage(options, "--set takes NAME=TEXT, not `%s`", text);
		return false;
	}
	char *name = strndup(text, (size_t)(equals - text));
	struct call_value *values = realloc(
		lists->values, (count + 1) * sizeof(*lists->values));
	if (!values || !name)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (strcmp(values[i].name, name) == 0) {
			main_usage(options, "--set %s is given twice", name);
			return false;
		}
	}
	values[count] = (struct call_value){name, equals + 1};
	lists->values = values;
	options->session.values = values;
	options->session.value_count++;
	return true;
}

static bool read_add_dir(struct options *options, struct lists *lists, const char *text)
{
	size_t count = options->session.add_dir_count;

	lists->add_dirs = realloc(
		lists->add_dirs, (count + 1) * sizeof(*lists->add_dirs));
	if (!lists->add_dirs)
		abort();
	lists->add_dirs[count] = text;
	options->session.add_dirs = lists->add_dirs;
	options->session.add_dir_count++;
	return true;
}

static const struct vocabulary formats[] = {
	{"text", FORMAT_TEXT},
	{"json", FORMAT_JSON},
	{"nul", FORMAT_NUL},
	{"sh", FORMAT_SH},
	{"plan", FORMAT_PLAN},
	{NULL, 0},
};

static bool read_number(
	const struct options *options, const char *option, const char *text, int *value)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (*end || end == text || number < 0 || number > 1 << 20) {
		main_usage(options, "--%s takes a number, not `%s`", option, text);
		return false;
	}
	*value = (int)number;
	return true;
}

/* As in `limits { timeout 60s; output 1MiB }`. */
static const struct vocabulary times[] = {
	{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};
static const struct vocabulary sizes[] = {
	{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};

static bool read_quantity(const struct options *options, const char *option,
	const struct vocabulary *units, const char *text, uint64_t *value)
{
	char *end;
	int factor = 0;

	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || end == text || text[0] == '-' || !number ||
		!vocabulary_find(units, end, &factor) ||
		number > UINT32_MAX / (unsigned)factor) {
		main_usage(options,
			"--%s takes a whole number above 0 with a unit (%s), not `%s`",
			option, units == times ? "ms, s, m, h" : "B, KiB, MiB, GiB",
			text);
		return false;
	}
	*value = number * (unsigned)factor;
	return true;
}

static bool read_color(struct options *options, const char *text)
{
	static const struct vocabulary whens[] = {
		{"auto", 0}, {"always", 1}, {"never", 2}, {NULL, 0}};
	int when;

	if (!read_word(options, whens, "color", text, &when))
		return false;
	if (when)
		options->color = when == 1;
	return true;
}

static bool read_option(
	struct options *options, struct lists *lists, int letter, const char *text)
{
	struct session_options *session = &options->session;
	int value;

	switch (letter) {
	case OPTION_POLICY: session->policy_file = text; return true;
	case OPTION_POLICY_NAME: session->policy_name = text; return true;
	case OPTION_BACKEND: options->backend = text; return true;
	case OPTION_WORKSPACE: session->workspace = text; return true;
	case OPTION_HOME: session->home = text; return true;
	case OPTION_USER: session->user = text; return true;
	case OPTION_HOST: session->host = true; return true;
	case OPTION_OUTPUT: options->output = text; return true;
	case OPTION_QUIET: options->quiet = true; return true;
	case OPTION_JSON: options->json = true; return true;
	case OPTION_TTY: options->tty = true; return true;
	case OPTION_CAPTURE: options->capture = true; return true;
	case OPTION_TIMEOUT:
		return read_quantity(
			options, "timeout", times, text, &options->timeout_ms);
	case OPTION_LIMIT:
		return read_quantity(
			options, "output", sizes, text, &options->output_limit);
	case OPTION_RUNNER: options->runner = text; return true;
	case OPTION_RUNNER_FAILURE: options->runner_failure = text; return true;
	case OPTION_STATUS: return read_number(options, "status", text, &options->status);
	case OPTION_ADD_DIR: return read_add_dir(options, lists, text);
	case OPTION_SET: return read_set(options, lists, text);
	case OPTION_COLOR: return read_color(options, text);
	case OPTION_JSON_FD:
		return read_number(options, "json-fd", text, &options->json_fd);
	case OPTION_MODE:
		if (!read_word(options, vocabulary_modes, "mode", text, &value))
			return false;
		options->mode = (enum mode)value;
		options->mode_given = true;
		return true;
	case OPTION_TARGET:
		if (!read_word(options, vocabulary_platforms, "target", text, &value))
			return false;
		session->platform = (enum platform)value;
		return true;
	case OPTION_FORMAT:
		if (!read_word(options, formats, "format", text, &value))
			return false;
		options->format = (enum format)value;
		return true;
	case OPTION_DENY:
		if (strcmp(text, "warning") != 0) {
			main_usage(options, "--deny takes `warning`, not `%s`", text);
			return false;
		}
		options->deny_warnings = true;
		return true;
	default: return false;
	}
}

static const char *option_name(int letter)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_table[i].letter == letter)
			return option_table[i].name;
	return "";
}

/* What follows the first operand belongs to the command. */
static bool takes_command(const struct options *options)
{
	return options->command->run == main_run || options->command->run == main_confine;
}

/* 0: go on; else the command is over with *status. */
static bool read_options(
	int argc, char **argv, struct options *options, struct lists *lists, int *status)
{
	struct option table[OPTION_COUNT + 1] = {0};
	int letter;

	for (size_t i = 0; i < OPTION_COUNT; i++)
		table[i] = (struct option){option_table[i].name,
			option_table[i].argument ? required_argument : no_argument, NULL,
			option_table[i].letter};
	*status = EXIT_UNABLE;
	opterr = 0;
	optind = 1;
	const char *letters = takes_command(options) ? "+:ho:q" : ":ho:q";
	while ((letter = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		if (letter == OPTION_HELP) {
			print_help(options->command);
			*status = EXIT_CLEAN;
			return false;
		}
		if (letter == ':') {
			main_usage(
				options, "option `%s` needs a value", argv[optind - 1]);
			return false;
		}
		if (letter == '?') {
			main_usage(options, "unknown option `%s`", argv[optind - 1]);
			return false;
		}
		if (!strchr(options->command->options, letter)) {
			main_usage(options, "`cordon %s` does not take --%s",
				options->command->name, option_name(letter));
			return false;
		}
		if (!read_option(options, lists, letter, optarg))
			return false;
	}
	options->has_dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	options->operands = argv + optind;
	options->operand_count = argc - optind;
	return true;
}

/* ---- output -------------------------------------------------------------------- */

bool main_print(const struct buf *out)
{
	if (out->len && fwrite(out->data, 1, out->len, stdout) != out->len)
		goto fail;
	if (fflush(stdout) == 0)
		return true;
fail:
	fprintf(stderr, "cordon: cannot write to standard output: %s\n", strerror(errno));
	return false;
}

void main_findings(struct session *session, const struct options *options)
{
	struct buf out = BUF_INIT;

	if (options->quiet)
		diags_keep_errors(&session->diags, &session->diags.first);
	diags_render(&session->diags, &session->sources, options->color, &out);
	if (out.len)
		fwrite(out.data, 1, out.len, stderr);
	buf_release(&out);
}

void main_gaps(const struct options *options, const struct fidelity *fidelity)
{
	bool named[REASON_COUNT] = {false};
	struct buf out = BUF_INIT;

	if (options->quiet || !fidelity->gaps.count)
		return;
	buf_printf(&out,
		"cordon %s: %s: enforcement is partial: ", options->command->name,
		fidelity->backend->name);
	for (size_t i = 0; i < fidelity->gaps.count; i++) {
		enum reason reason = fidelity->gaps.list[i].reason;
		if (named[reason])
			continue;
		named[reason] = true;
		buf_printf(&out, "%s%s", i ? ", " : "", reason_text(reason)->code);
	}
	fprintf(stderr, "%s (`cordon report` says more)\n", out.data);
	buf_release(&out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown_command(const struct options *options, const char *name)
{
	struct vocabulary names[COMMAND_COUNT + 1] = {0};

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i].text = commands[i].name;
	const char *near = vocabulary_nearest(names, name);
	return main_usage(options, "unknown command `%s`%s%s%s", name,
		near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

/* What is opened next must not become a standard descriptor: a missing one is the
 * null device, opened so that using it fails as using nothing does. */
static bool fill_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct lists lists = {0};
	struct options options = {.json_fd = -1, .status = -1};
	int status;

	/* A program that runs with more rights than its caller must not read a
	 * policy for it. */
	if (getauxval(AT_SECURE)) {
		fputs("cordon: refusing to run with the rights of another user "
		      "(AT_SECURE)\n",
			stderr);
		return 125;
	}
	if (!fill_stdio())
		return 125;
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_UNABLE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0) {
		print_commands(stdout);
		return EXIT_CLEAN;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("cordon " CORDON_VERSION);
		return EXIT_CLEAN;
	}
	options.command = find_command(argv[1]);
	if (!options.command)
		return unknown_command(&options, argv[1]);

	options.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
	if (!read_options(argc - 1, argv + 1, &options, &lists, &status))
		/* A command's own 2 must not be mistaken for it. */
		return status && options.command->run == main_run ? 125 : status;
	status = options.command->run(&options);
	free(lists.add_dirs);
	for (size_t i = 0; i < options.session.value_count; i++)
		free((void *)lists.values[i].name);
	free(lists.values);
	return status;
}
