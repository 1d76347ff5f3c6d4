/* SPDX-License-Identifier: Apache-2.0
 *
 * The look-up behind every fact about this host. The state is what a kernel
 * look-up has too: the object arrived at, its canonical name, and the text that
 * is still to be consumed, into which the text of a link is put in front.
 */
#include "runtime/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "compiler/diag.h"

#define ATTEMPTS      4
#define OPEN_ATTEMPTS 100
#define DEPTH_MAX     (PATH_MAX / 2)

struct identity {
	dev_t dev;
	ino_t ino;
};

struct state {
	struct walk *walk;
	char at[PATH_MAX]; /* canonical name of walk->fd; "" is `/` */
	size_t at_len;
	char rest[2 * PATH_MAX]; /* not yet consumed */
	size_t own; /* bytes at the end of rest that are not of a link's text */
	struct identity up[DEPTH_MAX + 1]; /* [depth] is walk->fd */
	size_t depth;
};

struct component {
	char name[NAME_MAX + 1];
	bool from_link; /* stood in the text of a link */
};

static const char *name_of(const char *at)
{
	return *at ? at : "/";
}

static void move_to(struct state *state, int fd, const struct stat *st)
{
	if (state->walk->fd >= 0)
		close(state->walk->fd);
	state->walk->fd = fd;
	state->walk->st = *st;
	state->up[state->depth] = (struct identity){st->st_dev, st->st_ino};
}

static int see(struct walk *walk, int fd, const struct stat *st, const char *path)
{
	if (walk->visit && !walk->visit(walk->ctx, fd, st, path))
		return -ECANCELED;
	return 0;
}

static int go_to_root(struct state *state)
{
	struct stat st;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	state->at[0] = '\0';
	state->at_len = 0;
	state->depth = 0;
	move_to(state, fd, &st);
	return see(state->walk, fd, &st, "/");
}

/* Takes the next component off rest: 1, 0 at the end, or -errno. */
static int next_component(struct state *state, struct component *out)
{
	size_t skip = strspn(state->rest, "/");
	size_t len = strcspn(state->rest + skip, "/");
	size_t total = strlen(state->rest);

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(out->name, state->rest + skip, len);
	out->name[len] = '\0';
	out->from_link = total - skip > state->own;
	memmove(state->rest, state->rest + skip + len, total - skip - len + 1);
	if (total - skip - len < state->own)
		state->own = total - skip - len;
	return len > 0;
}

/* A directory that was renamed since the walk came through it leads up to
 * somewhere else; the names in at would then be wrong. */
static int go_up(struct state *state)
{
	struct stat st;

	if (state->depth == 0)
		return S_ISDIR(state->walk->st.st_mode) ? 0 : -ENOTDIR;

	int fd = openat(
		state->walk->fd, "..", O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	state->depth--;
	if (state->up[state->depth].dev != st.st_dev ||
		state->up[state->depth].ino != st.st_ino) {
		close(fd);
		return -EAGAIN;
	}
	state->at_len = (size_t)(strrchr(state->at, '/') - state->at);
	state->at[state->at_len] = '\0';
	move_to(state, fd, &st);
	return 0;
}

/* /proc/self/fd/3 and its like lead to an object, not to their text. */
static int refuse_magic(struct state *state, int link, const char *name)
{
	struct statfs fs;

	if (fstatfs(link, &fs) < 0)
		return -errno;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return 0;

	int fd = walk_open(state->walk->fd, name, O_PATH, RESOLVE_NO_MAGICLINKS);
	if (fd >= 0)
		close(fd);
	return fd == -ELOOP ? -ELOOP : 0;
}

static void record_link(struct state *state, const char *name, const char *text)
{
	struct walk *walk = state->walk;

	walk->links = arena_grow(walk->arena, walk->links, walk->link_count,
		&walk->link_cap, sizeof(*walk->links));
	walk->links[walk->link_count++] = (struct link){
		arena_printf(walk->arena, "%s/%s", state->at, name),
		arena_bytes(walk->arena, text, strlen(text)),
	};
}

static int follow(struct state *state, int link, const char *name)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link, "", text, sizeof(text) - 1);

	if (len < 0)
		return -errno;
	text[len] = '\0';

	int error = refuse_magic(state, link, name);
	if (error)
		return error;
	if (state->walk->link_count >= WALK_LINKS_MAX)
		return -ELOOP;
	record_link(state, name, text);

	size_t rest = strlen(state->rest);
	if ((size_t)len + rest + 2 > sizeof(state->rest))
		return -ENAMETOOLONG;
	memmove(state->rest + len + 1, state->rest, rest + 1);
	memcpy(state->rest, text, (size_t)len);
	state->rest[len] = '/';
	return text[0] == '/' ? go_to_root(state) : 0;
}

static int go_down(struct state *state, const char *name)
{
	struct walk *walk = state->walk;
	size_t len = strlen(name);
	struct stat st;

	if (state->at_len + 1 + len >= sizeof(state->at) || state->depth == DEPTH_MAX)
		return -ENAMETOOLONG;

	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	int error = fstat(fd, &st) < 0 ? -errno : 0;
	if (!error && walk->visit)
		error = see(walk, fd, &st,
			arena_printf(walk->arena, "%s/%s", state->at, name));
	if (!error && S_ISLNK(st.st_mode))
		error = follow(state, fd, name);
	if (error || S_ISLNK(st.st_mode)) {
		close(fd);
		return error;
	}
	state->at[state->at_len++] = '/';
	memcpy(state->at + state->at_len, name, len + 1);
	state->at_len += len;
	state->depth++;
	move_to(state, fd, &st);
	return 0;
}

