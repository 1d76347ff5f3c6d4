/* SPDX-License-Identifier: Apache-2.0
 *
 * The fixed list of places. What is there at all is taken; whether it may be
 * trusted is asked where it is started, so that the answer has a sentence.
 */
#include "runtime/programs.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *find_in(
	struct arena *arena, const char *const *places, const char *name)
{
	for (; *places; places++) {
		const char *path = arena_printf(arena, "%s/%s", *places, name);
		if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0)
			return path;
	}
	return NULL;
}

/* The directory of the running program if that is the command line, else NULL. */
static const char *own_directory(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash || strcmp(slash, "/cordon") != 0)
		return NULL;
	return arena_bytes(arena, path, (size_t)(slash - path));
}

void programs_find(struct programs *programs, struct arena *arena)
{
	static const char *const system[] = {"/usr/bin", "/usr/local/bin", "/bin", NULL};
	const char *ours[3] = {own_directory(arena), CORDON_LIBEXECDIR, NULL};
	const char *const *places = ours[0] ? ours : ours + 1;

	programs->bwrap = find_in(arena, system, "bwrap");
	programs->helper = find_in(arena, places, "cordon-init");
	programs->self = ours[0] ? arena_printf(arena, "%s/cordon", ours[0]) : NULL;
	programs->launcher = find_in(arena, places, "landlock-run");
}
