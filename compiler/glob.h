/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns (language.md, 5) as automata over whole paths.
 *
 * A pattern in normal form is a list of components joined by `/`. `?` is one
 * character (a UTF-8 character; a stray byte counts as one), `*` any run,
 * `[…]` a class, none of them a separator, all of them a leading dot; `\`
 * quotes one character; a component `**` is zero or more components.
 */
#ifndef CORDON_GLOB_H
#define CORDON_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"

#define GLOB_COMPONENTS_MAX 63 /* one bit more is the end */

struct glob;

/* text: absolute pattern, syntax already checked. Never NULL. */
struct glob *glob_compile(struct arena *arena, const char *text);

const char *glob_text(const struct glob *glob);

/* The longest leading path without a special character, in normal form,
 * unquoted: every match is at or below it. */
const char *glob_literal_prefix(const struct glob *glob);

/* True if the pattern matches path itself. path in normal form. */
bool glob_matches(const struct glob *glob, const char *path);

/*
 * Walking: the set of positions after consuming the components of a directory.
 * glob_step gives the set after one more component; a set of 0 means that
 * nothing below can match.
 */
typedef uint64_t glob_set;
glob_set glob_start(const struct glob *glob);
glob_set glob_step(const struct glob *glob, glob_set set, const char *name, size_t len);
bool glob_accepts(const struct glob *glob, glob_set set);

/* True if something below the directory may still match. */
bool glob_continues(const struct glob *glob, glob_set set);

/* value as a literal part of a pattern: every special character quoted. */
char *glob_quote(struct arena *arena, const char *value, size_t len);

#endif
