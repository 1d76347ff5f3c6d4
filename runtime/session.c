/* SPDX-License-Identifier: Apache-2.0
 *
 * One call, from its options to its plan. This is where the order of things is:
 * policy, values, needs, facts, plan; and for a launch what `create` and `temp
 * private` make, then the facts of that, then the plan that is enforced.
 */
#include "runtime/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/builtin.h"
#include "compiler/check.h"
#include "compiler/scope.h"
#include "runtime/call_host.h"
#include "runtime/target_host.h"
#include "runtime/trust.h"
#include "runtime/walk.h"

void session_init(struct session *session, const struct session_options *options)
{
	*session = (struct session){.options = options};
	arena_init(&session->arena);
	sources_init(&session->sources, &session->arena);
	diags_init(&session->diags, &session->arena);
	policy_files_init(&session->files, &session->arena, &session->sources);
}

void session_release(struct session *session)
{
	arena_release(&session->arena);
}

static bool fail(struct session *session, enum code code, const char *sentence)
{
	diag_report(&session->diags, code, (struct span){0}, "%s", sentence);
	return false;
}

/* ---- the policy --------------------------------------------------------------- */

static const char *user_policy(struct session *session)
{
	struct call call;
	struct call_request request = {.workspace = "/"};
	const char *error;

	if (!call_host(&call, &session->arena, &request, &error) || !call.home)
		return NULL;
	return arena_printf(
		&session->arena, "%s/.config/cordon/policy.cordon", call.home);
}

/* A name that is not there is passed over; anything else is not. */
static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

static uint32_t find_policy(struct session *session, const char **error)
{
	const struct {
		const char *path;
		enum policy_origin origin;
	} places[] = {
		{session->options->policy_file, ORIGIN_OPTION},
		{session->options->policy_file ? NULL : user_policy(session),
			ORIGIN_USER},
		{session->options->policy_file ? NULL
					       : CORDON_SYSCONFDIR
				"/cordon/policy.cordon",
			ORIGIN_SYSTEM},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i].path ||
			(places[i].origin != ORIGIN_OPTION && !exists(places[i].path)))
			continue;
		session->origin = places[i].origin;
		return policy_files_read(&session->files, places[i].path, error);
	}
	session->origin = ORIGIN_BUILT_IN;
	return sources_add(&session->sources, BUILTIN_POLICY_NAME, builtin_policy,
		builtin_policy_len);
}

/* --set gives values to variables of the policy and to nothing else. */
static void check_values(struct session *session, const struct scope *scope)
{
	for (size_t i = 0; i < session->options->value_count; i++) {
		const char *name = session->options->values[i].name;
		if (scope_find(scope, NAME_VARIABLE, name))
			continue;
		const char *near = scope_nearest(scope, NAME_VARIABLE, name);
		struct diag *diag = diag_report(&session->diags, CODE_E032,
			(struct span){0}, "--set %s: %s",
			diag_quoted(&session->diags, name, strlen(name)),
			scope_is_built_in(NAME_VARIABLE, name)
				? "this variable has a value of its own"
				: "the policy has no variable of that name");
		if (near)
			diag_help(&session->diags, diag, "did you mean `%s`?", near);
	}
}

bool session_load(struct session *session)
{
	const char *error = NULL;
	size_t failures = session->diags.failures;
	uint32_t file = find_policy(session, &error);

	if (!file)
		return fail(session, CODE_E046, error);

	struct loader loader = policy_files_loader(&session->files);
	const struct scope *scope = scope_load(
		&session->arena, &session->sources, file, &loader, &session->diags);
	session->policy = policy_resolve(
		&session->arena, scope, session->options->policy_name, &session->diags);
	check_values(session, scope);
	if (!session->policy || session->diags.failures > failures)
		return false;
	/* Expectations are part of a policy: one that does not keep them is wrong
	 * whatever it is used for. */
	struct check_plans plans;
	struct diag **before = session->diags.tail;
	check_policy(session->policy, PLATFORM_BIT(session->options->platform),
		session->options->values, session->options->value_count, &session->arena,
		&session->diags, &plans);
	/* What else it says of an imaginary machine is for `check`. */
	diags_keep_errors(&session->diags, before);
	return session->diags.failures == failures;
}

