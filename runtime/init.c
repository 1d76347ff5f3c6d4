/* SPDX-License-Identifier: Apache-2.0
 *
 * cordon-init: the first process of every bubblewrap sandbox. It owns the last
 * word before the command runs (are the mounts those that were planned?), the
 * second lock, and the evidence of what became of the command. The protocol,
 * argv and records and events, is runtime/init.h.
 *
 * The one idea: bubblewrap turns paths into mounts, and between planning and
 * mounting a path may have come to mean something else. In here the mounts are
 * fixed and nothing hostile runs yet. So this is the one place where a check
 * is also true afterwards: whatever does not look as planned ends the launch
 * with nothing executed.
 *
 * Then there are two processes. The child locks itself and becomes the
 * command; until then it talks through a close-on-exec pipe. The parent stays
 * outside of the lock, cannot be traced, passes signals on, reaps, reports,
 * and ends with the command; the kernel then ends the pid namespace.
 *
 * No heap: the configuration is mapped and read in place.
 */
#include "runtime/init.h"
#include "runtime/landlock_uapi.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define EXIT_OWN_FAILURE 125

/* With the NUL: PATH_MAX and NAME_MAX of every file system. */
#define PATH_BYTES 4096
#define NAME_BYTES 256

/* --- what the headers of musl lack -------------------------------------- */

#define RESOLVE_NO_SYMLINKS_5_6  0x04 /* openat2(2), Linux 5.6 */
#define CLOSE_RANGE_CLOEXEC_5_11 4U /* close_range(2), Linux 5.11 */
#define STATX_MOUNT_ROOT_5_8     0x2000ULL
#define TMPFS_SUPER_MAGIC        0x01021994L

/* A mask cannot be listed, but tmpfs counts entries in the size of a directory:
 * twenty bytes for each, `.` and `..` included. */
#define TMPFS_EMPTY_SIZE 40

struct kernel_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

struct kernel_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare;
	uint64_t ino, size, blocks, attributes_mask;
	uint64_t rest[24]; /* times, devices, what came later: not looked at */
};
_Static_assert(sizeof(struct kernel_statx) == 256, "as the kernel has it");

/* --- events -------------------------------------------------------------- */

static int status_fd;

/* False when nobody will ever read it. */
static bool send_event(const struct init_event *event)
{
	ssize_t n;

	do
		n = write(status_fd, event, sizeof *event);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *event;
}

static bool report(enum init_event_kind kind, int value)
{
	struct init_event event = {.kind = kind, .value = value};

	return send_event(&event);
}

_Noreturn static void end(enum init_event_kind kind, uint32_t record, int err)
{
	struct init_event event = {.kind = kind, .value = err, .record = record};

	send_event(&event);
	_exit(EXIT_OWN_FAILURE);
}

/* --- the configuration --------------------------------------------------- */

#define RECORD_FIELDS 3

struct record {
	const struct keyword *keyword;
	const char *field[RECORD_FIELDS];
};

/* Checks return 0, or a positive errno: the system's, or EINVAL and its like
 * for an object that is there but not as planned. */
struct keyword {
	const char *name;
	unsigned fields;
	unsigned path; /* which field is the path; fields if none is */
	int (*check)(const struct record *);
};

enum word {
	WORD_BIND,
	WORD_PIN,
	WORD_MASK,
	WORD_NULL,
	WORD_LINK,
	WORD_LOCK_RO,
	WORD_LOCK_RW,
	WORD_STDERR,
	WORD_TTY,
	WORD_CHECK,
};

static int check_bind(const struct record *);
static int check_pin(const struct record *);
static int check_mask(const struct record *);
static int check_null(const struct record *);
static int check_link(const struct record *);

static const struct keyword keywords[] = {
	[WORD_BIND] = {"bind", 3, 2, check_bind},
	[WORD_PIN] = {"pin", 2, 1, check_pin},
	[WORD_MASK] = {"mask", 2, 1, check_mask},
	[WORD_NULL] = {"null", 1, 0, check_null},
	[WORD_LINK] = {"link", 2, 1, check_link},
	[WORD_LOCK_RO] = {"lock-ro", 1, 0, NULL},
	[WORD_LOCK_RW] = {"lock-rw", 1, 0, NULL},
	[WORD_STDERR] = {"stderr", 1, 1, NULL},
	[WORD_TTY] = {"tty", 0, 0, NULL},
	[WORD_CHECK] = {"check", 0, 0, NULL},
};

