/* SPDX-License-Identifier: Apache-2.0
 *
 * Making, removing and sweeping private temporary directories. Two calls may use
 * one parent at the same time: whoever finds the parent or its own new directory
 * gone again simply makes it again.
 */
#include "runtime/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/remove_tree.h"
#include "runtime/walk.h"

#define ATTEMPTS 1000

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* -EPERM unless fd is a directory of the caller that nobody else may enter. */
static int check_private(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

static int open_directory(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_private(int dir, const char *name)
{
	int fd = open_directory(dir, name);

	if (fd < 0)
		return fd;
	int error = check_private(fd);
	if (error) {
		close(fd);
		return error;
	}
	return fd;
}

/* True if name in dir is the very directory that fd is. */
static bool is_still(int dir, const char *name, int fd)
{
	struct stat a, b;

	return fstatat(dir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A descriptor; -EAGAIN if another call removed the parent meanwhile. */
static int make_parent(int root, const char *name)
{
	/* A umask may have taken permissions of the owner away. */
	bool made = mkdirat(root, name, 0700) == 0;
	if (!made && errno != EEXIST)
		return -errno;

	int fd = open_private(root, name);
	if (fd >= 0 && made && fchmod(fd, 0700) < 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd == -ENOENT ? -EAGAIN : fd;
}

/* A locked descriptor; -EAGAIN if the parent or the new directory went away, or a
 * sweep is just looking at it. */
static int make_child(int parent, const char *name)
{
	if (mkdirat(parent, name, 0700) < 0)
		return errno == ENOENT ? -EAGAIN : -errno;

	int fd = open_private(parent, name);
	if (fd < 0)
		return fd == -ENOENT ? -EAGAIN : fd;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(parent, name, fd) &&
		fchmod(fd, 0700) == 0)
		return fd;
	/* Removed here, else the next attempt would find it existing. */
	unlinkat(parent, name, AT_REMOVEDIR);
	close(fd);
	return -EAGAIN;
}

static int make(struct temp_dir *dir)
{
	int error = dir->parent = make_parent(dir->root, dir->parent_name);

	if (error < 0)
		return error;
	dir->fd = make_child(dir->parent, dir->name);
	if (dir->fd >= 0)
		return 0;
	close(dir->parent);
	return dir->fd;
}

static bool fail(
	struct arena *arena, const struct temp_dir *dir, int error, const char **sentence)
{
	const char *parent = arena_printf(
		arena, "%.*s", (int)(strrchr(dir->path, '/') - dir->path), dir->path);
	struct stat st;

	if ((error == -EPERM || error == -ENOTDIR || error == -ELOOP) &&
		lstat(parent, &st) == 0)
		*sentence = arena_printf(arena,
			"%s, where private temporary directories are made, must be a "
			"directory of yours alone and is of user %u with mode %04o; "
			"remove it",
			walk_quoted(arena, parent), st.st_uid, st.st_mode & 07777);
	else
		*sentence = walk_sentence(arena, dir->path,
			"cannot be made as temporary directory", -error);
	return false;
}

bool temp_dir_make(struct temp_dir *dir, struct arena *arena, const char *root,
	const char *name, const char **sentence)
{
	const char *slash = strchr(name, '/');
	int error = -EINVAL;

	*dir = (struct temp_dir){.fd = -1, .parent = -1, .root = -1};
	dir->path = arena_printf(
		arena, "%s/%s", strcmp(root, "/") == 0 ? "" : root, name);
	if (!slash || slash == name || !slash[1] || strchr(slash + 1, '/'))
		return fail(arena, dir, error, sentence);
	dir->parent_name = arena_bytes(arena, name, (size_t)(slash - name));
	dir->name = arena_bytes(arena, slash + 1, strlen(slash + 1));

	dir->root = walk_open(AT_FDCWD, root, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (dir->root < 0)
		return fail(arena, dir, dir->root, sentence);
	for (int i = 0; i < ATTEMPTS; i++) {
		error = make(dir);
		if (error != -EAGAIN)
			break;
		pause_briefly();
	}
	if (!error)
		return true;
	close(dir->root);
	return fail(arena, dir, error, sentence);
}

/* Another directory in it, or another call that removed it first, is fine. */
static int remove_parent(int root, const char *name)
{
	if (unlinkat(root, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY ||
		errno == EEXIST || errno == ENOENT)
		return 0;
	return -errno;
}

static int remove_child(int parent, const char *name, int fd)
{
	int error = remove_contents(fd);

	if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT && !error)
		error = -errno;
	return error;
}

void temp_dir_keep(struct temp_dir *dir)
{
	close(dir->fd);
	close(dir->parent);
	close(dir->root);
	dir->fd = dir->parent = dir->root = -1;
}

int temp_dir_remove(struct temp_dir *dir)
{
	int error = remove_child(dir->parent, dir->name, dir->fd);
	int parent_error = remove_parent(dir->root, dir->parent_name);

	temp_dir_keep(dir);
	return error ? error : parent_error;
}

/* One entry of the parent: left alone while its owner holds the lock. */
static int sweep_child(int parent, const char *name, size_t *removed)
{
	if (strncmp(name, TEMP_KEPT, strlen(TEMP_KEPT)) == 0)
		return 0;

	int fd = remove_open(parent, name);
	if (fd == -ENOTDIR) /* not made by temp_dir_make */
		return 0;
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;

	int error = 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(parent, name, fd)) {
		error = remove_child(parent, name, fd);
		*removed += !error;
	}
	close(fd);
	return error;
}

static int sweep_all(int parent, size_t *removed)
{
	struct remove_names names = {0};
	int error = remove_list(parent, &names);

	for (size_t i = 0; i < names.count; i++) {
		int child = sweep_child(parent, names.list[i], removed);
		error = error ? error : child;
	}
	remove_names_release(&names);
	return error;
}

int temp_dir_sweep(const char *root, const char *parent, size_t *removed)
{
	int error = 0;
	int fd = walk_open(AT_FDCWD, root, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);

	*removed = 0;
	if (fd < 0)
		return fd;
	int dir = open_private(fd, parent);
	if (dir < 0) {
		error = dir == -ENOENT                     ? 0
			: dir == -ENOTDIR || dir == -ELOOP ? -EPERM
							   : dir;
		goto close_root;
	}
	error = sweep_all(dir, removed);
	int parent_error = remove_parent(fd, parent);
	error = error ? error : parent_error;
	close(dir);
close_root:
	close(fd);
	return error;
}