/* ---- the machine -------------------------------------------------------------- */

void session_decides(struct session *session, const char *path)
{
	session->deciding = arena_grow(&session->arena, session->deciding,
		session->deciding_count, &session->deciding_cap,
		sizeof(*session->deciding));
	session->deciding[session->deciding_count++] = path;
}

/* An absolute path to what path names from the current directory. */
static const char *absolute(struct session *session, const char *path)
{
	if (path[0] == '/')
		return path;
	char *cwd = realpath(".", NULL);
	const char *whole = arena_printf(
		&session->arena, "%s/%s", cwd ? cwd : "/proc/self/cwd", path);
	free(cwd);
	return whole;
}

/* Takes the last name of dir away. False if it is a link: what `..` means behind it
 * is decided elsewhere. */
static bool climb(struct session *session, char *dir, const char *path)
{
	struct stat st;
	char *slash = strrchr(dir, '/');

	if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
		return fail(session, CODE_E046,
			arena_printf(&session->arena,
				"%s: `..` behind the symbolic link %s; name the file "
				"without it",
				walk_quoted(&session->arena, path),
				walk_quoted(&session->arena, dir)));
	if (slash)
		*slash = '\0';
	return true;
}

/* The same without `.` and `..`: a rule is made of it. NULL if that is not sure. */
static const char *without_dots(struct session *session, const char *path)
{
	char *out = arena_alloc(&session->arena, strlen(path) + 2), *end = out;

	*out = '\0';
	for (const char *next = path; *next;) {
		size_t len = strcspn(next, "/");
		if (len == 2 && memcmp(next, "..", 2) == 0) {
			if (!climb(session, out, path))
				return NULL;
			end = out + strlen(out);
		} else if (len && !(len == 1 && *next == '.')) {
			*end++ = '/';
			memcpy(end, next, len);
			end += len;
			*end = '\0';
		}
		next += len + (next[len] == '/');
	}
	return *out ? out : "/";
}

static bool take_deciding(struct session *session)
{
	for (size_t i = 0; i < session->files.count; i++) {
		const char *path = session->files.list[i].path;
		if (strcmp(path, "-") == 0)
			continue;
		path = without_dots(session, absolute(session, path));
		if (!path)
			return false;
		session_decides(session, path);
	}
	if (session->call.home)
		session_decides(
			session, arena_printf(&session->arena, "%s/.config/cordon",
					 session->call.home));
	session_decides(session, CORDON_SYSCONFDIR "/cordon");
	return true;
}

static const char *kept_name(struct session *session)
{
	const char *name = session->call.temp_name;
	const char *slash = strrchr(name, '/');

	return arena_printf(&session->arena, "%.*s/" TEMP_KEPT "%s", (int)(slash - name),
		name, slash + 1);
}

static bool take_host(struct session *session)
{
	const struct session_options *options = session->options;
	struct call_request request = {
		options->workspace, options->add_dirs, options->add_dir_count};
	struct needs needs = {0};
	const char *error;

	if (!call_host(&session->call, &session->arena, &request, &error))
		return fail(session, CODE_E071, error);
	if (options->keep_temp)
		session->call.temp_name = kept_name(session);
	if (!options->launch)
		session->call.temp_name = arena_printf(
			&session->arena, "cordon-%u/session", getuid());
	if (!take_deciding(session))
		return false;
	session->call.deciding = session->deciding;
	session->call.deciding_count = session->deciding_count;
	session->call.values = options->values;
	session->call.value_count = options->value_count;

	policy_needs(session->policy, &session->call, &session->arena, &needs);
	int result = target_host(&session->target, &needs, &session->arena);
	if (result < 0)
		return fail(session, CODE_E071,
			arena_printf(&session->arena, "cannot look at this host: %s",
				strerror(-result)));
	return true;
}

