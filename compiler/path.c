/* SPDX-License-Identifier: Apache-2.0
 *
 * Lexical paths, and the tree of interned paths: one hash table from (parent,
 * name) to node. Because parents are made first, level inheritance is a plain
 * loop over the nodes.
 */
#include "compiler/path.h"

#include <assert.h>
#include <string.h>

#include "compiler/utf8.h"

static bool is_separator(enum platform platform, char c)
{
	return c == '/' || (platform == PLATFORM_WINDOWS && c == '\\');
}

static bool is_drive(const char *text, size_t len)
{
	return len >= 2 && text[1] == ':' &&
	       ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

/* Appends one component to out (which has room); false if it is `..`. */
static bool add_component(char *out, size_t *len, const char *name, size_t name_len)
{
	if (name_len == 0 || (name_len == 1 && name[0] == '.'))
		return true;
	if (name_len == 2 && name[0] == '.' && name[1] == '.')
		return false;
	out[(*len)++] = '/';
	memcpy(out + *len, name, name_len);
	*len += name_len;
	return true;
}

enum path_error path_normalize(struct arena *arena, enum platform platform,
	const char *text, size_t len, const char **out)
{
	if (platform == PLATFORM_WINDOWS) {
		if (!is_drive(text, len) || (len > 2 && !is_separator(platform, text[2])))
			return PATH_NOT_ABSOLUTE;
		if (!utf8_is_valid(text, len))
			return PATH_BAD_BYTE;
	} else if (len == 0 || text[0] != '/') {
		return PATH_NOT_ABSOLUTE;
	}
	if (len > PATH_BYTES_MAX)
		return PATH_TOO_LONG;
	if (memchr(text, '\0', len))
		return PATH_BAD_BYTE;

	char *normal = arena_alloc(arena, len + 2);
	size_t used = 0, start = 0;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && !is_separator(platform, text[i]))
			continue;
		if (!add_component(normal, &used, text + start, i - start))
			return PATH_DOTDOT;
		start = i + 1;
	}
	if (used == 0)
		normal[used++] = '/';
	normal[used] = '\0';
	*out = normal;
	return PATH_OK;
}

void path_put(struct buf *out, enum platform platform, const char *path)
{
	if (platform != PLATFORM_WINDOWS || path[1] == '\0') {
		buf_puts(out, path);
		return;
	}
	for (const char *p = path + 1; *p; p++)
		buf_putc(out, *p == '/' ? '\\' : *p);
	if (path[3] == '\0')
		buf_putc(out, '\\');
}

bool path_covers(const char *ancestor, const char *path)
{
	size_t len = strlen(ancestor);

	if (len == 1)
		return true;
	return strncmp(ancestor, path, len) == 0 &&
	       (path[len] == '\0' || path[len] == '/');
}

char *path_join(struct arena *arena, const char *directory, const char *rest)
{
	while (*rest == '/')
		rest++;
	if (*rest == '\0')
		return arena_bytes(arena, directory, strlen(directory));
	return arena_printf(
		arena, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, rest);
}

char *path_parent(struct arena *arena, const char *path)
{
	const char *last = strrchr(path, '/');

	if (last == path)
		return arena_bytes(arena, "/", 1);
	return arena_bytes(arena, path, (size_t)(last - path));
}

