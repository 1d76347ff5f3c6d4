/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan as stable text: one line a fact, in the order of paths, the rule that
 * decided behind each entry.
 */
#include <string.h>

#include "compiler/plan.h"

static void put_path(const struct plan *plan, struct buf *out, const char *path)
{
	struct buf native = BUF_INIT;

	path_put(&native, plan->target->platform, path);
	diag_put_quoted(out, native.data, native.len, SIZE_MAX);
	buf_release(&native);
}

const char *plan_rule_text(const struct plan *plan, uint32_t rule,
	const struct sources *sources, struct arena *arena)
{
	const struct rule *r = &plan->rules.list[rule];
	struct buf text = BUF_INIT;

	const struct source *source = sources_get(sources, r->span.file);

	buf_printf(&text, "%s ", vocabulary_text(vocabulary_levels, (int)r->level));
	/* A set stands for many paths: the path says more than its name. */
	if (r->span.file && source->text[r->span.start] != '@') {
		diag_put_quoted(&text, source->text + r->span.start,
			r->span.end - r->span.start, 200);
	} else if (!r->path) {
		buf_printf(&text, "glob %s", r->pattern);
	} else if (strcmp(r->path, "/") == 0) {
		buf_puts(&text, "everything");
	} else {
		put_path(plan, &text, r->path);
	}
	const char *copy = arena_bytes(arena, text.data, text.len);
	buf_release(&text);
	return copy;
}

const char *plan_setting_text(
	const struct plan *plan, enum setting setting, struct arena *arena)
{
	return arena_printf(arena, "%s %s",
		vocabulary_text(vocabulary_settings, (int)setting),
		vocabulary_text(vocabulary_of_setting(setting),
			plan->rules.settings[setting].value));
}

static void put_rule(const struct plan *plan, uint32_t index,
	const struct sources *sources, struct buf *out)
{
	const struct rule *rule = &plan->rules.list[index];

	if (rule->span.file) {
		struct place place = source_place(
			sources, rule->span.file, rule->span.start);
		const char *name = sources_get(sources, rule->span.file)->name;
		diag_put_quoted(out, name, strlen(name), SIZE_MAX);
		buf_printf(out, ":%u:%u", place.line, place.column);
	} else {
		buf_printf(out, "built-in %s", rule->built_in);
	}
}

static void put_entries(
	const struct plan *plan, const struct sources *sources, struct buf *out)
{
	static const char *const kinds[] = {
		[KIND_MISSING] = " missing",
		[KIND_UNKNOWN] = "",
		[KIND_DIRECTORY] = " directory",
		[KIND_FILE] = " file",
		[KIND_OTHER] = " other",
	};

	for (size_t i = 0; i < plan->entry_count; i++) {
		const struct plan_entry *entry = &plan->entries[i];
		buf_printf(out, "%-5s ",
			vocabulary_text(vocabulary_levels, (int)entry->level));
		put_path(plan, out, entry->path);
		buf_printf(out, "%s%s%s", kinds[entry->kind],
			entry->opens ? " opens" : "", entry->snapshot ? " snapshot" : "");
		if (entry->strict != entry->level)
			buf_printf(out, " or %s",
				vocabulary_text(vocabulary_levels, (int)entry->strict));
		if (entry->rule != NO_RULE) {
			buf_puts(out, "  # ");
			put_rule(plan, entry->rule, sources, out);
		}
		buf_putc(out, '\n');
	}
}

static void put_lists(
	const struct plan *plan, const struct sources *sources, struct buf *out)
{
	for (size_t i = 0; i < plan->pin_count; i++) {
		buf_puts(out, "pin   ");
		put_path(plan, out, plan->pins[i].path);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->way_count; i++) {
		buf_puts(out, "way   ");
		put_path(plan, out, plan->ways[i]);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->link_count; i++) {
		buf_puts(out, "link  ");
		put_path(plan, out, plan->links[i].name);
		buf_puts(out, " -> ");
		diag_put_quoted(
			out, plan->links[i].text, strlen(plan->links[i].text), SIZE_MAX);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->alias_count; i++) {
		buf_puts(out, "alias ");
		put_path(plan, out, plan->aliases[i].link.name);
		buf_puts(out, "  # ");
		put_rule(plan, plan->aliases[i].rule, sources, out);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *pattern = &plan->patterns[i];
		const char *text = glob_text(pattern->glob);
		buf_printf(out, "%-5s glob ",
			vocabulary_text(vocabulary_levels, (int)pattern->level));
		diag_put_quoted(out, text, strlen(text), SIZE_MAX);
		buf_printf(out, "%s  # ", pattern->listed ? " listed" : "");
		put_rule(plan, pattern->rule, sources, out);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->created_count; i++) {
		buf_puts(out, plan->created[i].file ? "create file " : "create ");
		put_path(plan, out, plan->created[i].path);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < plan->off_count; i++) {
		if (plan->rules.list[plan->off[i].rule].built_in)
			continue;
		buf_puts(out, plan->off[i].why == OFF_MISSING ? "off missing "
							      : "off unsearchable ");
		put_path(plan, out, plan->rules.list[plan->off[i].rule].path);
		buf_puts(out, "  # ");
		put_rule(plan, plan->off[i].rule, sources, out);
		buf_putc(out, '\n');
	}
}

void plan_dump(const struct plan *plan, const struct sources *sources, struct buf *out)
{
	buf_printf(out, "plan 1\npolicy %s\nmode %s\nplatform %s\n", plan->policy->name,
		vocabulary_text(vocabulary_modes, (int)plan->mode),
		vocabulary_text(vocabulary_platforms, (int)plan->target->platform));
	put_entries(plan, sources, out);
	put_lists(plan, sources, out);
	buf_printf(out, "temp %s", vocabulary_text(vocabulary_temp, (int)plan->temp));
	if (plan->temp_path) {
		buf_putc(out, ' ');
		put_path(plan, out, plan->temp_path);
	}
	buf_printf(out, "\ndevices %s\nnetwork %s\n",
		vocabulary_text(vocabulary_devices, (int)plan->devices),
		vocabulary_text(vocabulary_network, (int)plan->network));
}
