/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens → tree, through the constructors of compiler/ast_build.h and nothing
 * else (language.md, 13).
 *
 * The one idea: every block takes every statement. Whether a statement may
 * stand in a block, and whether a word is a mode or a platform, is checked by
 * the constructors, which can say what is wrong better than a grammar can; so
 * the grammar stays small, recovers at every statement, and a broken head does
 * not make what stands in its block unreadable. layout.c ends every statement
 * with NL and balances the braces.
 */
%require "3.8"
%define api.pure full
%define api.prefix {cordon_parse_}
%define api.token.prefix {TOKEN_}
%define api.location.type {struct span}
%define parse.lac full
%define parse.error custom
%define lr.default-reduction consistent
%locations
%expect 0
%param {struct parse *parse}

%code requires {
#include "grammar/parse.h"
}

%code {
#include <string.h>

/* Blocks are bounded by layout.c, lists are left recursive: the stack never
 * grows, and nothing is taken from the heap. */
#define YYINITDEPTH 1024
#define YYMAXDEPTH  1024

#define YYLLOC_DEFAULT(current, rhs, n)                                                  \
	do {                                                                             \
		if (n) {                                                                 \
			(current).file = YYRHSLOC(rhs, 1).file;                          \
			(current).start = YYRHSLOC(rhs, 1).start;                        \
			(current).end = YYRHSLOC(rhs, n).end;                            \
		} else {                                                                 \
			(current).file = YYRHSLOC(rhs, 0).file;                          \
			(current).start = (current).end = YYRHSLOC(rhs, 0).end;          \
		}                                                                        \
	} while (0)

#define B        (&parse->builder)
#define RAW(at)  (&(const struct ast_raw[]){raw_at(parse, (at))}[0])

static struct ast_raw raw_at(const struct parse *parse, struct span span);
static int cordon_parse_lex(union CORDON_PARSE_STYPE *value, struct span *span,
	struct parse *parse);
static void cordon_parse_error(
	struct span *span, struct parse *parse, const char *message);
}

%union {
	struct ast_item *item;
	struct ast_items items;
	struct ast_words words;
	unsigned platforms;
	int value;
}

%token NL "end of statement" OPEN "{" CLOSE "}" COMMA "," EQUAL "=" ARROW "->"
%token NAME "name" WORD "word" NUMBER "number" PATH "path" STRING "text" SETREF "set reference"
%token ARGUMENT "argument word" BAD "bad"
%token ALLOW "allow" ARGUMENT_KEYWORD "argument" CEILING "ceiling" CLEAR "clear"
%token COMMAND "command" CORDON "cordon" DEFAULT "default" DENY "deny" DEVICES "devices"
%token DROP "drop" ENVIRONMENT "environment" EVAL "eval" EVERYTHING "everything"
%token EXPECT "expect" EXTENDS "extends" GLOB "glob" GUARD "guard" HIDE "hide" IN "in"
%token INCLUDE "include" JAIL "jail" KEEP "keep" LADDER "ladder" LET "let" LIMITS "limits"
%token METACHARACTERS "metacharacters" MODE "mode" NETWORK "network" ON "on"
%token OUTPUT "output" POLICY "policy" READ "read" REQUIRE "require" SET "set" TEMP "temp"
%token TIMEOUT "timeout" VAR "var" WRITE "write"

%type <item> item
%type <items> items
%type <words> commands arguments variables
%type <platforms> platforms on
%type <value> level verdict access setting limit plain filter

%%

file: statements
	;

statements: %empty
	| statements statement NL
	| statements error NL           { yyerrok; ast_build_broken(B); }
	| statements broken statements CLOSE NL { ast_build_close(B); ast_build_broken(B); }
	;

/* A head that was reported: its block is read all the same. A brace is taken
 * without a look at what follows (default reductions in consistent states), so
 * that a mistake behind it is recovered inside the block. */
broken: error OPEN                      { yyerrok; ast_build_open(B, @2); }
	;

