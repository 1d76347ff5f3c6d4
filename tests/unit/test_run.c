/* SPDX-License-Identifier: Apache-2.0
 *
 * run: outcomes told apart on both backends, what a command cannot influence, and
 * that nothing outlives it. Most cases go through the command line, as root and as
 * a user; runners that break go through the library, with programs of the test.
 */
#include "support.h"

#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/init.h"
#include "runtime/run.h"

static char *top, *cordon;
static bool thrown_away;

static const char *const names[] = {"bwrap", "landlock"};
static const uid_t people[] = {0, TEST_UID};

static size_t people_here(void)
{
	return geteuid() == 0 ? 2 : 1;
}

/* --- places and runs ----------------------------------------------------------------- */

/* A workspace of a user. */
static char *make_workspace(uid_t uid)
{
	static int number;
	char *dir = text("%s/ws%d", top, number++);

	if (mkdir(dir, 0755) < 0 || (geteuid() == 0 && chown(dir, uid, uid) < 0))
		fail_msg("%s: %s", dir, strerror(errno));
	return dir;
}

static char *policy(const char *content)
{
	static int number;
	char *path = text("%s/p%d.cordon", top, number++);

	write_file(path, content, 0644);
	return path;
}

static char *plain_policy(void)
{
	static char *path;

	if (!path)
		path = policy("cordon 1\npolicy p { default mode workspace-write }\n");
	return path;
}

static bool works(const char *backend, uid_t uid)
{
	struct manner how = {.uid = uid, .cwd = make_workspace(uid)};
	struct outcome o;

	RUN(&o, &how, cordon, "probe", "--policy", plain_policy(), "--backend", backend);
	return o.status == 0;
}

static void need(const char *backend, uid_t uid)
{
	if (!works(backend, uid))
		test_skip("a backend does not work here");
}

struct spot {
	uid_t uid;
	const char *backend, *ws;
	struct manner how;
};

#define EACH(place)                                                                      \
	for (size_t p_ = 0, b_; p_ < people_here(); p_++)                                \
		for (b_ = 0; b_ < 2 && next_place(place, people[p_], names[b_]); b_++)

static bool next_place(struct spot *place, uid_t uid, const char *backend)
{
	need(backend, uid);
	*place = (struct spot){uid, backend, make_workspace(uid), {0}};
	place->how = (struct manner){.uid = uid, .cwd = place->ws};
	return true;
}

static void run_at(struct outcome *o, const struct spot *place, const char *const argv[])
{
	const char *all[40] = {cordon, "run", "--policy", plain_policy(), "--backend",
		place->backend, "--json", "--"};
	size_t n = 8;

	while (*argv)
		all[n++] = *argv++;
	run(o, &place->how, all);
}

#define AT(o, place, ...) run_at(o, place, (const char *const[]){__VA_ARGS__, NULL})

/* The result is the last line of stdout. */
static json_t *result_of(const struct outcome *o)
{
	const char *line = o->out;
	json_t *json;

	for (const char *at = o->out; *at; at++)
		if (at[0] == '\n' && at[1])
			line = at + 1;
	json = json_loads(line, 0, NULL);
	if (!json)
		fail_msg("no result: %s%s", o->out, o->err);
	return json;
}

static void expect_outcome(const struct outcome *o, const char *outcome, int code)
{
	json_t *json = result_of(o);
	const char *seen = json_string_value(json_object_get(json, "outcome"));

	if (strcmp(seen, outcome) != 0 || exit_code(o) != code)
		fail_msg("%s, status %d, not %s, %d: %s", seen, exit_code(o), outcome,
			code, o->err);
	json_decref(json);
}

/* --- outcomes ---------------------------------------------------------------------------- */

