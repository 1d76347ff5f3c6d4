/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon-init against the running kernel: every kind of record once as planned
 * and once not, the second lock, what becomes of the command and of signals.
 *
 * Two ways to start it: straight (not pid 1; enough for what is not about
 * mounts) and as pid 1 of a real bubblewrap sandbox over a small place:
 *
 *     ws/          writable bind        ws/pin/    pinned
 *     ws/ro/       read-only bind       ws/rof     read-only file
 *     ws/hid/      hidden, mode 0       ws/ways/   hidden, mode 0111
 *     ws/nul       masked by the null device
 *     ws/link      a link to "ro"       out/       not mounted
 */
#include "runtime/init.h"
#include "support.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define SIZE_LIMIT 65536
#define FAILURE    125

#define CONFIG_FD 10
#define STATUS_FD 11
#define EXTRA_FD  12

static char *init; /* cordon-init, readable for everybody */
static char *top;
static bool thrown_away, have_bwrap;

static const uid_t people[] = {0, TEST_UID};

static size_t people_here(void)
{
	return geteuid() == 0 ? 2 : 1;
}

/* --- configurations --------------------------------------------------------- */

struct config {
	char bytes[65536];
	size_t size;
};

static void config_add(struct config *config, ...)
{
	const char *field;
	va_list args;

	va_start(args, config);
	while ((field = va_arg(args, const char *))) {
		size_t n = strlen(field) + 1;

		memcpy(config->bytes + config->size, field, n);
		config->size += n;
	}
	va_end(args);
}

#define ADD(config, ...) config_add(config, __VA_ARGS__, NULL)

static char *identity(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return text("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
}

static int config_file(const struct config *config)
{
	int fd = memfd_create("config", MFD_CLOEXEC);

	if (write(fd, config->bytes, config->size) != (ssize_t)config->size)
		abort();
	return fd;
}

/* --- a run in the background -------------------------------------------------- */

struct session {
	pid_t pid; /* cordon-init, or the bwrap around it */
	int status; /* our end of STATUS-FD */
	int out; /* our end of the command's stdout */
	int err; /* a file */
};

struct fds {
	int config, status, extra;
};

static void place_fds(void *arg)
{
	const struct fds *fds = arg;

	move_fd(fds->config, CONFIG_FD);
	move_fd(fds->status, STATUS_FD);
	if (fds->extra)
		move_fd(fds->extra, EXTRA_FD);
}

/* Descriptors out of the way of those that the child puts in place. */
static int far(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 100);

	close(fd);
	return moved;
}

static void start(struct session *s, const struct manner *how,
	const struct config *config, int extra, const char *const argv[])
{
	int status[2], out[2];
	struct manner own = how ? *how : (struct manner){0};
	struct fds fds = {far(config_file(config)), 0, extra};

	if (pipe2(status, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		abort();
	s->err = far(memfd_create("stderr", MFD_CLOEXEC));
	s->status = far(status[0]);
	s->out = far(out[0]);
	fds.status = far(status[1]);
	out[1] = far(out[1]);
	own.prepare = place_fds;
	own.arg = &fds;
	fflush(stdout);
	s->pid = fork();
	if (s->pid == 0)
		become(&own, own.out ? own.out : out[1], own.err ? own.err : s->err,
			argv);
	close(fds.config);
	close(fds.status);
	close(out[1]);
}

/* What comes from fd until it ends; never waits for longer than ten seconds. */
static size_t drain(int fd, void *buf, size_t size)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	size_t have = 0;

	while (have < size) {
		ssize_t n;

		if (poll(&polled, 1, 10000) != 1)
			fail_msg("somebody still holds the other end");
		n = read(fd, (char *)buf + have, size - have);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	close(fd);
	return have;
}

struct result {
	struct outcome o;
	struct init_event events[8];
	size_t count;
};

static void finish(struct session *s, struct result *r)
{
	size_t n = drain(s->status, r->events, sizeof r->events);

	assert_int_equal(n % sizeof r->events[0], 0);
	r->count = n / sizeof r->events[0];
	n = drain(s->out, r->o.out, sizeof r->o.out - 1);
	r->o.out[n] = 0;
	assert_int_equal(waitpid(s->pid, &r->o.status, 0), s->pid);
	read_back(s->err, r->o.err, sizeof r->o.err);
}

/* Wait for one event. */
static void next_event(struct session *s, enum init_event_kind kind)
{
	struct pollfd polled = {.fd = s->status, .events = POLLIN};
	struct init_event event;

	assert_int_equal(poll(&polled, 1, 10000), 1);
	assert_int_equal(read(s->status, &event, sizeof event), (ssize_t)sizeof event);
	assert_int_equal(event.kind, kind);
}

/* Wait until the command has said something. */
static void next_word(struct session *s)
{
	struct pollfd polled = {.fd = s->out, .events = POLLIN};
	char buf[256];

	assert_int_equal(poll(&polled, 1, 10000), 1);
	assert_true(read(s->out, buf, sizeof buf) > 0);
}

static void expect_event(const struct result *r, size_t i, enum init_event_kind kind,
	int value, uint32_t record)
{
	const struct init_event *e = &r->events[i];

	if (i >= r->count)
		fail_msg("only %zu events; stderr: %s", r->count, r->o.err);
	if (e->kind != kind || e->value != value || e->record != record)
		fail_msg("event %zu: kind %u value %d record %u; stderr: %s", i, e->kind,
			e->value, e->record, r->o.err);
}

#define LAST(r) ((r)->count - 1)

/* --- straight ------------------------------------------------------------------ */

static void run_straight(struct result *r, const struct manner *how,
	const struct config *config, int extra, const char *const command[])
{
	const char *argv[32] = {init, text("%d", CONFIG_FD), text("%d", STATUS_FD), "--"};
	struct session s;
	size_t n = 4;

	for (; *command; command++)
		argv[n++] = *command;
	start(&s, how, config, extra, argv);
	finish(&s, r);
}

#define STRAIGHT(r, how, config, ...)                                                    \
	run_straight(r, how, config, 0, (const char *const[]){__VA_ARGS__, NULL})

static void test_arguments(void **state)
{
	static const char *const cases[][6] = {
		{NULL},
		{"10", NULL},
		{"10", "11", NULL},
		{"10", "11", "true", NULL},
		{"10", "x", "--", "true", NULL},
		{"", "11", "--", "true", NULL},
		{"-1", "11", "--", "true", NULL},
		{"10", "2", "--", "true", NULL},
		{"10", "10", "--", "true", NULL},
		{"77", "11", "--", "true", NULL},
		{"99999999999999999999", "11", "--", "true", NULL},
	};
	static struct config config;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *argv[8] = {init};
		struct session s;
		struct result r;

		for (size_t k = 0; cases[i][k]; k++)
			argv[k + 1] = cases[i][k];
		start(&s, NULL, &config, 0, argv);
		finish(&s, &r);
		assert_int_equal(exit_code(&r.o), FAILURE);
		assert_int_equal(r.count, 0);
		assert_string_equal(
			r.o.err, "cordon-init: usage: CONFIG-FD STATUS-FD -- ARGV...\n");
	}
}

static void test_broken_configurations(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
#define CASE(literal) {literal, sizeof literal - 1}
		CASE("unknown\0"),
		CASE("bind\0"),
		CASE("bind\0ro\0"
		     "1:2\0"),
		CASE("pin\0"
		     "1:2\0relative\0"),
		CASE("mask\0"
		     "0\0\0"),
		CASE("lock-ro\0usr\0"),
		CASE("lock-ro\0/usr"),
		CASE("tty\0check"),
		CASE("\0"),
		CASE("stderr\0x\0"),
		CASE("stderr\0-1\0"),
		CASE("tty\0tty\0tty\0link\0"),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		static struct config config;
		struct result r;

		memcpy(config.bytes, cases[i].bytes, cases[i].size);
		config.size = cases[i].size;
		STRAIGHT(&r, NULL, &config, "echo", "ran");
		assert_int_equal(r.count, 1);
		expect_event(&r, 0, INIT_FAILED, EINVAL, INIT_STEP_USAGE);
		assert_int_equal(exit_code(&r.o), FAILURE);
		assert_string_equal(r.o.out, "");
	}
}

