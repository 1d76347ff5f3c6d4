/* SPDX-License-Identifier: Apache-2.0
 *
 * The ownership test as a visitor of a walk: it sees every directory and link on
 * the way, as objects, not as names.
 */
#include "runtime/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/walk.h"

struct inspection {
	struct arena *arena;
	uid_t uid;
	gid_t gid;
	const char *sentence; /* what is wrong, NULL: nothing so far */
};

static bool refuse(struct inspection *inspection, const char *path, const char *what)
{
	inspection->sentence = arena_printf(
		inspection->arena, "%s %s", walk_quoted(inspection->arena, path), what);
	return false;
}

/* Without an answer the worst is assumed. */
static bool has_acl(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return getxattr(name, "system.posix_acl_access", NULL, 0) >= 0 ||
	       (errno != ENODATA && errno != EOPNOTSUPP);
}

static bool inspect(void *ctx, int fd, const struct stat *st, const char *path)
{
	struct inspection *inspection = ctx;
	bool link = S_ISLNK(st->st_mode);

	if (st->st_uid != 0 && st->st_uid != inspection->uid)
		return refuse(inspection, path,
			arena_printf(inspection->arena,
				"belongs to user %u; it must belong to root or to you",
				(unsigned)st->st_uid));
	/* A link has no permissions; the directory above decides who replaces it,
	 * and in a sticky one its owner, seen above. */
	if (link || (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) && st->st_uid == 0))
		return true;
	if (st->st_mode & S_IWOTH)
		return refuse(inspection, path, "can be written by every user");
	if (!(st->st_mode & S_IWGRP))
		return true;
	if (st->st_gid != inspection->gid)
		return refuse(inspection, path,
			arena_printf(inspection->arena,
				"can be written by group %u, which is not your own",
				(unsigned)st->st_gid));
	if (has_acl(fd))
		return refuse(inspection, path,
			"can be written through an access control list");
	return true;
}

/* A walk that is over; its sentence. */
static const char *judge(
	const struct inspection *inspection, const struct walk *walk, const char *path)
{
	if (inspection->sentence)
		return inspection->sentence;
	if (walk->error)
		return walk_sentence(
			inspection->arena, path, "cannot be looked up", walk->error);
	if (walk->changed)
		return arena_printf(inspection->arena,
			"%s changed while it was looked at",
			walk_quoted(inspection->arena, path));
	if (walk->missing)
		return arena_printf(inspection->arena, "%s does not exist",
			walk_quoted(inspection->arena, path));
	return NULL;
}

static const char *check(struct arena *arena, const char *path, bool program)
{
	struct inspection inspection = {
		.arena = arena, .uid = geteuid(), .gid = getegid()};
	struct walk walk = {.arena = arena, .visit = inspect, .ctx = &inspection};

	walk_path_retry(&walk, path);
	const char *sentence = judge(&inspection, &walk, path);
	if (!sentence && program &&
		(!S_ISREG(walk.st.st_mode) ||
			faccessat(walk.fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) < 0))
		sentence = arena_printf(arena, "%s is not a program that you may execute",
			walk_quoted(arena, path));
	walk_release(&walk);
	return sentence;
}

const char *trust_check(struct arena *arena, const char *path)
{
	return check(arena, path, false);
}

const char *trust_check_program(struct arena *arena, const char *path)
{
	return check(arena, path, true);
}