static void test_outcomes(void **state)
{
	static const struct {
		const char *script, *outcome;
		int code;
	} cases[] = {
		{"exit 0", "exited", 0},
		{"exit 7", "exited", 7},
		{"echo 'bwrap: x' >&2; exit 1", "exited", 1},
		{"echo 'bwrap: x' >&2; exit 125", "exited", 125},
		{"echo 'landlock-run: x' >&2; exit 125", "exited", 125},
		{"exit 126", "exited", 126},
		{"exit 137", "exited", 137},
		{"kill -KILL $$", "signaled", 137},
		{"kill -TERM $$", "signaled", 143},
		{"kill -SEGV $$", "signaled", 139},
	};
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			AT(&o, &place, "sh", "-c", cases[i].script);
			expect_outcome(&o, cases[i].outcome, cases[i].code);
		}
	}
}

static void test_programs(void **state)
{
	static const struct {
		const char *program, *outcome;
		int code;
	} cases[] = {
		{"no-such-program", "exec-failed", 127},
		{"./nothing", "exec-failed", 127},
		{"", "exec-failed", 127},
		{"/usr", "exec-failed", 126},
		{"./noexec", "exec-failed", 126},
		{"./badint", "exec-failed", 127},
		{"./plain", "exited", 3},
	};
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		write_file(text("%s/noexec", place.ws), "#!/bin/sh\nexit 1\n", 0644);
		write_file(text("%s/badint", place.ws), "#!/no/such\n", 0755);
		write_file(text("%s/plain", place.ws), "exit $1\n", 0755);
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			AT(&o, &place, cases[i].program, "3");
			expect_outcome(&o, cases[i].outcome, cases[i].code);
		}
	}
}

static void test_silent(void **state)
{
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		RUN(&o, &place.how, cordon, "run", "--policy", plain_policy(),
			"--backend", place.backend, "--", "echo", "hi");
		assert_string_equal(o.out, "hi\n");
		assert_string_equal(o.err, "");
	}
}

/* The plan is enforced at all. */
static void test_enforced(void **state)
{
	struct spot place;
	struct outcome o;
	struct stat st;

	(void)state;
	EACH(&place)
	{
		char *outside = text("%s/outside-%u-%s", top, place.uid, place.backend);
		mkdir(outside, 0777);
		chmod(outside, 0777);
		AT(&o, &place, "sh", "-c", "echo x > in; echo x > \"$1/out\"", "sh",
			outside);
		assert_int_equal(stat(text("%s/in", place.ws), &st), 0);
		assert_int_equal(stat(text("%s/out", outside), &st), -1);
	}
}

static void test_mode_and_ceiling(void **state)
{
	char *narrow = policy("cordon 1\npolicy p {\n    ceiling read-only\n}\n");
	char *wide = policy("cordon 1\npolicy p { default mode danger-full-access }\n");
	struct manner how = {.cwd = make_workspace(0)};
	struct outcome o;

	(void)state;
	RUN(&o, &how, cordon, "run", "--policy", narrow, "--mode", "workspace-write",
		"--", "echo", "ran");
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "--mode"));
	assert_non_null(strstr(o.err, ":3:"));
	RUN(&o, &how, cordon, "run", "--policy", wide, "--", "echo", "ran");
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	RUN(&o, &how, cordon, "run", "--policy", wide, "--mode", "danger-full-access",
		"--json", "--", "sh", "-c", "exit 4");
	expect_outcome(&o, "exited", 4);
	assert_non_null(strstr(o.out, "\"backend\":null,\"enforcement\":\"none\""));
}

