/* SPDX-License-Identifier: Apache-2.0
 *
 * bubblewrap: a list of mounts. The order of the list is the order of the
 * mounts, shallow before deep, and a later mount covers an earlier one. Only
 * options of version 0.8, none that weakens silently.
 *
 * A read-only bind protects content, not the name it stands at: every directory
 * between a writable root and something stricter is bound to itself (a pin), so
 * that it cannot be renamed (EBUSY, rename(2)).
 */
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"

/* ---- what holds ------------------------------------------------------------ */

static void check_patterns(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *pattern = &plan->patterns[i];
		unsigned words = plan->rules.list[pattern->rule].words;
		if (!(words & WORD_SNAPSHOT)) {
			fidelity_refuse(arena, fidelity, SUBJECT_RULE, pattern->rule,
				words & WORD_BEST_EFFORT, REMARK_LIVE_PATTERN,
				glob_text(pattern->glob));
			continue;
		}
		fidelity_verdict(fidelity, SUBJECT_RULE, pattern->rule, VERDICT_SNAPSHOT);
		fidelity_remark(arena, &fidelity->notes,
			pattern->listed ? REMARK_SNAPSHOT : REMARK_NEEDS_HOST,
			SUBJECT_RULE, pattern->rule, glob_text(pattern->glob));
	}
}

static const struct plan_entry *enclosing(const struct plan *plan, size_t index)
{
	return index ? &plan->entries[plan->entries[index].above] : NULL;
}

static void check_entry(const struct plan *plan, size_t index, struct arena *arena,
	struct fidelity *fidelity)
{
	const struct plan_entry *entry = &plan->entries[index];
	const struct plan_entry *above = enclosing(plan, index);
	uint32_t rule = entry->rule;

	if (above && entry->level < above->level && entry->kind == KIND_FILE &&
		entry->links > 1)
		fidelity_remark(arena, &fidelity->gaps, GAP_HARD_LINK_ALIAS, SUBJECT_RULE,
			rule, entry->path);
	for (size_t i = 0;
		above && entry->level < above->level && entry->mounts && entry->mounts[i];
		i++)
		if (plan_level(plan, entry->mounts[i]) > entry->level)
			fidelity_remark(arena, &fidelity->gaps, GAP_MOUNT_ALIAS,
				SUBJECT_RULE, rule, entry->mounts[i]);
	if (above && entry->level < above->level && entry->casefold)
		fidelity_remark(arena, &fidelity->gaps, GAP_CASE_FOLD, SUBJECT_RULE, rule,
			entry->path);
	if (above && entry->level < LEVEL_WRITE && above->level == LEVEL_WRITE)
		fidelity_remark(arena, &fidelity->exposures, EXPOSURE_OUTSIDE_REPLACE,
			SUBJECT_RULE, rule, entry->path);
	/* Writing to a FIFO is no write to its file system (open(2), EROFS), and the
	 * second lock grants the whole writable root. */
	if (above && entry->level == LEVEL_READ && above->level == LEVEL_WRITE) {
		if (entry->kind == KIND_OTHER)
			fidelity_remark(arena, &fidelity->gaps, GAP_FIFOS, SUBJECT_RULE,
				rule, entry->path);
		else if (entry->kind == KIND_DIRECTORY || entry->kind == KIND_UNKNOWN)
			fidelity_remark(arena, &fidelity->exposures, EXPOSURE_FIFOS_BELOW,
				SUBJECT_RULE, rule, entry->path);
	}
	/* Root in a user namespace has no power over the files of others. */
	if (entry->level == LEVEL_WRITE && plan->target->euid == 0 && entry->owner != 0 &&
		entry->owner != UINT32_MAX) {
		fidelity_verdict(fidelity, SUBJECT_RULE, rule, VERDICT_NARROWER);
		fidelity_remark(arena, &fidelity->notes, REMARK_FOREIGN_OWNER,
			SUBJECT_RULE, rule, entry->path);
	}
}

