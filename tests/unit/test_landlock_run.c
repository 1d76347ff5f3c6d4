/* SPDX-License-Identifier: Apache-2.0
 *
 * landlock-run against the running kernel: every line of its contract once as
 * it should be and once as it should not.
 *
 * CORDON_LAUNCHER names another launcher with the same contract; the cases
 * that are about the contract then run against that one.
 */
#include "support.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SIZE_LIMIT 40960

static char *bin; /* the launcher, readable for everybody */
static char *self; /* this program, for what no shell can do */
static char *top; /* temporary directory */
static bool foreign;

#define FAILURE 125
#define NOTICE  "landlock-run: partial enforcement (older Landlock ABI)\n"
#define USAGE   "landlock-run: usage error: "
#define MISSING USAGE "missing `-- <argv>...` command\n"

/* root and the user where both can be had. */
static const uid_t people[] = {0, TEST_UID};

static size_t people_here(void)
{
	return geteuid() == 0 ? 2 : 1;
}

/* --- a place with an inside and an outside -------------------------------- */

static char *make_place(uid_t uid)
{
	static int number;
	char *place = text("%s/%d", top, number++);
	const char *dirs[] = {"", "/in", "/in/sub", "/in2", "/out"};

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
		assert_int_equal(mkdir(text("%s%s", place, dirs[i]), 0755), 0);
	write_file(text("%s/in/f", place), "in", 0644);
	write_file(text("%s/out/f", place), "out", 0644);
	if (geteuid() == 0 && uid) {
		struct outcome o;

		RUN(&o, NULL, "chown", "-R", text("%d:%d", uid, uid), place);
		assert_int_equal(o.status, 0);
	}
	return place;
}

struct effect {
	const char *script; /* sh, in the place */
	bool allowed;
};

/* Outside of the sandbox every script must work, or it would prove nothing. */
static void expect_effects(
	const char *const grants[], const struct effect *effects, size_t n)
{
	for (size_t person = 0; person < people_here(); person++) {
		for (size_t i = 0; i < n; i++) {
			char *place = make_place(people[person]);
			struct manner how = {.uid = people[person], .cwd = place};
			const char *argv[32] = {bin};
			size_t argc = 1;
			struct outcome o;

			RUN(&o, &how, "sh", "-c", effects[i].script);
			if (exit_code(&o) != 0)
				fail_msg("control: %s: %s", effects[i].script, o.err);
			how.cwd = make_place(people[person]);
			for (const char *const *g = grants; *g; g++)
				argv[argc++] = *g;
			argv[argc++] = "--";
			argv[argc++] = "sh";
			argv[argc++] = "-c";
			argv[argc++] = effects[i].script;
			run(&o, &how, argv);
			if ((exit_code(&o) == 0) != effects[i].allowed ||
				strstr(o.err, "landlock-run"))
				fail_msg("uid %d: %s: status %x, stderr: %s",
					(int)people[person], effects[i].script, o.status,
					o.err);
		}
	}
}

#define EXPECT_EFFECTS(effects, ...)                                                     \
	expect_effects((const char *const[]){__VA_ARGS__, NULL}, effects,                \
		sizeof effects / sizeof effects[0])

/* --- argv ----------------------------------------------------------------- */

