/* SPDX-License-Identifier: Apache-2.0
 *
 * Before anything starts: would the command find its directory, its program and its
 * interpreters under this plan? It would fail by itself, but with an errno that names
 * no rule.
 *
 * Nothing depends on this for security; the sandbox is what holds. So what cannot be
 * looked at (a program that may be executed but not read) passes.
 *
 * Sources: execve(2) (interpreter scripts, 4 levels), elf(5) (PT_INTERP), execvp(3).
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/run_parts.h"
#include "runtime/walk.h"

#define HEAD_BYTES     256 /* BINPRM_BUF_SIZE of the kernel */
#define SCRIPT_LEVELS  5
#define SEARCH_DEFAULT "/bin:/usr/bin" /* execvp(3) without PATH */

struct flight {
	struct session *session;
	const struct plan *plan; /* NULL: nothing is hidden */
	const struct run_request *request;
	struct run_result *out;
	const char *hidden; /* a candidate that the plan hides, canonical */
	int error; /* why candidates did not do: ENOENT, EACCES */
	bool named; /* by a path; in a search a directory that is closed has nothing */
};

static struct arena *arena_of(const struct flight *f)
{
	return &f->session->arena;
}

/* An absolute path from one that is taken from the working directory. */
static const char *absolute(const struct flight *f, const char *path)
{
	if (path[0] == '/')
		return path;
	return arena_printf(arena_of(f), "%s/%s", f->request->directory, path);
}

static bool is_readable(const struct flight *f, const char *canonical)
{
	return !f->plan || plan_level(f->plan, canonical) >= LEVEL_READ;
}

/* The finding for a path that the plan hides; always false. */
static bool refuse_hidden(struct flight *f, const char *what, const char *canonical)
{
	struct judgement judged = plan_decide(f->plan, canonical);
	struct diag *diag = diag_report(&f->session->diags, CODE_E085,
		f->plan->rules.list[judged.rule].span,
		"%s %s cannot be read under this policy: `%s` hides it", what,
		walk_quoted(arena_of(f), canonical),
		plan_rule_text(f->plan, judged.rule, &f->session->sources, arena_of(f)));

	diag_help(&f->session->diags, diag, "nothing was run; add a `read` rule for it");
	f->out->outcome = RUN_REFUSED;
	return false;
}

static bool fail_exec(struct flight *f, int error, const char *reason)
{
	f->out->outcome = RUN_EXEC_FAILED;
	f->out->error = error;
	f->out->reason = reason;
	return false;
}

/* ---- interpreters -------------------------------------------------------------------- */

/* The interpreter that the first bytes of a file name. NULL: none (a program that
 * needs none, or nothing that we know). */
static const char *script_interpreter(struct arena *arena, const char *head, size_t len)
{
	size_t at = 2, end;

	while (at < len && (head[at] == ' ' || head[at] == '\t'))
		at++;
	for (end = at; end < len && !strchr(" \t\n", head[end]);)
		end++;
	return end > at ? arena_bytes(arena, head + at, end - at) : NULL;
}

static const char *elf_string(struct arena *arena, int fd, uint64_t offset, uint64_t size)
{
	char *text;

	if (size < 2 || size > PATH_BYTES_MAX)
		return NULL;
	text = arena_alloc(arena, (size_t)size + 1);
	return pread(fd, text, (size_t)size, (off_t)offset) == (ssize_t)size ? text
									     : NULL;
}

static const char *elf64_interpreter(struct arena *arena, int fd, const char *head)
{
	Elf64_Ehdr header;
	Elf64_Phdr entry;

	memcpy(&header, head, sizeof(header));
	if (header.e_phentsize != sizeof(entry))
		return NULL;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(entry));
		if (pread(fd, &entry, sizeof(entry), at) != (ssize_t)sizeof(entry))
			return NULL;
		if (entry.p_type == PT_INTERP)
			return elf_string(arena, fd, entry.p_offset, entry.p_filesz);
	}
	return NULL;
}

static const char *elf32_interpreter(struct arena *arena, int fd, const char *head)
{
	Elf32_Ehdr header;
	Elf32_Phdr entry;

	memcpy(&header, head, sizeof(header));
	if (header.e_phentsize != sizeof(entry))
		return NULL;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(entry));
		if (pread(fd, &entry, sizeof(entry), at) != (ssize_t)sizeof(entry))
			return NULL;
		if (entry.p_type == PT_INTERP)
			return elf_string(arena, fd, entry.p_offset, entry.p_filesz);
	}
	return NULL;
}