static bool is(const struct record *record, enum word word)
{
	return record->keyword == &keywords[word];
}

struct config {
	const char *text; /* a sequence of strings, size bytes with every NUL */
	size_t size;
	int stderr_fd; /* -1: none */
	int abi; /* of the second lock, 0: none is taken */
	bool lock, tty, check;
};

struct cursor {
	const char *at, *end;
};

static struct cursor config_start(const struct config *config)
{
	return (struct cursor){config->text, config->text + config->size};
}

/* Every field has its NUL: load_config looks at the last byte. */
static const char *next_field(struct cursor *cursor)
{
	const char *field = cursor->at;

	if (field == cursor->end)
		return NULL;
	cursor->at += strlen(field) + 1;
	return field;
}

/* 1: a record, 0: the end, -EINVAL: not a configuration. */
static int next_record(struct cursor *cursor, struct record *record)
{
	const char *name = next_field(cursor);
	size_t i = 0, n = sizeof keywords / sizeof keywords[0];

	if (!name)
		return 0;
	while (i < n && strcmp(name, keywords[i].name))
		i++;
	if (i == n)
		return -EINVAL;
	record->keyword = &keywords[i];
	for (unsigned f = 0; f < keywords[i].fields; f++) {
		record->field[f] = next_field(cursor);
		if (!record->field[f])
			return -EINVAL;
		if (f == keywords[i].path && record->field[f][0] != '/')
			return -EINVAL;
	}
	return 1;
}

/* Decimal digits up to stop, at least one. NULL if that is not what is there
 * or if it is too large. */
static const char *parse_number(const char *text, char stop, uint64_t *value)
{
	uint64_t sum = 0;

	if (*text == stop)
		return NULL;
	for (; *text != stop; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || sum > (UINT64_MAX - digit) / 10)
			return NULL;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return text;
}

static int parse_fd(const char *text)
{
	uint64_t value;

	if (!parse_number(text, 0, &value) || value > INT32_MAX)
		return -EINVAL;
	return (int)value;
}

static int note_setting(struct config *config, const struct record *record)
{
	config->lock |= is(record, WORD_LOCK_RO) || is(record, WORD_LOCK_RW);
	config->tty |= is(record, WORD_TTY);
	config->check |= is(record, WORD_CHECK);
	if (is(record, WORD_STDERR)) {
		config->stderr_fd = parse_fd(record->field[0]);
		return config->stderr_fd < 0 ? config->stderr_fd : 0;
	}
	return 0;
}

/* Map it and go through all of it once: nothing is done on a configuration
 * that turns out to be broken further down. */
static int load_config(struct config *config, int fd)
{
	struct record record;
	struct cursor cursor;
	struct stat st;
	int more;

	*config = (struct config){.text = "", .stderr_fd = -1};
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL; /* a pipe would look like an empty file */
	if (st.st_size > 0) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map == MAP_FAILED)
			return -errno;
		config->text = map;
		config->size = (size_t)st.st_size;
		if (config->text[config->size - 1])
			return -EINVAL;
	}
	cursor = config_start(config);
	while ((more = next_record(&cursor, &record)) > 0) {
		int err = note_setting(config, &record);

		if (err)
			return err;
	}
	return more;
}

/* --- checks -------------------------------------------------------------- */

/* Descriptor or -errno. No component may be a symbolic link. */
static int open_plain(const char *path, uint64_t flags)
{
	struct kernel_open_how how = {
		.flags = flags | O_CLOEXEC,
		.mode = (flags & O_TMPFILE) == O_TMPFILE ? 0600 : 0,
		.resolve = RESOLVE_NO_SYMLINKS_5_6,
	};
	long fd;

	do
		fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

struct object {
	struct stat st;
	struct statfs fs;
};

/* Look at the root of the mount that stands at path. */
static int look_at_mount(const char *path, struct object *object)
{
	struct kernel_statx sx;
	int fd = open_plain(path, O_PATH), err = 0;

	if (fd < 0)
		return -fd;
	if (fstat(fd, &object->st) < 0 || fstatfs(fd, &object->fs) < 0 ||
		syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &sx) < 0)
		err = errno;
	else if (!(sx.attributes_mask & STATX_MOUNT_ROOT_5_8))
		err = EOPNOTSUPP; /* before Linux 5.8 nobody can tell */
	else if (!(sx.attributes & STATX_MOUNT_ROOT_5_8))
		err = EINVAL;
	close(fd);
	return err;
}

