/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of one compilation. Everything that the core makes lives in one arena
 * and dies with it; nothing is freed singly.
 *
 * arena_alloc does not return NULL: when memory is out it calls the arena's
 * fail hook, which must not return (the command line exits with status 2, the
 * library jumps back to its entry, a test injects failures).
 */
#ifndef CORDON_ARENA_H
#define CORDON_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	void (*fail)(void *ctx); /* NULL: abort(3) */
	void *fail_ctx;
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed, aligned for any object. size 0 gives a valid unique pointer. */
void *arena_alloc(struct arena *arena, size_t size)
	__attribute__((returns_nonnull, malloc, alloc_size(2)));

/* count * size, checked for overflow (the fail hook is called). */
void *arena_array(struct arena *arena, size_t count, size_t size)
	__attribute__((returns_nonnull));

/* A copy of len bytes with a NUL behind it. */
char *arena_bytes(struct arena *arena, const void *bytes, size_t len)
	__attribute__((returns_nonnull));

char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((returns_nonnull, format(printf, 2, 3)));

/*
 * Growth of an array that lives in the arena: returns the array, moved if full,
 * with room for at least one element more than len. *cap is kept by the callee
 * and starts at 0 (array NULL). The old copy stays until the arena is released,
 * so the total is at most twice what is used.
 */
void *arena_grow(struct arena *arena, void *array, size_t len, size_t *cap, size_t size)
	__attribute__((returns_nonnull));

#endif
