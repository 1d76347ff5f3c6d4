/* SPDX-License-Identifier: Apache-2.0
 *
 * landlock-run: restrict this process with Landlock, then become the command.
 *
 *     landlock-run [--ro PATH]... [--rw PATH]... -- ARGV...
 *     landlock-run --probe
 *
 * It takes argv and nothing else (PATH of the environment serves only to find
 * the command, as execvp does) and gives the command's own status, or one line
 * on stderr and 125 when the command did not run.
 *
 * The one idea: there is no state to undo. Everything happens to this very
 * process, in the order in which the kernel wants it, and the first step that
 * fails ends it. So argv is read twice, first to judge it as a whole and then
 * to turn grants into rules, and nothing is ever stored or allocated.
 */
#include "runtime/landlock_uapi.h"

#include <signal.h>
#include <string.h>

#define EXIT_OWN_FAILURE 125

/* Room for the longest path there is; a longer text is cut. */
#define LINE_TEXT 4200
#define LINE_TAIL 200

struct line {
	size_t len;
	char text[LINE_TEXT + LINE_TAIL];
};

static void put(struct line *line, const char *text)
{
	size_t n = strlen(text);

	if (n > sizeof line->text - line->len)
		n = sizeof line->text - line->len;
	memcpy(line->text + line->len, text, n);
	line->len += n;
}

/* Text from argv. A control byte becomes \xNN: a message stays one line, and
 * a path can neither forge a second one nor talk to the terminal. */
static void put_foreign(struct line *line, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char escaped[] = {'\\', 'x', hex[c >> 4], hex[c & 15], 0};
		char plain[] = {*text, 0};

		if (line->len > LINE_TEXT - sizeof escaped) {
			put(line, "...");
			return;
		}
		put(line, c < 0x20 || c == 0x7f ? escaped : plain);
	}
}

/* A reader that went away must not kill us before the command runs, and the
 * command must find SIGPIPE as we did. */
static int write_line(int fd, struct line *line)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	size_t done = 0;
	int err = 0;

	put(line, "\n");
	sigaction(SIGPIPE, &ignore, &before);
	while (done < line->len && !err) {
		ssize_t n = write(fd, line->text + done, line->len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			err = -errno;
	}
	sigaction(SIGPIPE, &before, NULL);
	return err;
}

/* The only way out but exec and a successful probe. subject (from argv) and
 * err (a positive errno) are left out when NULL and 0. */
_Noreturn static void fail(const char *what, const char *subject, int err)
{
	struct line line = {0};

	put(&line, "landlock-run: ");
	put(&line, what);
	if (subject) {
		put(&line, ": ");
		put_foreign(&line, subject);
	}
	if (err) {
		put(&line, ": ");
		put(&line, strerror(err));
	}
	write_line(2, &line);
	_exit(EXIT_OWN_FAILURE);
}

static void must(int ret)
{
	if (ret < 0)
		fail("landlock ruleset error", NULL, -ret);
}

/* --- grants ------------------------------------------------------------- */

struct flag {
	const char *name;
	uint64_t access;
	const char *no_path;
};

static const struct flag flags[] = {
	{"--ro", LANDLOCK_READ, "usage error: --ro requires a path"},
	{"--rw", UINT64_MAX, "usage error: --rw requires a path"},
};

static const struct flag *find_flag(const char *arg)
{
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (!strcmp(arg, flags[i].name))
			return &flags[i];
	return NULL;
}

/* Judge all of argv before anything is done. Returns the command, NULL for
 * --probe. */
static char **parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct flag *flag = find_flag(argv[i]);

		if (!strcmp(argv[i], "--")) {
			if (i + 1 < argc)
				return argv + i + 1;
			break;
		}
		if (!strcmp(argv[i], "--probe")) {
			if (argc == 2)
				return NULL;
			fail("usage error: --probe takes no other arguments", NULL, 0);
		}
		if (!flag)
			fail("usage error: unknown argument", argv[i], 0);
		if (++i == argc)
			fail(flag->no_path, NULL, 0);
	}
	fail("usage error: missing `-- <argv>...` command", NULL, 0);
}

static void grant(int ruleset, const char *path, uint64_t access, uint64_t handled)
{
	int fd;

	do
		fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		fail("cannot open rule path", path, errno);
	must(landlock_allow(ruleset, fd, access, handled));
	close(fd);
}

/* --- restriction -------------------------------------------------------- */

static const char not_enforced[] =
	"landlock is not enforced by this kernel (ABI unsupported or disabled)";

/* Returns the ABI of the kernel; grants are the pairs from first up to end. */
static int restrict_self(char **first, char **end)
{
	struct landlock_ruleset_attr attr = {0};
	int abi, ruleset;

	must(landlock_no_new_privs());
	abi = landlock_abi();
	if (abi < 1)
		fail(not_enforced, NULL, 0);
	attr.handled_access_fs = landlock_handled_fs(abi);
	ruleset = landlock_create(&attr);
	must(ruleset);
	for (; first < end; first += 2)
		grant(ruleset, first[1], find_flag(first[0])->access,
			attr.handled_access_fs);
	must(landlock_restrict(ruleset));
	close(ruleset);
	return abi;
}

/* The largest ruleset that this kernel can take, for real: what is asked is
 * whether restriction works here, not whether the system call exists. */
static int probe(void)
{
	char *root[] = {"--ro", "/"};
	struct line line = {0};
	int abi = restrict_self(root, root + 2);
	int err;

	put(&line, abi < LANDLOCK_FULL_ABI ? "landlock: partially enforced (older ABI)"
					   : "landlock: fully enforced");
	err = write_line(1, &line);
	if (err)
		fail("cannot write the result of the probe", NULL, -err);
	return 0;
}

int main(int argc, char **argv)
{
	char **command = parse(argc, argv);

	if (!command)
		return probe();
	if (restrict_self(argv + 1, command - 1) < LANDLOCK_FULL_ABI) {
		struct line line = {0};

		put(&line, "landlock-run: partial enforcement (older Landlock ABI)");
		write_line(2, &line);
	}
	execvp(command[0], command);
	fail("exec failed", NULL, errno);
}
