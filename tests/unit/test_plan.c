/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans and artifacts against exact text. Each tests/golden/plan/NAME.cordon is
 * planned in both confined modes on the host that NAME.host lists (fake_host.h;
 * without it the host is bare), and everything that comes out is one text:
 * findings, plan, bwrap arguments, checks of cordon-init, Landlock grants, report.
 * `# set NAME` etc. belong into the .host file. CORDON_BLESS=1 writes the texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glob.h>

#include "backends/report.h"
#include "compiler/scope.h"
#include "fake_host.h"
#include "cases.h"

static void put_fields(struct buf *out, const struct buf *fields)
{
	for (size_t at = 0; at < fields->len; at += strlen(fields->data + at) + 1) {
		const char *field = fields->data + at;
		bool head = strncmp(field, "--", 2) == 0;
		buf_puts(out, at == 0 ? "  " : head ? "\n  " : " ");
		diag_put_quoted(out, field, strlen(field), SIZE_MAX);
	}
	buf_putc(out, '\n');
}

static void put_checks(struct buf *out, const struct buf *fields)
{
	static const char *const heads[] = {"bind", "pin", "mask", "null", "link",
		"lock-ro", "lock-rw", "stderr", "tty"};

	for (size_t at = 0; at < fields->len; at += strlen(fields->data + at) + 1) {
		const char *field = fields->data + at;
		bool head = false;
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			head |= strcmp(field, heads[i]) == 0;
		buf_puts(out, at == 0 ? "  " : head ? "\n  " : " ");
		diag_put_quoted(out, field, strlen(field), SIZE_MAX);
	}
	buf_putc(out, '\n');
}

static void put_artifacts(const struct plan *plan, const struct sources *sources,
	struct arena *arena, struct diags *diags, struct buf *out)
{
	const struct launch launch = {
		.helper = "/libexec/cordon-init", .directory = "/", .isolated = true};
	struct fidelity fidelities[2];

	for (size_t b = 0; b < 2; b++) {
		const struct backend *backend = backends[b];
		struct buf fields = BUF_INIT;
		backend->check(plan, &launch, arena, &fidelities[b]);
		buf_printf(out, "-- %s\n", backend->name);
		if (!fidelities[b].usable)
			buf_puts(out, "  cannot express the policy\n");
		else if (backend->emit(
				 plan, &launch, &fidelities[b], arena, &fields, diags))
			put_fields(out, &fields);
		buf_release(&fields);
		if (b == 0 && fidelities[b].usable) {
			buf_puts(out, "-- checks\n");
			bwrap_init_config(plan, &launch, &fidelities[b], &fields);
			put_checks(out, &fields);
			buf_release(&fields);
		}
	}
	buf_puts(out, "-- report\n");
	report_put(plan, fidelities, 2, sources, arena, out);
}

static void put_mode(const struct policy *policy, struct fake_host *host,
	const struct target *target, enum mode mode, const struct sources *sources,
	struct buf *out)
{
	struct diags diags;

	diags_init(&diags, host->arena);
	buf_printf(out, "== %s\n", vocabulary_text(vocabulary_modes, (int)mode));
	struct plan *plan = plan_make(
		policy, mode, &host->call, target, true, host->arena, &diags);
	if (plan) {
		plan_dump(plan, sources, out);
		put_artifacts(plan, sources, host->arena, &diags, out);
	}
	if (diags.first)
		buf_puts(out, "-- findings\n");
	diags_render(&diags, sources, false, out);
}

static void render(const char *path, struct arena *arena, struct buf *out)
{
	struct sources sources;
	struct diags diags;
	struct fake_host host;
	struct target target;
	char *stem = arena_bytes(arena, path, strlen(path) - strlen(".cordon"));
	struct buf text = BUF_INIT, listing = BUF_INIT;

	assert_true(golden_read(path, &text));
	/* A case without a listing is planned on a bare host. */
	if (!golden_read(arena_printf(arena, "%s.host", stem), &listing))
		buf_puts(&listing, "");
	sources_init(&sources, arena);
	diags_init(&diags, arena);
	const char *copy = arena_bytes(arena, text.data, text.len);
	uint32_t file = sources_add(&sources, strrchr(path, '/') + 1, copy, text.len);
	const struct scope *scope = scope_load(arena, &sources, file, NULL, &diags);
	struct policy *policy = policy_resolve(arena, scope, NULL, &diags);
	diags_render(&diags, &sources, false, out);
	if (policy && !diags.errors) {
		fake_init(&host, arena, listing.data);
		fake_target(&host, policy, &target);
		for (int mode = 0; mode < MODE_CONFINED_COUNT; mode++)
			put_mode(policy, &host, &target, (enum mode)mode, &sources, out);
	}
	buf_release(&text);
	buf_release(&listing);
}

static void test_golden(void **state)
{
	const char *path = *state;
	struct arena arena;
	struct buf out = BUF_INIT;

	arena_init(&arena);
	render(path, &arena, &out);
	case_compare(arena_printf(&arena, "%.*s.expected",
			     (int)(strlen(path) - strlen(".cordon")), path),
		&out);
	buf_release(&out);
	arena_release(&arena);
}

int main(void)
{
	return case_run("tests/golden/plan/*.cordon", test_golden);
}
