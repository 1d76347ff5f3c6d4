/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a call. Every path goes through the walk that facts are made with, so
 * that the names here and there are the same.
 */
#include "runtime/call_host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/path.h"
#include "runtime/call_git.h"
#include "runtime/walk.h"

#define RANDOM_LENGTH   20
#define PASSWD_SIZE_MAX ((size_t)1024 * 1024)

static const char *const temp_roots[] = {"/tmp", "/var/tmp"};
#define TEMP_ROOT_COUNT (sizeof(temp_roots) / sizeof(*temp_roots))

static bool fail(
	struct arena *arena, const char *path, const char *what, const char **error)
{
	*error = arena_printf(arena, "%s %s", walk_quoted(arena, path), what);
	return false;
}

struct links {
	struct link *list;
	size_t count, cap;
};

/* The canonical path of an existing directory. links: what the way passed is added;
 * may be NULL. */
static bool find_directory(struct arena *arena, const char *path, struct links *links,
	const char **out, const char **error)
{
	struct walk walk = {.arena = arena};

	walk_path_retry(&walk, path);
	bool directory = walk.fd >= 0 && S_ISDIR(walk.st.st_mode);
	walk_release(&walk);
	*out = walk.canonical;
	for (size_t i = 0; links && i < walk.link_count; i++) {
		links->list = arena_grow(arena, links->list, links->count, &links->cap,
			sizeof(*links->list));
		links->list[links->count++] = walk.links[i];
	}
	if (directory)
		return true;
	if (walk.error) {
		*error = walk_sentence(arena, path, "cannot be looked up", walk.error);
		return false;
	}
	return fail(arena, path,
		walk.changed   ? "changed while it was looked at"
		: walk.missing ? "does not exist"
			       : "is not a directory",
		error);
}

/* getcwd(3): a path that does not begin with `/` is out of reach. */
static bool find_current(struct arena *arena, const char **out, const char **error)
{
	char path[PATH_MAX];

	if (!getcwd(path, sizeof(path)) || path[0] != '/') {
		*error = "the current directory has no path that leads to it";
		return false;
	}
	*out = arena_bytes(arena, path, strlen(path));
	return true;
}

static bool find_given(struct arena *arena, const char *what, const char *path,
	struct links *links, const char **out, const char **error)
{
	const char *current = "";

	if (path[0] == '\0') {
		*error = arena_printf(arena, "%s is empty", what);
		return false;
	}
	if (path[0] != '/' && !find_current(arena, &current, error))
		return false;
	if (path[0] != '/')
		path = arena_printf(arena, "%s/%s", current, path);
	if (!find_directory(arena, path, links, out, error)) {
		*error = arena_printf(arena, "%s %s", what, *error);
		return false;
	}
	return true;
}

static bool find_roots(struct call *call, struct arena *arena,
	const struct call_request *request, const char **error)
{
	const char **dirs = arena_array(arena, request->add_dir_count, sizeof(*dirs));
	struct links links = {0};

	if (!find_given(arena, "workspace", request->workspace ? request->workspace : ".",
		    NULL, &call->workspace, error))
		return false;
	for (size_t i = 0; i < request->add_dir_count; i++)
		if (!find_given(arena, "additional directory", request->add_dirs[i],
			    &links, &dirs[i], error))
			return false;
	call->add_dirs = dirs;
	call->add_dir_count = request->add_dir_count;
	call->add_dir_links = links.list;
	call->add_dir_link_count = links.count;
	return true;
}

/* The canonical path where it exists, else the normal form; NULL if it is no
 * absolute path. */
static const char *find_home(struct arena *arena, const char *path)
{
	struct walk walk = {.arena = arena};
	const char *normal;

	if (path_normalize(arena, PLATFORM_LINUX, path, strlen(path), &normal) != PATH_OK)
		return NULL;
	walk_path_retry(&walk, normal);
	walk_release(&walk);
	return walk.error || walk.changed ? normal : walk.canonical;
}

/* A user without an entry has neither name nor home. */
static bool find_user(struct call *call, struct arena *arena, const char **error)
{
	struct passwd entry, *found = NULL;
	int failed = ERANGE;

	for (size_t size = 4096; failed == ERANGE && size <= PASSWD_SIZE_MAX; size *= 4) {
		char *text = arena_alloc(arena, size);
		failed = getpwuid_r(getuid(), &entry, text, size, &found);
	}
	/* getpwuid_r(3): these, too, may mean that there is no entry. */
	if (failed && failed != ENOENT && failed != ESRCH && failed != EBADF &&
		failed != EPERM) {
		*error = arena_printf(arena, "the user database cannot be read: %s",
			walk_strerror(arena, failed));
		return false;
	}
	if (!found)
		return true;
	call->home = find_home(arena, found->pw_dir);
	call->user = found->pw_name[0] ? found->pw_name : NULL;
	return true;
}

static void find_temp_roots(struct call *call, struct arena *arena)
{
	const char **roots = arena_array(arena, TEMP_ROOT_COUNT, sizeof(*roots));
	const char *ignored;

	for (size_t i = 0; i < TEMP_ROOT_COUNT; i++) {
		const char *root;
		size_t n = call->temp_root_count;
		if (!find_directory(arena, temp_roots[i], NULL, &root, &ignored))
			continue;
		if (n == 0 || strcmp(roots[n - 1], root) != 0)
			roots[call->temp_root_count++] = root;
	}
	call->temp_roots = roots;
}

static bool name_temp(struct call *call, struct arena *arena, const char **error)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char name[RANDOM_LENGTH + 1] = "";

	for (size_t len = 0; len < RANDOM_LENGTH;) {
		unsigned char byte;
		if (getrandom(&byte, 1, 0) != 1) {
			if (errno == EINTR)
				continue;
			*error = arena_printf(arena, "no random name can be made: %s",
				walk_strerror(arena, errno));
			return false;
		}
		/* 252 = 7 * 36: every letter is as likely as any other. */
		if (byte < 252)
			name[len++] = letters[byte % 36];
	}
	call->temp_name = arena_printf(arena, "cordon-%u/%s", (unsigned)geteuid(), name);
	return true;
}

bool call_host(struct call *call, struct arena *arena, const struct call_request *request,
	const char **error)
{
	*call = (struct call){.platform = PLATFORM_LINUX};
	if (!find_roots(call, arena, request, error) || !find_user(call, arena, error) ||
		!name_temp(call, arena, error))
		return false;
	find_temp_roots(call, arena);
	call_git(call, arena);
	return true;
}