statement: CORDON word                  { ast_build_version(B, @$, RAW(@2)); }
	| LET name EQUAL items          { ast_build_let(B, @$, RAW(@2), $4); }
	| VAR name                      { ast_build_var(B, @$, RAW(@2), NULL); }
	| VAR name EQUAL STRING         { ast_build_var(B, @$, RAW(@2), RAW(@4)); }
	| INCLUDE STRING                { ast_build_include(B, @$, RAW(@2)); }
	| DEFAULT MODE name             { ast_build_default_mode(B, @$, RAW(@3)); }
	| CEILING name                  { ast_build_ceiling(B, @$, RAW(@2)); }
	| REQUIRE name on               { ast_build_require(B, @$, RAW(@2), $3); }
	| level items flags             { ast_build_rule(B, @$, (enum level)$1, $2); }
	| setting name flags            { ast_build_setting(B, @$, (enum setting)$1, RAW(@2)); }
	| NAME ARROW name name          { ast_build_edge(B, @$, RAW(@1), RAW(@3), RAW(@4)); }
	| verdict access items          { ast_build_expectation(B, @$, $1, (enum level)$2, $3); }
	| DENY COMMAND commands         { ast_build_guard(B, @$, GUARD_DENY_COMMAND, $3); }
	| DENY ARGUMENT_KEYWORD arguments { ast_build_guard(B, @$, GUARD_DENY_ARGUMENT, $3); }
	| DENY EVAL                     { ast_build_guard(B, @$, GUARD_DENY_EVAL,
						(struct ast_words){0}); }
	| DENY METACHARACTERS           { ast_build_guard(B, @$, GUARD_DENY_METACHARACTERS,
						(struct ast_words){0}); }
	| JAIL items                    { ast_build_jail(B, @$, $2); }
	| limit word                    { ast_build_limit(B, @$, (enum limit)$1, RAW(@2)); }
	| limit NUMBER NAME             { ast_build_limit(B, @$, (enum limit)$1,
						RAW(span_join(@2, @3))); }
	| CLEAR                         { ast_build_environment(B, @$, ENVIRONMENT_CLEAR,
						(struct ast_words){0}, NULL); }
	| filter variables              { ast_build_environment(B, @$, (enum environment)$1, $2,
						NULL); }
	| SET name EQUAL STRING         { ast_build_environment(B, @$, ENVIRONMENT_SET,
						ast_variables_of(B, RAW(@2)), RAW(@4)); }
	| SET STRING EQUAL STRING       { ast_build_environment(B, @$, ENVIRONMENT_SET,
						ast_variables_of(B, RAW(@2)), RAW(@4)); }
	| head open statements CLOSE    { ast_build_close(B); }
	;

head: POLICY name                       { ast_build_policy_head(B, @$, RAW(@2), NULL); }
	| POLICY name EXTENDS name      { ast_build_policy_head(B, @$, RAW(@2), RAW(@4)); }
	| MODE name                     { ast_build_mode_head(B, @$, RAW(@2)); }
	| ON platforms                  { ast_build_on_head(B, @$, $2); }
	| EXPECT IN name on             { ast_build_expect_head(B, @$, RAW(@3), $4); }
	| plain                         { ast_build_plain_head(B, @$, (enum ast_head)$1); }
	;

plain: LADDER                           { $$ = HEAD_LADDER; }
	| GUARD                         { $$ = HEAD_GUARD; }
	| LIMITS                        { $$ = HEAD_LIMITS; }
	| ENVIRONMENT                   { $$ = HEAD_ENVIRONMENT; }
	;

open: OPEN                              { ast_build_open(B, @1); }
	;

on: %empty                              { $$ = PLATFORM_ALL; }
	| ON platforms                  { $$ = $2; }
	;

platforms: name                         { $$ = ast_build_platform(B, 0, RAW(@1)); }
	| platforms COMMA name          { $$ = ast_build_platform(B, $1, RAW(@3)); }
	;

level: HIDE                             { $$ = LEVEL_HIDE; }
	| READ                          { $$ = LEVEL_READ; }
	| WRITE                         { $$ = LEVEL_WRITE; }
	;

access: READ                            { $$ = LEVEL_READ; }
	| WRITE                         { $$ = LEVEL_WRITE; }
	;

verdict: ALLOW                          { $$ = true; }
	| DENY                          { $$ = false; }
	;

setting: TEMP                           { $$ = SETTING_TEMP; }
	| DEVICES                       { $$ = SETTING_DEVICES; }
	| NETWORK                       { $$ = SETTING_NETWORK; }
	;

limit: TIMEOUT                          { $$ = LIMIT_TIMEOUT; }
	| OUTPUT                        { $$ = LIMIT_OUTPUT; }
	;

filter: KEEP                            { $$ = ENVIRONMENT_KEEP; }
	| DROP                          { $$ = ENVIRONMENT_DROP; }
	;

items: item                             { $$ = ast_items_of($1); }
	| items COMMA item              { $$ = $1; ast_items_push(&$$, $3); }
	;

