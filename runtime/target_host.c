/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths, links of the root, sockets and identity of this host. Patterns are in
 * target_match.c; both make facts through host_fact.
 */
#include "runtime/target_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/host_facts.h"
#include "runtime/mounts.h"
#include "runtime/walk.h"

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

#define SYS_LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_VERSION_FLAG       1U

/* File systems whose directories always disregard case; statfs(2), and
 * linux/fs/exfat, ntfs3, smb, hfsplus. */
static const unsigned long folding[] = {
	0x4d44, /* vfat, msdos */
	0x2011bab0, /* exfat */
	0x5346544e, /* ntfs-3g's kernel predecessor */
	0x7366746e, /* ntfs3 */
	0x517b, /* smb */
	0xff534d42, /* cifs */
	0xfe534d42, /* smb2, smb3 */
	0x482b, /* hfsplus */
	0x4244, /* hfs */
};

static bool ask_folds(int dir)
{
	struct statfs fs;
	int flags[2] = {0}; /* the kernel writes an int, the number says long */

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(folding) / sizeof(*folding); i++)
		if ((unsigned long)fs.f_type == folding[i])
			return true;

	/* An O_PATH descriptor takes no ioctl. */
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool folds = ioctl(fd, FS_IOC_GETFLAGS, flags) == 0 &&
		     (flags[0] & FS_CASEFOLD_FL);
	close(fd);
	return folds;
}

bool host_folds(struct fold_cache *cache, int dir, const struct stat *st)
{
	struct fold_slot *slot = &cache->slots[st->st_ino % FOLD_SLOTS];

	if (!slot->known || slot->dev != st->st_dev || slot->ino != st->st_ino)
		*slot = (struct fold_slot){st->st_dev, st->st_ino, true, ask_folds(dir)};
	return slot->folds;
}

/* Directories on the way to the object, the object itself left out. */
struct folding_way {
	struct fold_cache *cache;
	bool above, with_last;
};

static bool visit(void *ctx, int fd, const struct stat *st, const char *path)
{
	struct folding_way *way = ctx;

	(void)path;
	if (S_ISLNK(st->st_mode))
		return true;
	way->above = way->with_last;
	if (S_ISDIR(st->st_mode))
		way->with_last |= host_folds(way->cache, fd, st);
	return true;
}

void host_stat(struct fact *fact, const struct stat *st)
{
	fact->kind = walk_kind(st->st_mode);
	fact->dev = st->st_dev;
	fact->ino = st->st_ino;
	fact->links = st->st_nlink;
	fact->owner = st->st_uid;
}

struct fact host_fact(struct arena *arena, struct fold_cache *cache, const char *path)
{
	struct folding_way way = {.cache = cache};
	struct walk walk = {.arena = arena, .visit = visit, .ctx = &way};

	walk_path_retry(&walk, path);
	struct fact fact = {
		.path = path,
		.canonical = walk.canonical,
		.kind = KIND_MISSING,
		.error = walk.error,
		.dangling = walk.dangling,
		.changed = walk.changed,
		.casefold = walk.fd >= 0 ? way.above : way.with_last,
		.crossed = walk.links,
		.crossed_count = walk.link_count,
		.deepest = walk.deepest,
	};
	if (walk.fd >= 0)
		host_stat(&fact, &walk.st);
	walk_release(&walk);
	return fact;
}

static int compare_links(const void *a, const void *b)
{
	return strcmp(((const struct link *)a)->name, ((const struct link *)b)->name);
}

static int read_root_links(struct target *target, struct arena *arena)
{
	struct link *links = NULL;
	size_t count = 0, cap = 0;
	DIR *dir = opendir("/"); /* opens with O_CLOEXEC */

	if (!dir)
		return -errno;
	errno = 0;
	for (struct dirent *entry; (entry = readdir(dir)); errno = 0) {
		char text[PATH_MAX];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, text, sizeof(text));
		if (len < 0)
			continue; /* EINVAL: not a link */
		links = arena_grow(arena, links, count, &cap, sizeof(*links));
		links[count++] = (struct link){arena_printf(arena, "/%s", entry->d_name),
			arena_bytes(arena, text, (size_t)len)};
	}
	int error = -errno;
	closedir(dir);
	if (count)
		qsort(links, count, sizeof(*links), compare_links);
	target->root_links = links;
	target->root_link_count = count;
	return error;
}

