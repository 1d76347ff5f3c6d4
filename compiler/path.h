/* SPDX-License-Identifier: Apache-2.0
 *
 * Lexical paths, and the tree that all paths of a plan are interned in.
 *
 * Normal form: absolute; components joined by one `/`; no empty component, no
 * `.`; no `/` at the end except for the root. On Windows the root is `/` too
 * (above all drives) and `C:\a` becomes `/C:/a`; path_text gives the native
 * spelling back.
 */
#ifndef CORDON_PATH_H
#define CORDON_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"
#include "compiler/buf.h"
#include "compiler/vocabulary.h"

#define PATH_BYTES_MAX 4096

enum path_error {
	PATH_OK,
	PATH_NOT_ABSOLUTE,
	PATH_DOTDOT,
	PATH_TOO_LONG,
	PATH_BAD_BYTE, /* NUL; on Windows also what is not UTF-8 */
};

/* Normal form of text on a platform, into the arena. */
enum path_error path_normalize(struct arena *arena, enum platform platform,
	const char *text, size_t len, const char **out);

/* A normal form in the platform's own spelling. */
void path_put(struct buf *out, enum platform platform, const char *path);

/* True if path is ancestor or below it; both in normal form. */
bool path_covers(const char *ancestor, const char *path);

/* `/` if name is empty. Both in normal form or a relative rest. */
char *path_join(struct arena *arena, const char *directory, const char *rest);

/* The parent of a path in normal form; "/" for "/". */
char *path_parent(struct arena *arena, const char *path);

/* Number of components. */
unsigned path_depth(const char *path);

/*
 * The tree. A node is a number; the root is 0; a parent has a smaller number
 * than its children, so a loop over the numbers visits parents first.
 */
typedef uint32_t path_id; /* the one typedef: a number that is not a count */
#define PATH_ROOT 0U
#define PATH_NONE UINT32_MAX

struct path_node {
	path_id parent;
	path_id first_child, next_sibling; /* PATH_NONE at the end; unsorted */
	uint32_t name_len;
	uint32_t depth; /* components; 0 for the root */
	uint32_t hash;
	const char *name; /* not NUL-terminated */
};

struct path_tree {
	struct arena *arena;
	struct path_node *nodes;
	size_t count, cap;
	uint32_t *index; /* open addressing; node + 1 */
	size_t index_size;
	bool casefold; /* names compare without ASCII case */
};

void path_tree_init(struct path_tree *tree, struct arena *arena, bool casefold);

/* The node of a path in normal form, made if new. Names are borrowed: path
 * must live as long as the tree. */
path_id path_intern(struct path_tree *tree, const char *path);

/* The deepest node of the tree that covers path; *rest the part of path below
 * it ("" if it is the node itself). */
path_id path_lookup(const struct path_tree *tree, const char *path, const char **rest);

/* The path of a node in normal form. */
char *path_of(const struct path_tree *tree, struct arena *arena, path_id node);

/* True if node is ancestor or below it. */
bool path_below(const struct path_tree *tree, path_id ancestor, path_id node);

/* Nodes in the order in which people read paths: parents first, siblings by
 * bytes. order has room for tree->count. Linear in the bytes (radix sort). */
void path_order(const struct path_tree *tree, struct arena *arena, path_id *order);

#endif
