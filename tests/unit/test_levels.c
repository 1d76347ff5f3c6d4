/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference semantics against a second reading of language.md that shares no
 * code with it: random policies on a small tree are written as text, planned, and
 * every path is asked of both. The second reading is as naive as the text of the
 * language: for a path look at all rules, take the deepest, and so on.
 */
#include "cases.h"
#include "compiler/check.h"
#include "compiler/scope.h"
#include "fake_host.h"

#define ROUNDS    4000
#define RULES_MAX 24

struct random {
	uint64_t state;
};

static unsigned draw(struct random *r, unsigned below)
{
	r->state = r->state * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(r->state >> 33) % below;
}

/* One written rule: which policy of the chain, which layer of it. */
struct naive_rule {
	unsigned policy, in_mode, level;
	bool locked, pattern;
	char text[32];
};

struct naive {
	struct naive_rule rules[RULES_MAX];
	size_t count;
	unsigned policies;
};

static const char *const level_words[] = {"hide", "read", "write"};

/* /t, /t/a, /t/b, /t/a/a, … four deep. */
static void draw_path(struct random *r, char *out)
{
	unsigned depth = draw(r, 4);
	size_t len = (size_t)sprintf(out, "/t");

	for (unsigned i = 0; i < depth; i++)
		len += (size_t)sprintf(out + len, "/%c", "ab"[draw(r, 2)]);
}

static void draw_pattern(struct random *r, char *out)
{
	static const char *const patterns[] = {
		"/t/**/a", "/t/*/b", "/t/a/*", "/**/b/a", "/t/[!a]/*/a", "/t/?/?/?"};

	strcpy(out, patterns[draw(r, 6)]);
}

static bool is_twice(const struct naive *n, const struct naive_rule *rule)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->rules[i].policy == rule->policy &&
			n->rules[i].in_mode == rule->in_mode &&
			strcmp(n->rules[i].text, rule->text) == 0)
			return true;
	return false;
}

static void draw_rules(struct random *r, struct naive *n)
{
	unsigned want = 1 + draw(r, RULES_MAX - 1);

	n->policies = 1 + draw(r, 3);
	n->count = 0;
	while (want--) {
		struct naive_rule rule = {.policy = draw(r, n->policies),
			.in_mode = draw(r, 2),
			.locked = draw(r, 5) == 0,
			.pattern = draw(r, 6) == 0};
		rule.level = draw(r, rule.pattern || !rule.in_mode ? 2 : 3);
		if (rule.pattern)
			draw_pattern(r, rule.text);
		else
			draw_path(r, rule.text);
		if (!is_twice(n, &rule))
			n->rules[n->count++] = rule;
	}
}

/* host: patterns are snapshots of a host, else they hold for any name. */
static void write_policy(const struct naive *n, bool host, struct buf *out)
{
	buf_puts(out, "cordon 1\n");
	for (unsigned p = 0; p < n->policies; p++) {
		buf_printf(out, p ? "policy p%u extends p%u {\n" : "policy p%u {\n", p,
			p - 1);
		for (unsigned in_mode = 0; in_mode < 2; in_mode++) {
			buf_puts(out, in_mode ? "mode workspace-write {\n" : "");
			for (size_t i = 0; i < n->count; i++) {
				const struct naive_rule *rule = &n->rules[i];
				if (rule->policy != p || rule->in_mode != in_mode)
					continue;
				buf_printf(out,
					rule->pattern ? "%s glob \"%s\"%s" : "%s %s%s",
					level_words[rule->level], rule->text,
					rule->locked ? " locked" : "");
				buf_puts(out,
					rule->pattern && host ? " snapshot\n" : "\n");
			}
			buf_puts(out, in_mode ? "}\n" : "");
		}
		buf_puts(out, "}\n");
	}
}

/* ---- the second reading ------------------------------------------------------ */

