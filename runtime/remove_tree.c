/* SPDX-License-Identifier: Apache-2.0
 *
 * The idea: a directory below the top is never entered deeper than one level. Its
 * files are removed, its directories are moved up into the top, then it is empty
 * and goes. Every round over the top removes something or is the last one.
 */
#include "runtime/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/walk.h"

#define STAY (RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS)

struct removal {
	int top;
	unsigned long serial; /* of names for directories that are moved up */
	int error; /* the first one */
	bool progress;
};

static void note(struct removal *removal, int error)
{
	if (error < 0 && !removal->error)
		removal->error = error;
}

static int push(struct remove_names *names, const char *name)
{
	if (names->count == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 64;
		char **list = realloc(names->list, cap * sizeof(*list));
		if (!list)
			return -ENOMEM;
		names->list = list;
		names->cap = cap;
	}
	names->list[names->count] = strdup(name);
	if (!names->list[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

void remove_names_release(struct remove_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct remove_names){0};
}

/* A list of its own: readdir(3) says nothing about names that come and go. */
int remove_list(int dir, struct remove_names *out)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	DIR *stream = fdopendir(fd);
	if (!stream) {
		error = -errno;
		close(fd);
		return error;
	}
	errno = 0;
	for (struct dirent *entry; !error && (entry = readdir(stream)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			error = push(out, entry->d_name);
	if (!error && errno)
		error = -errno;
	closedir(stream);
	return error;
}

/* fchmod(2) takes no O_PATH descriptor. */
static int chmod_path_fd(int fd, mode_t mode)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return chmod(name, mode) < 0 ? -errno : 0;
}

int remove_open(int dir, const char *name)
{
	struct stat st;
	int path = walk_open(dir, name, O_PATH | O_NOFOLLOW, STAY & ~RESOLVE_NO_SYMLINKS);
	int fd = path;

	if (path < 0)
		return path;
	if (fstat(path, &st) < 0)
		fd = -errno;
	else if (!S_ISDIR(st.st_mode))
		fd = -ENOTDIR;
	else if ((st.st_mode & 0700) != 0700)
		fd = chmod_path_fd(path, (st.st_mode & 07777) | 0700);
	if (fd >= 0)
		fd = walk_open(path, ".", O_RDONLY | O_DIRECTORY, STAY);
	close(path);
	return fd;
}

/* 0: gone. A directory: -EISDIR. */
static int remove_file(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return -errno;
}

/* A file system that does not know RENAME_NOREPLACE says EINVAL (rename(2)); a
 * plain rename replaces at most an empty directory, which would go anyway. */
static int rename_new(int from, const char *name, int to, const char *up)
{
	if (renameat2(from, name, to, up, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (renameat(from, name, to, up) == 0)
		return 0;
	return errno == ENOTEMPTY || errno == ENOTDIR ? -EEXIST : -errno;
}

/* Under a name that is not taken; -EBUSY, -EXDEV: a mount point. */
static int move_up(struct removal *removal, int dir, const char *name)
{
	char up[32];
	int error;

	do {
		snprintf(up, sizeof(up), ".%lu", removal->serial++);
		error = rename_new(dir, name, removal->top, up);
	} while (error == -EEXIST);
	return error;
}

/* A directory one level below the top. */
static int remove_or_move(struct removal *removal, int dir, const char *name)
{
	int error = remove_file(dir, name);

	if (error != -EISDIR)
		return error;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	/* Moving a directory writes its `..`, so it must be writable itself. */
	int fd = remove_open(dir, name);
	if (fd < 0)
		return fd;
	close(fd);
	return move_up(removal, dir, name);
}

static int flatten(struct removal *removal, const char *name)
{
	struct remove_names names = {0};
	int dir = remove_open(removal->top, name);

	if (dir < 0)
		return dir;
	int error = remove_list(dir, &names);
	for (size_t i = 0; i < names.count; i++) {
		int one = remove_or_move(removal, dir, names.list[i]);
		removal->progress |= one == 0;
		error = error ? error : one;
	}
	remove_names_release(&names);
	close(dir);
	return error;
}

static void remove_entry(struct removal *removal, const char *name)
{
	int error = remove_file(removal->top, name);

	if (error == -EISDIR) {
		error = flatten(removal, name);
		if (unlinkat(removal->top, name, AT_REMOVEDIR) == 0)
			error = 0;
		else if (!error)
			error = -errno;
	}
	removal->progress |= error == 0;
	note(removal, error);
}

int remove_contents(int fd)
{
	struct removal removal = {.top = fd};
	struct remove_names names = {0};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_mode & 0700) != 0700 && fchmod(fd, st.st_mode | 0700) < 0)
		return -errno;
	do {
		removal.progress = false;
		removal.error = 0;
		note(&removal, remove_list(fd, &names));
		for (size_t i = 0; i < names.count; i++)
			remove_entry(&removal, names.list[i]);
		bool any = names.count > 0;
		remove_names_release(&names);
		if (!any)
			break;
	} while (removal.progress);
	return removal.error;
}