/* A pipe has the size of an empty file. */
static void test_configuration_must_be_a_file(void **state)
{
	struct fds fds = {0};
	struct manner how = {.prepare = place_fds, .arg = &fds};
	struct init_event event;
	struct outcome o;
	int config[2], status[2];

	(void)state;
	assert_int_equal(pipe2(config, O_CLOEXEC), 0);
	assert_int_equal(pipe2(status, O_CLOEXEC), 0);
	fds.config = far(config[0]);
	fds.status = far(status[1]);
	status[0] = far(status[0]);
	RUN(&o, &how, init, "10", "11", "--", "echo", "ran");
	assert_int_equal(read(status[0], &event, sizeof event), (ssize_t)sizeof event);
	assert_int_equal(event.kind, INIT_FAILED);
	assert_int_equal(event.record, INIT_STEP_USAGE);
	assert_string_equal(o.out, "");
	close(config[1]);
	close(fds.config);
	close(fds.status);
	close(status[0]);
}

static void test_no_command(void **state)
{
	struct config config = {0};
	struct session s;
	struct result r;
	const char *const argv[] = {init, "10", "11", "--", NULL};

	(void)state;
	start(&s, NULL, &config, 0, argv);
	finish(&s, &r);
	expect_event(&r, 0, INIT_FAILED, EINVAL, INIT_STEP_USAGE);
	ADD(&config, "check");
	start(&s, NULL, &config, 0, argv);
	finish(&s, &r);
	expect_event(&r, 0, INIT_READY, 0, 0);
	assert_int_equal(exit_code(&r.o), 0);
}

static void test_exit_and_signal(void **state)
{
	static const struct {
		const char *script;
		enum init_event_kind kind;
		int value, code;
	} cases[] = {
		{"exit 0", INIT_EXITED, 0, 0},
		{"exit 1", INIT_EXITED, 1, 1},
		{"exit 125", INIT_EXITED, 125, 125},
		{"exit 139", INIT_EXITED, 139, 139},
		{"kill -SEGV $$", INIT_SIGNALED, SIGSEGV, 139},
		{"kill -KILL $$", INIT_SIGNALED, SIGKILL, 137},
		{"kill -TERM $$", INIT_SIGNALED, SIGTERM, 143},
	};
	struct config config = {0};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct result r;

		STRAIGHT(&r, NULL, &config, "sh", "-c", cases[i].script);
		assert_int_equal(r.count, 3);
		expect_event(&r, 0, INIT_READY, 0, 0);
		expect_event(&r, 1, INIT_EXECUTED, 0, 0);
		expect_event(&r, 2, cases[i].kind, cases[i].value, 0);
		assert_int_equal(exit_code(&r.o), cases[i].code);
	}
}

/* --- finding the command ---------------------------------------------------------- */

static char *make_programs(void)
{
	static int number;
	char *dir = text("%s/p%d", top, number++);

	mkdir(dir, 0755);
	mkdir(text("%s/a", dir), 0755);
	mkdir(text("%s/b", dir), 0755);
	mkdir(text("%s/a/isdir", dir), 0755);
	mkdir(text("%s/shut", dir), 0);
	write_file(text("%s/a/noexec", dir), "#!/bin/sh\necho noexec\n", 0644);
	write_file(text("%s/a/both", dir), "#!/bin/sh\necho wrong\n", 0644);
	write_file(text("%s/b/both", dir), "#!/bin/sh\necho both\n", 0755);
	write_file(text("%s/b/plain", dir), "echo plain \"$0\" \"$@\"\n", 0755);
	write_file(text("%s/b/badint", dir), "#!/no/such/interpreter\n", 0755);
	write_file(text("%s/b/-x", dir), "echo dash\n", 0755);
	return dir;
}

static void test_search(void **state)
{
	static const struct {
		const char *path, *command; /* path relative to the programs */
		int err;
		const char *out;
	} cases[] = {
		{"a:b", "both", 0, "both\n"}, {"a", "noexec", EACCES, ""},
		{"a", "isdir", EACCES, ""}, {"a:b", "isdir", EACCES, ""},
		{"a:b", "nothing", ENOENT, ""}, {"a:b", "", ENOENT, ""},
		{"b", "badint", ENOENT, ""},
		{"a/noexec:b", "both", 0, "both\n"}, /* ENOTDIR */
		{"nowhere:b", "both", 0, "both\n"},
		{"b", "plain", 0, "plain b/plain 1 2 3\n"},
		{"b", "b/plain", 0, "plain b/plain 1 2 3\n"},
		{"a", "./b/both", 0, "both\n"}, {"", "a", EACCES, ""},
		{NULL, "sh", 0, ""}, /* no PATH at all */
	};
	struct config config = {0};
	struct manner how = {.cwd = make_programs()};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *env[] = {text("PATH=%s", cases[i].path ? cases[i].path : ""), NULL};
		struct result r;

		how.env = cases[i].path ? env : env + 1;
		if (cases[i].path)
			STRAIGHT(&r, &how, &config, cases[i].command, "1", "2", "3");
		else
			STRAIGHT(&r, &how, &config, cases[i].command, "-c", "");
		if (cases[i].err) {
			assert_int_equal(r.count, 2);
			expect_event(&r, 1, INIT_EXEC_FAILED, cases[i].err, 0);
			assert_int_equal(exit_code(&r.o), FAILURE);
		} else {
			expect_event(&r, LAST(&r), INIT_EXITED, 0, 0);
		}
		assert_string_equal(r.o.out, cases[i].out);
	}
	if (geteuid() == 0) {
		char *env[] = {"PATH=shut:b", NULL};
		struct result r;

		how.env = env;
		how.uid = TEST_UID;
		STRAIGHT(&r, &how, &config, "both");
		expect_event(&r, LAST(&r), INIT_EXITED, 0, 0);
		STRAIGHT(&r, &how, &config, "nothing");
		expect_event(&r, 1, INIT_EXEC_FAILED, EACCES, 0);
	}
}

/* The name of a script must not become an option of sh. */
static void test_script_names(void **state)
{
	struct config config = {0};
	struct manner how = {.cwd = text("%s/b", make_programs())};
	char *env[] = {"PATH=:/usr/bin", NULL};
	char name[300];
	struct result r;

	(void)state;
	how.env = env;
	STRAIGHT(&r, &how, &config, "-x");
	assert_string_equal(r.o.out, "dash\n");
	memset(name, 'a', sizeof name);
	name[256] = 0;
	STRAIGHT(&r, &how, &config, name);
	expect_event(&r, 1, INIT_EXEC_FAILED, ENAMETOOLONG, 0);
	name[255] = 0;
	STRAIGHT(&r, &how, &config, name);
	expect_event(&r, 1, INIT_EXEC_FAILED, ENOENT, 0);
	env[0] = text("PATH=/%05000d:/usr/bin", 0);
	STRAIGHT(&r, &how, &config, "true");
	expect_event(&r, 2, INIT_EXITED, 0, 0);
}

/* --- what the command finds --------------------------------------------------------- */

static void test_descriptors(void **state)
{
	struct config config = {0};
	struct result r;

	(void)state;
	run_straight(&r, NULL, &config, open("/etc/passwd", O_RDONLY | O_CLOEXEC),
		(const char *const[]){"ls", "/proc/self/fd", NULL});
	assert_string_equal(r.o.out, "0\n1\n2\n3\n"); /* 3: ls's own */
}

