/* SPDX-License-Identifier: Apache-2.0
 *
 * A bump allocator: a chain of blocks, the newest at the head.
 */
#include "compiler/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT  _Alignof(max_align_t)
#define BLOCK_SIZE ((size_t)256 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	max_align_t bytes[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){0};
}

void arena_release(struct arena *arena)
{
	for (struct arena_block *block = arena->head; block;) {
		struct arena_block *next = block->next;
		free(block);
		block = next;
	}
	arena->head = NULL;
}

static void fail(struct arena *arena)
{
	if (arena->fail)
		arena->fail(arena->fail_ctx);
	abort();
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		fail(arena);

	size_t payload = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *block = calloc(1, sizeof(*block) + payload);
	if (!block)
		fail(arena);
	block->size = payload;

	/* A large object gets a block of its own behind the head, so that the
	 * room left in the head stays usable. */
	if (arena->head && size > BLOCK_SIZE) {
		block->next = arena->head->next;
		arena->head->next = block;
	} else {
		block->next = arena->head;
		arena->head = block;
	}
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->head;

	if (size > SIZE_MAX - ALIGNMENT)
		fail(arena);
	size = size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
	if (!block || block->size - block->used < size)
		block = add_block(arena, size);

	void *p = (char *)block->bytes + block->used;
	block->used += size;
	return p;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		fail(arena);
	return arena_alloc(arena, count * size);
}

char *arena_bytes(struct arena *arena, const void *bytes, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (len < 0)
		fail(arena);

	char *text = arena_alloc(arena, (size_t)len + 1);
	va_start(ap, format);
	vsnprintf(text, (size_t)len + 1, format, ap);
	va_end(ap);
	return text;
}

void *arena_grow(struct arena *arena, void *array, size_t len, size_t *cap, size_t size)
{
	if (len < *cap)
		return array;

	size_t want = *cap ? *cap * 2 : 8;
	void *grown = arena_array(arena, want, size);
	if (len)
		memcpy(grown, array, len * size);
	*cap = want;
	return grown;
}