/* The ABI of the running kernel, 0 without Landlock; landlock(7). */
static unsigned ask_landlock_abi(void)
{
	long abi = syscall(
		SYS_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION_FLAG);

	return abi > 0 ? (unsigned)abi : 0;
}

static bool is_writable_socket(const char *path)
{
	struct stat st;
	int fd = walk_open(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS);

	if (fd < 0)
		return false;
	bool yes = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
		   faccessat(fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
	close(fd);
	return yes;
}

/* A line that begins a socket, "%pK: %08X %08X %08X %04X %02X %5lu NAME". A
 * newline in a name breaks the line, so the begin of the next must be told from
 * the rest of a name. Returns the offset of NAME (or the end), 0: a rest. */
static size_t socket_columns(const char *line)
{
	static const char *const digits = "0123456789abcdefABCDEF";
	static const size_t widths[] = {0, 8, 8, 8, 4, 2, 0}; /* 0: any */
	size_t at = 0;

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		at += i ? strspn(line + at, " ") : 0;
		size_t len = strspn(line + at, digits);
		if (len == 0 || (widths[i] && len != widths[i]))
			return 0;
		at += len;
		if (i == 0 && line[at++] != ':')
			return 0;
	}
	if (line[at] == ' ')
		return at + 1;
	return line[at] == '\0' ? at : 0;
}

static int compare_facts(const void *a, const void *b)
{
	return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

static void add_socket(struct host_list *list, struct arena *arena,
	struct fold_cache *cache, const char *name)
{
	if (name[0] != '/')
		return;

	struct fact fact = host_fact(
		arena, cache, arena_bytes(arena, name, strlen(name)));
	if (fact.kind != KIND_OTHER || !is_writable_socket(fact.canonical))
		return;
	fact.path = fact.canonical;
	host_push(list, arena, &fact);
}

/* Every name, also if newlines broke it over several lines. */
static int read_sockets(
	struct host_list *list, struct arena *arena, struct fold_cache *cache)
{
	FILE *file = fopen("/proc/net/unix", "re");
	struct buf name = BUF_INIT;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	buf_puts(&name, "");
	for (bool head = true; (len = getline(&line, &size, file)) >= 0; head = false) {
		if (len && line[len - 1] == '\n')
			line[len - 1] = '\0';
		size_t at = socket_columns(line);
		if (at || head) {
			add_socket(list, arena, cache, name.data);
			name.len = 0;
			buf_puts(&name, head ? "" : line + at);
		} else {
			buf_printf(&name, "\n%s", line);
		}
	}
	int error = ferror(file) ? -EIO : 0;
	if (!error)
		add_socket(list, arena, cache, name.data);
	buf_release(&name);
	free(line);
	fclose(file);
	return error;
}

static int list_sockets(
	struct target *target, struct arena *arena, struct fold_cache *cache)
{
	struct host_list list = {0};
	int error = read_sockets(&list, arena, cache);
	size_t count = 0;

	if (list.count)
		qsort(list.facts, list.count, sizeof(*list.facts), compare_facts);
	for (size_t i = 0; i < list.count; i++)
		if (!i || strcmp(list.facts[i].path, list.facts[count - 1].path) != 0)
			list.facts[count++] = list.facts[i];
	target->sockets = list.facts;
	target->socket_count = count;
	return error;
}

int target_host(struct target *target, const struct needs *needs, struct arena *arena)
{
	struct fold_cache *cache = arena_alloc(arena, sizeof(*cache));
	struct mounts mounts;
	int error = mounts_read(&mounts, arena);

	*target = (struct target){
		.platform = PLATFORM_LINUX,
		.uid = getuid(),
		.euid = geteuid(),
		.landlock_abi = ask_landlock_abi(),
	};
	for (size_t i = 0; i < needs->path_count; i++) {
		struct fact fact = host_fact(arena, cache, needs->paths[i]);
		if (fact.kind != KIND_MISSING)
			fact.mounts = mounts_aliases(&mounts, arena, fact.canonical);
		target_add(target, arena, &fact);
	}
	target_index(target, arena);

	target->match_count = needs->pattern_count;
	target->matches = arena_array(
		arena, needs->pattern_count, sizeof(*target->matches));
	for (size_t i = 0; i < needs->pattern_count; i++)
		target->matches[i] = host_matches(arena, cache, needs->patterns[i]);

	if (!error)
		error = read_root_links(target, arena);
	return error ? error : list_sockets(target, arena, cache);
}
