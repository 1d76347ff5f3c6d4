/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at 0, 1 and 2, and copies what must not be passed on.
 */
#include "runtime/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the plan lets the file behind standard input be written anyway. A name that
 * cannot be told (a removed file) gives nothing. */
static bool is_writable(const struct plan *plan)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/fd/0", path, sizeof(path) - 1);
	struct stat named, open;

	if (len <= 0 || path[0] != '/')
		return false;
	path[len] = '\0';
	return fstat(STDIN_FILENO, &open) == 0 && lstat(path, &named) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino &&
	       open.st_nlink == 1 && plan_level(plan, path) == LEVEL_WRITE;
}

static int copy_all(int from, int to)
{
	char block[65536];
	size_t total = 0;

	for (;;) {
		ssize_t n = read(from, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		total += (size_t)n;
		if (total > STDIO_COPY_MAX)
			return -EFBIG;
		for (ssize_t done = 0; done < n;) {
			ssize_t wrote = write(to, block + done, (size_t)(n - done));
			if (wrote < 0 && errno != EINTR)
				return -errno;
			done += wrote > 0 ? wrote : 0;
		}
	}
}

/* A sealed file without a name, at its start. Fd or -errno. */
static int copy_stdin(void)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	int error = copy_all(STDIN_FILENO, fd);
	if (!error && (lseek(fd, 0, SEEK_SET) < 0 ||
			      fcntl(fd, F_ADD_SEALS,
				      F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK |
					      F_SEAL_SEAL) < 0))
		error = -errno;
	if (!error)
		return fd;
	close(fd);
	return error;
}

bool stdio_prepare(
	const struct plan *plan, struct arena *arena, int *input, const char **error)
{
	static const char *const names[] = {
		"standard input", "standard output", "standard error"};
	struct stat st;

	*input = -1;
	for (int fd = 0; fd < 3; fd++) {
		bool known = fstat(fd, &st) == 0;
		int flags = fcntl(fd, F_GETFL);
		if (!known || (flags >= 0 && !S_ISDIR(st.st_mode) && !(flags & O_PATH)))
			continue;
		*error = arena_printf(arena,
			"%s is a directory: through it the command would pass the "
			"sandbox; give it a file or a pipe",
			names[fd]);
		return false;
	}
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode) || is_writable(plan))
		return true;
	*input = copy_stdin();
	/* Opened for writing only: there is nothing to read, and nothing to pass. */
	if (*input == -EBADF)
		*input = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (*input >= 0)
		return true;
	*error = *input == -EFBIG
			 ? "standard input is a file of more than 256 MiB that the plan "
			   "does not make writable; pass it through a pipe"
			 : arena_printf(arena, "standard input cannot be copied: %s",
				   strerror(-*input));
	*input = -1;
	return false;
}