item: PATH                              { $$ = ast_build_path(B, RAW(@1)); }
	| STRING                        { $$ = ast_build_path(B, RAW(@1)); }
	| SETREF                        { $$ = ast_build_set(B, RAW(@1)); }
	| GLOB STRING                   { $$ = ast_build_glob(B, RAW(@2), @$); }
	| GLOB PATH                     { $$ = ast_build_bare_glob(B, RAW(@2), @$); }
	| GLOB word                     { $$ = ast_build_bare_glob(B, RAW(@2), @$); }
	| EVERYTHING                    { $$ = ast_build_everything(B, @$); }
	| word                          { $$ = ast_build_stray(B, RAW(@1)); }
	| BAD                           { $$ = ast_build_bad(B, @$); }
	;

flags: %empty
	| flags flag
	;

flag: NAME                              { ast_build_word(B, RAW(@1)); }
	| WORD                          { ast_build_word(B, RAW(@1)); }
	;

commands: command                       { $$ = ast_words_of(B, RAW(@1)); }
	| commands COMMA command        { $$ = $1; ast_words_push(B, &$$, RAW(@3)); }
	;

arguments: command                      { $$ = ast_words_of(B, RAW(@1)); }
	| arguments command             { $$ = $1; ast_words_push(B, &$$, RAW(@2)); }
	;

command: ARGUMENT | STRING
	;

variables: variable                     { $$ = ast_variables_of(B, RAW(@1)); }
	| variables COMMA variable      { $$ = $1; ast_variables_push(B, &$$, RAW(@3)); }
	;

/* The heads of the block are reserved here, so that a forgotten `;` is found. */
variable: word | STRING | keyword
	;

word: NAME | WORD | NUMBER
	;

name: word | keyword | CLEAR | KEEP | DROP | SET
	;

/* Keywords are reserved only where they are expected. */
keyword: ALLOW | ARGUMENT_KEYWORD | CEILING | COMMAND | CORDON | DEFAULT | DENY | DEVICES
	| ENVIRONMENT | EVAL | EVERYTHING | EXPECT | EXTENDS | GLOB | GUARD | HIDE | IN
	| INCLUDE | JAIL | LADDER | LET | LIMITS | METACHARACTERS | MODE | NETWORK | ON
	| OUTPUT | POLICY | READ | REQUIRE | TEMP | TIMEOUT | VAR | WRITE
	;

%%

static struct ast_raw raw_at(const struct parse *parse, struct span span)
{
	const char *bytes = parse->source->text + span.start;
	enum ast_quoting quoting = *bytes == '"' ? AST_DOUBLE
		: *bytes == '\''                ? AST_VERBATIM
						: AST_BARE;

	return (struct ast_raw){bytes, span.end - span.start, quoting, span};
}

static int cordon_parse_lex(union CORDON_PARSE_STYPE *value, struct span *span,
	struct parse *parse)
{
	(void)value; /* every token is known by its place */
	return parse_next(parse, span);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parse *parse)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	const char *expected[YYNTOKENS];
	int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++)
		expected[i] = yysymbol_name(kinds[i]);
	parse_unexpected(parse, parse->last, *yypcontext_location(context), expected,
		(size_t)count);
	return 0;
}

/* Only "memory exhausted" comes here, and the stack has room for the deepest
 * file that layout.c lets through. */
static void cordon_parse_error(struct span *span, struct parse *parse, const char *message)
{
	diag_report(parse->builder.diags, CODE_E010, *span, "%s", message);
}

/* One look at the file. lacking: the `}` in front of which one is missing. */
static struct ast_file *look(struct parse *parse, struct arena *arena,
	const struct sources *sources, uint32_t file, struct diags *diags)
{
	struct span lacking = parse->lacking;

	*parse = (struct parse){.source = sources_get(sources, file), .file = file};
	parse->lacking = lacking;
	parse->pushed = -1;
	parse->errors_before = diags->errors;
	ast_build_init(&parse->builder, arena, diags, file);
	if (!parse_check_encoding(parse))
		return ast_build_finish(&parse->builder);

	const char *text = parse->source->text;
	if (parse->source->len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		parse->skipped = 3;
	parse->scanner = parse_scanner(parse);
	cordon_parse_parse(parse);
	ast_build_no_version(
		&parse->builder, (struct span){file, parse->skipped, parse->skipped});
	return ast_build_finish(&parse->builder);
}

struct ast_file *ast_parse(struct arena *arena, const struct sources *sources, uint32_t file,
	struct diags *diags)
{
	struct diags before = *diags;
	struct parse parse = {0};
	struct ast_file *tree = look(&parse, arena, sources, file, diags);

	if (!parse.unbalanced || !parse.suspect.file)
		return tree;

	/* The end came too early, and the indentation shows where a block was left
	 * open: read again with its end made up, without the first findings. */
	*diags = before;
	*diags->tail = NULL;
	parse.lacking = parse.suspect_close;
	return look(&parse, arena, sources, file, diags);
}