/* rename(2) and link(2) do not cross mounts, even of one file system. */
static void check_renames(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity)
{
	for (size_t i = 0; i < plan->pin_count; i++) {
		const struct plan_entry *above = enclosing(plan, plan->pins[i].entry);
		if (!above || fidelity->rules[above->rule] >= VERDICT_NARROWER)
			continue;
		fidelity_verdict(fidelity, SUBJECT_RULE, above->rule, VERDICT_NARROWER);
		fidelity_remark(arena, &fidelity->notes, REMARK_RENAME, SUBJECT_RULE,
			above->rule, plan->pins[i].path);
	}
}

/* Something narrower inside something writable. The second lock, which only grants,
 * cannot tell the two apart. */
static bool has_carve_out(const struct plan *plan)
{
	for (size_t i = 1; i < plan->entry_count; i++)
		if (plan->entries[i].level == LEVEL_READ &&
			enclosing(plan, i)->level == LEVEL_WRITE)
			return true;
	return false;
}

static void check_lock(const struct plan *plan, const struct launch *launch,
	struct arena *arena, struct fidelity *fidelity)
{
	static const enum reason reasons[] = {GAP_FIFOS, GAP_INHERITED_STDIO};

	fidelity->abi = launch->helper ? plan->target->landlock_abi : 0;
	/* bwrap's own mounts get what the host mounts later (MS_SLAVE). */
	if (!launch->isolated && (fidelity->abi < 2 || has_carve_out(plan)))
		fidelity_remark(arena, &fidelity->gaps, GAP_LATER_MOUNTS,
			SUBJECT_MECHANISM, 0, NULL);
	if (fidelity->abi >= 2)
		return;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		fidelity_remark(
			arena, &fidelity->gaps, reasons[i], SUBJECT_MECHANISM, 0, NULL);
}

static void check(const struct plan *plan, const struct launch *launch,
	struct arena *arena, struct fidelity *out)
{
	fidelity_init(out, &backend_bwrap, plan, arena);
	check_patterns(plan, arena, out);
	for (size_t i = 0; i < plan->entry_count; i++)
		check_entry(plan, i, arena, out);
	check_renames(plan, arena, out);
	for (size_t i = 0; i < plan->alias_count; i++)
		fidelity_remark(arena, &out->gaps, GAP_SYMLINK_NAME, SUBJECT_RULE,
			plan->aliases[i].rule, plan->aliases[i].link.name);
	if (plan->devices == DEVICES_NULL) {
		fidelity_verdict(out, SUBJECT_SETTING, SETTING_DEVICES, VERDICT_NARROWER);
		fidelity_remark(arena, &out->notes, REMARK_ALIAS_DEVICES, SUBJECT_SETTING,
			SETTING_DEVICES, NULL);
	}
	check_lock(plan, launch, arena, out);
	fidelity_sockets(plan, arena, out);
}

/* ---- the list of mounts ----------------------------------------------------- */

struct arguments {
	struct buf *out;
	size_t count;
};

static void put(struct arguments *args, const char *text)
{
	buf_field(args->out, text);
	args->count++;
}

static void put2(struct arguments *args, const char *a, const char *b)
{
	put(args, a);
	put(args, b);
}

static void put3(struct arguments *args, const char *a, const char *b, const char *c)
{
	put2(args, a, b);
	put(args, c);
}

static bool is_masked_directory(const struct plan_entry *entry)
{
	return entry->level == LEVEL_HIDE &&
	       (entry->kind == KIND_DIRECTORY || entry->kind == KIND_UNKNOWN);
}

static void put_entry(struct arguments *args, const struct plan *plan, size_t index)
{
	const struct plan_entry *entry = &plan->entries[index];
	const struct plan_entry *above = enclosing(plan, index);

	if (above && above->level == entry->level)
		return;
	switch (entry->level) {
	case LEVEL_WRITE: put3(args, "--bind", entry->path, entry->path); break;
	case LEVEL_READ: put3(args, "--ro-bind", entry->path, entry->path); break;
	case LEVEL_HIDE:
		if (!is_masked_directory(entry)) {
			put3(args, "--ro-bind", "/dev/null", entry->path);
			break;
		}
		put2(args, "--perms", entry->opens ? "0111" : "0000");
		put2(args, "--tmpfs", entry->path);
		/* A tmpfs that something is opened below is sealed at the end. */
		if (!entry->opens)
			put2(args, "--remount-ro", entry->path);
		break;
	}
}

enum step_kind { STEP_ENTRY, STEP_PIN, STEP_WAY, STEP_LINK };