static void test_usage(void **state)
{
	static const struct {
		const char *argv[8];
		const char *err;
	} cases[] = {
		{{NULL}, MISSING},
		{{"--"}, MISSING},
		{{"--ro", "/"}, MISSING},
		{{"--ro", "/", "--rw", "/", "--"}, MISSING},
		{{"--ro", "--"}, MISSING},
		{{"--ro"}, USAGE "--ro requires a path\n"},
		{{"--ro", "/", "--rw"}, USAGE "--rw requires a path\n"},
		{{"--foo", "--", "true"}, USAGE "unknown argument: --foo\n"},
		{{"true"}, USAGE "unknown argument: true\n"},
		{{"-"}, USAGE "unknown argument: -\n"},
		{{""}, USAGE "unknown argument: \n"},
		{{"--ro=/", "--", "true"}, USAGE "unknown argument: --ro=/\n"},
		{{"--help"}, USAGE "unknown argument: --help\n"},
		{{"--ro", "/", "--rw", "--", "true"}, USAGE "unknown argument: true\n"},
		{{"--probe", "x"}, USAGE "--probe takes no other arguments\n"},
		{{"--probe", "--probe"}, USAGE "--probe takes no other arguments\n"},
		{{"--probe", "--"}, USAGE "--probe takes no other arguments\n"},
		{{"--ro", "/", "--probe"}, USAGE "--probe takes no other arguments\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *argv[10] = {bin};
		struct outcome o;

		for (size_t k = 0; cases[i].argv[k]; k++)
			argv[k + 1] = cases[i].argv[k];
		run(&o, NULL, argv);
		assert_string_equal(o.err, cases[i].err);
		assert_string_equal(o.out, "");
		assert_int_equal(exit_code(&o), FAILURE);
	}
}

/* What looks like a flag after `--`, or as a path, is none. */
static void test_argv_is_passed_on(void **state)
{
	struct outcome o;

	(void)state;
	RUN(&o, NULL, bin, "--ro", "/", "--", "printf", "[%s]", "--ro", "--", "a b", "",
		"$HOME\n", "\xff");
	assert_string_equal(o.out, "[--ro][--][a b][][$HOME\n][\xff]");
	assert_int_equal(exit_code(&o), 0);
	RUN(&o, NULL, bin, "--rw", "--probe", "--", "true");
	assert_string_equal(o.err,
		"landlock-run: cannot open rule path: --probe: No such file or "
		"directory\n");
}

static void test_environment_is_passed_on(void **state)
{
	char *env[] = {"A=1", "LD_PRELOAD=", "Z=a b", NULL};
	struct manner how = {.env = env};
	struct outcome o;

	(void)state;
	RUN(&o, &how, bin, "--ro", "/", "--", "/usr/bin/env");
	assert_string_equal(o.out, "A=1\nLD_PRELOAD=\nZ=a b\n");
}

static void test_exec_failures(void **state)
{
	static const struct {
		const char *command, *why;
	} cases[] = {
		{"no-such-program", "No such file or directory"},
		{"/no/such/program", "No such file or directory"},
		{"", "No such file or directory"},
		{"/", "Permission denied"},
		{"/etc/passwd", "Permission denied"},
		{"./script", "Exec format error"},
	};
	struct manner how = {.cwd = make_place(0)};

	(void)state;
	write_file(text("%s/script", how.cwd), "true\n", 0755);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct outcome o;

		RUN(&o, &how, bin, "--ro", "/", "--", cases[i].command);
		assert_string_equal(
			o.err, text("landlock-run: exec failed: %s\n", cases[i].why));
		assert_string_equal(o.out, "");
		assert_int_equal(exit_code(&o), FAILURE);
	}
}

/* Legal, and so narrow that the command itself is out of reach. */
static void test_no_grants(void **state)
{
	struct outcome o;

	(void)state;
	RUN(&o, NULL, bin, "--", "/bin/true");
	assert_string_equal(o.err, "landlock-run: exec failed: Permission denied\n");
	RUN(&o, NULL, bin, "--ro", bin, "--", bin, "--", "x");
	assert_string_equal(
		o.err, "landlock-run: exec failed: No such file or directory\n");
	assert_int_equal(exit_code(&o), FAILURE);
}

static void test_status_is_passed_on(void **state)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{"exit 0", 0},
		{"exit 1", 1 << 8},
		{"exit 125", 125 << 8},
		{"exit 255", 255 << 8},
		{"kill -KILL $$", SIGKILL},
		{"kill -TERM $$", SIGTERM},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct outcome o;

		RUN(&o, NULL, bin, "--ro", "/", "--", "sh", "-c", cases[i].script);
		assert_int_equal(o.status, cases[i].status);
		assert_string_equal(o.err, "");
	}
}

/* --- grants ---------------------------------------------------------------- */

static void test_read_only(void **state)
{
	static const struct effect effects[] = {
		{"cat out/f", true},
		{"ls out", true},
		{"test -d /usr", true},
		{"echo x > out/new", false},
		{"echo x >> out/f", false},
		{": > out/f", false},
		{"mkdir out/d", false},
		{"rm out/f", false},
		{"mv out/f out/g", false},
		{"ln out/f out/g", false},
		{"ln -s f out/g", false},
		{"mkfifo out/p", false},
		{"rmdir in/sub", false},
		{"exec 3<>out/f", false},
		{"echo > /dev/null", false},
	};

	(void)state;
	EXPECT_EFFECTS(effects, "--ro", "/");
}

