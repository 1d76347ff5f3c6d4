/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables and their values: what the call brings, what `var` and --set say, and
 * which of it may stand where in a path.
 */
#include "compiler/values.h"

#include <string.h>

#include "compiler/glob.h"
#include "compiler/scope.h"

struct value {
	const char *text;
	bool begins; /* may only begin a path */
	bool from_call;
};

static const char *call_set(const struct call *call, const char *name)
{
	for (size_t i = 0; i < call->value_count; i++)
		if (strcmp(call->values[i].name, name) == 0)
			return call->values[i].value;
	return NULL;
}

/* The built-in variables; NULL if name is none. */
static bool built_in_value(const struct values *v, const char *name, struct value *out)
{
	const struct call *call = v->call;
	const struct {
		const char *name;
		struct value value;
	} table[] = {
		{"workspace", {call->workspace, true, true}},
		{"home", {call->home, true, false}},
		{"temp", {v->temp, true, false}},
		{"user", {call->user, false, false}},
		{"git-dir", {call->git_dir, true, true}},
		{"git-common-dir", {call->git_common_dir, true, true}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) == 0) {
			*out = table[i].value;
			return true;
		}
	}
	return false;
}

static const char *nearest_variable(const struct values *v, const char *name)
{
	static const struct vocabulary names[] = {{"workspace", 0}, {"home", 0},
		{"temp", 0}, {"user", 0}, {"git-dir", 0}, {"git-common-dir", 0},
		{NULL, 0}};
	const char *near = vocabulary_nearest(names, name);

	return near ? near : scope_nearest(v->scope, NAME_VARIABLE, name);
}

static const char *placeholder(const struct values *v, const char *name, bool first)
{
	if (!first)
		return name;
	return arena_printf(v->arena, "%s%s",
		v->call->platform == PLATFORM_WINDOWS ? "C:\\" : "/", name);
}

/* first: the value begins the text. */
static enum value_kind find_value(const struct values *v, const struct ast_name *name,
	bool first, struct value *out)
{
	if (built_in_value(v, name->text, out)) {
		if (out->text)
			return VALUE_FOUND;
		if (strcmp(name->text, "temp") == 0) {
			diag_report(v->diags, CODE_E033, name->span,
				"`${temp}` has no value without `temp private`");
			return VALUE_WRONG;
		}
		return VALUE_UNDEFINED;
	}

	const struct definition *def = scope_find(v->scope, NAME_VARIABLE, name->text);
	if (!def) {
		const char *near = nearest_variable(v, name->text);
		struct diag *diag = diag_report(v->diags, CODE_E032, name->span,
			"unknown variable `%s`", name->text);
		if (near)
			diag_help(v->diags, diag, "did you mean `${%s}`?", near);
		return VALUE_WRONG;
	}
	const char *given = call_set(v->call, name->text);
	*out = (struct value){given ? given : def->u.var->value, false, true};
	if (!out->text && v->call->placeholders)
		out->text = placeholder(v, name->text, first);
	if (out->text)
		return VALUE_FOUND;

	struct diag *diag = diag_report(v->diags, CODE_E033, name->span,
		"variable `%s` has no value", name->text);
	diag_help(v->diags, diag, "give it with --set %s=VALUE", name->text);
	return VALUE_WRONG;
}

static bool has_separator(enum platform platform, const char *text)
{
	return strchr(text, '/') || (platform == PLATFORM_WINDOWS && strchr(text, '\\'));
}

/* Whether a value may stand at a hole of a text. */
static bool check_value(const struct values *v, const struct ast_text *text,
	const struct ast_hole *hole, const struct value *value)
{
	const char *name = hole->name.text;
	char next = hole->at < text->len ? text->bytes[hole->at] : '/';
	bool last = hole + 1 == text->holes + text->hole_count;
	bool first = hole == text->holes && hole->at == 0;
	const char *wrong = NULL;

	if (value->begins && !first)
		wrong = "can only begin a path";
	else if (value->begins &&
		 ((!last && hole[1].at == hole->at) ||
			 (next != '/' && !(v->call->platform == PLATFORM_WINDOWS &&
						 next == '\\'))))
		wrong = "must be followed by a separator";
	else if (*value->text == '\0')
		wrong = "is empty";
	else if (strcmp(value->text, ".") == 0 || strcmp(value->text, "..") == 0)
		wrong = "is `.` or `..`";
	else if (!first && has_separator(v->call->platform, value->text))
		wrong = "contains a separator and does not begin the path";
	if (!wrong)
		return true;
	diag_report(v->diags, CODE_E034, hole->name.span, "the value of `%s` %s", name,
		wrong);
	return false;
}

enum value_kind values_put(const struct values *v, const struct ast_text *text,
	bool pattern, struct buf *out, bool *from_call)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < text->hole_count; i++) {
		const struct ast_hole *hole = &text->holes[i];
		struct value value;
		enum value_kind kind = find_value(
			v, &hole->name, i == 0 && hole->at == 0, &value);
		if (kind != VALUE_FOUND)
			return kind;
		if (!check_value(v, text, hole, &value))
			return VALUE_WRONG;
		buf_put(out, text->bytes + at, hole->at - at);
		at = hole->at;
		if (pattern)
			buf_puts(out,
				glob_quote(v->arena, value.text, strlen(value.text)));
		else
			buf_puts(out, value.text);
		*from_call |= value.from_call && i == 0 && hole->at == 0;
	}
	buf_put(out, text->bytes + at, text->len - at);
	return VALUE_FOUND;
}