/* close_range(2) is newer than what openat2(2) needs, and filters know less. */
static void test_descriptors_the_slow_way(void **state)
{
	struct config config = {0};
	struct session s;
	struct result r;
	int extra = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	(void)state;
	if (!have_program("strace"))
		test_skip("no strace");
	start(&s, NULL, &config, extra,
		(const char *const[]){"strace", "-f", "-o", "/dev/null", "-e",
			"trace=close_range", "-e", "inject=close_range:error=ENOSYS",
			init, "10", "11", "--", "ls", "/proc/self/fd", NULL});
	close(extra);
	finish(&s, &r);
	assert_string_equal(r.o.out, "0\n1\n2\n3\n");
}

static void test_missing_stdio(void **state)
{
	struct config config = {0};
	struct session s;
	struct result r;

	(void)state;
	start(&s, NULL, &config, 0,
		(const char *const[]){"sh", "-c",
			"exec \"$0\" 10 11 -- sh -c "
			"'readlink /proc/self/fd/0 /proc/$$/fd/2' <&- 2>&-",
			init, NULL});
	finish(&s, &r);
	expect_event(&r, LAST(&r), INIT_EXITED, 0, 0);
	assert_string_equal(r.o.out, "/dev/null\n/dev/null\n");
}

static void ignore_and_block(void *arg)
{
	sigset_t all;

	place_fds(arg);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
}

static void test_signals_are_reset(void **state)
{
	struct config config = {0};
	struct fds fds = {far(config_file(&config)), 0, 0};
	struct manner how = {.prepare = ignore_and_block, .arg = &fds};
	struct outcome o;
	int status[2];

	(void)state;
	assert_int_equal(pipe2(status, O_CLOEXEC), 0);
	status[0] = far(status[0]);
	fds.status = far(status[1]);
	RUN(&o, &how, init, "10", "11", "--", "grep", "-E", "Sig(Blk|Ign)",
		"/proc/self/status");
	assert_string_equal(
		o.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	assert_int_equal(exit_code(&o), 0);
	close(fds.config);
	close(fds.status);
	close(status[0]);
}

static void test_stderr_record(void **state)
{
	struct config config = {0}, bad = {0}, own = {0};
	struct result r;
	char buf[64] = {0};
	int ends[2];

	(void)state;
	ADD(&config, "stderr", "12");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	run_straight(&r, NULL, &config, ends[1],
		(const char *const[]){
			"sh", "-c", "echo heard >&2; ls /proc/self/fd", NULL});
	close(ends[1]);
	assert_true(read(ends[0], buf, sizeof buf - 1) > 0);
	close(ends[0]);
	assert_string_equal(buf, "heard\n");
	assert_string_equal(r.o.err, "");
	assert_string_equal(r.o.out, "0\n1\n2\n3\n");
	ADD(&bad, "stderr", "55");
	STRAIGHT(&r, NULL, &bad, "echo", "ran");
	expect_event(&r, 0, INIT_FAILED, EBADF, INIT_STEP_STDERR);
	assert_string_equal(r.o.out, "");
	ADD(&own, "stderr", "11");
	STRAIGHT(&r, NULL, &own, "echo", "ran");
	expect_event(&r, 0, INIT_FAILED, EINVAL, INIT_STEP_STDERR);
}

static void test_usage_of_resources(void **state)
{
	struct config config = {0};
	struct result r;

	(void)state;
	STRAIGHT(&r, NULL, &config, "sh", "-c",
		"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero "
		"of=/dev/null "
		"bs=20M count=1 2>/dev/null; (exit 0)");
	expect_event(&r, 2, INIT_EXITED, 0, 0);
	assert_true(r.events[2].utime_us > 1000);
	assert_true(r.events[2].utime_us + r.events[2].stime_us < 60000000);
	assert_in_range(r.events[2].maxrss_kib, 20000, 1000000); /* dd's buffer */
}

/* --- signals -------------------------------------------------------------------------- */

static void start_straight(struct session *s, struct config *config, const char *script)
{
	start(s, NULL, config, 0,
		(const char *const[]){init, "10", "11", "--", "sh", "-c", script, NULL});
}

static void test_forwarded_signals(void **state)
{
	static const int signals[] = {
		SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
	struct config config = {0};

	(void)state;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		char *script = text(
			"trap 'exit 42' %d; echo on; while :; do sleep 0.02; done",
			signals[i]);
		struct session s;
		struct result r;

		start_straight(&s, &config, script);
		next_word(&s);
		kill(s.pid, signals[i]);
		finish(&s, &r);
		expect_event(&r, LAST(&r), INIT_EXITED, 42, 0);
		assert_int_equal(exit_code(&r.o), 42);
		start_straight(&s, &config, "echo on; exec sleep 10");
		next_word(&s);
		kill(s.pid, signals[i]);
		if (signals[i] == SIGWINCH)
			kill(s.pid, SIGTERM);
		finish(&s, &r);
		expect_event(&r, LAST(&r), INIT_SIGNALED,
			signals[i] == SIGWINCH ? SIGTERM : signals[i], 0);
	}
}

static void test_stop_and_continue(void **state)
{
	struct config config = {0};
	struct session s;
	struct result r;

	(void)state;
	start_straight(&s, &config,
		"trap 'echo stop' TSTP; trap 'echo cont; kill -KILL $!; exit 9' CONT; "
		"echo on; "
		"sleep 20 > /dev/null 2>&1 & while :; do wait; done");
	next_word(&s);
	kill(s.pid, SIGTSTP);
	next_word(&s);
	kill(s.pid, SIGCONT);
	finish(&s, &r);
	expect_event(&r, LAST(&r), INIT_EXITED, 9, 0);
}

static void own_group(void *arg)
{
	setpgid(0, 0);
	place_fds(arg);
}

/* To the whole group as to the process: it arrives once, and at all members of
 * the command's group. */
static void test_signals_arrive_once(void **state)
{
	static const char script[] =
		"n=0; trap 'n=$((n+1))' USR1; trap 'echo $n; exit 0' TERM; "
		"(trap 'echo child' USR1; trap 'exit 0' TERM; while :; do sleep 0.02; "
		"done) & "
		"sleep 0.1; echo on; while :; do sleep 0.02; done";
	struct config config = {0};

	(void)state;
	for (int group = 0; group < 2; group++) {
		struct session s;
		struct result r;
		int out[2], status[2];
		struct fds fds = {far(config_file(&config)), 0, 0};
		struct manner how = {.prepare = own_group, .arg = &fds};

		if (pipe2(out, O_CLOEXEC) < 0 || pipe2(status, O_CLOEXEC) < 0)
			abort();
		s.out = far(out[0]);
		s.status = far(status[0]);
		s.err = far(memfd_create("stderr", MFD_CLOEXEC));
		fds.status = far(status[1]);
		out[1] = far(out[1]);
		fflush(stdout);
		s.pid = fork();
		if (s.pid == 0)
			become(&how, out[1], s.err,
				(const char *const[]){init, "10", "11", "--", "sh", "-c",
					script, NULL});
		close(fds.config);
		close(fds.status);
		close(out[1]);
		next_word(&s);
		kill(group ? -s.pid : s.pid, SIGUSR1);
		usleep(150000);
		kill(group ? -s.pid : s.pid, SIGTERM);
		finish(&s, &r);
		assert_string_equal(r.o.out, "child\n1\n");
	}
}

/* The command is no leader of its group, so it may become one of a session. */
static void test_command_can_make_a_session(void **state)
{
	struct config config = {0};
	struct session s;
	struct result r;

	(void)state;
	STRAIGHT(&r, NULL, &config, "setsid", "sh", "-c", "sleep 0.1; echo here; exit 5");
	assert_string_equal(r.o.out, "here\n");
	expect_event(&r, 2, INIT_EXITED, 5, 0);
	start(&s, NULL, &config, 0,
		(const char *const[]){init, "10", "11", "--", "setsid", "sh", "-c",
			"trap 'exit 6' TERM; echo on; while :; do sleep 0.02; done",
			NULL});
	next_word(&s);
	kill(s.pid, SIGTERM);
	finish(&s, &r);
	expect_event(&r, LAST(&r), INIT_EXITED, 6, 0);
}

/* Nothing outlives who answers for it. */
static void test_reader_goes_away(void **state)
{
	struct config config = {0};
	struct session s;
	char buf[64];
	int status;

	(void)state;
	start_straight(&s, &config, "echo on; exec sleep 100");
	next_word(&s);
	close(s.status);
	assert_int_equal(drain(s.out, buf, sizeof buf), 0);
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	assert_int_equal(WEXITSTATUS(status), FAILURE);
	close(s.err);
	start(&s, NULL, &config, 0,
		(const char *const[]){"sh", "-c",
			"sleep 0.3; exec \"$0\" 10 11 -- echo ran", init, NULL});
	close(s.status);
	assert_int_equal(drain(s.out, buf, sizeof buf), 0);
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	assert_int_equal(WEXITSTATUS(status), FAILURE);
	close(s.err);
}

/* --- the terminal ------------------------------------------------------------------------ */

static void take_terminal(void *arg)
{
	place_fds(arg);
	setsid();
	ioctl(0, TIOCSCTTY, 0);
}

static void test_tty_record(void **state)
{
	(void)state;
	for (int tty = 0; tty < 2; tty++) {
		struct config config = {0};
		struct fds fds = {0};
		struct manner how = {.prepare = take_terminal, .arg = &fds};
		int master, slave, status[2], pgrp, tpgid;
		struct outcome o;

		if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
			test_skip("no pseudo-terminals");
		assert_int_equal(pipe2(status, O_CLOEXEC), 0);
		if (tty)
			ADD(&config, "tty");
		fds.config = far(config_file(&config));
		fds.status = far(status[1]);
		status[0] = far(status[0]);
		how.in = far(slave);
		RUN(&o, &how, init, "10", "11", "--", "sh", "-c",
			"read a b c d pgrp sess tty tpgid rest < /proc/$$/stat; "
			"echo $pgrp $tpgid");
		assert_int_equal(sscanf(o.out, "%d %d", &pgrp, &tpgid), 2);
		if (tty)
			assert_int_equal(pgrp, tpgid);
		else
			assert_int_not_equal(pgrp, tpgid);
		close(how.in);
		close(master);
		close(status[0]);
		close(fds.config);
		close(fds.status);
	}
}

static void read_until(int fd, const char *word)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	char said[256] = {0};
	size_t n = 0;

	while (!strstr(said, word)) {
		assert_int_equal(poll(&polled, 1, 5000), 1);
		assert_int_equal(read(fd, said + n++, 1), 1);
		assert_true(n < sizeof said - 1);
	}
}

