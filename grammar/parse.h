/* SPDX-License-Identifier: Apache-2.0
 *
 * What the lexer and the parser of one file share. Three layers, each with one
 * task: lexer.l cuts the text into tokens; layout.c decides which line ends
 * count and keeps braces balanced, so that the parser never sees a file without
 * its closing braces; parser.y gives tokens their meaning.
 */
#ifndef CORDON_GRAMMAR_PARSE_H
#define CORDON_GRAMMAR_PARSE_H

#include "compiler/ast_build.h"
#include "compiler/source.h"

struct parse_brace {
	struct span span;
	uint32_t indent; /* of its line */
};

struct parse {
	struct ast_builder builder;
	const struct source *source;
	uint32_t file;
	void *scanner;
	uint32_t skipped; /* bytes of a byte order mark at the start */
	size_t errors_before; /* of files parsed earlier */

	/* Layout. Tokens are numbers of parser.h. */
	int last; /* the token handed out last; 0 at the start */
	int before; /* the one before it */
	int pushed; /* the token to hand out next; -1: none */
	struct span pushed_span;
	bool ended; /* the scanner is at the end */
	uint32_t line_start, line_indent;
	struct parse_brace braces[AST_NESTING_MAX]; /* open ones */
	unsigned depth;
	bool block_skipped; /* the next token closes a block that was too deep */
	bool unwinding; /* a statement of the top level closes all blocks */
	unsigned forgiven; /* `}` that belong to blocks closed so */
	/* The first `{` whose `}` is indented less, and that `}`; file 0: none. */
	struct span suspect, suspect_close;
	/* From an earlier look at a file that lacks a `}`: it is missing in front of
	 * this one. */
	struct span lacking;
	bool unbalanced; /* a block was open at the end */
	bool end_reported;
	/* Tokens that were reported by the layout; file 0: none. */
	struct span brace_reported; /* a `{` on a line of its own */
	struct span separated; /* behind a `}` */

	/* The statement at hand, for messages. */
	int head;
	struct span head_span;
	unsigned index; /* of the token handed out last; 0 is the head */
};

/* lexer.l: the next token as written; 0 at the end. */
int cordon_lexer_lex(struct span *span, void *scanner);
void *parse_scanner(struct parse *parse);

/* layout.c: the next token for the parser. */
int parse_next(struct parse *parse, struct span *span);
/* Reports bytes that are not UTF-8 and lone carriage returns; false if the file
 * is not worth reading. */
bool parse_check_encoding(const struct parse *parse);

/* message.c: a token that does not fit. expected: names of the tokens that would
 * (the aliases of parser.y). Reports once and prepares the builder for the rest
 * of the statement. */
void parse_unexpected(struct parse *parse, int token, struct span span,
	const char *const *expected, size_t count);

#endif