struct step {
	enum step_kind kind;
	uint32_t index;
};

static const char *step_path(const struct plan *plan, const struct step *step)
{
	switch (step->kind) {
	case STEP_ENTRY: return plan->entries[step->index].path;
	case STEP_PIN: return plan->pins[step->index].path;
	case STEP_WAY: return plan->ways[step->index];
	case STEP_LINK: return plan->links[step->index].name;
	}
	return NULL;
}

/* All mounts but the root, by depth: a counting sort keeps the order of paths
 * within one depth. */
static struct step *order_steps(
	const struct plan *plan, struct arena *arena, size_t *count)
{
	const size_t counts[] = {
		plan->entry_count, plan->pin_count, plan->way_count, plan->link_count};
	size_t total = 0, used = 0, start[PATH_BYTES_MAX + 2] = {0};

	for (size_t kind = 0; kind < 4; kind++)
		total += counts[kind];
	struct step *list = arena_array(arena, total, sizeof(*list));
	struct step *sorted = arena_array(arena, total, sizeof(*sorted));
	for (size_t kind = 0; kind < 4; kind++)
		for (size_t i = kind == STEP_ENTRY; i < counts[kind]; i++)
			list[used++] = (struct step){(enum step_kind)kind, (uint32_t)i};

	for (size_t i = 0; i < used; i++)
		start[path_depth(step_path(plan, &list[i])) + 1]++;
	for (size_t i = 1; i < PATH_BYTES_MAX + 2; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < used; i++)
		sorted[start[path_depth(step_path(plan, &list[i]))]++] = list[i];
	*count = used;
	return sorted;
}

static void put_steps(
	struct arguments *args, const struct plan *plan, struct arena *arena)
{
	size_t count;
	struct step *steps = order_steps(plan, arena, &count);

	for (size_t i = 0; i < count; i++) {
		const char *path = step_path(plan, &steps[i]);
		switch (steps[i].kind) {
		case STEP_ENTRY: put_entry(args, plan, steps[i].index); break;
		case STEP_PIN: put3(args, "--bind", path, path); break;
		case STEP_WAY:
			put2(args, "--perms", "0111");
			put2(args, "--dir", path);
			break;
		case STEP_LINK:
			put3(args, "--symlink", plan->links[steps[i].index].text, path);
			break;
		}
	}
}

/* Tmpfs that were left open for what is below them; the root of `hide
 * everything` is sealed last of all. */
static void seal(struct arguments *args, const struct plan *plan)
{
	for (size_t i = plan->entry_count; i-- > 0;) {
		const struct plan_entry *entry = &plan->entries[i];
		const struct plan_entry *above = enclosing(plan, i);
		if (above && above->level == entry->level)
			continue;
		if (i == 0 ? entry->level == LEVEL_HIDE
			   : is_masked_directory(entry) && entry->opens)
			put2(args, "--remount-ro", entry->path);
	}
}

static void put_root(struct arguments *args, const struct plan *plan)
{
	switch (plan->entries[0].level) {
	case LEVEL_WRITE: put3(args, "--bind", "/", "/"); break;
	case LEVEL_READ: put3(args, "--ro-bind", "/", "/"); break;
	case LEVEL_HIDE:
		put2(args, "--perms", "0111");
		put2(args, "--tmpfs", "/");
		break;
	}
}

/* /dev is made anew on every level, so that exactly the named nodes are there;
 * it is the sandbox's own and sealed, but for its shared memory. */
static void put_devices(
	struct arguments *args, const struct plan *plan, const struct launch *launch)
{
	static const struct {
		const char *path;
		enum devices from;
	} nodes[] = {
		{"/dev/null", DEVICES_NULL},
		{"/dev/zero", DEVICES_STANDARD},
		{"/dev/full", DEVICES_STANDARD},
		{"/dev/random", DEVICES_STANDARD},
		{"/dev/urandom", DEVICES_STANDARD},
	};
	static const char *const links[][2] = {
		{"/proc/self/fd", "/dev/fd"},
		{"/proc/self/fd/0", "/dev/stdin"},
		{"/proc/self/fd/1", "/dev/stdout"},
		{"/proc/self/fd/2", "/dev/stderr"},
	};