static int step(struct state *state, const struct component *component)
{
	if (strcmp(component->name, ".") == 0)
		return 0;
	if (strcmp(component->name, "..") == 0)
		return go_up(state);
	return go_down(state, component->name);
}

/* Puts the component that was not found and what follows it behind at. */
static int append_rest(struct state *state, struct component *component)
{
	int more = 1;

	for (; more > 0; more = next_component(state, component)) {
		size_t len = strlen(component->name);
		if (strcmp(component->name, ".") == 0)
			continue;
		if (strcmp(component->name, "..") == 0)
			return -EINVAL;
		if (state->at_len + 1 + len >= sizeof(state->at))
			return -ENAMETOOLONG;
		state->at[state->at_len++] = '/';
		memcpy(state->at + state->at_len, component->name, len + 1);
		state->at_len += len;
	}
	return more;
}

static void stop(struct state *state, struct component *component, int error)
{
	struct walk *walk = state->walk;

	walk->changed = error == -EAGAIN;
	walk->missing = error == -ENOENT || error == -ENOTDIR;
	/* Nothing of the asked path is left, and the way led through a link. */
	walk->dangling = walk->missing && component->from_link &&
			 strspn(state->rest, "/") >= state->own;
	if (!walk->missing && !walk->changed)
		walk->error = -error;

	int rest = append_rest(state, component);
	if (rest && walk->missing) {
		walk->missing = walk->dangling = false;
		walk->error = -rest;
	}
	if (!rest)
		walk->canonical = arena_bytes(walk->arena, state->at, state->at_len);
}

/* The answers of a look-up that somebody else can cause meanwhile. */
static bool is_change(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP ||
	       error == -EACCES;
}

/* 0, -EAGAIN if path is not what the walk saw, or why that cannot be told. */
static int compare(const char *path, const struct stat *st)
{
	struct stat now;
	int fd = walk_open(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS), error = 0;

	if (fd < 0)
		return is_change(fd) ? -EAGAIN : fd;
	if (fstat(fd, &now) < 0)
		error = -errno;
	else if (now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		error = -EAGAIN;
	close(fd);
	return error;
}

static int confirm_missing(const char *path)
{
	int fd = walk_open(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);

	if (fd >= 0)
		close(fd);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	return fd >= 0 || is_change(fd) ? -EAGAIN : fd;
}

/* The names as they are now lead to what the walk saw, and through no link. */
static void verify(struct walk *walk)
{
	int error = compare(walk->deepest, &walk->st);

	if (!error && walk->missing)
		error = confirm_missing(walk->canonical);
	walk->changed = error == -EAGAIN;
	if (error && !walk->changed)
		walk->error = -error;
}

static void run(struct state *state)
{
	struct walk *walk = state->walk;
	struct component component = {.name = ""};
	int error = go_to_root(state), more = 0;

	while (!error && (more = next_component(state, &component)) > 0)
		error = step(state, &component);
	walk->deepest = arena_printf(walk->arena, "%s", name_of(state->at));
	if (more < 0)
		walk->error = -more;
	else if (error)
		stop(state, &component, error);
	else
		walk->canonical = walk->deepest;
	if (!walk->error && !walk->changed)
		verify(walk);
}

void walk_path(struct walk *walk, const char *path)
{
	struct state state = {.walk = walk};
	size_t len = strlen(path);

	*walk = (struct walk){
		.arena = walk->arena, .visit = walk->visit, .ctx = walk->ctx, .fd = -1};
	walk->canonical = path;
	walk->deepest = "/";
	if (*path != '/' || len >= sizeof(state.rest)) {
		walk->error = *path == '/' ? ENAMETOOLONG : EINVAL;
		return;
	}
	memcpy(state.rest, path, len + 1);
	state.own = len;
	run(&state);

	/* Only an object that is really there keeps its descriptor. */
	if (walk->error || walk->missing || walk->changed)
		walk_release(walk);
}

void walk_path_retry(struct walk *walk, const char *path)
{
	walk_path(walk, path);
	for (int i = 1; i < ATTEMPTS && walk->changed; i++)
		walk_path(walk, path);
}

void walk_release(struct walk *walk)
{
	if (walk->fd >= 0)
		close(walk->fd);
	walk->fd = -1;
}

enum kind walk_kind(mode_t mode)
{
	if (S_ISDIR(mode))
		return KIND_DIRECTORY;
	return S_ISREG(mode) ? KIND_FILE : KIND_OTHER;
}

int walk_open(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
	long fd = -1;

	/* EAGAIN: a rename somewhere during a scoped look-up, see openat2(2). */
	for (int i = 0; i < OPEN_ATTEMPTS; i++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int walk_open_again(int path_fd, int flags)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	int fd = open(name, flags | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

const char *walk_quoted(struct arena *arena, const char *path)
{
	struct buf out = BUF_INIT;

	buf_putc(&out, '`');
	diag_put_quoted(&out, path, strlen(path), PATH_MAX);
	buf_putc(&out, '`');
	const char *text = arena_bytes(arena, out.data, out.len);
	buf_release(&out);
	return text;
}

const char *walk_strerror(struct arena *arena, int error)
{
	char text[128];

	return arena_printf(arena, "%s", strerror_r(error, text, sizeof(text)));
}

const char *walk_sentence(
	struct arena *arena, const char *path, const char *what, int error)
{
	return arena_printf(arena, "%s %s: %s", walk_quoted(arena, path), what,
		walk_strerror(arena, error));
}
