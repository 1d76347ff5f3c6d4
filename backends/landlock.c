/* SPDX-License-Identifier: Apache-2.0
 *
 * Landlock: a list of grants. The mechanism only adds access, so an entry that
 * takes away from the one above it cannot be expressed (Linux,
 * Documentation/userspace-api/landlock.rst: "rules are additive").
 */
#include <string.h>

#include "backends/backend.h"
#include "backends/report.h"

/* For each entry the level that the grants give there. */
struct lowering {
	const struct plan *plan;
	struct fidelity *fidelity;
	struct arena *arena;
	enum level *granted; /* by entry */
};

static bool is_best_effort(const struct plan *plan, enum setting setting)
{
	const struct rule_setting *s = &plan->rules.settings[setting];
	bool bound = s->locked && s->bound == s->value &&
		     !(s->bound_words & WORD_BEST_EFFORT);

	return s->words & WORD_BEST_EFFORT && !bound;
}

static void lower_entries(struct lowering *l)
{
	for (uint32_t i = 0; i < l->plan->entry_count; i++) {
		const struct plan_entry *entry = &l->plan->entries[i];
		enum level over = i ? l->granted[entry->above] : LEVEL_HIDE;
		l->granted[i] = entry->level;
		if (entry->level >= over)
			continue;
		if (!fidelity_refuse(l->arena, l->fidelity, SUBJECT_RULE, entry->rule,
			    entry->strict >= over, REMARK_DENY_LIST, entry->path))
			l->granted[i] = over;
	}
}

static void lower(struct lowering *l, const struct plan *plan, struct fidelity *fidelity,
	struct arena *arena)
{
	*l = (struct lowering){.plan = plan, .fidelity = fidelity, .arena = arena};
	l->granted = arena_array(arena, plan->entry_count, sizeof(*l->granted));
	lower_entries(l);
}

static void check_patterns(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *pattern = &plan->patterns[i];
		unsigned words = plan->rules.list[pattern->rule].words;
		if (!pattern->listed)
			fidelity_refuse(arena, fidelity, SUBJECT_RULE, pattern->rule,
				words & WORD_BEST_EFFORT, REMARK_DENY_LIST,
				glob_text(pattern->glob));
		else
			fidelity_verdict(
				fidelity, SUBJECT_RULE, pattern->rule, VERDICT_SNAPSHOT);
	}
}

static void check_settings(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	if (plan->network == NETWORK_NONE)
		fidelity_refuse(arena, fidelity, SUBJECT_SETTING, SETTING_NETWORK,
			is_best_effort(plan, SETTING_NETWORK), REMARK_NETWORK_TCP, NULL);
	if (plan->devices == DEVICES_PTY)
		fidelity_refuse(arena, fidelity, SUBJECT_SETTING, SETTING_DEVICES,
			is_best_effort(plan, SETTING_DEVICES), REMARK_TERMINALS, NULL);
	fidelity_verdict(fidelity, SUBJECT_SETTING, SETTING_DEVICES, VERDICT_NARROWER);
	fidelity_remark(arena, &fidelity->notes, REMARK_SHARED_MEMORY, SUBJECT_SETTING,
		SETTING_DEVICES, NULL);
}

/* What this ABI lets through (facts by ABI: landlock.rst, "ABI history"). */
static void check_abi(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	unsigned abi = plan->target->landlock_abi;
	const struct {
		bool holds;
		struct remarks *list;
		enum reason reason;
	} table[] = {
		{true, &fidelity->gaps, GAP_METADATA_WRITES},
		{abi < 3, &fidelity->gaps, GAP_TRUNCATE},
		{abi < 5, &fidelity->gaps, GAP_OLD_ABI},
		{plan->target->euid == 0, &fidelity->gaps, GAP_ROOT_DEVICES},
		{abi < 6, &fidelity->exposures, EXPOSURE_SIGNALS},
		{true, &fidelity->exposures, EXPOSURE_USERNS_OPEN},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].holds)
			fidelity_remark(arena, table[i].list, table[i].reason,
				SUBJECT_MECHANISM, 0, NULL);
	fidelity->abi = abi;
}

static void check_aliases(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	for (size_t i = 0; i < plan->alias_count; i++)
		fidelity_remark(arena, &fidelity->gaps, GAP_SYMLINK_NAME, SUBJECT_RULE,
			plan->aliases[i].rule, plan->aliases[i].link.name);
}

static void check(const struct plan *plan, const struct launch *launch,
	struct arena *arena, struct fidelity *out)
{
	struct lowering l;