static bool covers(const char *rule, const char *path)
{
	size_t len = strlen(rule);

	return strncmp(rule, path, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static unsigned depth_of(const char *path)
{
	unsigned depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* A matcher of whole paths by recursion on text. */
static bool match(const char *p, const char *s)
{
	if (strncmp(p, "/**/", 4) == 0) {
		if (match(p + 3, s))
			return true;
		const char *next = *s == '/' ? strchr(s + 1, '/') : NULL;
		return next && match(p, next);
	}
	if (*p == '*')
		return match(p + 1, s) || (*s && *s != '/' && match(p, s + 1));
	if (*p == '\0' || *s == '\0')
		return *p == *s;
	if (*p == '?')
		return *s != '/' && match(p + 1, s + 1);
	if (*p == '[') /* only [!a] is drawn */
		return *s != '/' && *s != 'a' && match(p + 4, s + 1);
	return *p == *s && match(p + 1, s + 1);
}

static unsigned layer_of(const struct naive_rule *rule)
{
	return 1 + rule->policy * 2 + rule->in_mode;
}

/* bound: a policy whose locks alone count, or -1 for all rules. */
static unsigned naive_level(const struct naive *n, const char *path, int bound, bool ww)
{
	unsigned level = bound < 0 ? 1 : 2, deepest = 0, highest = 0;

	for (size_t i = 0; i < n->count; i++) {
		const struct naive_rule *rule = &n->rules[i];
		unsigned depth = depth_of(rule->text);
		if (rule->pattern || !covers(rule->text, path) ||
			(rule->in_mode && !ww) ||
			(bound >= 0 && (!rule->locked || (int)rule->policy != bound)))
			continue;
		if (depth < deepest || (depth == deepest && layer_of(rule) < highest))
			continue;
		deepest = depth;
		highest = layer_of(rule);
		level = rule->level;
	}
	for (size_t i = 0; i < n->count; i++) {
		const struct naive_rule *rule = &n->rules[i];
		char part[64];
		if (!rule->pattern || (rule->in_mode && !ww) ||
			(bound >= 0 && (!rule->locked || (int)rule->policy != bound)))
			continue;
		strcpy(part, path);
		for (char *slash; depth_of(part) > deepest; *slash = '\0') {
			if (match(rule->text, part) && rule->level < level)
				level = rule->level;
			slash = strrchr(part, '/');
		}
	}
	return level;
}

static unsigned naive_bound(const struct naive *n, const char *path, bool ww)
{
	unsigned lowest = 2;

	for (unsigned p = 0; p < n->policies; p++) {
		unsigned level = naive_level(n, path, (int)p, ww);
		lowest = level < lowest ? level : lowest;
	}
	return lowest;
}

/* Whether a rule that holds gives more than a bound at its own path. */
static bool breaks_a_lock(const struct naive *n, bool ww)
{
	for (size_t i = 0; i < n->count; i++) {
		const struct naive_rule *rule = &n->rules[i];
		bool holds = !rule->pattern && (ww || !rule->in_mode);
		for (size_t k = 0; k < n->count; k++)
			if (!n->rules[k].pattern && (ww || !n->rules[k].in_mode) &&
				strcmp(n->rules[k].text, rule->text) == 0 &&
				layer_of(&n->rules[k]) > layer_of(rule))
				holds = false;
		if (holds && rule->level > naive_bound(n, rule->text, ww))
			return true;
	}
	return false;
}

/* ---- the comparison ---------------------------------------------------------- */

static void ask(const struct naive *n, const struct plan *plan, bool ww, const char *path,
	const char *text)
{
	unsigned rules = naive_level(n, path, -1, ww), bound = naive_bound(n, path, ww);
	unsigned want = rules < bound ? rules : bound;

	if ((unsigned)plan_level(plan, path) != want)
		fail_msg("%s in %s: %s, the second reading says %s\n%s", path,
			ww ? "workspace-write" : "read-only",
			level_words[plan_level(plan, path)], level_words[want], text);
}

static void ask_all(
	const struct naive *n, const struct plan *plan, bool ww, const char *text)
{
	/* All paths of the tree and one component that nothing names. */
	for (unsigned bits = 0; bits < 3 * 3 * 3 * 3 * 4; bits++) {
		char path[64] = "/t";
		unsigned rest = bits / 5;
		for (unsigned i = 0; i < bits % 5; i++, rest /= 3)
			sprintf(path + strlen(path), "/%c", "abx"[rest % 3]);
		ask(n, plan, ww, path, text);
	}
}

static struct policy *resolve(struct arena *arena, struct sources *sources,
	const struct buf *text, struct diags *diags)
{
	uint32_t file = sources_add(sources, "random", text->data, text->len);
	const struct scope *scope = scope_load(arena, sources, file, NULL, diags);
	const char *name = "";

	for (const struct ast_policy *p = scope->ast->policies; p; p = p->next)
		name = p->name.text;
	return policy_resolve(arena, scope, name, diags);
}

static size_t refused;

/* Every path of the tree is a directory: what a snapshot lists is what a pattern
 * matches. */
static const struct call *make_host(struct fake_host *host, struct arena *arena,
	const struct policy *policy, struct target *target)
{
	fake_init(host, arena, NULL);
	for (unsigned bits = 0; bits < 81; bits++) {
		char path[64] = "/t";
		unsigned rest = bits;
		for (unsigned i = 0; i < 4; i++, rest /= 3)
			sprintf(path + strlen(path), "/%c", "abx"[rest % 3]);
		fake_add(host, arena_bytes(arena, path, strlen(path)), FAKE_DIR, NULL);
	}
	fake_target(host, policy, target);
	return &host->call;
}

static void compare(struct random *r, bool host)
{
	static struct fake_host fake;
	struct naive n;
	struct arena arena;
	struct sources sources;
	struct diags diags;
	struct target target;
	struct buf text = BUF_INIT;

	draw_rules(r, &n);
	write_policy(&n, host, &text);
	arena_init(&arena);
	sources_init(&sources, &arena);
	diags_init(&diags, &arena);
	struct policy *policy = resolve(&arena, &sources, &text, &diags);
	assert_int_equal(diags.errors, 0);
	const struct call *call = call_imagined(PLATFORM_LINUX);
	if (host)
		call = make_host(&fake, &arena, policy, &target);
	else
		target_imagine(&target, PLATFORM_LINUX);
	for (int mode = 0; mode < MODE_CONFINED_COUNT; mode++) {
		bool ww = mode == MODE_WORKSPACE_WRITE;
		size_t errors = diags.errors;
		struct plan *plan = plan_make(
			policy, (enum mode)mode, call, &target, host, &arena, &diags);
		if ((plan == NULL) != breaks_a_lock(&n, ww))
			fail_msg("a lock is %s:\n%s", plan ? "not held" : "held wrongly",
				text.data);
		refused += diags.errors > errors;
		if (plan)
			ask_all(&n, plan, ww, text.data);
	}
	buf_release(&text);
	arena_release(&arena);
}

static void test_random_policies(void **state)
{
	struct random r = {.state = 20260101};
	unsigned rounds = getenv("CORDON_UNDER_VALGRIND") ? ROUNDS / 50 : ROUNDS;

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		compare(&r, i % 2);
	/* Both sides of the test of locks were met often. */
	assert_true(refused > rounds / 10 && refused < rounds * 2 - rounds / 10);
}

/* A lower meet never gives more; joining locks as rules would. */
static void test_second_reading_is_not_vacuous(void **state)
{
	struct naive n = {.policies = 2, .count = 2};

	(void)state;
	n.rules[0] = (struct naive_rule){.locked = true, .level = 0, .text = "/t/a"};
	n.rules[1] = (struct naive_rule){.policy = 1, .level = 1, .text = "/t/a/b"};
	assert_true(breaks_a_lock(&n, true));
	assert_int_equal(naive_bound(&n, "/t/a/b", true), 0);
	assert_true(match("/t/**/a", "/t/a") && match("/t/**/a", "/t/b/x/a"));
	assert_true(match("/t/a/*", "/t/a/b"));
	assert_false(match("/t/*/b", "/t/a/a/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_policies),
		cmocka_unit_test(test_second_reading_is_not_vacuous),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
