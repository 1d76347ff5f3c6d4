/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pattern matches on this host. A list of directories that are still to be
 * read, each with the set of positions that the pattern has reached there; one is
 * opened at a time, from a descriptor of the prefix and through no link, so
 * depth costs no descriptors. The result is sorted at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "compiler/glob.h"
#include "compiler/path.h"
#include "runtime/host_facts.h"
#include "runtime/walk.h"

struct place {
	const char *rest; /* below the prefix, "" for itself */
	glob_set set;
	bool casefold; /* a directory above disregards case */
};

struct search {
	struct arena *arena;
	struct fold_cache *cache;
	const struct glob *glob;
	struct fact prefix; /* path as the pattern writes it */
	int fd; /* of the prefix */
	struct place *todo;
	size_t todo_count, todo_cap;
	struct host_list found;
	struct match_set *out;
};

void host_push(struct host_list *list, struct arena *arena, const struct fact *fact)
{
	list->facts = arena_grow(
		arena, list->facts, list->count, &list->cap, sizeof(*list->facts));
	list->facts[list->count++] = *fact;
}

static bool give_up(struct search *search, const char *path, const char *error)
{
	search->out->error = error;
	search->out->error_path = path;
	return false;
}

static bool give_up_errno(struct search *search, const char *path, int error)
{
	return give_up(search, path,
		walk_sentence(
			search->arena, path, "cannot be searched for a pattern", error));
}

static bool push_match(struct search *search, const struct fact *fact)
{
	if (search->found.count == TARGET_MATCHES_MAX)
		return give_up(search, search->prefix.path,
			arena_printf(search->arena,
				"the pattern matches more than %d names below %s",
				TARGET_MATCHES_MAX,
				walk_quoted(search->arena, search->prefix.path)));
	if (fact->changed)
		return give_up(search, fact->path,
			arena_printf(search->arena, "%s changed while it was looked at",
				walk_quoted(search->arena, fact->path)));
	host_push(&search->found, search->arena, fact);
	return true;
}

static bool push_name(struct search *search, const struct place *place, const char *rest,
	const struct stat *st)
{
	struct arena *arena = search->arena;
	const char *path = path_join(arena, search->prefix.path, rest);

	if (S_ISLNK(st->st_mode)) {
		struct fact fact = host_fact(arena, search->cache, path);
		return push_match(search, &fact);
	}
	struct fact fact = {
		.path = path,
		.canonical = path_join(arena, search->prefix.canonical, rest),
		.casefold = place->casefold,
		.crossed = search->prefix.crossed,
		.crossed_count = search->prefix.crossed_count,
	};
	fact.deepest = fact.canonical;
	host_stat(&fact, st);
	return push_match(search, &fact);
}

static const char *below(
	struct search *search, const struct place *place, const char *name)
{
	if (*place->rest)
		return arena_printf(search->arena, "%s/%s", place->rest, name);
	return arena_bytes(search->arena, name, strlen(name));
}

static bool fail_at(
	struct search *search, const struct place *place, const char *name, int error)
{
	return give_up_errno(search,
		path_join(search->arena, search->prefix.path, below(search, place, name)),
		error);
}

static bool look_at(
	struct search *search, const struct place *place, int dir, const char *name)
{
	glob_set set = glob_step(search->glob, place->set, name, strlen(name));
	bool match = glob_accepts(search->glob, set);
	bool on = glob_continues(search->glob, set);
	struct stat st;

	if (!set)
		return true;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || fail_at(search, place, name, errno);
	on = on && S_ISDIR(st.st_mode);
	if (!match && !on)
		return true;

	const char *rest = below(search, place, name);
	if (match && !push_name(search, place, rest, &st))
		return false;
	if (!on)
		return true;
	search->todo = arena_grow(search->arena, search->todo, search->todo_count,
		&search->todo_cap, sizeof(*search->todo));
	search->todo[search->todo_count++] = (struct place){rest, set, place->casefold};
	return true;
}

/* Where no rule may be, and the kernel's own view of every process. */
static bool is_entered(const char *canonical, int fd)
{
	struct statfs fs;

	if (strcmp(canonical, "/proc") == 0 || strcmp(canonical, "/dev") == 0)
		return false;
	return fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC;
}

/* A descriptor for reading, -ENOENT if there is nothing to read. */
static int open_place(struct search *search, struct place *place)
{
	struct stat st;
	int fd = walk_open(search->fd, *place->rest ? place->rest : ".",
		O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 ||
		!is_entered(
			path_join(search->arena, search->prefix.canonical, place->rest),
			fd)) {
		close(fd);
		return -ENOENT;
	}
	place->casefold |= host_folds(search->cache, fd, &st);
	return fd;
}

static bool read_place(struct search *search, struct place place)
{
	const char *path = path_join(search->arena, search->prefix.path, place.rest);
	int fd = open_place(search, &place);

	if (fd < 0)
		return fd == -ENOENT || give_up_errno(search, path, -fd);

	DIR *dir = fdopendir(fd);
	if (!dir) {
		int error = errno;
		close(fd);
		return give_up_errno(search, path, error);
	}
	bool ok = true;
	errno = 0;
	for (struct dirent *entry; ok && (entry = readdir(dir)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = look_at(search, &place, fd, entry->d_name);
	if (ok && errno && errno != ENOENT)
		ok = give_up_errno(search, path, errno);
	closedir(dir);
	return ok;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

/* The set after the components of the prefix. */
static glob_set enter_prefix(const struct glob *glob, const char *prefix)
{
	glob_set set = glob_start(glob);

	for (const char *p = prefix; *p;) {
		p += strspn(p, "/");
		size_t len = strcspn(p, "/");
		if (len)
			set = glob_step(glob, set, p, len);
		p += len;
	}
	return set;
}

static bool search_prefix(struct search *search, glob_set set)
{
	const struct fact *prefix = &search->prefix;
	bool exists = prefix->kind != KIND_MISSING || prefix->dangling;

	if (prefix->error)
		return give_up_errno(search, prefix->path, prefix->error);
	if ((exists || prefix->changed) && glob_accepts(search->glob, set) &&
		!push_match(search, prefix))
		return false;
	if (prefix->kind != KIND_DIRECTORY || !glob_continues(search->glob, set))
		return true;

	search->fd = walk_open(
		AT_FDCWD, prefix->canonical, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (search->fd < 0)
		return give_up_errno(search, prefix->path, -search->fd);

	bool ok = read_place(search, (struct place){"", set, prefix->casefold});
	while (ok && search->todo_count)
		ok = read_place(search, search->todo[--search->todo_count]);
	close(search->fd);
	return ok;
}

struct match_set host_matches(
	struct arena *arena, struct fold_cache *cache, const char *pattern)
{
	struct match_set out = {.pattern = pattern};
	const struct glob *glob = glob_compile(arena, pattern);
	const char *prefix = glob_literal_prefix(glob);
	struct search search = {
		.arena = arena,
		.cache = cache,
		.glob = glob,
		.prefix = host_fact(arena, cache, prefix),
		.out = &out,
	};

	if (!search_prefix(&search, enter_prefix(glob, prefix)))
		return out;
	if (search.found.count)
		qsort(search.found.facts, search.found.count, sizeof(*search.found.facts),
			compare);
	out.matches = search.found.facts;
	out.count = search.found.count;
	return out;
}
