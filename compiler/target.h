/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that a plan is made for, as plain facts. The core asks no system:
 * runtime/target_host.c fills this for the host it runs on, from the list of
 * paths and patterns that a policy needs (struct needs); for any other machine
 * the target is imagined: every path exists, is canonical and of unknown kind.
 */
#ifndef CORDON_TARGET_H
#define CORDON_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"
#include "compiler/buf.h"
#include "compiler/vocabulary.h"

enum kind {
	KIND_MISSING,
	KIND_UNKNOWN, /* taken as present; a directory where it matters */
	KIND_DIRECTORY,
	KIND_FILE,
	KIND_OTHER, /* FIFO, socket, device: nothing below it */
};

/* A symbolic link that was crossed. */
struct link {
	const char *name; /* canonical path of its parent, and its name */
	const char *text; /* what readlink(2) gives */
};

struct fact {
	const char *path; /* as asked: absolute, no `.`, no empty component */
	/* Where it is: links of the deepest existing ancestor and the last
	 * component resolved as the file system does it (`link/..` arrives where
	 * chdir would), the missing rest appended. Never NULL. */
	const char *canonical;
	enum kind kind;
	int error; /* errno of a failed look-up that is not ENOENT or ENOTDIR
	            * (EACCES: a directory on the way may not be searched, ELOOP,
	            * ENAMETOOLONG, …); kind is then KIND_MISSING */
	bool dangling; /* the last component is a link that leads nowhere: it exists */
	bool changed; /* the path changed while it was looked at */
	bool casefold; /* lies in a directory whose names disregard case */
	uint64_t dev, ino; /* st_dev, st_ino of the canonical object */
	uint64_t links; /* st_nlink */
	uint32_t owner; /* st_uid */
	const struct link *crossed; /* in the order of the look-up */
	size_t crossed_count;
	const char *const *mounts; /* other paths at which the object, or a part of what
	                            * is below, is mounted; NULL-terminated, or NULL */
	const char *deepest; /* the deepest existing ancestor, canonical; itself if
	                      * it exists */
};

/* What a snapshot pattern matches now. */
struct match_set {
	const char *pattern; /* as asked */
	const struct fact *matches; /* in byte order of path */
	size_t count;
	const char *error; /* a sentence if the list could not be made, else NULL */
	const char *error_path;
};

/* What a policy asks of a host. Normal form, no duplicates needed. */
struct needs {
	const char **paths;
	size_t path_count, path_cap;
	const char **patterns; /* absolute, language.md section 5 */
	size_t pattern_count, pattern_cap;
};

#define TARGET_MATCHES_MAX 100000

struct target {
	enum platform platform;
	bool imagined; /* no facts: target_find returns NULL */
	bool casefold; /* names compare without case everywhere (Windows) */
	unsigned euid, uid;
	unsigned landlock_abi; /* 0: none. Imagined: the newest known */
	struct fact *facts;
	size_t fact_count, fact_cap;
	uint32_t *index; /* hash of path → fact, built by target_index */
	size_t index_size;
	struct match_set *matches;
	size_t match_count;
	const struct link *root_links; /* symbolic links directly in `/` */
	size_t root_link_count;
	const struct fact *sockets; /* bound pathname sockets (/proc/net/unix) that
	                             * the caller may write */
	size_t socket_count;
};

void target_imagine(struct target *target, enum platform platform);

/* Appends a fact; the index must be built anew before the next find. */
void target_add(struct target *target, struct arena *arena, const struct fact *fact);
void target_index(struct target *target, struct arena *arena);

/* The fact for a path in normal form, NULL if it was not asked or imagined. */
const struct fact *target_find(const struct target *target, const char *path);

/* The matches of a pattern, NULL if it was not asked or imagined. */
const struct match_set *target_matches(const struct target *target, const char *pattern);

#endif
