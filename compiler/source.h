/* SPDX-License-Identifier: Apache-2.0
 *
 * Source files and places in them. A place is a span of byte offsets; line and
 * column are computed only when something is printed.
 */
#ifndef CORDON_SOURCE_H
#define CORDON_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"

#define SOURCE_SIZE_MAX  ((size_t)64 * 1024 * 1024) /* bytes of one file */
#define SOURCE_FILES_MAX 4096

/* file 0 is "no place": what is built in. */
struct span {
	uint32_t file;
	uint32_t start; /* byte offset of the first byte */
	uint32_t end; /* byte offset behind the last byte */
};

struct source {
	const char *name; /* as people know it; printed in front of findings */
	const char *text; /* NUL behind it; may hold NULs */
	size_t len;
};

struct sources {
	struct arena *arena;
	struct source *list; /* [0] is the built-in no-file */
	size_t count;
	size_t cap;
};

void sources_init(struct sources *sources, struct arena *arena);

/* Adds a file; name and text are borrowed and must outlive the sources.
 * Returns its number, from 1. The caller has checked SOURCE_SIZE_MAX. */
uint32_t sources_add(
	struct sources *sources, const char *name, const char *text, size_t len);

const struct source *sources_get(const struct sources *sources, uint32_t file);

struct place {
	uint32_t line; /* from 1 */
	uint32_t column; /* from 1, in characters (UTF-8; a stray byte is one) */
	const char *text; /* the source line, without its newline */
	size_t len; /* bytes */
	size_t offset; /* of the place in the line, bytes */
};

/* The place of byte offset `at` of a file; {0} for file 0. */
struct place source_place(const struct sources *sources, uint32_t file, uint32_t at);

/* From the start of a to the end of b; both of one file. */
struct span span_join(struct span a, struct span b);

#endif
