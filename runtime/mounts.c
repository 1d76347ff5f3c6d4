/* SPDX-License-Identifier: Apache-2.0
 *
 * Names are compared as text and then looked up: a mount may lie under another.
 */
#include "runtime/mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/buf.h"

/* The next field of a line, its octal escapes undone; *line is moved behind it. */
static const char *take_field(struct arena *arena, char **line)
{
	size_t len = strcspn(*line, " \n");
	char *out = arena_alloc(arena, len + 1), *end = out;

	for (size_t i = 0; i < len; i++) {
		const char *s = *line + i;
		if (s[0] == '\\' && i + 3 < len && s[1] >= '0' && s[1] <= '3') {
			*end++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
					(s[3] - '0'));
			i += 3;
		} else {
			*end++ = *s;
		}
	}
	*end = '\0';
	*line += len;
	*line += **line == ' ';
	return out;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime …" */
static void take_line(struct mounts *mounts, struct arena *arena, char *line)
{
	struct mount mount;

	take_field(arena, &line);
	take_field(arena, &line);
	mount.device = take_field(arena, &line);
	mount.root = take_field(arena, &line);
	mount.point = take_field(arena, &line);
	if (mount.root[0] != '/' || mount.point[0] != '/')
		return; /* outside of this root, or of no directory (nsfs) */
	mounts->list = arena_grow(
		arena, mounts->list, mounts->count, &mounts->cap, sizeof(*mounts->list));
	mounts->list[mounts->count++] = mount;
}

int mounts_read(struct mounts *mounts, struct arena *arena)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	*mounts = (struct mounts){0};
	if (!file)
		return -errno;
	while (getline(&line, &size, file) >= 0)
		take_line(mounts, arena, line);
	int error = ferror(file) ? -EIO : 0;
	free(line);
	fclose(file);
	return error;
}

/* What follows dir in path, "" or "/…"; NULL if it is not at or below it. */
static const char *below(const char *dir, const char *path)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path + len;
}

static const char *join(struct arena *arena, const char *dir, const char *rest)
{
	const char *joined = arena_printf(
		arena, "%s%s", strcmp(dir, "/") == 0 ? "" : dir, rest);

	return *joined ? joined : "/";
}

/* The mount that a canonical path lies in: the deepest, of those the last. */
static const struct mount *mount_of(const struct mounts *mounts, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->list[i];
		if (below(mount->point, path) &&
			(!best || below(best->point, mount->point)))
			best = mount;
	}
	return best;
}

static bool same_object(const char *a, const char *b)
{
	struct stat one, other;

	return lstat(a, &one) == 0 && lstat(b, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

const char *const *mounts_aliases(
	const struct mounts *mounts, struct arena *arena, const char *path)
{
	const struct mount *own = mount_of(mounts, path);
	const char **found = NULL;
	size_t count = 0, cap = 0;

	if (!own)
		return NULL;
	const char *inside = join(arena, own->root, below(own->point, path));
	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->list[i];
		if (mount == own || strcmp(mount->device, own->device) != 0)
			continue;
		/* The whole of it, or a part of what is below. */
		const char *rest = below(mount->root, inside);
		const char *part = rest ? NULL : below(inside, mount->root);
		const char *alias = rest   ? join(arena, mount->point, rest)
				    : part ? mount->point
					   : NULL;
		if (!alias || strcmp(alias, path) == 0 ||
			!same_object(alias, part ? join(arena, path, part) : path))
			continue;
		found = arena_grow(arena, found, count, &cap, sizeof(*found));
		found[count++] = alias;
	}
	if (!count)
		return NULL;
	found = arena_grow(arena, found, count, &cap, sizeof(*found));
	found[count] = NULL;
	return found;
}