static bool read_only(const struct object *object)
{
	return object->fs.f_flags & ST_RDONLY;
}

/* DEV:INO */
static int check_identity(const struct object *object, const char *text)
{
	uint64_t dev, ino;
	const char *colon = parse_number(text, ':', &dev);

	if (!colon || !parse_number(colon + 1, 0, &ino))
		return EINVAL;
	return object->st.st_dev == dev && object->st.st_ino == ino ? 0 : ESTALE;
}

/* The proof of the flag: try it. O_TMPFILE makes a file without a name, and
 * nothing is ever truncated, so even a write that goes through leaves nothing
 * behind. What is neither file nor directory cannot be tried without an
 * effect on whoever is at the other end. */
static int check_refuses_write(const char *path, mode_t mode)
{
	int fd;

	if (S_ISDIR(mode))
		fd = open_plain(path, O_TMPFILE | O_RDWR);
	else if (S_ISREG(mode))
		fd = open_plain(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
	else
		return 0;
	if (fd >= 0) {
		close(fd);
		return EINVAL;
	}
	switch (-fd) {
	case EROFS:
	case EACCES:
	case EPERM:
	case ETXTBSY: return 0;
	default: return -fd;
	}
}

static int check_bind(const struct record *record)
{
	const char *path = record->field[2];
	bool ro = !strcmp(record->field[0], "ro");
	struct object object;
	int err = look_at_mount(path, &object);

	if (err)
		return err;
	if (!ro && strcmp(record->field[0], "rw"))
		return EINVAL;
	err = check_identity(&object, record->field[1]);
	if (err)
		return err;
	if (ro != read_only(&object))
		return ro ? EINVAL : EROFS;
	return ro ? check_refuses_write(path, object.st.st_mode) : 0;
}

static int check_pin(const struct record *record)
{
	struct object object;
	int err = look_at_mount(record->field[1], &object);

	if (err)
		return err;
	if (!S_ISDIR(object.st.st_mode))
		return ENOTDIR;
	if (read_only(&object))
		return EROFS;
	return check_identity(&object, record->field[0]);
}

static int check_mask(const struct record *record)
{
	bool ways = !strcmp(record->field[0], "0111");
	struct object object;
	int err = look_at_mount(record->field[1], &object);

	if (err)
		return err;
	if (!ways && strcmp(record->field[0], "0"))
		return EINVAL;
	if (object.fs.f_type != TMPFS_SUPER_MAGIC || !S_ISDIR(object.st.st_mode) ||
		!read_only(&object))
		return EINVAL;
	if ((object.st.st_mode & 07777) != (ways ? 0111U : 0U))
		return EINVAL;
	return !ways && object.st.st_size > TMPFS_EMPTY_SIZE ? ENOTEMPTY : 0;
}

static int check_null(const struct record *record)
{
	const char *path = record->field[0];
	struct object object;
	int err = look_at_mount(path, &object), fd;

	if (err)
		return err;
	if (!S_ISCHR(object.st.st_mode) || object.st.st_rdev != makedev(1, 3))
		return EINVAL;
	fd = open_plain(path, O_RDONLY);
	if (fd >= 0) {
		close(fd);
		return EINVAL;
	}
	return fd == -EACCES ? 0 : -fd;
}

static int check_link(const struct record *record)
{
	char text[PATH_BYTES];
	int fd = open_plain(record->field[1], O_PATH | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -fd;
	n = readlinkat(fd, "", text, sizeof text);
	close(fd);
	if (n < 0)
		return errno == ENOENT ? EINVAL : errno; /* ENOENT: not a link */
	if ((size_t)n != strlen(record->field[0]) ||
		memcmp(text, record->field[0], (size_t)n))
		return EINVAL;
	return 0;
}

static void check_all(const struct config *config)
{
	struct cursor cursor = config_start(config);
	struct record record;

	for (uint32_t number = 0; next_record(&cursor, &record) > 0; number++) {
		int err = record.keyword->check ? record.keyword->check(&record) : 0;

		if (err)
			end(INIT_REFUSED, number, err);
	}
}

/* --- the second lock ----------------------------------------------------- */

/* Below ABI 2 every rename between directories would be refused: too narrow to
 * be put on top of a sandbox that is complete without it. */
#define LOCK_MIN_ABI 2

/* The ABI of the lock to take, 0 for none, or -errno. */
static int find_lock_abi(const struct config *config)
{
	int abi = config->lock ? landlock_abi() : 0;

	if (abi == -ENOSYS || abi == -EOPNOTSUPP)
		return 0;
	return abi >= 0 && abi < LOCK_MIN_ABI ? 0 : abi;
}

/* What the descriptor itself allows, if a file that can be opened once more is
 * behind it: a regular file, the null device or a terminal. */
static uint64_t stdio_access(int fd)
{
	static const uint64_t by_mode[] = {
		[O_RDONLY] = LANDLOCK_ACCESS_FS_READ_FILE,
		[O_WRONLY] = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE,
		[O_RDWR] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			   LANDLOCK_ACCESS_FS_TRUNCATE,
	};
	int flags = fcntl(fd, F_GETFL), mode = flags & O_ACCMODE;
	struct stat st;

	if (flags < 0 || mode > O_RDWR || fstat(fd, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return by_mode[mode];
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return by_mode[mode];
	if (S_ISCHR(st.st_mode) && isatty(fd))
		return by_mode[mode] | LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return 0;
}

/* `> /dev/stderr` opens the file behind the descriptor by its real path, which
 * the other rules need not cover. A memfd has none: EBADFD, and no need. */
static int allow_stdio(int ruleset, int fd, uint64_t handled)
{
	uint64_t access = stdio_access(fd);
	int err = access ? landlock_allow(ruleset, fd, access, handled) : 0;

	return err == -EBADFD ? 0 : err;
}

static int allow_record(int ruleset, const struct record *record, uint64_t handled)
{
	int fd, err;

	if (!is(record, WORD_LOCK_RO) && !is(record, WORD_LOCK_RW))
		return 0;
	fd = open_plain(record->field[0], O_PATH);
	if (fd < 0)
		return fd;
	err = landlock_allow(ruleset, fd,
		is(record, WORD_LOCK_RW) ? UINT64_MAX : LANDLOCK_READ, handled);
	close(fd);
	return err;
}

static int take_lock(const struct config *config)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = landlock_handled_fs(config->abi),
		.scoped = landlock_known(config->abi, LANDLOCK_SCOPE_ABI).scoped,
	};
	struct cursor cursor = config_start(config);
	struct record record;
	int ruleset, err = 0;

	if (!config->abi)
		return 0;
	ruleset = landlock_create(&attr);
	if (ruleset < 0)
		return ruleset;
	while (!err && next_record(&cursor, &record) > 0)
		err = allow_record(ruleset, &record, attr.handled_access_fs);
	for (int fd = 1; !err && fd <= 2; fd++)
		err = allow_stdio(ruleset, fd, attr.handled_access_fs);
	if (!err)
		err = landlock_no_new_privs();
	if (!err)
		err = landlock_restrict(ruleset);
	close(ruleset);
	return err;
}

/* --- descriptors --------------------------------------------------------- */

struct kernel_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/* The names in one buffer of getdents64(2) on /proc/self/fd. */
static void treat_listed(const char *at, const char *stop, int first, int dir, bool shut)
{
	while (at < stop) {
		const struct kernel_dirent *entry = (const void *)at;
		uint64_t fd;

		at += entry->reclen;
		if (!parse_number(entry->name, 0, &fd) || (int)fd < first ||
			(int)fd == dir)
			continue;
		if (shut)
			close((int)fd);
		else
			fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	}
}

/* Close every descriptor from first up, or mark it close-on-exec. The slow way
 * is for kernels and filters without close_range(2). */
static int treat_descriptors(int first, bool shut)
{
	_Alignas(struct kernel_dirent) char list[2048];
	long n;
	int dir;

	if (syscall(SYS_close_range, first, ~0U, shut ? 0 : CLOSE_RANGE_CLOEXEC_5_11) ==
		0)
		return 0;
	dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, dir, list, sizeof list)) > 0)
		treat_listed(list, list + n, first, dir, shut);
	if (n < 0)
		n = -errno;
	close(dir);
	return (int)n;
}

