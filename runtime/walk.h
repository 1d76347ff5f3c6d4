/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking a path up the way the file system does, one component at a time, and
 * keeping what was seen: every link, the canonical name, the object itself.
 *
 * A walk starts at a descriptor of `/` and goes on by descriptor (openat(2) with
 * O_PATH|O_NOFOLLOW; a link is read through its own descriptor), so it opens no
 * file, FIFO or device for real and what it reports of an object is true of that
 * very object. Afterwards the canonical name is opened again with openat2(2)
 * RESOLVE_NO_SYMLINKS; if that is another object, the walk says `changed`.
 *
 * Sources: path_resolution(7), symlink(7) (40 links, trailing slashes),
 * openat2(2), readlinkat(2) (empty name on an O_PATH descriptor), proc(5)
 * (magic links).
 *
 * Decisions:
 * - `..` goes up in the file system and must arrive where the walk came from.
 * - A slash or `.` at the end of a link's text is ignored.
 * - A link that leads nowhere is followed as far as it leads: canonical is where
 *   a file would be made through it.
 * - `..` behind a missing component means nothing yet: error EINVAL.
 * - A magic link of /proc is never followed: error ELOOP, as with
 *   RESOLVE_NO_MAGICLINKS.
 */
#ifndef CORDON_WALK_H
#define CORDON_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "compiler/arena.h"
#include "compiler/target.h"

#define WALK_LINKS_MAX 40

/* Called for `/`, for every component and for every link, in the order of the
 * look-up; path is the canonical path of the object (for a link: of its name).
 * False ends the walk with error ECANCELED. */
typedef bool walk_visit(void *ctx, int fd, const struct stat *st, const char *path);

struct walk {
	/* Set before the walk; all else zero. */
	struct arena *arena;
	walk_visit *visit; /* may be NULL */
	void *ctx;

	/* What the walk found. Strings live in the arena. */
	int fd; /* O_PATH descriptor of the object; -1: missing or error */
	struct stat st; /* of it */
	int error; /* 0, or why the look-up failed; never ENOENT, ENOTDIR */
	bool missing; /* ENOENT or ENOTDIR */
	bool dangling; /* missing, behind a link that is the last component */
	bool changed; /* somebody changed the path meanwhile */
	const char *canonical; /* never NULL; with an error as far as known */
	const char *deepest; /* deepest existing ancestor, canonical */
	struct link *links; /* crossed, in order */
	size_t link_count, link_cap;
};

/* Walks an absolute path; `..`, `.` and empty components may be in it. The
 * results are in walk; then walk_release closes the descriptor. */
void walk_path(struct walk *walk, const char *path);

/* The same, tried again a few times while `changed`. */
void walk_path_retry(struct walk *walk, const char *path);

void walk_release(struct walk *walk);

enum kind walk_kind(mode_t mode);

/* openat2(2) with O_CLOEXEC added. A descriptor or -errno. */
int walk_open(int dir, const char *path, uint64_t flags, uint64_t resolve);

/* Opens the object of an O_PATH descriptor for real, through /proc/self/fd. A
 * descriptor or -errno. The caller has looked at what it is. */
int walk_open_again(int path_fd, int flags);

/* path in backquotes, fit for a message (diag_put_quoted). */
const char *walk_quoted(struct arena *arena, const char *path);

/* "`PATH` WHAT: strerror(error)" for messages. */
const char *walk_sentence(
	struct arena *arena, const char *path, const char *what, int error);

/* strerror_r(3) into the arena: strerror(3) is not thread-safe. */
const char *walk_strerror(struct arena *arena, int error);

#endif
