/* SPDX-License-Identifier: Apache-2.0
 *
 * What WORKSPACE/.git says is a claim of whoever can write the workspace; the
 * answer counts only because the directory that it names says the same.
 */
#include "runtime/call_git.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/path.h"
#include "runtime/walk.h"

#define POINTER_SIZE_MAX (PATH_MAX + 16) /* "gitdir: ", a path, a newline */

static bool is_pointer_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size <= POINTER_SIZE_MAX &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* The one line of a file, NULL if it holds anything else. */
static char *read_line(struct arena *arena, int fd)
{
	char text[POINTER_SIZE_MAX + 1];
	ssize_t len = read(fd, text, sizeof(text));

	if (len > POINTER_SIZE_MAX)
		return NULL;
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	if (len <= 0 || memchr(text, '\0', (size_t)len) ||
		memchr(text, '\n', (size_t)len))
		return NULL;
	return arena_bytes(arena, text, (size_t)len);
}

/* Looked at before it is opened: it may be a FIFO or a device. */
static char *read_pointer(struct arena *arena, const char *path)
{
	char *line = NULL;
	int held = walk_open(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);

	if (held < 0)
		return NULL;
	int fd = is_pointer_file(held) ? walk_open_again(held, O_RDONLY) : -1;
	if (fd >= 0) {
		line = read_line(arena, fd);
		close(fd);
	}
	close(held);
	return line;
}

/* text relative to a directory, looked up; NULL if that is not there. */
static const char *find(
	struct arena *arena, const char *dir, const char *text, mode_t type)
{
	struct walk walk = {.arena = arena};
	const char *path = text[0] == '/' ? text
					  : arena_printf(arena, "%s/%s", dir, text);

	walk_path_retry(&walk, path);
	bool found = walk.fd >= 0 && (walk.st.st_mode & S_IFMT) == type;
	walk_release(&walk);
	return found ? walk.canonical : NULL;
}

static bool is_outside(const struct call *call, const char *path)
{
	if (path_covers(call->workspace, path))
		return false;
	for (size_t i = 0; i < call->add_dir_count; i++)
		if (path_covers(call->add_dirs[i], path))
			return false;
	return true;
}

void call_git(struct call *call, struct arena *arena)
{
	static const char prefix[] = "gitdir: ";
	const char *file = path_join(arena, call->workspace, ".git");
	const char *claim = read_pointer(arena, file);

	if (!claim || strncmp(claim, prefix, strlen(prefix)) != 0)
		return;
	const char *dir = find(arena, call->workspace, claim + strlen(prefix), S_IFDIR);
	if (!dir || !is_outside(call, dir))
		return;

	const char *back = read_pointer(arena, path_join(arena, dir, "gitdir"));
	const char *arrives = back ? find(arena, dir, back, S_IFREG) : NULL;
	if (!arrives || strcmp(arrives, file) != 0)
		return;

	const char *rest = read_pointer(arena, path_join(arena, dir, "commondir"));
	const char *common = rest ? find(arena, dir, rest, S_IFDIR) : NULL;
	if (!common || !is_outside(call, common))
		return;
	call->git_dir = dir;
	call->git_common_dir = common;
}