/* --- the child: becoming the command ------------------------------------- */

/* What the child says through the pipe: one of these, or an enum init_step
 * that failed. Its last word, followed by the end of the file, tells what
 * happened: an end after GOING is the exec itself, an end after nothing is a
 * child that was killed before. */
enum {
	NOTE_NONE = 0,
	NOTE_GOING = -1,
	NOTE_EXEC_FAILED = -2,
};

struct note {
	int what;
	int err;
};

static void tell(int fd, int what, int err)
{
	struct note note = {what, err};
	ssize_t n;

	do
		n = write(fd, &note, sizeof note);
	while (n < 0 && errno == EINTR);
}

/* The kernel's own call: the C library keeps two signals to itself, which a caller
 * may have left ignored (rt_sigaction(2)). All zero is SIG_DFL. */
static void reset_dispositions(void)
{
	static const char standard[64];

	for (int sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, standard, NULL, (size_t)8);
}

/* One candidate of the search. A file that is no program of any format is a
 * script for sh, as in execvp(3) of POSIX (musl leaves that out). The place
 * before argv is ours: see main. */
static int try_exec(const char *path, char **argv)
{
	char *name = argv[0], *before = argv[-1];

	execve(path, argv, environ);
	if (errno != ENOEXEC)
		return -errno;
	argv[-1] = "/bin/sh";
	argv[0] = (char *)path;
	execve(argv[-1], argv - 1, environ);
	argv[-1] = before;
	argv[0] = name;
	return -ENOEXEC;
}