static void take_imagined(struct session *session)
{
	const struct session_options *options = session->options;
	struct call *call = &session->call;

	target_imagine(&session->target, options->platform);
	*call = *call_imagined(options->platform);
	if (options->workspace)
		call->workspace = options->workspace;
	if (options->home)
		call->home = options->home;
	if (options->user)
		call->user = options->user;
	call->add_dirs = options->add_dirs;
	call->add_dir_count = options->add_dir_count;
	call->values = options->values;
	call->value_count = options->value_count;
}

bool session_target(struct session *session)
{
	if (session->options->host)
		return take_host(session);
	take_imagined(session);
	return true;
}

/* What speaks against a policy file; NULL nothing. */
static const char *distrust(struct session *session, const struct policy_file *file)
{
	const char *path = absolute(session, file->path);
	const char *wrong = trust_check(&session->arena, path);
	struct stat st;

	/* A second name may lie where the command writes. What is not the caller's own
	 * the command cannot write by any name. */
	if (!wrong && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1 &&
		st.st_uid == geteuid())
		wrong = arena_printf(&session->arena,
			"%s has another name (a hard link), and can be changed through "
			"it",
			walk_quoted(&session->arena, path));
	return wrong;
}

bool session_trust(struct session *session, bool launch)
{
	bool trusted = true;

	for (size_t i = 0; i < session->files.count; i++) {
		const struct policy_file *file = &session->files.list[i];
		const char *wrong = strcmp(file->path, "-") == 0
					    ? NULL
					    : distrust(session, file);
		if (!wrong)
			continue;
		trusted = false;
		struct diag *diag = diag_report(&session->diags,
			launch ? CODE_E077 : CODE_W109, (struct span){file->number, 0, 0},
			"%s", wrong);
		diag_help(&session->diags, diag,
			"a policy must belong to you or root, not be writable by others, "
			"and have one name");
	}
	return trusted;
}

/* ---- the plan ----------------------------------------------------------------- */

struct plan *session_plan(struct session *session, enum mode mode, bool launch)
{
	return plan_make(session->policy, mode, &session->call, &session->target, launch,
		&session->arena, &session->diags);
}

/* Looks again at what was just made. */
static bool refresh(struct session *session, const char *const *paths, size_t count)
{
	struct needs needs = {.paths = (const char **)paths, .path_count = count};
	struct target seen;

	if (target_host(&seen, &needs, &session->arena) < 0)
		return false;
	for (size_t i = 0; i < session->target.fact_count; i++) {
		const struct fact *fact = target_find(
			&seen, session->target.facts[i].path);
		if (fact)
			session->target.facts[i] = *fact;
	}
	return true;
}

static bool identify_pins(struct session *session, struct plan *plan)
{
	const char **paths = arena_array(
		&session->arena, plan->pin_count, sizeof(*paths));
	struct needs needs = {.paths = paths, .path_count = plan->pin_count};
	struct target seen;

	if (!plan->pin_count)
		return true;
	for (size_t i = 0; i < plan->pin_count; i++)
		paths[i] = plan->pins[i].path;
	if (target_host(&seen, &needs, &session->arena) < 0)
		return fail(session, CODE_E071, "cannot look at this host");
	for (size_t i = 0; i < plan->pin_count; i++) {
		const struct fact *fact = target_find(&seen, paths[i]);
		if (!fact || fact->changed || strcmp(fact->canonical, paths[i]) != 0 ||
			fact->kind != KIND_DIRECTORY)
			return fail(session, CODE_E074,
				arena_printf(&session->arena,
					"`%s` changed while it was looked at; try again",
					diag_quoted(&session->diags, paths[i],
						strlen(paths[i]))));
		plan->pins[i].dev = fact->dev;
		plan->pins[i].ino = fact->ino;
	}
	return true;
}

