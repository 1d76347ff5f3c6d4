/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files. The object is held by an O_PATH descriptor, judged, and then opened
 * for reading through /proc/self/fd, so that what was judged is what is read.
 */
#include "runtime/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/walk.h"

#define CHUNK ((size_t)64 * 1024)

static bool fail(
	struct arena *arena, const char *path, const char *what, const char **error)
{
	*error = arena_printf(arena, "%s %s", walk_quoted(arena, path), what);
	return false;
}

static bool fail_errno(
	struct arena *arena, const char *path, int number, const char **error)
{
	if (number == ENOENT)
		return fail(arena, path, "does not exist", error);
	*error = walk_sentence(arena, path, "cannot be read", number);
	return false;
}

static bool drain(struct arena *arena, int fd, const char *path, size_t most,
	struct file_text *out, const char **error)
{
	struct buf text = BUF_INIT;
	char chunk[CHUNK];
	ssize_t got = 0;
	bool ok = true;

	do {
		got = read(fd, chunk, sizeof(chunk));
		if (got > 0)
			buf_put(&text, chunk, (size_t)got);
	} while (text.len <= most && (got > 0 || (got < 0 && errno == EINTR)));

	if (text.len > most)
		ok = fail(arena, path,
			arena_printf(arena, "is larger than %zu bytes", most), error);
	else if (got < 0)
		ok = fail_errno(arena, path, errno, error);
	if (ok) {
		out->text = arena_bytes(arena, text.data, text.len);
		out->len = text.len;
	}
	buf_release(&text);
	return ok;
}

static bool judge(struct arena *arena, const char *path, const struct stat *st,
	size_t most, const char **error)
{
	if (S_ISDIR(st->st_mode))
		return fail(arena, path, "is a directory", error);
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))
		return fail(arena, path, "is neither a file nor a FIFO", error);
	if (S_ISREG(st->st_mode) && (uintmax_t)st->st_size > most)
		return fail(arena, path,
			arena_printf(arena, "is larger than %zu bytes", most), error);
	return true;
}

static bool read_named(struct arena *arena, const char *path, size_t most,
	struct file_text *out, const char **error)
{
	struct stat st;
	bool ok = false;
	int fd = -1, held = open(path, O_PATH | O_CLOEXEC);

	if (held < 0)
		return fail_errno(arena, path, errno, error);
	if (fstat(held, &st) < 0) {
		fail_errno(arena, path, errno, error);
		goto close_held;
	}
	if (!judge(arena, path, &st, most, error))
		goto close_held;
	fd = walk_open_again(held, O_RDONLY);
	if (fd < 0) {
		fail_errno(arena, path, -fd, error);
		goto close_held;
	}
	out->dev = st.st_dev;
	out->ino = st.st_ino;
	ok = drain(arena, fd, path, most, out, error);
	close(fd);
close_held:
	close(held);
	return ok;
}

bool read_file(struct arena *arena, const char *path, size_t most, struct file_text *out,
	const char **error)
{
	struct stat st;

	*out = (struct file_text){0};
	if (strcmp(path, "-") != 0)
		return read_named(arena, path, most, out, error);

	if (fstat(STDIN_FILENO, &st) < 0)
		return fail_errno(arena, path, errno, error);
	if (S_ISDIR(st.st_mode))
		return fail(arena, path, "is a directory", error);
	out->dev = st.st_dev;
	out->ino = st.st_ino;
	return drain(arena, STDIN_FILENO, path, most, out, error);
}

void policy_files_init(
	struct policy_files *files, struct arena *arena, struct sources *sources)
{
	*files = (struct policy_files){.arena = arena, .sources = sources};
}

static const struct policy_file *find_object(
	const struct policy_files *files, const struct file_text *text)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].dev == text->dev && files->list[i].ino == text->ino)
			return &files->list[i];
	return NULL;
}

/* Known by name, so that a FIFO is not drained twice. */
static const struct policy_file *find_name(
	const struct policy_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->list[i].path, path) == 0)
			return &files->list[i];
	return NULL;
}

uint32_t policy_files_read(
	struct policy_files *files, const char *path, const char **error)
{
	struct file_text text;
	const struct policy_file *known = find_name(files, path);

	if (known)
		return known->number;
	if (!read_file(files->arena, path, SOURCE_SIZE_MAX, &text, error))
		return 0;
	if (files->count == SOURCE_FILES_MAX) {
		*error = arena_printf(files->arena, "more than %d files are included",
			SOURCE_FILES_MAX);
		return 0;
	}
	known = find_object(files, &text);

	const char *name = arena_bytes(files->arena, path, strlen(path));
	uint32_t number = known ? known->number
				: sources_add(files->sources, name, text.text, text.len);
	files->list = arena_grow(files->arena, files->list, files->count, &files->cap,
		sizeof(*files->list));
	files->list[files->count++] = (struct policy_file){
		name, number, text.dev, text.ino};
	return number;
}

static const char *path_of_number(const struct policy_files *files, uint32_t number)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].number == number)
			return files->list[i].path;
	return "-";
}

static uint32_t load(void *ctx, uint32_t from, const char *path, const char **error)
{
	struct policy_files *files = ctx;
	const char *base = path_of_number(files, from);
	const char *slash = strrchr(base, '/');

	/* `-` in a policy is a file of that name, never standard input. */
	if (path[0] == '/')
		return policy_files_read(files, path, error);
	if (!slash)
		path = arena_printf(files->arena, "./%s", path);
	else
		path = arena_printf(
			files->arena, "%.*s/%s", (int)(slash - base), base, path);
	return policy_files_read(files, path, error);
}

struct loader policy_files_loader(struct policy_files *files)
{
	return (struct loader){.load = load, .ctx = files};
}