static void test_read_write(void **state)
{
	static const struct effect effects[] = {
		{"echo x > in/new && cat in/new", true},
		{"mkdir in/d && rmdir in/d", true},
		{"rm in/f", true},
		{"mv in/f in/sub/f", true},
		{"mv in/f in2/f", true},
		{"ln in/f in2/f", true},
		{"ln -s f in/l && mkfifo in/p", true},
		{"echo > /dev/null", true},
		{"echo x > out/new", false},
		{"echo x > in/../out/new", false},
		{"ln -s ../out in/l; echo x > in/l/new", false},
		{"mv in out/in", false},
		{"rm out/f", false},
		{"rm /dev/null.nothing 2>/dev/null; echo x > out/f", false},
	};

	(void)state;
	EXPECT_EFFECTS(
		effects, "--rw", "in2", "--ro", "/", "--rw", "in", "--rw", "/dev/null");
}

/* link(2) and rename(2) with mv's and ln's fallbacks out of the way. */
static void test_moves_across(void **state)
{
	static const struct {
		const char *call, *from, *to;
		int err;
	} cases[] = {
		{"rename", "in/f", "in/g", 0},
		{"rename", "in/f", "in/sub/f", 0}, /* REFER */
		{"rename", "in/f", "in2/f", 0},
		{"rename", "in/f", "out/g", EACCES},
		{"rename", "out/f", "in/g", EACCES},
		{"link", "out/f", "in/g", EXDEV},
		{"link", "in/f", "in2/g", 0},
		{"truncate", "in/f", "", 0}, /* TRUNCATE */
		{"truncate", "out/f", "", EACCES},
		{"open-trunc", "out/f", "", EACCES},
		{"open-trunc", "in/f", "", 0},
	};

	(void)state;
	for (size_t person = 0; person < people_here(); person++) {
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct manner how = {.uid = people[person]};
			struct outcome o;

			how.cwd = make_place(people[person]);
			RUN(&o, &how, self, cases[i].call, cases[i].from, cases[i].to);
			assert_int_equal(exit_code(&o), 0);
			how.cwd = make_place(people[person]);
			RUN(&o, &how, bin, "--ro", "/", "--rw", "in", "--rw", "in2", "--",
				self, cases[i].call, cases[i].from, cases[i].to);
			assert_int_equal(exit_code(&o), cases[i].err);
		}
	}
}

/* The only readable things are those that were named. */
static void test_reading_needs_a_grant(void **state)
{
	static const struct effect effects[] = {
		{"cat in/f", true},
		{"in/prog 2>/dev/null || test $? = 127 || cat in/f", true},
		{"cat out/f", false},
		{"ls out", false},
		{"ls .", false},
		{"read x < /etc/hostname || cat /etc/passwd", false},
	};

	(void)state;
	EXPECT_EFFECTS(effects, "--ro", "/usr", "--ro", "/bin", "--ro", "/lib", "--ro",
		access("/lib64", F_OK) == 0 ? "/lib64" : "/lib", "--ro", "in", "--rw",
		"/dev/null");
}

static void make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	assert_int_equal(bind(fd, (void *)&address, sizeof address), 0);
	close(fd);
}

/* A grant on something that is not a directory keeps the rights of a file. */
static void test_grants_on_other_objects(void **state)
{
	static const struct {
		const char *path, *script;
	} cases[] = {
		{"out/f", "echo x >> out/f && : > out/f"},
		{"fifo", "exec 3<>fifo && echo x >&3"},
		{"socket", "test -S socket"},
		{"link", "echo x >> out/f"},
		{"dirlink", "echo x > out/new"},
		{"/dev/null", "echo x > /dev/null"},
		{"/dev/zero", "echo x > /dev/zero"},
	};
	const char *flags[] = {"--ro", "--rw"};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (size_t f = 0; f < 2; f++) {
			struct manner how = {.cwd = make_place(0)};
			struct outcome o;

			assert_int_equal(mkfifo(text("%s/fifo", how.cwd), 0644), 0);
			make_socket(text("%s/socket", how.cwd));
			assert_int_equal(symlink("out/f", text("%s/link", how.cwd)), 0);
			assert_int_equal(symlink("out", text("%s/dirlink", how.cwd)), 0);
			RUN(&o, &how, bin, "--ro", "/", flags[f], cases[i].path, "--",
				"sh", "-c", cases[i].script);
			assert_null(strstr(o.err, "landlock-run"));
			if (f == 1 || i == 2)
				assert_int_equal(exit_code(&o), 0);
			else
				assert_int_not_equal(exit_code(&o), 0);
		}
	}
}