/* The places where a search goes on, as glibc has it. */
static bool looks_absent(int err)
{
	switch (-err) {
	case EACCES:
	case ENOENT:
	case ESTALE:
	case ENOTDIR:
	case ENODEV:
	case ETIMEDOUT: return true;
	default: return false;
	}
}

static const char *search_path(void)
{
	for (char **var = environ; *var; var++)
		if (!strncmp(*var, "PATH=", 5))
			return *var + 5;
	return "/bin:/usr/bin";
}

/* An empty element is the current directory; it is spelled out, or else sh
 * would take a script named -x as an option. NULL: too long for a path. */
static const char *join(const char *dir, size_t length, const char *name)
{
	static char path[PATH_BYTES + NAME_BYTES];

	if (!length) {
		dir = ".";
		length = 1;
	}
	if (length >= PATH_BYTES)
		return NULL;
	memcpy(path, dir, length);
	path[length] = '/';
	strcpy(path + length + 1, name);
	return path;
}

/* Returns only on failure, with -errno. */
static int exec_command(char **argv)
{
	const char *at = search_path(), *stop, *path;
	int err, seen = -ENOENT;

	if (!argv[0][0])
		return -ENOENT;
	if (strchr(argv[0], '/'))
		return try_exec(argv[0], argv);
	if (strlen(argv[0]) >= NAME_BYTES)
		return -ENAMETOOLONG;
	do {
		stop = strchrnul(at, ':');
		path = join(at, (size_t)(stop - at), argv[0]);
		err = path ? try_exec(path, argv) : -ENOENT;
		if (!looks_absent(err))
			return err;
		if (err == -EACCES)
			seen = err;
		at = stop + 1;
	} while (*stop);
	return seen;
}

/* The group is in the foreground from before the command starts, so it can
 * neither miss a key nor be stopped for reading. Where this fails there is no
 * controlling terminal, hence nothing to be stopped by. */
static void take_terminal(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, getpgrp()) == 0)
			return;
}

_Noreturn static void quit(int note_fd, int what, int err)
{
	tell(note_fd, what, -err);
	_exit(EXIT_OWN_FAILURE);
}