/* ^Z on the terminal does not stop for good; SIGTSTP from the caller does. */
static void test_tty_stop(void **state)
{
	struct config config = {0};
	struct fds fds = {0};
	struct manner how = {.prepare = take_terminal, .arg = &fds};
	struct init_event event;
	int master, slave, status[2], ended;
	pid_t pid;

	(void)state;
	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		test_skip("no pseudo-terminals");
	assert_int_equal(pipe2(status, O_CLOEXEC), 0);
	ADD(&config, "tty");
	fds.config = far(config_file(&config));
	fds.status = far(status[1]);
	status[0] = far(status[0]);
	master = far(master);
	how.in = far(slave);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become(&how, how.in, how.in,
			(const char *const[]){init, "10", "11", "--", "sh", "-c",
				"echo on; read x; echo got; read y; exit 7", NULL});
	close(fds.config);
	close(fds.status);
	assert_int_equal(read(status[0], &event, sizeof event), (ssize_t)sizeof event);
	assert_int_equal(read(status[0], &event, sizeof event), (ssize_t)sizeof event);
	assert_int_equal(event.kind, INIT_EXECUTED);
	read_until(master, "on");
	assert_int_equal(write(master, "\x1a", 1), 1);
	usleep(50000);
	assert_int_equal(write(master, "\n", 1), 1);
	read_until(master, "got");
	kill(pid, SIGTSTP);
	usleep(50000);
	assert_int_equal(write(master, "\n", 1), 1);
	usleep(100000);
	assert_int_equal(waitpid(pid, &ended, WNOHANG), 0);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &ended, 0), pid);
	assert_int_equal(ended, 7 << 8);
	close(how.in);
	close(master);
	close(status[0]);
}

/* --- in bubblewrap -------------------------------------------------------------------------- */

struct place {
	char *ws, *ro, *rof, *pin, *hid, *ways, *nul, *link, *out;
	uid_t uid;
};

static void make_place(struct place *p, uid_t uid)
{
	static int number;
	char *dir = text("%s/w%d", top, number++);
	char **dirs[] = {&p->ws, &p->ro, &p->pin, &p->hid, &p->ways, &p->out};
	const char *names[] = {"ws", "ws/ro", "ws/pin", "ws/hid", "ws/ways", "out"};
	struct outcome o;

	mkdir(dir, 0755);
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		*dirs[i] = text("%s/%s", dir, names[i]);
		assert_int_equal(mkdir(*dirs[i], 0755), 0);
	}
	p->rof = text("%s/rof", p->ws);
	p->nul = text("%s/nul", p->ws);
	p->link = text("%s/link", p->ws);
	p->uid = uid;
	write_file(p->rof, "rof", 0644);
	write_file(p->nul, "nul", 0644);
	write_file(text("%s/f", p->hid), "hidden", 0644);
	assert_int_equal(symlink("ro", p->link), 0);
	if (geteuid() == 0 && uid) {
		RUN(&o, NULL, "chown", "-hR", text("%d:%d", uid, uid), dir);
		assert_int_equal(o.status, 0);
	}
}

/* Mount options in the order of the recipe; NULL leaves one out. */
struct mounts {
	const char *argv[64];
	size_t n;
};

static void mounts_add(struct mounts *m, ...)
{
	const char *word;
	va_list args;

	va_start(args, m);
	while ((word = va_arg(args, const char *)))
		m->argv[m->n++] = word;
	va_end(args);
}

#define MOUNT(m, ...) mounts_add(m, __VA_ARGS__, NULL)

static void planned_mounts(struct mounts *m, const struct place *p)
{
	*m = (struct mounts){0};
	MOUNT(m, "--bind", p->ws, p->ws, "--bind", p->pin, p->pin);
	MOUNT(m, "--ro-bind", p->ro, p->ro, "--ro-bind", p->rof, p->rof);
	MOUNT(m, "--perms", "0000", "--tmpfs", p->hid, "--remount-ro", p->hid);
	MOUNT(m, "--perms", "0111", "--tmpfs", p->ways, "--remount-ro", p->ways);
	MOUNT(m, "--ro-bind", "/dev/null", p->nul);
}

enum planned {
	BIND_ROOT,
	BIND_WS,
	PIN,
	BIND_RO,
	BIND_ROF,
	MASK,
	WAYS,
	NUL,
	LINK,
	PLANNED
};

static void planned_record(struct config *c, const struct place *p, enum planned record)
{
	switch (record) {
	case BIND_ROOT: ADD(c, "bind", "ro", identity("/"), "/"); break;
	case BIND_WS: ADD(c, "bind", "rw", identity(p->ws), p->ws); break;
	case PIN: ADD(c, "pin", identity(p->pin), p->pin); break;
	case BIND_RO: ADD(c, "bind", "ro", identity(p->ro), p->ro); break;
	case BIND_ROF: ADD(c, "bind", "ro", identity(p->rof), p->rof); break;
	case MASK: ADD(c, "mask", "0", p->hid); break;
	case WAYS: ADD(c, "mask", "0111", p->ways); break;
	case NUL: ADD(c, "null", p->nul); break;
	case LINK: ADD(c, "link", "ro", p->link); break;
	case PLANNED: break;
	}
}

static void planned_config(struct config *c, const struct place *p)
{
	c->size = 0;
	for (enum planned i = 0; i < PLANNED; i++)
		planned_record(c, p, i);
}