static void test_what_is_hidden(void **state)
{
	char *hide = policy("cordon 1\npolicy p {\n    hide /usr/bin/env\n}\n");
	char *carve = policy(
		"cordon 1\npolicy p {\n    default mode workspace-write\n"
		"    mode workspace-write {\n        read ${workspace}/ro\n    }\n}\n");
	struct manner how = {.cwd = make_workspace(0)};
	struct outcome o;

	(void)state;
	RUN(&o, &how, cordon, "run", "--policy", hide, "--", "/usr/bin/env");
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, ":3:10"));
	assert_int_equal(mkdir(text("%s/ro", how.cwd), 0755), 0);
	RUN(&o, &how, cordon, "run", "--policy", carve, "--backend", "landlock", "--",
		"echo", "ran");
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err,
		"SANDBOX_UNAVAILABLE: sandbox mode \"workspace-write\" is requested but "
		"no "
		"sandbox backend is usable on this host; refusing to run the command "
		"unconfined\n"));
	assert_non_null(strstr(o.err, ":5:14"));
	assert_non_null(strstr(o.err, "--mode danger-full-access"));
}

/* What is too much for bwrap is said, and is no reason to run anything. */
static void test_sizes(void **state)
{
	static const char *argv[10010];
	static char *env[3102];
	struct manner how = {.cwd = make_workspace(0)};
	struct outcome o;
	size_t n = 0;

	(void)state;
	const char *const start[] = {cordon, "run", "--policy", plain_policy(),
		"--backend", "bwrap", "--", "echo", "ran"};
	for (; n < sizeof start / sizeof start[0]; n++)
		argv[n] = start[n];
	for (; n < 9100; n++)
		argv[n] = "x";
	run(&o, &how, argv);
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "too many words"));
	for (n = 0; n < 3100; n++)
		env[n] = text("V%zu=x", n);
	how.env = env;
	RUN(&o, &how, cordon, "run", "--policy", plain_policy(), "--backend", "bwrap",
		"--", "/bin/echo", "ran");
	assert_int_equal(exit_code(&o), 125);
	assert_string_equal(o.out, "");
	assert_non_null(strstr(o.err, "variables of the environment"));
}

/* --- influence ------------------------------------------------------------------------------ */

static void test_environment_means_nothing(void **state)
{
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		char *bin = text("%s/bin", place.ws);
		mkdir(bin, 0755);
		write_file(text("%s/bwrap", bin),
			text("#!/bin/sh\ntouch %s/planted\nexec \"$@\"\n", place.ws),
			0755);
		copy_file(text("%s/bwrap", bin), text("%s/cordon-init", bin), 0755);
		char *env[] = {text("PATH=%s:/usr/bin:/bin", bin),
			text("LD_PRELOAD=%s/no.so", place.ws), "ODD=a=b",
			"TMPDIR=/elsewhere", NULL};
		place.how.env = env;
		AT(&o, &place, "sh", "-c",
			"echo $LD_PRELOAD $ODD $TMPDIR; test -d $TMPDIR");
		expect_outcome(&o, "exited", 0);
		assert_non_null(
			strstr(o.out, text("%s/no.so a=b /tmp/cordon-", place.ws)));
		/* Said by the command's own loader, and by nobody before it. */
		if (!strcmp(place.backend, "bwrap"))
			assert_null(strstr(o.err, "bwrap"));
		assert_int_equal(access(text("%s/planted", place.ws), F_OK), -1);
	}
}

static void leave_open(void *arg)
{
	(void)arg;
	for (int fd = 3; fd < 40; fd += 6)
		fcntl(open("/", O_RDONLY), F_DUPFD, fd);
}

static void test_no_descriptors(void **state)
{
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		place.how.prepare = leave_open;
		AT(&o, &place, "sh", "-c",
			"for i in 2 3 4 5 6 7 8 9 10 12 14 18 20 24 30; do "
			"test -e /proc/$$/fd/$i && echo fd$i; done; exit 0");
		expect_outcome(&o, "exited", 0);
		assert_memory_equal(o.out, "fd2\n{", 5);
	}
}

/* --- the end -------------------------------------------------------------------------------- */

/* In the background, with its stdout as a pipe to us. */
struct back {
	pid_t pid;
	int out;
};

