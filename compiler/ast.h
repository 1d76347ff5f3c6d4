/* SPDX-License-Identifier: Apache-2.0
 *
 * The syntax tree of a policy file: what is written, with its places, and
 * nothing that follows from other files, the call or the host.
 *
 * The parser (and the YAML reader) build it through the ast_ constructors, which
 * report wrong words themselves, so that both forms give the same findings. All
 * nodes live in the arena of the compilation; lists keep source order.
 */
#ifndef CORDON_AST_H
#define CORDON_AST_H

#include <stdint.h>

#include "compiler/arena.h"
#include "compiler/buf.h"
#include "compiler/diag.h"
#include "compiler/source.h"
#include "compiler/vocabulary.h"

#define AST_NESTING_MAX 64
#define AST_RULES_MAX   1000000 /* items of rules in one file */
#define AST_PATH_MAX    4096 /* bytes of one path */

/* A name as written; text has a NUL behind it. */
struct ast_name {
	const char *text;
	uint32_t len;
	struct span span;
};

/* A place in a text where a variable's value goes. `~` is the variable home. */
struct ast_hole {
	uint32_t at; /* offset in bytes: the value goes in front of bytes[at] */
	struct ast_name name;
};

/* Text with variables: the decoded bytes without the variables. */
struct ast_text {
	const char *bytes;
	uint32_t len;
	uint32_t hole_count;
	const struct ast_hole *holes; /* ascending `at` */
};

enum ast_item_kind { AST_PATH, AST_SET, AST_GLOB, AST_EVERYTHING };

/* One target of a rule, one member of a set, one path of an expectation. */
struct ast_item {
	enum ast_item_kind kind;
	struct span span;
	struct ast_text text; /* AST_PATH and AST_GLOB; AST_SET: what follows the
	                       * name, "" or "/rest" */
	struct ast_name set; /* AST_SET */
	struct ast_item *next;
};

struct ast_items {
	struct ast_item *first;
	struct ast_item **tail;
};

enum ast_kind {
	AST_RULE,
	AST_SETTING,
	AST_ON,
	AST_MODE,
	AST_DEFAULT_MODE,
	AST_CEILING,
	AST_REQUIRE,
	AST_LADDER,
	AST_EXPECT,
	AST_GUARD,
	AST_LIMITS,
	AST_ENVIRONMENT,
};

struct ast_edge {
	enum mode from, to;
	enum consent consent;
	struct span span; /* the whole entry */
	struct ast_edge *next;
};

struct ast_expectation {
	bool allow;
	enum level level; /* LEVEL_READ or LEVEL_WRITE */
	struct ast_item *items;
	struct span span;
	struct ast_expectation *next;
};

/* A word of a guard or an environment list: exact text, `*` is a wildcard in
 * environment lists. */
struct ast_word {
	const char *text;
	uint32_t len;
	struct span span;
	struct ast_word *next;
};

struct ast_guard {
	enum guard kind;
	struct ast_word *words; /* commands, arguments; NULL else */
	struct ast_item *items; /* GUARD_JAIL */
	struct span span;
	struct ast_guard *next;
};

struct ast_limit {
	enum limit kind;
	uint64_t value; /* milliseconds, or bytes */
	struct span span;
	struct ast_limit *next;
};

struct ast_environment {
	enum environment kind;
	struct ast_word *words; /* names (keep, drop); the name (set) */
	const char *value; /* ENVIRONMENT_SET */
	struct span span;
	struct ast_environment *next;
};

struct ast_stmt;

struct ast_stmts {
	struct ast_stmt *first;
	struct ast_stmt **tail;
};

struct ast_stmt {
	enum ast_kind kind;
	struct span span; /* from the head word to the last token before a block */
	struct ast_stmt *next;
	union {
		struct {
			enum level level;
			unsigned words; /* enum word */
			struct ast_item *items;
		} rule;
		struct {
			enum setting setting;
			int value; /* of the enum of that setting */
			unsigned words; /* WORD_BEST_EFFORT, WORD_LOCKED */
		} setting;
		struct {
			unsigned platforms; /* PLATFORM_BIT */
			struct ast_stmt *body; /* AST_RULE, AST_SETTING */
		} on;
		struct {
			enum mode mode; /* confined */
			struct ast_stmt *body; /* AST_RULE, AST_SETTING, AST_ON */
		} block;
		enum mode mode; /* AST_DEFAULT_MODE, AST_CEILING */
		struct {
			enum require level;
			unsigned platforms; /* PLATFORM_ALL without `on` */
		} require;
		struct ast_edge *edges;
		struct {
			enum mode mode;
			unsigned platforms; /* PLATFORM_ALL without `on` */
			struct ast_expectation *list;
		} expect;
		struct ast_guard *guards;
		struct ast_limit *limits;
		struct ast_environment *environment;
	} u;
};

struct ast_let {
	struct ast_name name;
	struct ast_item *items;
	struct ast_let *next;
};

struct ast_var {
	struct ast_name name;
	const char *value; /* NULL: must come from the call */
	struct ast_var *next;
};

struct ast_include {
	const char *path; /* as written, decoded; nothing is substituted */
	struct span span;
	struct ast_include *next;
};

struct ast_policy {
	struct ast_name name;
	struct ast_name extends; /* text NULL: none */
	struct ast_stmt *body;
	struct ast_policy *next;
};

struct ast_file {
	uint32_t file; /* number in sources */
	struct ast_let *lets;
	struct ast_var *vars;
	struct ast_include *includes;
	struct ast_policy *policies;
};

/*
 * Parses a file that was added to sources. Always returns a tree; what is wrong
 * is in diags (errors > 0), and statements with mistakes are left out of it.
 * Reentrant, no I/O.
 */
struct ast_file *ast_parse(struct arena *arena, const struct sources *sources,
	uint32_t file, struct diags *diags);

/* The tree as stable text for tests: one node a line, places left out. */
void ast_dump(const struct ast_file *file, struct buf *out);

#endif