static bool make_temp(
	struct session *session, const struct plan *plan, struct launched *out)
{
	const struct call *call = &session->call;
	const char *error;

	for (size_t i = 0; i < call->temp_root_count; i++) {
		const char *root = call->temp_roots[i];
		const char *path = arena_printf(
			&session->arena, "%s/%s", root, call->temp_name);
		if (strcmp(path, plan->rules.temp) != 0)
			continue;
		if (!temp_dir_make(
			    &out->temp, &session->arena, root, call->temp_name, &error))
			return fail(session, CODE_E076, error);
		out->has_temp = true;
		return true;
	}
	return fail(session, CODE_E076, "no place for a private temporary directory");
}

/* The parents of private temporary directories that the command could make. */
static bool hold_parents(
	struct session *session, const struct plan *plan, struct launched *out)
{
	const struct call *call = &session->call;
	const char *error;

	for (size_t i = 0; i < call->temp_root_count; i++) {
		const char *path = arena_printf(
			&session->arena, "%s/%s", call->temp_roots[i], call->temp_name);
		const char *parent = path_parent(&session->arena, path);
		struct stat st;
		if (plan_level(plan, parent) != LEVEL_WRITE || lstat(parent, &st) == 0 ||
			out->held_count == SESSION_HELD_MAX)
			continue;
		if (!temp_dir_make(&out->held[out->held_count], &session->arena,
			    call->temp_roots[i], call->temp_name, &error))
			return fail(session, CODE_E076, error);
		out->held_count++;
	}
	return true;
}

/* All facts anew, where something was made that other rules may see. */
static bool look_again(struct session *session, const struct plan *plan, bool created)
{
	struct needs needs = {0};
	const char *parent = plan->rules.temp
				     ? path_parent(&session->arena, plan->rules.temp)
				     : NULL;
	const char *paths[] = {plan->rules.temp, parent};

	if (!created)
		return !plan->rules.temp || refresh(session, paths, 2);
	policy_needs(session->policy, &session->call, &session->arena, &needs);
	return target_host(&session->target, &needs, &session->arena) == 0;
}

struct plan *session_plan_launch(
	struct session *session, enum mode mode, struct launched *out)
{
	const char *error;
	struct plan *plan = session_plan(session, mode, true);

	*out = (struct launched){0};
	if (!plan)
		return NULL;
	bool created = plan->created_count > 0;
	if (created && !create_planned(&session->arena, plan, &out->created, &error)) {
		fail(session, CODE_E071, error);
		return NULL;
	}
	if (plan->rules.temp && !make_temp(session, plan, out))
		return NULL;
	if (!hold_parents(session, plan, out))
		return NULL;
	created |= out->held_count > 0;
	if (created || plan->rules.temp) {
		if (!look_again(session, plan, created)) {
			fail(session, CODE_E071, "cannot look at this host");
			return NULL;
		}
		plan = session_plan(session, mode, true);
	}
	if (plan && !identify_pins(session, plan))
		return NULL;
	return plan;
}

/* What earlier runs left that were killed. Nothing depends on it. */
static void sweep(struct session *session, const struct temp_dir *temp)
{
	struct arena *arena = &session->arena;
	const char *parent = path_parent(arena, temp->path);
	size_t removed;

	(void)!temp_dir_sweep(
		path_parent(arena, parent), strrchr(parent, '/') + 1, &removed);
}

void session_finish(struct session *session, struct launched *launched)
{
	for (size_t i = 0; i < launched->held_count; i++)
		(void)!temp_dir_remove(&launched->held[i]);
	launched->held_count = 0;
	if (!launched->has_temp)
		return;
	sweep(session, &launched->temp);
	int result = temp_dir_remove(&launched->temp);
	if (result < 0)
		diag_report(&session->diags, CODE_W108, (struct span){0},
			"cannot remove all of `%s`: %s", launched->temp.path,
			strerror(-result));
	launched->has_temp = false;
}