	(void)launch;
	fidelity_init(out, &backend_landlock, plan, arena);
	lower(&l, plan, out, arena);
	check_patterns(plan, arena, out);
	check_settings(plan, arena, out);
	check_abi(plan, arena, out);
	check_aliases(plan, arena, out);
	fidelity_sockets(plan, arena, out);
}

static const struct {
	const char *path;
	enum devices from;
} device_nodes[] = {
	{"/dev/null", DEVICES_NULL},
	{"/dev/zero", DEVICES_STANDARD},
	{"/dev/full", DEVICES_STANDARD},
	{"/dev/random", DEVICES_STANDARD},
	{"/dev/urandom", DEVICES_STANDARD},
	{"/dev/ptmx", DEVICES_PTY},
	{"/dev/pts", DEVICES_PTY},
};

size_t landlock_grants(const struct plan *plan, const struct fidelity *fidelity,
	struct arena *arena, struct grant **out)
{
	struct fidelity unheard;
	struct lowering l;
	size_t count = 0, devices = sizeof(device_nodes) / sizeof(device_nodes[0]);

	(void)fidelity;
	fidelity_init(&unheard, &backend_landlock, plan, arena);
	lower(&l, plan, &unheard, arena);
	*out = arena_array(arena, plan->entry_count + devices, sizeof(**out));
	for (uint32_t i = 0; i < plan->entry_count; i++) {
		const struct plan_entry *entry = &plan->entries[i];
		enum level over = i ? l.granted[entry->above] : LEVEL_HIDE;
		if (l.granted[i] <= over)
			continue;
		(*out)[count++] = (struct grant){
			entry->path, l.granted[i] == LEVEL_WRITE, entry->dev, entry->ino};
	}
	for (size_t i = 0; i < devices; i++)
		if (device_nodes[i].from <= plan->devices)
			(*out)[count++] = (struct grant){
				device_nodes[i].path, true, 0, 0};
	return count;
}

static bool emit(const struct plan *plan, const struct launch *launch,
	const struct fidelity *fidelity, struct arena *arena, struct buf *out,
	struct diags *diags)
{
	struct grant *grants;
	size_t count = landlock_grants(plan, fidelity, arena, &grants);

	(void)launch;
	(void)diags;
	for (size_t i = 0; i < count; i++) {
		buf_field(out, grants[i].write ? "--rw" : "--ro");
		buf_field(out, grants[i].path);
	}
	return true;
}

/* File rights in the order of their bits (linux/landlock.h), with the ABI that
 * introduced each, and which of them `--ro` gives. */
static const struct {
	const char *name;
	unsigned abi;
	bool read;
} rights[] = {
	{"execute", 1, true},
	{"write_file", 1, false},
	{"read_file", 1, true},
	{"read_dir", 1, true},
	{"remove_dir", 1, false},
	{"remove_file", 1, false},
	{"make_char", 1, false},
	{"make_dir", 1, false},
	{"make_reg", 1, false},
	{"make_sock", 1, false},
	{"make_fifo", 1, false},
	{"make_block", 1, false},
	{"make_sym", 1, false},
	{"refer", 2, false},
	{"truncate", 3, false},
	{"ioctl_dev", 5, false},
};

static json_t *describe(
	const struct plan *plan, const struct fidelity *fidelity, struct arena *arena)
{
	struct grant *grants;
	size_t count = landlock_grants(plan, fidelity, arena, &grants);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *access = json_array();
		for (size_t r = 0; r < sizeof(rights) / sizeof(rights[0]); r++)
			if (grants[i].write || rights[r].read)
				json_array_append_new(access,
					json_pack("{s:s, s:i}", "right", rights[r].name,
						"abi", (int)rights[r].abi));
		json_array_append_new(list,
			json_pack("{s:o, s:s, s:o}", "path",
				report_string(grants[i].path, strlen(grants[i].path)),
				"grant", grants[i].write ? "rw" : "ro", "access",
				access));
	}
	return json_pack("{s:o, s:i}", "grants", list, "abi", (int)fidelity->abi);
}

static const char *const denials[] = {"permission denied", NULL};
static const char *const effects[] = {
	"permission denied", "invalid cross-device link", NULL};
static const char *const fatal[] = {"landlock-run: ", NULL};
static const char *const ignored[] = {
	"landlock-run: partial enforcement (older Landlock ABI)", NULL};

const struct backend backend_landlock = {
	.name = "landlock",
	.platform = PLATFORM_LINUX,
	.check = check,
	.emit = emit,
	.describe = describe,
	.program = "landlock-run",
	.extension = "landlock",
	.denials = denials,
	.effects = effects,
	.failure = {.codes = {125}, .ignored = ignored, .fatal = fatal},
};