/* Content may change, the name may not. */
static void test_file_grant_is_in_place_only(void **state)
{
	static const struct effect effects[] = {
		{"echo x > out/f", true},
		{"rm out/f", false},
		{"echo x > out/f.tmp && mv out/f.tmp out/f", false},
	};

	(void)state;
	EXPECT_EFFECTS(effects, "--ro", "/", "--rw", "out/f");
}

static void test_grant_that_cannot_be_opened(void **state)
{
	struct manner how = {.cwd = make_place(0)};
	struct outcome o;

	(void)state;
	assert_int_equal(symlink("nowhere", text("%s/dangling", how.cwd)), 0);
	RUN(&o, &how, bin, "--ro", "/", "--rw", "missing", "--", "touch", "ran");
	assert_string_equal(o.err, "landlock-run: cannot open rule path: missing: No "
				   "such file or directory\n");
	assert_int_equal(exit_code(&o), FAILURE);
	assert_int_not_equal(access(text("%s/ran", how.cwd), F_OK), 0);
	RUN(&o, &how, bin, "--ro", "dangling", "--", "true");
	assert_int_equal(exit_code(&o), FAILURE);
	RUN(&o, &how, bin, "--ro", "", "--", "true");
	assert_string_equal(o.err,
		"landlock-run: cannot open rule path: : No such file or directory\n");
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(text("%s/out", how.cwd), 0700), 0);
	how.uid = TEST_UID;
	RUN(&o, &how, bin, "--ro", "/", "--ro", "out", "--", "true");
	assert_int_equal(exit_code(&o), 0);
	RUN(&o, &how, bin, "--ro", "/", "--ro", "out/f", "--", "true");
	assert_string_equal(
		o.err, "landlock-run: cannot open rule path: out/f: Permission denied\n");
}

static const char *const odd_names[] = {"a b", "a\nb", "a\tb", "'\"`$(x)", "-x", "--",
	"\xff\xfe", "a\\b", "*?[x]", "\x01\x7f", "#:;&|"};

static void test_odd_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof odd_names / sizeof odd_names[0]; i++) {
		struct manner how = {.cwd = make_place(0)};
		char *file = text("./%s/new", odd_names[i]);
		struct outcome o;

		assert_int_equal(mkdir(text("%s/%s", how.cwd, odd_names[i]), 0755), 0);
		RUN(&o, &how, bin, "--ro", "/", "--", "sh", "-c", "echo > \"$1\"", "sh",
			file);
		assert_int_not_equal(exit_code(&o), 0);
		RUN(&o, &how, bin, "--ro", "/", "--rw", odd_names[i], "--", "sh", "-c",
			"echo > \"$1\"", "sh", file);
		assert_string_equal(o.err, "");
		assert_int_equal(exit_code(&o), 0);
	}
}

/* One line, whatever is in it. */
static void test_messages_are_one_line(void **state)
{
	struct outcome o;

	(void)state;
	if (foreign)
		return;
	for (size_t i = 0; i < sizeof odd_names / sizeof odd_names[0]; i++) {
		char *path = text("/nowhere/%s", odd_names[i]);

		RUN(&o, NULL, bin, "--rw", path, "--", "true");
		assert_int_equal(count_lines(o.err), 1);
		assert_int_equal(exit_code(&o), FAILURE);
		RUN(&o, NULL, bin, path, "--", "true");
		assert_int_equal(count_lines(o.err), 1);
	}
	RUN(&o, NULL, bin, "--ro", "/a\nlandlock-run: b\x1b[m", "--", "true");
	assert_string_equal(o.err,
		"landlock-run: cannot open rule path: /a\\x0alandlock-run: b\\x1b[m: "
		"No such file or directory\n");
}