static const char *find_interpreter(struct arena *arena, int path_fd)
{
	char head[HEAD_BYTES] = {0};
	const char *found = NULL;
	int fd = walk_open_again(path_fd, O_RDONLY | O_NOCTTY);

	if (fd < 0)
		return NULL;
	ssize_t len = pread(fd, head, sizeof(head), 0);
	if (len > 2 && head[0] == '#' && head[1] == '!')
		found = script_interpreter(arena, head, (size_t)len);
	else if (len < (ssize_t)sizeof(Elf64_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
		found = "/bin/sh"; /* no format of the kernel's: a script for sh */
	else if (head[EI_CLASS] == ELFCLASS64)
		found = elf64_interpreter(arena, fd, head);
	else if (head[EI_CLASS] == ELFCLASS32)
		found = elf32_interpreter(arena, fd, head);
	close(fd);
	return found;
}

static bool check_interpreters(struct flight *f, const char *program, int fd, int level)
{
	const char *name = find_interpreter(arena_of(f), fd);
	struct walk walk = {.arena = arena_of(f)};
	bool fine = true;

	if (!name || level == SCRIPT_LEVELS)
		return true;
	walk_path_retry(&walk, absolute(f, name));
	if (walk.missing)
		fine = fail_exec(f, ENOENT,
			arena_printf(arena_of(f),
				"%s needs the interpreter %s, which is missing",
				walk_quoted(arena_of(f), program),
				walk_quoted(arena_of(f), name)));
	else if (walk.error == 0 && !is_readable(f, walk.canonical))
		fine = refuse_hidden(f, "the interpreter", walk.canonical);
	else if (walk.fd >= 0 && S_ISREG(walk.st.st_mode))
		fine = check_interpreters(f, name, walk.fd, level + 1);
	walk_release(&walk);
	return fine;
}

/* ---- the program ----------------------------------------------------------------------- */

enum found { FOUND, NOT_FOUND, NOT_FINE };

static enum found miss(struct flight *f, int error)
{
	if (error == EACCES || !f->error)
		f->error = error;
	return NOT_FOUND;
}

/* One place where the program may be. */
static enum found look(struct flight *f, const char *candidate)
{
	const char *path = absolute(f, candidate);
	struct walk walk = {.arena = arena_of(f)};
	enum found found = FOUND;

	/* Most candidates are not there: one call each. */
	if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) < 0)
		return miss(f, errno == EACCES && f->named ? EACCES : ENOENT);
	walk_path_retry(&walk, path);
	if (walk.missing) {
		found = miss(f, ENOENT);
	} else if (walk.error && walk.error != EACCES) {
		found = FOUND; /* the exec itself will say */
	} else if (walk.error || walk.fd < 0) {
		found = miss(f, EACCES);
	} else if (!is_readable(f, walk.canonical)) {
		f->hidden = walk.canonical;
		found = NOT_FOUND;
	} else if (!S_ISREG(walk.st.st_mode) || !(walk.st.st_mode & 0111) ||
		   faccessat(AT_FDCWD, walk.canonical, X_OK, AT_EACCESS) < 0) {
		found = miss(f, EACCES);
	} else if (!check_interpreters(f, candidate, walk.fd, 0)) {
		found = NOT_FINE;
	}
	walk_release(&walk);
	return found;
}

static const char *search_path(const struct run_request *request)
{
	for (const char *const *e = request->environment; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return SEARCH_DEFAULT;
}

/* Where execvp(3) would look. An empty element is the working directory, spelled out,
 * or else sh would take a script named -x as an option. */
static const char *const *list_candidates(const struct flight *f)
{
	const char *name = f->request->argv[0], *path = search_path(f->request);
	size_t count = 2, used = 0;

	for (const char *p = path; *p; p++)
		count += *p == ':';
	const char **list = arena_array(arena_of(f), count + 1, sizeof(*list));
	if (strchr(name, '/')) {
		list[0] = name;
		return list;
	}
	for (const char *end; *name; path = end + 1) {
		end = strchrnul(path, ':');
		list[used++] = end == path ? arena_printf(arena_of(f), "./%s", name)
					   : arena_printf(arena_of(f), "%.*s/%s",
						     (int)(end - path), path, name);
		if (!*end)
			break;
	}
	return list;
}

bool preflight(struct session *session, const struct plan *plan,
	const struct run_request *request, const char *const **candidates,
	struct run_result *out)
{
	struct flight f = {session, plan, request, out, NULL, 0,
		strchr(request->argv[0], '/') != NULL};
	const char *name = walk_quoted(&session->arena, request->argv[0]);

	if (!is_readable(&f, request->directory))
		return refuse_hidden(&f, "the working directory", request->directory);
	*candidates = list_candidates(&f);
	for (const char *const *at = *candidates; *at; at++) {
		enum found found = look(&f, *at);
		if (found != NOT_FOUND)
			return found == FOUND;
	}
	if (f.hidden)
		return refuse_hidden(&f, "the program", f.hidden);
	if (f.error == EACCES)
		return fail_exec(&f, EACCES,
			arena_printf(&session->arena, "%s cannot be executed", name));
	return fail_exec(
		&f, ENOENT, arena_printf(&session->arena, "%s: not found", name));
}