static void need_bwrap(void)
{
	if (!have_bwrap)
		test_skip("no usable bubblewrap");
}

static void start_bwrap(struct session *s, const struct manner *how,
	const struct mounts *m, const struct config *config, const char *const command[])
{
	const char *argv[128] = {"bwrap", "--unshare-user", "--unshare-pid",
		"--unshare-ipc", "--unshare-uts", "--disable-userns", "--cap-drop", "ALL",
		"--die-with-parent", "--new-session", "--as-pid-1", "--ro-bind", "/",
		"/"};
	const char *tail[] = {"--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm",
		"--ro-bind", init, "/dev/cordon-init", "--remount-ro", "/dev", "--proc",
		"/proc", "--", "/dev/cordon-init", "10", "11", "--"};
	size_t n = 14;

	for (size_t i = 0; m && i < m->n; i++)
		argv[n++] = m->argv[i];
	for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++)
		argv[n++] = tail[i];
	for (; *command; command++)
		argv[n++] = *command;
	start(s, how, config, 0, argv);
}

static void run_bwrap(struct result *r, const struct manner *how, const struct mounts *m,
	const struct config *config, const char *const command[])
{
	struct session s;

	start_bwrap(&s, how, m, config, command);
	finish(&s, r);
}

#define BWRAP(r, how, m, config, ...)                                                    \
	run_bwrap(r, how, m, config, (const char *const[]){__VA_ARGS__, NULL})

static void test_as_planned(void **state)
{
	static const struct {
		const char *script;
		bool allowed;
	} cases[] = {
		{"echo > ws/new", true},
		{"echo > ws/pin/new", true},
		{"echo > ws/ro/new", false},
		{"echo > ws/rof", false},
		{"echo > out/new", false},
		{"mv ws/pin ws/nip", false},
		{"ls ws/hid", false},
		{"cat ws/hid/f", false},
		{"ls ws/ways", false},
		{"cd ws/ways", true},
		{"cat ws/nul", false},
		{"test -z \"$(ls -A ws/ro)\"", true},
	};

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		static struct config config;
		struct place p;
		struct mounts m;
		struct manner how = {.uid = people[person]};

		make_place(&p, people[person]);
		planned_mounts(&m, &p);
		planned_config(&config, &p);
		MOUNT(&m, "--chdir", text("%s/..", p.ws));
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct result r;

			BWRAP(&r, &how, &m, &config, "sh", "-c", cases[i].script);
			expect_event(&r, 0, INIT_READY, 0, 0);
			expect_event(&r, 1, INIT_EXECUTED, 0, 0);
			assert_int_equal(r.events[2].kind, INIT_EXITED);
			if ((exit_code(&r.o) == 0) != cases[i].allowed)
				fail_msg("uid %d: %s: %s", (int)p.uid, cases[i].script,
					r.o.err);
		}
		ADD(&config, "check");
		{
			struct result r;

			BWRAP(&r, &how, &m, &config, "echo", "ran");
			assert_int_equal(r.count, 1);
			expect_event(&r, 0, INIT_READY, 0, 0);
			assert_int_equal(exit_code(&r.o), 0);
			assert_string_equal(r.o.out, "");
		}
	}
}

/* The plan is as it was; what stands in its place is not. */
struct swap {
	const char *what;
	enum planned record;
	int err; /* 0: any */
	void (*mounts)(struct mounts *m, const struct place *p);
	void (*config)(struct config *c, const struct place *p);
};

/* One function for each wrong way to mount or to plan. */
static void m_other_tree(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", p->out, p->ro);
}
static void m_other_file(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", "/etc/passwd", p->rof);
}
static void m_ro_is_writable(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--bind", p->ro, p->ro);
}
static void m_rof_is_writable(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--bind", p->rof, p->rof);
}
static void m_ws_is_read_only(struct mounts *m, const struct place *p)
{
	*m = (struct mounts){0};
	MOUNT(m, "--ro-bind", p->ws, p->ws);
}
static void m_ws_only(struct mounts *m, const struct place *p)
{
	*m = (struct mounts){0};
	MOUNT(m, "--bind", p->ws, p->ws);
}
static void m_pin_is_read_only(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", p->pin, p->pin);
}
static void m_pin_is_another(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--bind", p->out, p->pin);
}
static void m_mask_writable(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--perms", "0000", "--tmpfs", p->hid);
}
static void m_mask_mode(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--perms", "0755", "--tmpfs", p->hid, "--remount-ro", p->hid);
}
static void m_mask_open(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--bind", p->hid, p->hid);
}
static void m_mask_other(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", p->out, p->hid);
}
static void m_mask_full(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--perms", "0000", "--tmpfs", p->hid, "--dir", text("%s/d", p->hid),
		"--remount-ro", p->hid);
}
static void m_mask_proc(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", "/proc/self/task", p->hid);
}
static void m_null_zero(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", "/dev/zero", p->nul);
}
static void m_null_works(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--dev-bind", "/dev/null", p->nul);
}
static void m_null_file(struct mounts *m, const struct place *p)
{
	MOUNT(m, "--ro-bind", p->rof, p->nul);
}

static void c_ino(struct config *c, const struct place *p)
{
	char *id = identity(p->ws);

	ADD(c, "bind", "rw", text("%s1", id), p->ws);
}
static void c_dev(struct config *c, const struct place *p)
{
	ADD(c, "bind", "rw", text("1%s", identity(p->ws)), p->ws);
}
static void c_no_ino(struct config *c, const struct place *p)
{
	ADD(c, "bind", "rw", "12", p->ws);
}
static void c_hex_ino(struct config *c, const struct place *p)
{
	ADD(c, "bind", "rw", "12:0x3", p->ws);
}
static void c_flag(struct config *c, const struct place *p)
{
	ADD(c, "bind", "wo", identity(p->ws), p->ws);
}
static void c_missing(struct config *c, const struct place *p)
{
	ADD(c, "bind", "rw", identity(p->ws), text("%s/missing", p->ws));
}
static void c_through_link(struct config *c, const struct place *p)
{
	ADD(c, "bind", "ro", identity(p->ro), p->link);
}
static void c_not_mounted(struct config *c, const struct place *p)
{
	ADD(c, "bind", "ro", identity(p->out), p->out);
}
static void c_pin_file(struct config *c, const struct place *p)
{
	ADD(c, "pin", identity(p->rof), p->rof);
}
static void c_pin_missing(struct config *c, const struct place *p)
{
	ADD(c, "pin", identity(p->out), p->out);
}
static void c_mask_mode(struct config *c, const struct place *p)
{
	ADD(c, "mask", "0111", p->hid);
}
static void c_mask_word(struct config *c, const struct place *p)
{
	ADD(c, "mask", "0755", p->hid);
}
static void c_mask_none(struct config *c, const struct place *p)
{
	ADD(c, "mask", "0", p->out);
}
static void c_link_text(struct config *c, const struct place *p)
{
	ADD(c, "link", "r", p->link);
}
static void c_link_longer(struct config *c, const struct place *p)
{
	ADD(c, "link", "ro/", p->link);
}
static void c_link_dir(struct config *c, const struct place *p)
{
	ADD(c, "link", "ro", p->ro);
}
static void c_link_missing(struct config *c, const struct place *p)
{
	ADD(c, "link", "ro", text("%s/missing", p->ws));
}
static void c_null_missing(struct config *c, const struct place *p)
{
	ADD(c, "null", text("%s/missing", p->ws));
}
static void c_null_plain(struct config *c, const struct place *p)
{
	(void)p;
	ADD(c, "null", "/dev/null");
}

