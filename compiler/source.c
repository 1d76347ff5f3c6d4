/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of source files, and byte offset → line and column.
 */
#include "compiler/source.h"

#include <assert.h>
#include <string.h>

void sources_init(struct sources *sources, struct arena *arena)
{
	*sources = (struct sources){.arena = arena};
	sources_add(sources, "built-in", "", 0);
}

uint32_t sources_add(
	struct sources *sources, const char *name, const char *text, size_t len)
{
	assert(len <= SOURCE_SIZE_MAX);
	sources->list = arena_grow(sources->arena, sources->list, sources->count,
		&sources->cap, sizeof(*sources->list));
	sources->list[sources->count] = (struct source){name, text, len};
	return (uint32_t)sources->count++;
}

const struct source *sources_get(const struct sources *sources, uint32_t file)
{
	assert(file < sources->count);
	return &sources->list[file];
}

struct place source_place(const struct sources *sources, uint32_t file, uint32_t at)
{
	struct place place = {0};

	if (file == 0)
		return place;

	const struct source *source = sources_get(sources, file);
	assert(at <= source->len);

	size_t start = 0;
	place.line = 1;
	for (size_t i = 0; i < at; i++) {
		if (source->text[i] != '\n')
			continue;
		place.line++;
		start = i + 1;
	}

	const char *end = memchr(source->text + start, '\n', source->len - start);
	place.text = source->text + start;
	place.len = end ? (size_t)(end - place.text) : source->len - start;
	if (place.len && place.text[place.len - 1] == '\r')
		place.len--;
	place.offset = at - start;

	place.column = 1;
	for (size_t i = start; i < at; i++)
		if (((unsigned char)source->text[i] & 0xc0) != 0x80)
			place.column++;
	return place;
}

struct span span_join(struct span a, struct span b)
{
	assert(a.file == b.file);
	return (struct span){a.file, a.start, b.end};
}
