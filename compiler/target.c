/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about a machine: a list and a hash from path to fact.
 */
#include "compiler/target.h"

#include <string.h>

/* The newest Landlock ABI that cordon knows what to do with. */
#define LANDLOCK_ABI_KNOWN 7

void target_imagine(struct target *target, enum platform platform)
{
	*target = (struct target){
		.platform = platform,
		.imagined = true,
		.casefold = platform == PLATFORM_WINDOWS,
		.uid = 1000,
		.euid = 1000,
		.landlock_abi = LANDLOCK_ABI_KNOWN,
	};
}

void target_add(struct target *target, struct arena *arena, const struct fact *fact)
{
	target->facts = arena_grow(arena, target->facts, target->fact_count,
		&target->fact_cap, sizeof(*target->facts));
	target->facts[target->fact_count++] = *fact;
}

/* FNV-1a. */
static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037U;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211U;
	return h;
}

void target_index(struct target *target, struct arena *arena)
{
	size_t size = 16;

	while (size < target->fact_count * 2)
		size *= 2;
	target->index = arena_array(arena, size, sizeof(*target->index));
	target->index_size = size;
	for (size_t i = 0; i < target->fact_count; i++) {
		size_t slot = hash(target->facts[i].path) & (size - 1);
		while (target->index[slot])
			slot = (slot + 1) & (size - 1);
		target->index[slot] = (uint32_t)i + 1;
	}
}

const struct fact *target_find(const struct target *target, const char *path)
{
	if (!target->index_size)
		return NULL;

	size_t mask = target->index_size - 1;
	for (size_t slot = hash(path) & mask; target->index[slot];
		slot = (slot + 1) & mask) {
		const struct fact *fact = &target->facts[target->index[slot] - 1];
		if (strcmp(fact->path, path) == 0)
			return fact;
	}
	return NULL;
}

const struct match_set *target_matches(const struct target *target, const char *pattern)
{
	for (size_t i = 0; i < target->match_count; i++)
		if (strcmp(target->matches[i].pattern, pattern) == 0)
			return &target->matches[i];
	return NULL;
}