static const struct swap swaps[] = {
	{"another tree at a carve-out", BIND_RO, ESTALE, m_other_tree, NULL},
	{"another file at a carve-out", BIND_ROF, ESTALE, m_other_file, NULL},
	{"carve-out is writable", BIND_RO, EINVAL, m_ro_is_writable, NULL},
	{"carved file is writable", BIND_ROF, EINVAL, m_rof_is_writable, NULL},
	{"workspace is read-only", BIND_WS, EROFS, m_ws_is_read_only, NULL},
	{"nothing is carved, first of all no pin", PIN, EINVAL, m_ws_only, NULL},
	{"pin is read-only", PIN, EROFS, m_pin_is_read_only, NULL},
	{"pin of another directory", PIN, ESTALE, m_pin_is_another, NULL},
	{"mask is writable", MASK, EINVAL, m_mask_writable, NULL},
	{"mask has a mode", MASK, EINVAL, m_mask_mode, NULL},
	{"mask is the directory itself", MASK, EINVAL, m_mask_open, NULL},
	{"mask is another directory", MASK, EINVAL, m_mask_other, NULL},
	{"mask is not empty", MASK, ENOTEMPTY, m_mask_full, NULL},
	{"mask is another file system", MASK, EINVAL, m_mask_proc, NULL},
	{"null is another device", NUL, EINVAL, m_null_zero, NULL},
	{"null can be opened", NUL, EINVAL, m_null_works, NULL},
	{"null is a file", NUL, EINVAL, m_null_file, NULL},
	{"wrong inode", PLANNED, ESTALE, NULL, c_ino},
	{"wrong device", PLANNED, ESTALE, NULL, c_dev},
	{"no inode", PLANNED, EINVAL, NULL, c_no_ino},
	{"inode in hex", PLANNED, EINVAL, NULL, c_hex_ino},
	{"unknown flag", PLANNED, EINVAL, NULL, c_flag},
	{"missing path", PLANNED, ENOENT, NULL, c_missing},
	{"path through a link", PLANNED, ELOOP, NULL, c_through_link},
	{"path that is no mount", PLANNED, EINVAL, NULL, c_not_mounted},
	{"pin of a file", PLANNED, ENOTDIR, NULL, c_pin_file},
	{"pin that is not there", PLANNED, EINVAL, NULL, c_pin_missing},
	{"mask of another mode", PLANNED, EINVAL, NULL, c_mask_mode},
	{"mask of a mode that there is not", PLANNED, EINVAL, NULL, c_mask_word},
	{"mask that is not there", PLANNED, EINVAL, NULL, c_mask_none},
	{"link with less text", PLANNED, EINVAL, NULL, c_link_text},
	{"link with more text", PLANNED, EINVAL, NULL, c_link_longer},
	{"link is a directory", PLANNED, EINVAL, NULL, c_link_dir},
	{"link is missing", PLANNED, ENOENT, NULL, c_link_missing},
	{"null is missing", PLANNED, ENOENT, NULL, c_null_missing},
	{"null is the device itself", PLANNED, EINVAL, NULL, c_null_plain},
};

static void test_not_as_planned(void **state)
{
	static struct config config;

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		struct place p;
		struct manner how = {.uid = people[person]};

		make_place(&p, people[person]);
		for (size_t i = 0; i < sizeof swaps / sizeof swaps[0]; i++) {
			struct mounts m;
			struct result r;

			planned_mounts(&m, &p);
			planned_config(&config, &p);
			if (swaps[i].mounts)
				swaps[i].mounts(&m, &p);
			if (swaps[i].config)
				swaps[i].config(&config, &p);
			BWRAP(&r, &how, &m, &config, "echo", "ran");
			if (r.count != 1 || r.events[0].kind != INIT_REFUSED ||
				r.events[0].record != (uint32_t)swaps[i].record ||
				r.events[0].value != swaps[i].err)
				fail_msg("uid %d: %s: %zu events, kind %u value "
					 "%d record %u; "
					 "%s%s",
					(int)p.uid, swaps[i].what, r.count,
					r.events[0].kind, r.events[0].value,
					r.events[0].record, r.o.out, r.o.err);
			assert_int_equal(exit_code(&r.o), FAILURE);
			assert_string_equal(r.o.out, "");
		}
	}
}

/* The flag says read-only; if a write went through nevertheless, that counts. */
static void test_write_attempt(void **state)
{
	struct config config = {0};
	char *dir = text("%s/bound", top), *file = text("%s/boundf", top);

	(void)state;
	if (!thrown_away)
		test_skip("needs root and a mount namespace");
	if (!have_program("strace"))
		test_skip("no strace");
	mkdir(dir, 0755);
	write_file(file, "x", 0644);
	for (int i = 0; i < 2; i++) {
		const char *path = i ? file : dir;

		assert_int_equal(mount(path, path, "none", MS_BIND, NULL), 0);
		assert_int_equal(mount("none", path, "none",
					 MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
			0);
		ADD(&config, "bind", "ro", identity(path), path);
	}
	for (int i = 0; i < 3; i++) {
		/* openat2 calls: path, attempt; path, attempt */
		const char *inject = i == 0   ? "inject=openat2:retval=50:when=2"
				     : i == 1 ? "inject=openat2:retval=50:when=4"
					      : "inject=openat2:error=ENOENT:when=4";
		struct session s;
		struct result r;

		start(&s, NULL, &config, 0,
			(const char *const[]){"strace", "-o", "/dev/null", "-e",
				"trace=openat2", "-e", inject, init, "10", "11", "--",
				"echo", "ran", NULL});
		finish(&s, &r);
		expect_event(&r, 0, INIT_REFUSED, i == 2 ? ENOENT : EINVAL, i ? 1 : 0);
		assert_string_equal(r.o.out, "");
	}
	{
		struct result r;

		STRAIGHT(&r, NULL, &config, "ls", "-A", dir);
		expect_event(&r, 2, INIT_EXITED, 0, 0);
		assert_string_equal(r.o.out, "");
	}
	umount(dir);
	umount(file);
}

static void test_exec_errors_in_bwrap(void **state)
{
	struct config config = {0};

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		char *dir = make_programs();
		struct manner how = {.uid = people[person]};
		struct mounts m = {0};
		struct result r;

		write_file(text("%s/empty", dir), "", 0755);
		BWRAP(&r, &how, NULL, &config, "no-such-program");
		expect_event(&r, 1, INIT_EXEC_FAILED, ENOENT, 0);
		assert_int_equal(exit_code(&r.o), FAILURE);
		BWRAP(&r, &how, NULL, &config, "/etc/passwd");
		expect_event(&r, 1, INIT_EXEC_FAILED, EACCES, 0);
		BWRAP(&r, &how, NULL, &config, text("%s/b/plain", dir), "1");
		assert_string_equal(r.o.out, text("plain %s/b/plain 1\n", dir));
		/* No shell to be had. */
		MOUNT(&m, "--ro-bind", "/etc/passwd", "/usr/bin/dash", "--ro-bind",
			"/etc/passwd", "/usr/bin/sh");
		BWRAP(&r, &how, &m, &config, text("%s/b/plain", dir), "1");
		if (r.count == 2)
			expect_event(&r, 1, INIT_EXEC_FAILED, ENOEXEC, 0);
		else
			printf("# note: a /bin/sh that could not be masked\n");
	}
}

/* --- pid 1 --------------------------------------------------------------------------------- */

static void test_pid_1(void **state)
{
	static const struct {
		const char *script, *out;
	} cases[] = {
		{"ls /proc/self/fd", "0\n1\n2\n3\n"},
		{"(exec 3< /proc/1/mem) 2>/dev/null || echo no", "no\n"},
		{"(exec 3<> /proc/1/mem) 2>/dev/null || echo no", "no\n"},
		{"readlink /proc/1/fd/11 || echo no", "no\n"},
		{"(echo > /proc/1/fd/11) 2>/dev/null || echo no", "no\n"},
		{"readlink /proc/1/exe 2>/dev/null || echo no", "no\n"},
		{"grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n"},
		{"(true &); sleep 0.1; cat /proc/[0-9]*/stat | grep -c ' Z '", "0\n"},
		{"(sleep 0.1; echo orphan) & exec sleep 0.3", "orphan\n"},
		{"(sleep 50 &); exit 3", ""}, /* does not hold stdout for longer */
		{"trap 'echo no' TERM; kill -KILL 1; kill -STOP 1; echo yes", "yes\n"},
	};
	struct config config = {0};

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};

		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct result r;

			BWRAP(&r, &how, NULL, &config, "sh", "-c", cases[i].script);
			expect_event(&r, 1, INIT_EXECUTED, 0, 0);
			if (strcmp(r.o.out, cases[i].out))
				fail_msg("uid %d: %s: %s%s", (int)people[person],
					cases[i].script, r.o.out, r.o.err);
		}
	}
}