/* Longer than any path: the message is cut, not the reason. */
static void test_long_names(void **state)
{
	static char name[100001];
	struct outcome o;

	(void)state;
	memset(name, '\n', sizeof name - 1);
	RUN(&o, NULL, bin, "--ro", name, "--", "true");
	assert_int_equal(exit_code(&o), FAILURE);
	if (foreign)
		return;
	assert_int_equal(count_lines(o.err), 1);
	assert_non_null(strstr(o.err, "\\x0a...: File")); /* musl: Filename too long */
	assert_non_null(strstr(o.err, " too long\n"));
	memset(name, 'a', sizeof name - 1);
	RUN(&o, NULL, bin, name);
	assert_non_null(strstr(o.err, "aaa...\n"));
	assert_int_equal(count_lines(o.err), 1);
}

/* --- the kernel -------------------------------------------------------------- */

/* strace answers in the place of the kernel. */
static void run_injected(struct outcome *o, const struct manner *how, const char *inject,
	const char *const argv[])
{
	const char *all[32] = {"strace", "-o", "/dev/null", "-e",
		"trace=landlock_create_ruleset,landlock_add_rule,landlock_restrict_self,"
		"prctl,openat,write",
		"-e", text("inject=%s", inject)};
	size_t n = 7;

	if (!have_program("strace"))
		test_skip("no strace");
	for (; *argv; argv++)
		all[n++] = *argv;
	run(o, how, all);
}

#define INJECT(o, how, inject, ...)                                                      \
	run_injected(o, how, inject, (const char *const[]){__VA_ARGS__, NULL})

static void test_probe(void **state)
{
	struct outcome o;

	(void)state;
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};

		RUN(&o, &how, bin, "--probe");
		assert_string_equal(o.out, "landlock: fully enforced\n");
		assert_string_equal(o.err, "");
		assert_int_equal(exit_code(&o), 0);
	}
}

static void test_probe_must_be_heard(void **state)
{
	struct manner how = {.out = open("/dev/full", O_WRONLY | O_CLOEXEC)};
	struct outcome o;
	int ends[2];

	(void)state;
	if (foreign)
		return;
	RUN(&o, &how, bin, "--probe");
	assert_int_equal(exit_code(&o), FAILURE);
	assert_int_equal(count_lines(o.err), 1);
	close(how.out);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	how.out = ends[1];
	RUN(&o, &how, bin, "--probe");
	assert_int_equal(exit_code(&o), FAILURE);
	close(ends[1]);
}

static void test_every_abi(void **state)
{
	(void)state;
	for (int abi = 1; abi <= 12; abi++) {
		struct manner how = {.cwd = make_place(0)};
		const char *inject = text(
			"landlock_create_ruleset:retval=%d:when=1", abi);
		struct outcome o;

		INJECT(&o, &how, inject, bin, "--probe");
		assert_int_equal(exit_code(&o), 0);
		assert_string_equal(
			o.out, abi < 5 ? "landlock: partially enforced (older ABI)\n"
				       : "landlock: fully enforced\n");
		INJECT(&o, &how, inject, bin, "--ro", "/", "--rw", "in", "--", "sh", "-c",
			"echo > in/new; echo > out/new");
		assert_memory_equal(
			o.err, abi < 5 ? NOTICE : "", abi < 5 ? strlen(NOTICE) : 0);
		assert_int_not_equal(exit_code(&o), 0);
		assert_int_equal(access(text("%s/in/new", how.cwd), F_OK), 0);
		assert_int_not_equal(access(text("%s/out/new", how.cwd), F_OK), 0);
		if (abi >= 5)
			assert_null(strstr(o.err, "landlock-run"));
		/* What ABI 3 brought is gone below it, and only there. */
		INJECT(&o, &how, inject, bin, "--ro", "/", "--", self, "truncate",
			"out/f", "");
		assert_int_equal(exit_code(&o), abi < 3 ? 0 : EACCES);
	}
}

static void test_kernel_cannot_enforce(void **state)
{
	static const char *const injections[] = {
		"landlock_create_ruleset:error=ENOSYS",
		"landlock_create_ruleset:error=EOPNOTSUPP",
		"landlock_create_ruleset:error=EINVAL:when=2",
		"landlock_add_rule:error=ENOMEM",
		"landlock_restrict_self:error=E2BIG",
		"landlock_restrict_self:error=EPERM",
		"prctl:error=EINVAL",
	};
	struct manner how = {.cwd = make_place(0)};

	(void)state;
	for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++) {
		struct outcome o;

		INJECT(&o, &how, injections[i], bin, "--rw", "/", "--", "touch", "ran");
		assert_int_equal(exit_code(&o), FAILURE);
		assert_int_equal(count_lines(o.err), 1);
		assert_memory_equal(o.err, "landlock-run: ", 14);
		INJECT(&o, &how, injections[i], bin, "--probe");
		assert_int_equal(exit_code(&o), FAILURE);
		assert_string_equal(o.out, "");
		assert_int_equal(count_lines(o.err), 1);
	}
	assert_int_not_equal(access(text("%s/ran", how.cwd), F_OK), 0);
}