static void start_at(struct back *back, const struct spot *place, const char *script)
{
	const char *const argv[] = {cordon, "run", "--policy", plain_policy(),
		"--backend", place->backend, "--", "sh", "-c", script, NULL};
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fflush(stdout);
	back->pid = fork();
	if (back->pid == 0)
		become(&place->how, out[1], open("/dev/null", O_WRONLY | O_CLOEXEC),
			argv);
	close(out[1]);
	back->out = out[0];
}

static void read_word(struct back *back, char *word, size_t size)
{
	struct pollfd polled = {.fd = back->out, .events = POLLIN};

	assert_int_equal(poll(&polled, 1, 10000), 1);
	ssize_t n = read(back->out, word, size - 1);
	assert_true(n > 0);
	word[n] = 0;
}

/* The end of the file: nobody of the tree is left. */
static void expect_nobody(struct back *back)
{
	struct pollfd polled = {.fd = back->out, .events = POLLIN};
	char buf[64];

	do
		if (poll(&polled, 1, 10000) != 1)
			fail_msg("somebody is left");
	while (read(back->out, buf, sizeof buf) > 0);
	close(back->out);
}

static const char leftovers[] =
	"sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000 & "
	"trap \"\" TERM HUP; sleep 1000' &) ; ";

static void test_leftovers(void **state)
{
	struct spot place;
	struct back back;
	int status;

	(void)state;
	EACH(&place)
	{
		start_at(&back, &place, text("%s sleep 0.1; exit 5", leftovers));
		assert_int_equal(waitpid(back.pid, &status, 0), back.pid);
		assert_int_equal(status, 5 << 8);
		expect_nobody(&back);
	}
}

/* The bwrap process below cordon, 0: none. */
static pid_t child_of(pid_t parent)
{
	char *path = text("/proc/%d/task/%d/children", parent, parent), buf[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, buf, sizeof buf - 1) < 0)
		buf[0] = 0;
	close(fd);
	return atoi(buf);
}

static void test_killed(void **state)
{
	struct spot place;
	struct back back;
	char word[64];
	int status;

	(void)state;
	EACH(&place)
	{
		for (int whom = 0; whom < 2; whom++) {
			start_at(
				&back, &place, text("%s echo up; sleep 1000", leftovers));
			read_word(&back, word, sizeof word);
			pid_t runner = child_of(back.pid);
			assert_true(runner > 0);
			if (whom && strcmp(place.backend, "bwrap") != 0) {
				/* The keeper cannot be helped; its command goes. */
				kill(back.pid, SIGKILL);
			} else {
				kill(whom ? runner : back.pid, SIGKILL);
			}
			assert_int_equal(waitpid(back.pid, &status, 0), back.pid);
			if (whom && !strcmp(place.backend, "bwrap"))
				assert_int_equal(status, 125 << 8);
			expect_nobody(&back);
		}
	}
}