static void test_pid_1_cannot_be_traced(void **state)
{
	struct config config = {0};

	(void)state;
	need_bwrap();
	if (!have_program("strace"))
		test_skip("no strace");
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};
		struct result r;

		BWRAP(&r, &how, NULL, &config, "sh", "-c",
			"sleep 5 & p=$!; strace -o /dev/null -p $p & sleep 0.2; kill $p; "
			"wait; "
			"strace -o /dev/null -p 1 2>&1");
		assert_non_null(
			strstr(r.o.err, "attached")); /* control: one of its own */
		assert_non_null(strstr(r.o.out, "Operation not permitted"));
		assert_int_equal(r.events[2].kind, INIT_EXITED);
	}
}

static void test_signals_in_bwrap(void **state)
{
	struct config config = {0};

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};
		struct session s;
		struct result r;
		char children[64] = {0};
		int fd, pid;

		for (int group = 0; group < 2; group++) {
			start_bwrap(&s, &how, NULL, &config,
				(const char *const[]){"sh", "-c",
					"n=0; trap 'n=$((n+1))' USR1; "
					"trap 'echo $n; exit 42' TERM; echo on; "
					"while :; do sleep 0.02; done",
					NULL});
			next_word(&s);
			fd = open(text("/proc/%d/task/%d/children", s.pid, s.pid),
				O_RDONLY);
			if (fd < 0)
				test_skip("no /proc/PID/task/TID/children");
			assert_true(read(fd, children, sizeof children - 1) > 0);
			close(fd);
			pid = atoi(children);
			assert_true(pid > 1);
			kill(group ? -pid : pid, SIGUSR1);
			usleep(100000);
			kill(group ? -pid : pid, SIGTERM);
			finish(&s, &r);
			expect_event(&r, LAST(&r), INIT_EXITED, 42, 0);
			assert_string_equal(r.o.out, "1\n");
			assert_int_equal(exit_code(&r.o), 42);
		}
	}
}

/* Nobody survives the supervisor: the last copy of stdout is gone. */
static void test_killed_bwrap(void **state)
{
	struct config config = {0};

	(void)state;
	need_bwrap();
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};
		struct session s;
		struct result r;

		start_bwrap(&s, &how, NULL, &config,
			(const char *const[]){"sh", "-c",
				"trap '' TERM HUP INT; (setsid sleep 100 &); "
				"echo on; sleep 100",
				NULL});
		next_event(&s, INIT_READY);
		next_event(&s, INIT_EXECUTED);
		next_word(&s);
		kill(s.pid, SIGKILL);
		finish(&s, &r);
		assert_int_equal(r.count, 0);
		assert_int_equal(r.o.status, SIGKILL);
	}
}

/* --- the second lock -------------------------------------------------------------------------- */

/* Calls of the kernel answered by strace; NULL: by the kernel. */
static void run_lock(struct result *r, const struct manner *how, const char *inject,
	const struct config *config, const char *script)
{
	const char *argv[] = {"strace", "-f", "-o", "/dev/null", "-e",
		"trace=landlock_create_ruleset,landlock_add_rule,landlock_restrict_self,"
		"prctl",
		"-e", inject ? text("inject=%s", inject) : "", init, "10", "11", "--",
		"sh", "-c", script, NULL};
	struct session s;

	start(&s, how, config, 0, inject ? argv : argv + 8);
	finish(&s, r);
}

static int kernel_abi(void)
{
	return (int)syscall(444, NULL, 0, 1U);
}

static void lock_config(struct config *c, const char *rw)
{
	c->size = 0;
	ADD(c, "lock-ro", "/");
	ADD(c, "lock-rw", rw);
	ADD(c, "lock-rw", "/dev");
	ADD(c, "lock-rw", "/proc");
}

static void test_lock(void **state)
{
	static const struct {
		const char *script;
		bool allowed;
	} cases[] = {
		{"echo > ws/new", true}, {"mkdir ws/d && mv ws/d ws/pin/d", true},
		{"echo > out/new", false}, {"cat out/../ws/rof", true},
		{"echo > /dev/null", true}, {"echo 10 > /proc/self/oom_score_adj", true},
		{"echo > /dev/stderr", true}, /* a pipe */
	};
	static struct config config, none;

	(void)state;
	if (kernel_abi() < 2)
		test_skip("no Landlock ABI 2");
	for (size_t person = 0; person < people_here(); person++) {
		struct place p;
		struct manner how = {.uid = people[person]};

		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct result r;

			make_place(&p, people[person]);
			how.cwd = text("%s/..", p.ws);
			run_lock(&r, &how, NULL, &none, cases[i].script);
			expect_event(&r, 0, INIT_READY, 0, 0);
			if (exit_code(&r.o) != 0)
				fail_msg("control: %s: %s", cases[i].script, r.o.err);
			make_place(&p, people[person]);
			how.cwd = text("%s/..", p.ws);
			lock_config(&config, p.ws);
			run_lock(&r, &how, NULL, &config, cases[i].script);
			expect_event(&r, 0, INIT_READY, kernel_abi(), 0);
			if ((exit_code(&r.o) == 0) != cases[i].allowed)
				fail_msg("uid %d: %s: %s", (int)p.uid, cases[i].script,
					r.o.err);
		}
	}
}

static void test_lock_per_abi(void **state)
{
	static struct config config;

	(void)state;
	if (!have_program("strace"))
		test_skip("no strace");
	for (int abi = 1; abi <= 12; abi++) {
		struct place p;
		struct manner how = {0};
		struct session s;
		struct result r;

		if (abi >= 6 && kernel_abi() < 6)
			break;
		make_place(&p, 0);
		how.cwd = text("%s/..", p.ws);
		lock_config(&config, p.ws);
		start(&s, &how, &config, 0,
			(const char *const[]){"strace", "-o", "/dev/null", "-e",
				"trace=landlock_create_ruleset", "-e",
				text("inject=landlock_create_ruleset:retval=%d:when=1",
					abi),
				init, "10", "11", "--", "sh", "-c",
				"echo > ws/new && echo > out/new", NULL});
		finish(&s, &r);
		expect_event(&r, 0, INIT_READY, abi < 2 ? 0 : abi, 0);
		assert_int_equal(exit_code(&r.o) == 0, abi < 2);
		assert_int_equal(access(text("%s/new", p.ws), F_OK), 0);
	}
}