static void test_no_abi_at_all(void **state)
{
	struct outcome o;

	(void)state;
	if (foreign)
		return;
	INJECT(&o, NULL, "landlock_create_ruleset:retval=0:when=1", bin, "--probe");
	assert_int_equal(exit_code(&o), FAILURE);
}

static void test_interrupted_calls(void **state)
{
	struct outcome o;

	(void)state;
	if (foreign)
		return;
	INJECT(&o, NULL, "openat:error=EINTR:when=1", bin, "--ro", "/", "--", "true");
	assert_string_equal(o.err, "");
	assert_int_equal(exit_code(&o), 0);
	INJECT(&o, NULL, "write:error=EINTR:when=1", bin, "x");
	assert_string_equal(o.err, USAGE "unknown argument: x\n");
}

/* The kernel stacks sixteen domains and not one more. */
static void test_nesting(void **state)
{
	(void)state;
	for (int depth = 16; depth <= 17; depth++) {
		const char *argv[4 * 17 + 2] = {0};
		struct outcome o;
		int n = 0;

		for (int i = 0; i < depth; i++) {
			argv[n++] = bin;
			argv[n++] = "--ro";
			argv[n++] = "/";
			argv[n++] = "--";
		}
		argv[n] = "true";
		run(&o, NULL, argv);
		assert_int_equal(exit_code(&o), depth == 16 ? 0 : FAILURE);
		assert_string_equal(o.err,
			depth == 16 ? ""
				    : "landlock-run: landlock ruleset error: Argument "
				      "list too long\n");
	}
}

static void test_order_of_calls(void **state)
{
	static const char *const calls[] = {"prctl(PR_SET_NO_NEW_PRIVS, 1",
		"landlock_create_ruleset(NULL", "landlock_create_ruleset({", "\"/usr\"",
		"landlock_add_rule(", "\"/dev/null\"", "landlock_add_rule(",
		"landlock_restrict_self(", "execve(\"/bin/true\""};
	struct outcome o;
	const char *at;

	(void)state;
	if (foreign)
		return;
	if (!have_program("strace"))
		test_skip("no strace");
	RUN(&o, NULL, "strace", bin, "--ro", "/usr", "--rw", "/dev/null", "--",
		"/bin/true");
	at = strchr(o.err, '\n'); /* the exec of the launcher */
	for (size_t i = 0; at && i < sizeof calls / sizeof calls[0]; i++) {
		at = strstr(at, calls[i]);
		if (!at)
			fail_msg("not there in its place: %s\n%s", calls[i], o.err);
	}
}

/* --- what the command finds ------------------------------------------------- */

static void test_command_state(void **state)
{
	struct outcome o;

	(void)state;
	for (size_t person = 0; person < people_here(); person++) {
		struct manner how = {.uid = people[person]};

		RUN(&o, &how, bin, "--ro", "/", "--", "grep", "NoNewPrivs",
			"/proc/self/status");
		assert_string_equal(o.out, "NoNewPrivs:\t1\n");
		RUN(&o, &how, bin, "--ro", "/", "--rw", "/dev/null", "--", "ls",
			"/proc/self/fd");
		assert_string_equal(o.out, "0\n1\n2\n3\n"); /* 3: ls's own */
	}
}

static void close_stdio(void *arg)
{
	(void)arg;
	close(0);
	close(2);
}

static void test_missing_descriptors(void **state)
{
	struct manner how = {.prepare = close_stdio};
	struct outcome o;

	(void)state;
	RUN(&o, &how, bin, "--ro", "/", "--", "ls", "/proc/self/fd");
	assert_int_equal(exit_code(&o), 0);
	assert_string_equal(o.out, "0\n1\n"); /* 0: ls's own */
	RUN(&o, &how, bin, "x");
	assert_int_equal(exit_code(&o), FAILURE);
}