unsigned path_depth(const char *path)
{
	unsigned depth = 0;

	if (path[1] == '\0')
		return 0;
	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static unsigned char fold(const struct path_tree *tree, char c)
{
	if (tree->casefold && c >= 'A' && c <= 'Z')
		return (unsigned char)(c - 'A' + 'a');
	return (unsigned char)c;
}

static uint32_t hash_name(
	const struct path_tree *tree, path_id parent, const char *name, size_t len)
{
	uint32_t h = 2166136261U ^ (parent * 0x9e3779b1U);

	for (size_t i = 0; i < len; i++)
		h = (h ^ fold(tree, name[i])) * 16777619U;
	return h ^ h >> 15;
}

static bool same_name(
	const struct path_tree *tree, const char *a, const char *b, size_t len)
{
	if (!tree->casefold)
		return memcmp(a, b, len) == 0;
	for (size_t i = 0; i < len; i++)
		if (fold(tree, a[i]) != fold(tree, b[i]))
			return false;
	return true;
}

void path_tree_init(struct path_tree *tree, struct arena *arena, bool casefold)
{
	*tree = (struct path_tree){.arena = arena, .casefold = casefold};
	tree->nodes = arena_grow(arena, NULL, 0, &tree->cap, sizeof(*tree->nodes));
	tree->nodes[0] = (struct path_node){
		.parent = PATH_NONE, .first_child = PATH_NONE, .next_sibling = PATH_NONE};
	tree->count = 1;
	tree->index_size = 64;
	tree->index = arena_array(arena, tree->index_size, sizeof(*tree->index));
}

static void index_add(struct path_tree *tree, path_id node)
{
	size_t mask = tree->index_size - 1, slot = tree->nodes[node].hash & mask;

	while (tree->index[slot])
		slot = (slot + 1) & mask;
	tree->index[slot] = node + 1;
}

static void index_double(struct path_tree *tree)
{
	tree->index_size *= 2;
	tree->index = arena_array(tree->arena, tree->index_size, sizeof(*tree->index));
	for (path_id node = 1; node < tree->count; node++)
		index_add(tree, node);
}

static path_id find_child(const struct path_tree *tree, path_id parent, const char *name,
	size_t len, uint32_t hash)
{
	size_t mask = tree->index_size - 1;

	for (size_t slot = hash & mask; tree->index[slot]; slot = (slot + 1) & mask) {
		const struct path_node *node = &tree->nodes[tree->index[slot] - 1];
		if (node->hash == hash && node->parent == parent &&
			node->name_len == len && same_name(tree, node->name, name, len))
			return tree->index[slot] - 1;
	}
	return PATH_NONE;
}

static path_id add_child(struct path_tree *tree, path_id parent, const char *name,
	size_t len, uint32_t hash)
{
	if ((tree->count + 1) * 2 > tree->index_size)
		index_double(tree);
	tree->nodes = arena_grow(
		tree->arena, tree->nodes, tree->count, &tree->cap, sizeof(*tree->nodes));

	path_id id = (path_id)tree->count++;
	tree->nodes[id] = (struct path_node){
		.parent = parent,
		.first_child = PATH_NONE,
		.next_sibling = tree->nodes[parent].first_child,
		.name = name,
		.name_len = (uint32_t)len,
		.depth = tree->nodes[parent].depth + 1,
		.hash = hash,
	};
	tree->nodes[parent].first_child = id;
	index_add(tree, id);
	return id;
}

/* The next component at *p (behind a `/`), its length; 0 at the end. */
static size_t next_component(const char **p)
{
	while (**p == '/')
		(*p)++;
	return strcspn(*p, "/");
}

path_id path_intern(struct path_tree *tree, const char *path)
{
	path_id node = PATH_ROOT;

	for (size_t len; (len = next_component(&path)); path += len) {
		uint32_t hash = hash_name(tree, node, path, len);
		path_id child = find_child(tree, node, path, len, hash);
		node = child != PATH_NONE ? child
					  : add_child(tree, node, path, len, hash);
	}
	return node;
}

path_id path_lookup(const struct path_tree *tree, const char *path, const char **rest)
{
	path_id node = PATH_ROOT;

	for (size_t len; (len = next_component(&path)); path += len) {
		path_id child = find_child(
			tree, node, path, len, hash_name(tree, node, path, len));
		if (child == PATH_NONE)
			break;
		node = child;
	}
	if (rest)
		*rest = path;
	return node;
}

char *path_of(const struct path_tree *tree, struct arena *arena, path_id node)
{
	size_t len = 0;

	if (node == PATH_ROOT)
		return arena_bytes(arena, "/", 1);
	for (path_id id = node; id != PATH_ROOT; id = tree->nodes[id].parent)
		len += tree->nodes[id].name_len + 1;

	char *path = arena_alloc(arena, len + 1);
	for (path_id id = node; id != PATH_ROOT; id = tree->nodes[id].parent) {
		len -= tree->nodes[id].name_len;
		memcpy(path + len, tree->nodes[id].name, tree->nodes[id].name_len);
		path[--len] = '/';
	}
	return path;
}

bool path_below(const struct path_tree *tree, path_id ancestor, path_id node)
{
	while (node > ancestor)
		node = tree->nodes[node].parent;
	return node == ancestor;
}

/* One bucket for "ends here" and one for each byte. */
#define RADIX 257

static size_t bucket(const struct path_tree *tree, path_id id, uint32_t at)
{
	const struct path_node *node = &tree->nodes[id];

	return at < node->name_len ? (size_t)(unsigned char)node->name[at] + 1 : 0;
}

static int compare_names(
	const struct path_node *a, const struct path_node *b, uint32_t at)
{
	uint32_t shorter = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->name + at, b->name + at, shorter - at);

	return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static void insertion_sort(
	const struct path_tree *tree, path_id *list, size_t count, uint32_t at)
{
	for (size_t i = 1; i < count; i++) {
		path_id id = list[i];
		size_t k = i;
		while (k && compare_names(&tree->nodes[list[k - 1]], &tree->nodes[id],
				    at) > 0) {
			list[k] = list[k - 1];
			k--;
		}
		list[k] = id;
	}
}

/* Most significant byte first; the recursion is as deep as a common prefix is
 * long, and a name has at most PATH_BYTES_MAX bytes. */
static void radix_sort(const struct path_tree *tree, path_id *list, path_id *scratch,
	size_t count, uint32_t at)
{
	size_t start[RADIX + 1] = {0};

	if (count < 32) {
		insertion_sort(tree, list, count, at);
		return;
	}
	for (size_t i = 0; i < count; i++)
		start[bucket(tree, list[i], at) + 1]++;
	for (size_t i = 1; i <= RADIX; i++)
		start[i] += start[i - 1];

	size_t next[RADIX];
	memcpy(next, start, sizeof(next));
	for (size_t i = 0; i < count; i++)
		scratch[next[bucket(tree, list[i], at)]++] = list[i];
	memcpy(list, scratch, count * sizeof(*list));
	for (size_t i = 1; i < RADIX; i++)
		if (start[i + 1] - start[i] > 1)
			radix_sort(tree, list + start[i], scratch,
				start[i + 1] - start[i], at + 1);
}

void path_order(const struct path_tree *tree, struct arena *arena, path_id *order)
{
	path_id *stack = arena_array(arena, tree->count, sizeof(*stack));
	path_id *scratch = arena_array(arena, tree->count, sizeof(*scratch));
	size_t depth = 0, used = 0;

	stack[depth++] = PATH_ROOT;
	while (depth) {
		path_id node = stack[--depth];
		size_t first = depth;

		order[used++] = node;
		for (path_id child = tree->nodes[node].first_child; child != PATH_NONE;
			child = tree->nodes[child].next_sibling)
			stack[depth++] = child;
		radix_sort(tree, stack + first, scratch, depth - first, 0);
		/* A stack gives the last one first. */
		for (size_t i = first, k = depth; i + 1 < k; i++) {
			path_id swap = stack[i];
			stack[i] = stack[--k];
			stack[k] = swap;
		}
	}
	assert(used == tree->count);
}
