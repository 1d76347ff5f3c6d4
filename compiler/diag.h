/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings. A stage reports what it finds and goes on; the edge prints all of
 * them once, in source order.
 *
 * Messages are lower case, without a full stop, name the thing in backquotes
 * and say what to do. Text of a policy or a host goes into a message only
 * through diag_quoted, which makes control characters visible.
 */
#ifndef CORDON_DIAG_H
#define CORDON_DIAG_H

#include <stdbool.h>

#include "compiler/arena.h"
#include "compiler/buf.h"
#include "compiler/codes.h"
#include "compiler/source.h"

#define DIAG_ERRORS_MAX 100 /* kept; the rest is counted */

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

struct diag {
	enum code code;
	struct span span;
	const char *message;
	struct span second; /* file 0: none */
	const char *second_message;
	struct span fix_span; /* replace this by fix; file 0: none */
	const char *fix;
	const char *help; /* a line of advice, NULL: none */
	struct diag *next;
};

struct diags {
	struct arena *arena;
	struct diag *first;
	struct diag **tail;
	size_t errors, warnings, notes; /* kept ones and, for errors, dropped ones */
	size_t dropped;
	/* Errors as they were reported, repeated ones too: what a stage compares to
	 * know whether it failed. */
	size_t failures;
	/* One finding for a code at a place, whatever its message: a rule is looked
	 * at for several platforms and modes, and is wrong once. */
	bool once;
};

void diags_init(struct diags *diags, struct arena *arena);

/*
 * Reports a finding and returns it, so that the calls below can add to it. The
 * same code and message at the same span is reported once. Never NULL; past
 * DIAG_ERRORS_MAX the returned finding is not kept.
 */
struct diag *diag_report(struct diags *diags, enum code code, struct span span,
	const char *format, ...) __attribute__((returns_nonnull, format(printf, 4, 5)));

void diag_second(struct diags *diags, struct diag *diag, struct span span,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A replacement that would mend it: span is replaced by fix (shown as help). */
void diag_fix(struct diags *diags, struct diag *diag, struct span span,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

void diag_help(struct diags *diags, struct diag *diag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum severity diag_severity(enum code code);
const char *diag_code_text(enum code code); /* "E003" */
const char *diag_code_title(enum code code); /* one sentence */

/*
 * Bytes of a policy or a host as one printable word: control characters, bytes
 * that are not UTF-8, and characters that reorder or hide text become \xHH; at
 * most 200 bytes, then "…". In the arena of the findings.
 */
const char *diag_quoted(struct diags *diags, const char *bytes, size_t len);
void diag_put_quoted(struct buf *out, const char *bytes, size_t len, size_t most);

/* Drops warnings and notes from the list (not from the counts), from a place on:
 * &diags->first, or what diags->tail was earlier. */
void diags_keep_errors(struct diags *diags, struct diag **from);

/* Sorts by file, offset, code: stable. */
void diags_sort(struct diags *diags);

/* All findings as text for people, sorted; color adds ANSI sequences. */
void diags_render(
	struct diags *diags, const struct sources *sources, bool color, struct buf *out);

#endif