static void ignore_sigpipe(void *arg)
{
	signal(SIGPIPE, arg ? SIG_IGN : SIG_DFL);
}

/* A notice that nobody reads is no reason not to run. */
static void test_notice_without_reader(void **state)
{
	struct outcome o;
	int ends[2];

	(void)state;
	if (foreign)
		return;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	for (int ignored = 0; ignored < 2; ignored++) {
		struct manner how = {.err = ends[1],
			.prepare = ignore_sigpipe,
			.arg = ignored ? &ignored : NULL};

		INJECT(&o, &how, "landlock_create_ruleset:retval=3:when=1", bin, "--ro",
			"/", "--", "grep", "SigIgn", "/proc/self/status");
		assert_int_equal(exit_code(&o), 0);
		/* Of the others, whatever this test was started with stays. */
		unsigned long long seen = 0;
		assert_int_equal(sscanf(o.out, "SigIgn:\t%llx", &seen), 1);
		assert_int_equal(seen >> (SIGPIPE - 1) & 1, ignored);
		RUN(&o, &how, bin, "x");
		assert_int_equal(exit_code(&o), FAILURE);
	}
	close(ends[1]);
}

static void test_size(void **state)
{
	struct outcome o;
	struct stat st;

	(void)state;
	assert_int_equal(stat(bin, &st), 0);
	assert_in_range(st.st_size, 1, SIZE_LIMIT);
	RUN(&o, NULL, "sh", "-c",
		"od -An -c \"$1\" | grep -c 'l   d   -   l   i   n   u   x'", "sh", bin);
	assert_string_equal(o.out, "0\n"); /* static: no interpreter */
}

/* --- main --------------------------------------------------------------------- */

static int do_call(char **argv)
{
	int ret = -1;

	if (!strcmp(argv[1], "rename"))
		ret = rename(argv[2], argv[3]);
	else if (!strcmp(argv[1], "link"))
		ret = link(argv[2], argv[3]);
	else if (!strcmp(argv[1], "truncate"))
		ret = truncate(argv[2], 0);
	else if (!strcmp(argv[1], "open-trunc"))
		ret = open(argv[2], O_RDONLY | O_TRUNC);
	return ret < 0 ? errno : 0;
}

static int set_up(void **state)
{
	const char *launcher = getenv("CORDON_LAUNCHER");
	char *source = text("%s/landlock-run", build_dir());
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int bin_fd;

	(void)state;
	foreign = launcher && *launcher;
	bin_fd = open(foreign ? launcher : source, O_RDONLY | O_CLOEXEC);
	if (bin_fd < 0) {
		perror(foreign ? launcher : source);
		return -1;
	}
	setenv("PATH", "/usr/bin:/bin", 1); /* nothing in it that we may not search */
	enter_throwaway();
	top = make_temp_dir();
	bin = text("%s/landlock-run", top);
	self = text("%s/self", top);
	copy_file(text("/proc/self/fd/%d", bin_fd), bin, 0755);
	copy_file(text("/proc/self/fd/%d", self_fd), self, 0755);
	close(bin_fd);
	close(self_fd);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_tree(top);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_argv_is_passed_on),
		cmocka_unit_test(test_environment_is_passed_on),
		cmocka_unit_test(test_exec_failures),
		cmocka_unit_test(test_no_grants),
		cmocka_unit_test(test_status_is_passed_on),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_read_write),
		cmocka_unit_test(test_moves_across),
		cmocka_unit_test(test_reading_needs_a_grant),
		cmocka_unit_test(test_grants_on_other_objects),
		cmocka_unit_test(test_file_grant_is_in_place_only),
		cmocka_unit_test(test_grant_that_cannot_be_opened),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_messages_are_one_line),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_must_be_heard),
		cmocka_unit_test(test_every_abi),
		cmocka_unit_test(test_kernel_cannot_enforce),
		cmocka_unit_test(test_no_abi_at_all),
		cmocka_unit_test(test_interrupted_calls),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_order_of_calls),
		cmocka_unit_test(test_command_state),
		cmocka_unit_test(test_missing_descriptors),
		cmocka_unit_test(test_notice_without_reader),
		cmocka_unit_test(test_size),
	};

	if (argc == 4)
		_exit(do_call(argv)); /* past what a sanitizer does at exit */
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