	if (plan->devices == DEVICES_PTY) {
		put2(args, "--dev", "/dev");
	} else {
		put2(args, "--perms", "0755");
		put2(args, "--tmpfs", "/dev");
		for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
			if (nodes[i].from <= plan->devices)
				put3(args, "--dev-bind", nodes[i].path, nodes[i].path);
		for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
			put3(args, "--symlink", links[i][0], links[i][1]);
		if (launch->tty)
			put3(args, "--dev-bind", "/dev/tty", "/dev/tty");
	}
	put2(args, "--perms", "1777");
	put2(args, "--tmpfs", "/dev/shm");
	if (launch->helper)
		put3(args, "--ro-bind", launch->helper, "/dev/cordon-init");
	put2(args, "--remount-ro", "/dev");
}

static void put_namespaces(
	struct arguments *args, const struct plan *plan, const struct launch *launch)
{
	static const char *const always[] = {"--unshare-user", "--unshare-pid",
		"--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		put(args, always[i]);
	if (plan->network == NETWORK_NONE)
		put(args, "--unshare-net");
	put(args, "--disable-userns");
	put2(args, "--cap-drop", "ALL");
	put(args, "--die-with-parent");
	if (!launch->tty)
		put(args, "--new-session");
	if (launch->helper)
		put(args, "--as-pid-1");
}

static void put_environment(
	struct arguments *args, const struct launch *launch, struct arena *arena)
{
	if (!launch->environment)
		return;
	put(args, "--clearenv");
	for (const char *const *e = launch->environment; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (equals)
			put3(args, "--setenv",
				arena_bytes(arena, *e, (size_t)(equals - *e)),
				equals + 1);
	}
}

/* The rule that stands behind most entries: the one to make smaller. */
static uint32_t busiest_rule(const struct plan *plan, struct arena *arena, size_t *most)
{
	size_t *counts = arena_array(arena, plan->rules.count, sizeof(*counts));
	uint32_t busiest = 0;

	for (size_t i = 0; i < plan->entry_count; i++)
		counts[plan->entries[i].rule]++;
	for (size_t i = 0; i < plan->pin_count; i++)
		counts[plan->entries[plan->pins[i].entry].rule]++;
	for (uint32_t i = 0; i < plan->rules.count; i++)
		if (counts[i] > counts[busiest])
			busiest = i;
	*most = counts[busiest];
	return busiest;
}

static bool report_size(
	const struct plan *plan, size_t count, struct arena *arena, struct diags *diags)
{
	size_t most;
	uint32_t rule = busiest_rule(plan, arena, &most);
	struct diag *diag = diag_report(diags, CODE_E079, plan->rules.list[rule].span,
		"the bwrap profile has %zu arguments, bwrap takes %d; this rule stands "
		"for "
		"%zu of its mounts",
		count, BWRAP_ARGUMENTS_MAX, most);

	diag_help(diags, diag, "name directories instead of single files");
	return false;
}

static size_t environment_size(const struct launch *launch)
{
	size_t count = 0;

	while (launch->environment && launch->environment[count])
		count++;
	return count;
}

/* Three arguments a variable: where they are the most, no rule is to blame. */
static bool report_environment(size_t count, size_t variables, struct diags *diags)
{
	struct diag *diag = diag_report(diags, CODE_E079, (struct span){0},
		"the bwrap profile has %zu arguments, bwrap takes %d; the %zu variables "
		"of "
		"the environment stand for %zu of them",
		count, BWRAP_ARGUMENTS_MAX, variables, 3 * variables);

	diag_help(diags, diag, "run the command with a smaller environment");
	return false;
}

/* Without the matches of a snapshot the profile would give more than the plan. */
static bool has_matches(const struct plan *plan, struct diags *diags)
{
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct rule *rule = &plan->rules.list[plan->patterns[i].rule];
		if (plan->patterns[i].listed || !(rule->words & WORD_SNAPSHOT))
			continue;
		struct diag *diag = diag_report(diags, CODE_E084, rule->span,
			"what this pattern matches is only known on the host itself");
		diag_help(diags, diag, "compile with --host");
		return false;
	}
	return true;
}

static bool emit(const struct plan *plan, const struct launch *launch,
	const struct fidelity *fidelity, struct arena *arena, struct buf *out,
	struct diags *diags)
{
	struct arguments args = {out, 0};