_Noreturn static void become_command(
	const struct config *config, char **argv, int note_fd, pid_t group)
{
	sigset_t none;
	int err;

	if (setpgid(0, group) < 0)
		quit(note_fd, INIT_STEP_FORK, -errno);
	if (config->tty)
		take_terminal(); /* SIGTTOU is blocked */
	if (config->stderr_fd >= 0 && dup2(config->stderr_fd, 2) < 0)
		quit(note_fd, INIT_STEP_STDERR, -errno);
	err = take_lock(config);
	if (err)
		quit(note_fd, INIT_STEP_LOCK, err);
	/* To 3, and everything above can go. */
	if (note_fd != 3 && dup3(note_fd, 3, O_CLOEXEC) < 0)
		quit(note_fd, INIT_STEP_FORK, -errno);
	note_fd = 3;
	err = treat_descriptors(4, true);
	if (err)
		quit(note_fd, INIT_STEP_FORK, err);
	reset_dispositions();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	tell(note_fd, NOTE_GOING, 0);
	quit(note_fd, NOTE_EXEC_FAILED, exec_command(argv));
}

/* --- the parent ----------------------------------------------------------- */

/* Passed on to the command's process group. */
static const int forwarded[] = {
	SIGTERM,
	SIGINT,
	SIGHUP,
	SIGQUIT,
	SIGUSR1,
	SIGUSR2,
	SIGWINCH,
	SIGCONT,
	SIGTSTP,
};

/* From the very start: what arrives before the command is there waits, where
 * pid 1 without a handler would drop it. */
static void hold_signals(sigset_t *set)
{
	reset_dispositions(); /* an ignored SIGCHLD would leave nothing to reap */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTTOU);
	for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
		sigaddset(set, forwarded[i]);
	sigprocmask(SIG_SETMASK, set, NULL);
}

/* The caller asked for a stop and has not taken it back. */
static bool stop_wanted;

/* The command has a process group without us in it, so a signal to our group
 * comes here only, and every signal reaches the command exactly once. If it
 * has moved to another group meanwhile (setsid), that one is meant. */
static void forward(pid_t command, int sig)
{
	pid_t group = getpgid(command);

	if (group > 1 && group != getpgrp())
		kill(-group, sig);
	else
		kill(command, sig);
}

static void forward_pending(int signals, pid_t command)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
		for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
			if ((int)info.ssi_signo == forwarded[i])
				forward(command, forwarded[i]);
		if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGCONT)
			stop_wanted = info.ssi_signo == SIGTSTP;
	}
}

/* Until the pipe ends: what did the child come to? */
static struct note await_exec(int notes, int signals, pid_t command)
{
	struct pollfd polled[] = {
		{.fd = notes, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct note last = {NOTE_NONE, EINTR}, note;

	for (;;) {
		ssize_t n = 1;

		poll(polled, 2, -1);
		if (polled[1].revents)
			forward_pending(signals, command);
		if (polled[0].revents)
			n = read(notes, &note, sizeof note);
		if (polled[0].revents && n == (ssize_t)sizeof note)
			last = note;
		if (n == 0 || (n < 0 && errno != EINTR))
			return last;
	}
}

static uint64_t microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

_Noreturn static void end_with(int wait_status)
{
	bool signaled = WIFSIGNALED(wait_status);
	struct init_event event = {
		.kind = signaled ? INIT_SIGNALED : INIT_EXITED,
		.value = signaled ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status),
	};
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
		event.utime_us = microseconds(usage.ru_utime);
		event.stime_us = microseconds(usage.ru_stime);
		event.maxrss_kib = (uint64_t)usage.ru_maxrss;
	}
	send_event(&event);
	_exit(signaled ? 128 + event.value : event.value);
}

/* Orphans of the sandbox come to pid 1, so anything may turn up here. A ^Z
 * stops the command where no shell could ever continue it, and the terminal
 * with it: it goes on at once. */
static void reap(pid_t command, bool tty)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != command)
			continue;
		if (!WIFSTOPPED(status))
			end_with(status);
		if (tty && WSTOPSIG(status) == SIGTSTP && !stop_wanted)
			forward(command, SIGCONT);
	}
}

/* Nothing in here outlives who answers for it. The kernel ends what is left in
 * the namespace of pid 1. */
_Noreturn static void abandon(pid_t command)
{
	forward(command, SIGKILL);
	_exit(EXIT_OWN_FAILURE);
}

/* Ends with the command, or when the reader of STATUS-FD goes away. */
_Noreturn static void supervise(int signals, pid_t command, bool tty)
{
	struct pollfd polled[] = {{.fd = signals, .events = POLLIN}, {.fd = status_fd}};

	for (;;) {
		reap(command, tty);
		poll(polled, 2, -1);
		if (polled[1].revents & (POLLERR | POLLHUP))
			abandon(command);
		forward_pending(signals, command);
	}
}

