/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by target_host.c and target_match.c: how one fact is made. Not for
 * others; they call target_host.
 */
#ifndef CORDON_HOST_FACTS_H
#define CORDON_HOST_FACTS_H

#include <sys/stat.h>

#include "compiler/arena.h"
#include "compiler/target.h"

#define FOLD_SLOTS 256

/* Which directories disregard case: asked once each, as far as slots reach. */
struct fold_slot {
	dev_t dev;
	ino_t ino;
	bool known, folds;
};
struct fold_cache {
	struct fold_slot slots[FOLD_SLOTS];
};

/* dir: any descriptor of the directory; st: of it. */
bool host_folds(struct fold_cache *cache, int dir, const struct stat *st);

/* The fact for an absolute path; path is borrowed. */
struct fact host_fact(struct arena *arena, struct fold_cache *cache, const char *path);

/* kind, dev, ino, links, owner of an object that is no link. */
void host_stat(struct fact *fact, const struct stat *st);

struct host_list {
	struct fact *facts;
	size_t count, cap;
};
void host_push(struct host_list *list, struct arena *arena, const struct fact *fact);

/* What a snapshot pattern matches now; pattern is borrowed. */
struct match_set host_matches(
	struct arena *arena, struct fold_cache *cache, const char *pattern);

#endif