	(void)fidelity;
	if (!has_matches(plan, diags))
		return false;
	put_namespaces(&args, plan, launch);
	put_root(&args, plan);
	put_steps(&args, plan, arena);
	put_devices(&args, plan, launch);
	put2(&args, "--proc", "/proc");
	/* bwrap covers the dangerous parts of a new /proc, but not /proc/sys: as
	 * root, core_pattern would run code on the host. */
	if (plan->target->euid == 0)
		put3(&args, "--ro-bind", "/proc/sys", "/proc/sys");
	seal(&args, plan);
	put_environment(&args, launch, arena);
	if (launch->directory)
		put2(&args, "--chdir", launch->directory);

	/* The runner adds a few of its own. */
	size_t variables = environment_size(launch);
	if (args.count + 16 > BWRAP_ARGUMENTS_MAX && 6 * variables > args.count)
		return report_environment(args.count, variables, diags);
	if (args.count + 16 > BWRAP_ARGUMENTS_MAX)
		return report_size(plan, args.count, arena, diags);
	return true;
}

/* ---- cordon-init ------------------------------------------------------------ */

static void put_check(struct buf *out, const struct plan *plan, size_t index)
{
	const struct plan_entry *entry = &plan->entries[index];
	const struct plan_entry *above = enclosing(plan, index);
	char object[48];

	if (above && above->level == entry->level)
		return;
	if (entry->level > LEVEL_HIDE) {
		snprintf(object, sizeof(object), "%llu:%llu",
			(unsigned long long)entry->dev, (unsigned long long)entry->ino);
		buf_field(out, "bind");
		buf_field(out, entry->level == LEVEL_WRITE ? "rw" : "ro");
		buf_field(out, object);
	} else if (index == 0 || is_masked_directory(entry)) {
		buf_field(out, "mask");
		buf_field(out, index == 0 || entry->opens ? "0111" : "0");
	} else {
		buf_field(out, "null");
	}
	buf_field(out, entry->path);
}

static void put_locks(struct buf *out, const struct plan *plan)
{
	/* The sandbox's own trees, and what the plan lets be written. Landlock
	 * only adds: reading stays what the mounts make it. */
	buf_field(out, "lock-ro");
	buf_field(out, "/");
	buf_field(out, "lock-rw");
	buf_field(out, "/dev");
	buf_field(out, "lock-rw");
	buf_field(out, "/proc");
	for (size_t i = 0; i < plan->entry_count; i++) {
		if (plan->entries[i].level != LEVEL_WRITE)
			continue;
		buf_field(out, "lock-rw");
		buf_field(out, plan->entries[i].path);
	}
}

void bwrap_init_config(const struct plan *plan, const struct launch *launch,
	const struct fidelity *fidelity, struct buf *out)
{
	char object[48];

	for (size_t i = 0; i < plan->entry_count; i++)
		put_check(out, plan, i);
	for (size_t i = 0; i < plan->pin_count; i++) {
		snprintf(object, sizeof(object), "%llu:%llu",
			(unsigned long long)plan->pins[i].dev,
			(unsigned long long)plan->pins[i].ino);
		buf_field(out, "pin");
		buf_field(out, object);
		buf_field(out, plan->pins[i].path);
	}
	for (size_t i = 0; i < plan->link_count; i++) {
		buf_field(out, "link");
		buf_field(out, plan->links[i].text);
		buf_field(out, plan->links[i].name);
	}
	if (fidelity->abi >= 2)
		put_locks(out, plan);
	if (launch->tty)
		buf_field(out, "tty");
}

static const char *const denials[] = {"read-only file system", NULL};
/* EROFS, EBUSY (a name that is a mount), EXDEV (a rename between mounts), EACCES (what
 * is hidden). */
static const char *const effects[] = {"read-only file system", "device or resource busy",
	"invalid cross-device link", "permission denied", NULL};
static const char *const fatal[] = {"bwrap: ", NULL};

const struct backend backend_bwrap = {
	.name = "bwrap",
	.platform = PLATFORM_LINUX,
	.check = check,
	.emit = emit,
	.program = "bwrap",
	.extension = "bwrap",
	.denials = denials,
	.effects = effects,
	.failure = {.fatal = fatal},
};
