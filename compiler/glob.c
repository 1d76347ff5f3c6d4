/* SPDX-License-Identifier: Apache-2.0
 *
 * A pattern is a list of components; its automaton has one position in front
 * of each. A set of positions is one machine word, so that walking a tree
 * carries the state along. Within a component a small backtracking-free
 * matcher works on characters.
 */
#include "compiler/glob.h"

#include <assert.h>
#include <string.h>

#include "compiler/utf8.h"

struct component {
	const char *text;
	size_t len;
	bool any; /* `**` */
};

struct glob {
	const char *text;
	const char *prefix;
	struct component components[GLOB_COMPONENTS_MAX];
	unsigned count;
};

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

static bool is_literal(const struct component *component)
{
	for (size_t i = 0; i < component->len; i++) {
		if (component->text[i] == '\\')
			i++;
		else if (is_special(component->text[i]))
			return false;
	}
	return !component->any;
}

static size_t put_unquoted(char *out, const struct component *component)
{
	size_t len = 0;

	out[len++] = '/';
	for (size_t i = 0; i < component->len; i++) {
		if (component->text[i] == '\\' && i + 1 < component->len)
			i++;
		out[len++] = component->text[i];
	}
	return len;
}

static const char *literal_prefix(struct arena *arena, const struct glob *glob)
{
	char *prefix = arena_alloc(arena, strlen(glob->text) + 2);
	size_t len = 0;

	/* The last component is a match, not a directory to begin at. */
	for (unsigned i = 0; i + 1 < glob->count && is_literal(&glob->components[i]); i++)
		len += put_unquoted(prefix + len, &glob->components[i]);
	if (len == 0)
		prefix[len++] = '/';
	prefix[len] = '\0';
	return prefix;
}

struct glob *glob_compile(struct arena *arena, const char *text)
{
	struct glob *glob = arena_alloc(arena, sizeof(*glob));

	glob->text = text;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "/");
		if (len && !(len == 1 && *p == '.')) {
			assert(glob->count < GLOB_COMPONENTS_MAX);
			glob->components[glob->count++] = (struct component){
				p, len, len == 2 && p[0] == '*' && p[1] == '*'};
		}
		p += len;
		while (*p == '/')
			p++;
	}
	glob->prefix = literal_prefix(arena, glob);
	return glob;
}

const char *glob_text(const struct glob *glob)
{
	return glob->text;
}

const char *glob_literal_prefix(const struct glob *glob)
{
	return glob->prefix;
}

/* Bytes of the character at p: a UTF-8 character or one stray byte. */
static size_t character(const char *p, size_t len)
{
	size_t n = utf8_length_at(p, len);

	return n ? n : 1;
}

/* Stray bytes get values of their own above Unicode. */
static uint32_t value(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;

	return n == 1 && c >= 0x80 ? 0x110000U + c : utf8_value_at(p, n);
}

/* One character of a class at *p, `\` resolved; *p moves behind it. */
static uint32_t class_value(const char **p, const char *end)
{
	if (**p == '\\' && *p + 1 < end)
		(*p)++;
	size_t n = character(*p, (size_t)(end - *p));
	uint32_t v = value(*p, n);
	*p += n;
	return v;
}

/* p is behind `[`. Returns the place behind `]`; *hit whether c is in it. */
static const char *match_class(const char *p, const char *end, uint32_t c, bool *hit)
{
	bool negated = p < end && *p == '!';
	bool found = false, first = true;

	p += negated;
	while (p < end && (*p != ']' || first)) {
		uint32_t low = class_value(&p, end), high = low;
		if (p + 1 < end && *p == '-' && p[1] != ']') {
			p++;
			high = class_value(&p, end);
		}
		found |= c >= low && c <= high;
		first = false;
	}
	*hit = found != negated;
	return p < end ? p + 1 : p;
}

/* One element of the pattern that takes exactly one character. Returns the
 * place behind the element; *hit whether the character fits. */
static const char *match_one(
	const char *p, const char *end, const char *name, size_t n, bool *hit)
{
	if (*p == '?') {
		*hit = true;
		return p + 1;
	}
	if (*p == '[')
		return match_class(p + 1, end, value(name, n), hit);
	if (*p == '\\' && p + 1 < end)
		p++;
	size_t len = character(p, (size_t)(end - p));
	*hit = len == n && memcmp(p, name, n) == 0;
	return p + len;
}

/* The usual two-pointer match: only the last `*` is ever taken up again. */
static bool match_component(
	const struct component *component, const char *name, size_t len)
{
	const char *p = component->text, *end = p + component->len;
	const char *star = NULL;
	size_t at = 0, star_at = 0;

	while (at < len) {
		size_t n = character(name + at, len - at);
		if (p < end && *p == '*') {
			star = ++p;
			star_at = at;
			continue;
		}
		bool hit = false;
		const char *next = p < end ? match_one(p, end, name + at, n, &hit) : p;
		if (hit) {
			p = next;
			at += n;
		} else if (star) {
			p = star;
			star_at += character(name + star_at, len - star_at);
			at = star_at;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

/* `**` may be zero components: positions behind it are reached at once. */
static glob_set close_set(const struct glob *glob, glob_set set)
{
	for (unsigned i = 0; i < glob->count; i++)
		if (glob->components[i].any && set & (glob_set)1 << i)
			set |= (glob_set)1 << (i + 1);
	return set;
}

glob_set glob_start(const struct glob *glob)
{
	return close_set(glob, 1);
}

glob_set glob_step(const struct glob *glob, glob_set set, const char *name, size_t len)
{
	glob_set next = 0;

	for (unsigned i = 0; i < glob->count; i++) {
		if (!(set & (glob_set)1 << i))
			continue;
		if (glob->components[i].any)
			next |= (glob_set)1 << i;
		else if (match_component(&glob->components[i], name, len))
			next |= (glob_set)1 << (i + 1);
	}
	return close_set(glob, next);
}

bool glob_accepts(const struct glob *glob, glob_set set)
{
	return set & (glob_set)1 << glob->count;
}

bool glob_continues(const struct glob *glob, glob_set set)
{
	return set & ~((glob_set)1 << glob->count);
}

bool glob_matches(const struct glob *glob, const char *path)
{
	glob_set set = glob_start(glob);

	while (*path && set) {
		while (*path == '/')
			path++;
		size_t len = strcspn(path, "/");
		if (len)
			set = glob_step(glob, set, path, len);
		path += len;
	}
	return glob_accepts(glob, set);
}

char *glob_quote(struct arena *arena, const char *text, size_t len)
{
	char *out = arena_alloc(arena, len * 2 + 1);
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (is_special(text[i]) || text[i] == ']')
			out[used++] = '\\';
		out[used++] = text[i];
	}
	out[used] = '\0';
	return out;
}