static void test_lock_failures(void **state)
{
	static const struct {
		const char *inject;
		bool ready; /* before the failure */
		int err; /* 0: no lock, runs */
	} cases[] = {
		{"landlock_create_ruleset:error=ENOSYS", true, 0},
		{"landlock_create_ruleset:error=EOPNOTSUPP", true, 0},
		{"landlock_create_ruleset:error=EPERM", false, EPERM},
		{"landlock_restrict_self:error=E2BIG", true, E2BIG},
		{"landlock_add_rule:error=ENOMEM", true, ENOMEM},
		{"landlock_add_rule:error=EINVAL:when=4", true, EINVAL},
		{"prctl:error=EINVAL", false, EPERM}, /* not dumpable */
	};
	static struct config config;
	struct place p;
	struct result r;

	(void)state;
	if (kernel_abi() < 2)
		test_skip("no Landlock ABI 2");
	if (!have_program("strace"))
		test_skip("no strace");
	make_place(&p, 0);
	lock_config(&config, p.ws);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		run_lock(&r, NULL, cases[i].inject, &config, "echo ran");
		if (cases[i].err) {
			expect_event(
				&r, LAST(&r), INIT_FAILED, cases[i].err, INIT_STEP_LOCK);
			assert_int_equal(r.count, cases[i].ready ? 2 : 1);
			assert_string_equal(r.o.out, "");
			assert_int_equal(exit_code(&r.o), FAILURE);
		} else {
			expect_event(&r, 0, INIT_READY, 0, 0);
			assert_string_equal(r.o.out, "ran\n");
		}
	}
	config.size = 0;
	ADD(&config, "lock-ro", "/", "lock-rw", text("%s/missing", p.ws));
	run_lock(&r, NULL, NULL, &config, "echo ran");
	expect_event(&r, 1, INIT_FAILED, ENOENT, INIT_STEP_LOCK);
	config.size = 0;
	ADD(&config, "lock-ro", p.link);
	run_lock(&r, NULL, NULL, &config, "echo ran");
	expect_event(&r, 1, INIT_FAILED, ELOOP, INIT_STEP_LOCK);
	ADD(&config, "check"); /* the lock is part of the trial */
	run_lock(&r, NULL, NULL, &config, "echo ran");
	assert_int_equal(r.count, 1);
	expect_event(&r, 0, INIT_FAILED, ELOOP, INIT_STEP_LOCK);
	assert_string_equal(r.o.out, "");
}

/* fd 1 and 2 once more by name: as the descriptor, and not more. */
static void test_lock_stdio(void **state)
{
	static const struct {
		const char *name;
		int flags;
		const char *script;
		bool allowed;
	} cases[] = {
		{"out/f", O_WRONLY, "echo x > /dev/stdout", true},
		{"out/f", O_WRONLY | O_APPEND, "echo x >> /dev/stdout", true},
		{"out/f", O_RDWR, "echo x > /proc/self/fd/1", true},
		{"out/f", O_RDONLY, "echo x > /proc/self/fd/1", false},
		{"out/f", O_RDONLY, "cat /proc/self/fd/1 >&2", true},
		{"/dev/null", O_WRONLY, "echo x > /dev/stdout", true},
		{"out/f", O_WRONLY, "echo x > out/g", false},
		{"out/f", O_WRONLY, "rm out/f", false},
	};
	static struct config config;

	(void)state;
	if (kernel_abi() < 3)
		test_skip("no Landlock ABI 3");
	for (size_t person = 0; person < people_here(); person++) {
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct place p;
			struct manner how = {.uid = people[person]};
			struct result r;
			char *dir, *file;

			make_place(&p, people[person]);
			dir = text("%s/..", p.ws);
			write_file(text("%s/f", p.out), "x", 0666);
			file = *cases[i].name == '/' ? text("%s", cases[i].name)
						     : text("%s/%s", dir, cases[i].name);
			how.cwd = dir;
			how.out = far(open(file, cases[i].flags | O_CLOEXEC));
			assert_true(how.out > 0);
			config.size = 0;
			ADD(&config, "lock-ro", "/", "lock-rw", p.ws);
			if (i != 5)
				ADD(&config, "lock-rw", "/dev");
			run_lock(&r, &how, NULL, &config, cases[i].script);
			close(how.out);
			if ((exit_code(&r.o) == 0) != cases[i].allowed)
				fail_msg("uid %d: %s: %s", (int)people[person],
					cases[i].script, r.o.err);
		}
	}
}

/* In a terminal that the rules do not reach: writing by name and its ioctls. */
static void test_lock_terminal(void **state)
{
	static struct config config;
	struct manner how = {0};
	struct result r;
	int master, slave;

	(void)state;
	if (kernel_abi() < 5)
		test_skip("no Landlock ABI 5");
	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		test_skip("no pseudo-terminals");
	how.out = far(slave);
	ADD(&config, "lock-ro", "/");
	run_lock(&r, &how, NULL, &config,
		"echo x > /dev/stdout && stty -F /proc/self/fd/1");
	assert_int_equal(exit_code(&r.o), 0);
	run_lock(&r, &how, NULL, &config, "echo x > /dev/ptmx");
	assert_int_not_equal(exit_code(&r.o), 0);
	close(how.out);
	close(master);
}

/* Pid 1 is outside of the command's domain, from ABI 6 out of reach. */
static void test_lock_scopes(void **state)
{
	(void)state;
	need_bwrap();
	if (kernel_abi() < 6)
		test_skip("no Landlock ABI 6");
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};
		struct config config = {0};
		struct result r;

		BWRAP(&r, &how, NULL, &config, "sh", "-c", "kill -0 1 && echo reached");
		assert_string_equal(r.o.out, "reached\n");
		ADD(&config, "lock-ro", "/", "lock-rw", "/dev", "lock-rw", "/proc");
		BWRAP(&r, &how, NULL, &config, "sh", "-c",
			"sleep 5 & kill $! && echo own; kill -0 1 || echo "
			"denied");
		assert_string_equal(r.o.out, "own\ndenied\n");
		BWRAP(&r, &how, NULL, &config, "grep", "NoNewPrivs", "/proc/self/status");
		assert_string_equal(r.o.out, "NoNewPrivs:\t1\n");
	}
}

static void test_size(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(init, &st), 0);
	assert_in_range(st.st_size, 1, SIZE_LIMIT);
	assert_in_range(sizeof(struct init_event), 1, 512); /* one atomic write */
}

/* --- main ----------------------------------------------------------------------------------------- */

static bool bwrap_works(void)
{
	struct outcome o;

	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};

		RUN(&o, &how, "bwrap", "--unshare-user", "--unshare-pid", "--cap-drop",
			"ALL", "--ro-bind", "/", "/", "--proc", "/proc", "true");
		if (exit_code(&o) != 0)
			return false;
	}
	return true;
}

static int set_up(void **state)
{
	char *source = text("%s/cordon-init", build_dir());
	int fd = open(source, O_RDONLY | O_CLOEXEC);

	(void)state;
	if (fd < 0) {
		perror(source);
		return -1;
	}
	setenv("PATH", "/usr/bin:/bin", 1); /* nothing in it that we may not search */
	thrown_away = enter_throwaway();
	top = make_temp_dir();
	init = text("%s/cordon-init", top);
	copy_file(text("/proc/self/fd/%d", fd), init, 0755);
	close(fd);
	have_bwrap = bwrap_works();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_tree(top);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_broken_configurations),
		cmocka_unit_test(test_configuration_must_be_a_file),
		cmocka_unit_test(test_no_command),
		cmocka_unit_test(test_exit_and_signal),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_script_names),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_descriptors_the_slow_way),
		cmocka_unit_test(test_missing_stdio),
		cmocka_unit_test(test_signals_are_reset),
		cmocka_unit_test(test_stderr_record),
		cmocka_unit_test(test_usage_of_resources),
		cmocka_unit_test(test_forwarded_signals),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_signals_arrive_once),
		cmocka_unit_test(test_command_can_make_a_session),
		cmocka_unit_test(test_reader_goes_away),
		cmocka_unit_test(test_tty_record),
		cmocka_unit_test(test_tty_stop),
		cmocka_unit_test(test_as_planned),
		cmocka_unit_test(test_not_as_planned),
		cmocka_unit_test(test_write_attempt),
		cmocka_unit_test(test_exec_errors_in_bwrap),
		cmocka_unit_test(test_pid_1),
		cmocka_unit_test(test_pid_1_cannot_be_traced),
		cmocka_unit_test(test_signals_in_bwrap),
		cmocka_unit_test(test_killed_bwrap),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_lock_per_abi),
		cmocka_unit_test(test_lock_failures),
		cmocka_unit_test(test_lock_stdio),
		cmocka_unit_test(test_lock_terminal),
		cmocka_unit_test(test_lock_scopes),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