/* A process group needs a process to be named after, and a command that leads
 * its own could not call setsid(2). So its group is named after a process that
 * ends at once and stays a zombie, which keeps the name, until the command is
 * in. vfork: it is gone when the call returns. */
static pid_t make_group(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		setpgid(0, 0);
		_exit(0);
	}
	return pid;
}

_Noreturn static void launch(
	const struct config *config, char **argv, const sigset_t *held)
{
	struct note note;
	pid_t group, command;
	int notes[2], signals = signalfd(-1, held, SFD_CLOEXEC | SFD_NONBLOCK);

	if (signals < 0 || pipe2(notes, O_CLOEXEC) < 0)
		end(INIT_FAILED, INIT_STEP_FORK, errno);
	group = make_group();
	command = group < 0 ? group : fork();
	if (command < 0)
		end(INIT_FAILED, INIT_STEP_FORK, errno);
	if (command == 0)
		become_command(config, argv, notes[1], group);
	close(notes[1]);
	note = await_exec(notes[0], signals, command);
	close(notes[0]);
	waitpid(group, NULL, 0);
	if (note.what != NOTE_GOING)
		waitpid(command, NULL, 0); /* it has nothing left to do but exit */
	switch (note.what) {
	case NOTE_GOING: break;
	case NOTE_EXEC_FAILED: end(INIT_EXEC_FAILED, 0, note.err);
	case NOTE_NONE: end(INIT_FAILED, INIT_STEP_FORK, note.err);
	default: end(INIT_FAILED, (uint32_t)note.what, note.err);
	}
	if (!report(INIT_EXECUTED, 0))
		abandon(command);
	supervise(signals, command, config->tty);
}

/* --- main ------------------------------------------------------------------ */

_Noreturn static void usage(void)
{
	static const char text[] = "cordon-init: usage: CONFIG-FD STATUS-FD -- ARGV...\n";
	ssize_t ignored = write(2, text, sizeof text - 1);

	(void)ignored;
	_exit(EXIT_OWN_FAILURE);
}

/* A descriptor of ours in the place of a missing 0, 1 or 2 would be taken for
 * the command's. */
static bool stdio_is_there(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return false;
	return true;
}

static int own_fd(const char *text)
{
	int fd = parse_fd(text);

	if (fd < 3 || fcntl(fd, F_GETFD) < 0)
		usage();
	return fd;
}

/* What the configuration says about descriptors, before we open any. */
static void check_stderr(const struct config *config, int config_fd)
{
	int fd = config->stderr_fd;

	if (fd == status_fd || fd == config_fd)
		end(INIT_FAILED, INIT_STEP_STDERR, EINVAL);
	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		end(INIT_FAILED, INIT_STEP_STDERR, errno);
}

static void prepare(struct config *config, int argc, char **argv)
{
	int config_fd, err, dumpable = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);

	if (argc < 4 || strcmp(argv[3], "--"))
		usage();
	config_fd = own_fd(argv[1]);
	status_fd = own_fd(argv[2]);
	if (config_fd == status_fd || !stdio_is_there())
		usage();
	err = treat_descriptors(3, false);
	if (!err)
		err = load_config(config, config_fd);
	if (!err && argc == 4 && !config->check)
		err = -EINVAL;
	if (err)
		end(INIT_FAILED, INIT_STEP_USAGE, -err);
	if (dumpable < 0)
		end(INIT_FAILED, INIT_STEP_LOCK, EPERM);
	check_stderr(config, config_fd);
	close(config_fd);
}

int main(int argc, char **argv)
{
	struct config config;
	sigset_t held;
	int err;

	hold_signals(&held);
	prepare(&config, argc, argv);
	check_all(&config);
	config.abi = find_lock_abi(&config);
	err = config.abi < 0 ? config.abi : 0;
	if (!err && config.check)
		err = take_lock(&config); /* a trial of all there is */
	if (err)
		end(INIT_FAILED, INIT_STEP_LOCK, -err);
	if (!report(INIT_READY, config.abi))
		return EXIT_OWN_FAILURE; /* nobody would answer for the command */
	if (config.check)
		return 0;
	/* argv[3], the "--", is the free place before the command that
	 * try_exec needs. */
	launch(&config, argv + 4, &held);
}
