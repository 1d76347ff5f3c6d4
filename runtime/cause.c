/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables: causes, and the words of bwrap that lead to them. Where a message leaves
 * it open, the sysctl that would be the reason is asked.
 */
#include "runtime/cause.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compiler/buf.h"
#include "compiler/diag.h"

const struct cause_text *cause_text(enum cause cause)
{
	static const struct cause_text texts[CAUSE_COUNT] = {
#define CAUSE_TEXT(name, verdict, sentence, fix) {verdict, sentence, fix},
		CAUSES(CAUSE_TEXT)
#undef CAUSE_TEXT
	};

	return &texts[cause];
}

/* The first byte of a file below /proc/sys, 0 if there is none. */
static char first_byte(const char *path)
{
	char byte = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &byte, 1) != 1)
		byte = 0;
	close(fd);
	return byte;
}

static enum cause why_blocked(enum cause otherwise)
{
	if (first_byte("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == '1')
		return CAUSE_APPARMOR;
	if (first_byte("/proc/sys/kernel/unprivileged_userns_clone") == '0')
		return CAUSE_USERNS;
	if (first_byte("/proc/sys/user/max_user_namespaces") == '0')
		return CAUSE_LIMIT;
	return otherwise;
}

enum cause cause_of_bwrap(const char *words)
{
	static const struct {
		const char *text;
		enum cause cause;
		bool ask; /* a sysctl may be the reason */
	} table[] = {
		{"setting up uid map: Permission denied", CAUSE_NESTED, true},
		{"namespaces exceeded", CAUSE_LIMIT, false},
		{"unshare user ns: No space left on device", CAUSE_LIMIT, false},
		{"likely because the kernel does not support user namespaces",
			CAUSE_KERNEL, true},
		{"No permissions to creat", CAUSE_USERNS, true},
		{"Creating new namespace failed: Operation not permitted", CAUSE_USERNS,
			true},
		{"Can't mount proc", CAUSE_NESTED, false},
		{"Failed RTM_NEWADDR", CAUSE_NESTED, true},
		{"overflowuid", CAUSE_NESTED, false},
		{"cannot open /proc/sys/user/max_user_namespaces", CAUSE_NESTED, false},
		{"Failed to make / slave", CAUSE_NESTED, true},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(words, table[i].text))
			return table[i].ask ? why_blocked(table[i].cause)
					    : table[i].cause;
	return CAUSE_BROKEN;
}

enum cause cause_of_landlock(int error)
{
	switch (error) {
	case ENOSYS: return CAUSE_NO_LANDLOCK;
	case EOPNOTSUPP: return CAUSE_LANDLOCK_OFF;
	case E2BIG: return CAUSE_LAYERS;
	default: return CAUSE_BROKEN;
	}
}

const char *cause_line(struct arena *arena, const char *words, const char *program)
{
	const char *best = NULL, *end;
	size_t best_len = 0, name = strlen(program);
	bool named = false;
	struct buf out = BUF_INIT;

	for (const char *line = words; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		bool own = strncmp(line, program, name) == 0 && line[name] == ':';
		if (end == line || (named && !own))
			continue;
		named |= own;
		best = line;
		best_len = (size_t)(end - line);
	}
	buf_puts(&out, "");
	if (best)
		diag_put_quoted(&out, best, best_len, 300);
	const char *text = arena_bytes(arena, out.data ? out.data : "", out.len);
	buf_release(&out);
	return text;
}

bool cause_is_of_call(enum cause cause)
{
	static const enum cause causes[] = {
		CAUSE_CHANGED, CAUSE_SIZE, CAUSE_LONG, CAUSE_LOCK, CAUSE_SLOW};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i] == cause)
			return true;
	return false;
}
