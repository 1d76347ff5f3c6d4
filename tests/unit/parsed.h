/* SPDX-License-Identifier: Apache-2.0
 *
 * One parsed text with all that belongs to it, for the tests of the parser.
 */
#ifndef CORDON_TESTS_PARSED_H
#define CORDON_TESTS_PARSED_H

#include "compiler/ast.h"

struct parsed {
	struct arena arena;
	struct sources sources;
	struct diags diags;
	struct ast_file *file;
};

/* name and text are borrowed. */
static inline void parse(struct parsed *p, const char *name, const char *text, size_t len)
{
	arena_init(&p->arena);
	sources_init(&p->sources, &p->arena);
	diags_init(&p->diags, &p->arena);
	p->file = ast_parse(&p->arena, &p->sources,
		sources_add(&p->sources, name, text, len), &p->diags);
}

static inline void release(struct parsed *p)
{
	arena_release(&p->arena);
}

static inline void render(struct parsed *p, struct buf *out)
{
	buf_puts(out, "");
	diags_render(&p->diags, &p->sources, false, out);
}

#endif