static bool has_temp(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static void test_temp(void **state)
{
	static const char *const ends[] = {"exit 0", "kill -KILL $$"};
	struct spot place;
	struct outcome o;

	(void)state;
	EACH(&place)
	{
		for (int i = 0; i < 2; i++) {
			RUN(&o, &place.how, cordon, "run", "--policy", plain_policy(),
				"--backend", place.backend, "--", "sh", "-c",
				text("mkdir -p $TMPDIR/a/b; chmod 0 $TMPDIR/a; test -d "
				     "$TMPDIR && "
				     "printf %%s $TMPDIR; %s",
					ends[i]));
			assert_non_null(strstr(o.out, "/cordon-"));
			assert_false(has_temp(o.out));
		}
	}
}

/* What a killed run leaves goes with the next one. */
static void test_sweep(void **state)
{
	struct spot place;
	struct outcome o;
	struct back back;
	char word[256];

	(void)state;
	EACH(&place)
	{
		start_at(&back, &place, "printf %s $TMPDIR; sleep 1000");
		read_word(&back, word, sizeof word);
		assert_true(has_temp(word));
		kill(back.pid, SIGKILL);
		waitpid(back.pid, NULL, 0);
		expect_nobody(&back);
		assert_true(has_temp(word));
		AT(&o, &place, "true");
		expect_outcome(&o, "exited", 0);
		assert_false(has_temp(word));
	}
}

static void test_forwarding(void **state)
{
	static const struct {
		int sig;
		const char *name;
	} cases[] = {{SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"},
		{SIGUSR1, "USR1"}, {SIGQUIT, "QUIT"}};
	struct spot place;
	struct back back;
	char word[64];
	int status;

	(void)state;
	EACH(&place)
	{
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			start_at(&back, &place,
				text("n=0; trap 'n=$((n+1))' %s; echo up; for i in 1 2 3 "
				     "4; do "
				     "sleep 0.1; done; exit $((n+40))",
					cases[i].name));
			read_word(&back, word, sizeof word);
			kill(back.pid, cases[i].sig);
			assert_int_equal(waitpid(back.pid, &status, 0), back.pid);
			assert_int_equal(status, 41 << 8);
			expect_nobody(&back);
		}
		start_at(&back, &place, "echo up; sleep 1000");
		read_word(&back, word, sizeof word);
		kill(back.pid, SIGTERM);
		assert_int_equal(waitpid(back.pid, &status, 0), back.pid);
		assert_int_equal(status, 143 << 8);
		expect_nobody(&back);
	}
}

/* --- runners that break ------------------------------------------------------------------------ */

/* The second argument in memory of a struct init_event: kind, then zeros. */
#define EVENT(kind)                                                                      \
	"printf '\\" kind "\\0\\0\\0%036d' 0 | tr 0 '\\000' > /proc/self/fd/$8\n"

static const struct broken {
	const char *script;
	enum run_outcome alone; /* with bwrap only */
	bool goes_on; /* landlock runs the command */
	const char *reason;
} broken_runners[] = {
	{"echo 'bwrap: it broke' >&2; exit 1\n", RUN_RUNNER_FAILURE, true,
		" Runner failure: bwrap: it broke"},
	{"exit 0\n", RUN_RUNNER_FAILURE, true,
		" Runner failure: it exited with status 0"},
	{"exit 3\n", RUN_RUNNER_FAILURE, true,
		" Runner failure: it exited with status 3"},
	{"kill -KILL $$\n", RUN_RUNNER_KILLED, false, "may have run"},
	{EVENT("1") "exit 1\n", RUN_RUNNER_KILLED, false, "may have run"},
	{EVENT("1") EVENT("4") "exit 1\n", RUN_RUNNER_KILLED, false, "may have run"},
	{EVENT("1") EVENT("4") "kill -KILL $$\n", RUN_RUNNER_KILLED, false,
		"may have run"},
	/* What lies in this call sends nobody to a weaker backend. */
	{EVENT("2") "exit 125\n", RUN_RUNNER_FAILURE, false, "not as planned"},
	{"[ $1 = --args ] || exit 125; echo 'bwrap: not this path' >&2; exit 1\n",
		RUN_RUNNER_FAILURE, false, "bwrap: not this path"},
	{"i=0; while [ $i -lt 9999 ]; do echo xxxxxxxxxxxxxxxx; i=$((i+1)); done "
	 ">&2\nexit 1\n",
		RUN_RUNNER_FAILURE, true, "xxxx"},
	{"echo 'bwrap: Creating new namespace failed: nesting depth or "
	 "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)' >&2; exit 1\n",
		RUN_RUNNER_FAILURE, true, "blocked: the limit"},
	{"echo \"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\" "
	 ">&2\nexit 1\n",
		RUN_RUNNER_FAILURE, true, "nested"},
};

static void run_broken(const struct broken *b, const struct backend *only, bool dropped,
	enum run_outcome *outcome, const char **backend, char *reason, size_t size)
{
	static const char *const argv[] = {"sh", "-c", "exit 9", NULL};
	static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	char *ws = make_workspace(geteuid());
	struct session_options options = {.policy_file = plain_policy(),
		.workspace = ws,
		.host = true,
		.launch = true};
	struct programs programs = {.bwrap = text("%s/fake-bwrap", top),
		.helper = text("%s/cordon-init", top)};
	struct run_request request = {.argv = argv,
		.environment = env,
		.directory = ws,
		.only = only,
		.programs = &programs,
		.supervision = {.signals = -1}};
	struct launched launched;
	struct run_result result;
	struct session session;

	write_file(programs.bwrap, text("#!/bin/sh\nPATH=/usr/bin:/bin\n%s", b->script),
		0755);
	if (dropped)
		chmod(programs.bwrap, 0777);
	session_init(&session, &options);
	assert_true(session_load(&session) && session_target(&session));
	struct plan *plan = session_plan_launch(
		&session, MODE_WORKSPACE_WRITE, &launched);
	assert_non_null(plan);
	run_confined(&session, plan, &request, &result);
	*outcome = result.outcome;
	*backend = result.backend ? result.backend->name : "none";
	snprintf(reason, size, "%s", result.reason ? result.reason : "");
	if (result.outcome == RUN_EXITED)
		assert_int_equal(result.exit_code, 9);
	session_finish(&session, &launched);
	session_release(&session);
}

static void test_broken_runners(void **state)
{
	enum run_outcome outcome;
	const char *backend;
	char reason[2048];

	(void)state;
	need("landlock", geteuid());
	for (size_t i = 0; i < sizeof broken_runners / sizeof broken_runners[0]; i++) {
		const struct broken *b = &broken_runners[i];
		run_broken(b, &backend_bwrap, false, &outcome, &backend, reason,
			sizeof reason);
		if (outcome != b->alone || !strstr(reason, b->reason))
			fail_msg(
				"case %zu: %s: %s", i, run_outcome_text(outcome), reason);
		run_broken(b, NULL, false, &outcome, &backend, reason, sizeof reason);
		const char *ran = b->goes_on                      ? "landlock"
				  : b->alone == RUN_RUNNER_KILLED ? "bwrap"
								  : "none";
		if (outcome != (b->goes_on ? RUN_EXITED : b->alone) ||
			strcmp(backend, ran) != 0)
			fail_msg("case %zu, chain: %s, %s: %s", i,
				run_outcome_text(outcome), backend, reason);
	}
}

static void test_distrusted_runner(void **state)
{
	static const struct broken harmless = {"exit 0\n", RUN_UNAVAILABLE, false, ""};
	enum run_outcome outcome;
	const char *backend;
	char reason[2048];

	(void)state;
	run_broken(&harmless, &backend_bwrap, true, &outcome, &backend, reason,
		sizeof reason);
	assert_int_equal(outcome, RUN_UNAVAILABLE);
	assert_non_null(strstr(reason, "changed by others"));
	assert_null(strstr(reason, "Runner failure"));
}

/* --- main ------------------------------------------------------------------------------------- */

static void copy_program(const char *name)
{
	copy_file(text("%s/%s", build_dir(), name), text("%s/%s", top, name), 0755);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_enforced),
		cmocka_unit_test(test_mode_and_ceiling),
		cmocka_unit_test(test_what_is_hidden),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_environment_means_nothing),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_temp),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_forwarding),
		cmocka_unit_test(test_broken_runners),
		cmocka_unit_test(test_distrusted_runner),
	};
	char *build = realpath(build_dir(), NULL);

	if (!build)
		return 1;
	setenv("B", build, 1);
	free(build);
	thrown_away = enter_throwaway();
	top = make_temp_dir();
	cordon = text("%s/cordon", top);
	copy_program("cordon");
	copy_program("cordon-init");
	copy_program("landlock-run");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_tree(top);
	return failed;
}
