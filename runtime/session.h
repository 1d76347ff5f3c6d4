/* SPDX-License-Identifier: Apache-2.0
 *
 * One call: which policy, for which machine, in which mode; up to the plan.
 * Everything of a call lives in its session, so two calls side by side do not
 * know of each other.
 *
 *     session_init → session_load → session_target → session_plan … → session_release
 *
 * A function that returns false has reported why in session->diags.
 */
#ifndef CORDON_SESSION_H
#define CORDON_SESSION_H

#include "backends/backend.h"
#include "runtime/create.h"
#include "runtime/read_file.h"
#include "runtime/temp_dir.h"

struct session_options {
	const char *policy_file; /* NULL: discovery; "-" standard input */
	const char *policy_name; /* NULL: the only one, or `default` */
	const char *workspace; /* NULL: the current directory; on a foreign or
	                          * imaginary machine that of call_imagined */
	const char *const *add_dirs;
	size_t add_dir_count;
	const char *home, *user; /* only for machines other than this one */
	const struct call_value *values; /* --set */
	size_t value_count;
	enum platform platform;
	bool host; /* facts of this host; false: the imaginary one */
	bool keep_temp; /* the private temporary directory outlives this process */
	bool launch; /* something will be started: the private temporary directory
	              * gets a random name */
};

/* Where a call's policy came from. */
enum policy_origin { ORIGIN_OPTION, ORIGIN_USER, ORIGIN_SYSTEM, ORIGIN_BUILT_IN };

struct session {
	const struct session_options *options;
	struct arena arena;
	struct sources sources;
	struct diags diags;
	struct policy_files files;
	struct policy *policy;
	enum policy_origin origin;
	struct call call;
	struct target target;
	const char **deciding;
	size_t deciding_count, deciding_cap;
};

/* options are borrowed and outlive the session. */
void session_init(struct session *session, const struct session_options *options);
void session_release(struct session *session);

/* Finds, reads and resolves the policy. */
bool session_load(struct session *session);

/* Fills call and target. */
bool session_target(struct session *session);

/* A file or directory that decides how commands are confined and must not be
 * changed by them: the rule `self`. Before session_target. */
void session_decides(struct session *session, const char *path);

/* Ownership of every deciding file (runtime.md, 3): an error for a launch, a
 * warning else. */
bool session_trust(struct session *session, bool launch);

/* The plan of a confined mode, NULL if errors were reported. */
struct plan *session_plan(struct session *session, enum mode mode, bool launch);

#define SESSION_HELD_MAX 4 /* at least as many as there are places for temp */

/* What a launch made on the host. */
struct launched {
	struct created created; /* stays */
	struct temp_dir temp; /* goes with session_finish */
	bool has_temp;
	struct temp_dir held[SESSION_HELD_MAX]; /* see session_plan_launch */
	size_t held_count;
};

/*
 * The plan of a launch: makes what `create` asks for and the private temporary
 * directory, and plans again with the facts of that; dev and ino of pins are
 * known then. Where the command may write a place for private temporary directories,
 * their parent is made, too, so that it can be hidden: a command that made it could
 * hold it open, and reach what other runs keep in there. NULL if errors were reported; session_finish is due in either case.
 */
struct plan *session_plan_launch(
	struct session *session, enum mode mode, struct launched *out);

/* Removes the private temporary directory, when no process of the command is
 * left. */
void session_finish(struct session *session, struct launched *launched);

#endif
