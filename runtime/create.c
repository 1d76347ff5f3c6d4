/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects made for `create`. A component is opened first and made only if it is
 * missing; opening it again without following links tells what is really there,
 * whoever made it.
 */
#include "runtime/create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/walk.h"

static void record(struct arena *arena, struct created *out, const char *path, size_t len)
{
	out->paths = arena_grow(
		arena, out->paths, out->count, &out->cap, sizeof(*out->paths));
	out->paths[out->count++] = arena_bytes(arena, path, len);
}

static int open_existing(int dir, const char *name, bool file)
{
	struct stat st;
	int fd = walk_open(dir, name, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
	int error = fd;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (file && !S_ISREG(st.st_mode))
		error = S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	else if (!file && !S_ISDIR(st.st_mode))
		error = -ENOTDIR;
	if (error < 0)
		close(fd);
	return error;
}

static int make(int dir, const char *name, bool file)
{
	if (!file)
		return mkdirat(dir, name, 0755) < 0 ? -errno : 0;

	int fd = openat(dir, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* An O_PATH descriptor of name in dir, made if it is missing. */
static int enter(int dir, const char *name, bool file, bool *made)
{
	int fd = open_existing(dir, name, file);

	if (fd != -ENOENT)
		return fd;
	int error = make(dir, name, file);
	if (error && error != -EEXIST)
		return error;
	*made = !error;
	return open_existing(dir, name, file);
}

static bool complain(struct arena *arena, const char *path, size_t len, int error,
	const char **sentence)
{
	const char *part = arena_bytes(arena, path, len);

	*sentence =
		error == -ELOOP
			? arena_printf(arena,
				  "%s is a symbolic link; nothing is created through it",
				  walk_quoted(arena, part))
			: walk_sentence(arena, part, "cannot be created", -error);
	return false;
}

bool create_path(struct arena *arena, const char *path, bool file, struct created *out,
	const char **error)
{
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t at = 0;

	if (dir < 0)
		return complain(arena, "/", 1, -errno, error);
	while (path[at] == '/' && path[at + 1]) {
		size_t len = strcspn(path + at + 1, "/");
		const char *name = arena_bytes(arena, path + at + 1, len);
		bool made = false;

		at += 1 + len;
		int fd = enter(dir, name, file && !path[at], &made);
		if (made)
			record(arena, out, path, at);
		close(dir);
		if (fd < 0)
			return complain(arena, path, at, fd, error);
		dir = fd;
	}
	close(dir);
	return true;
}

bool create_planned(struct arena *arena, const struct plan *plan, struct created *out,
	const char **error)
{
	for (size_t i = 0; i < plan->created_count; i++)
		if (!create_path(arena, plan->created[i].path, plan->created[i].file, out,
			    error))
			return false;
	return true;
}
