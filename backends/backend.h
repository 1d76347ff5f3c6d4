/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend turns a plan into the profile of one mechanism and says, rule by
 * rule, how faithfully. It is one file with one const struct backend in the
 * registry (backend.c). Backends ask no system: every one compiles on every
 * host.
 *
 * The one rule above all others: an artifact never grants more than the plan,
 * except where the rule says best-effort and the report says gap.
 */
#ifndef CORDON_BACKEND_H
#define CORDON_BACKEND_H

#include <jansson.h>

#include "compiler/plan.h"

enum verdict {
	VERDICT_EXACT,
	VERDICT_NARROWER, /* something the policy permits will be refused */
	VERDICT_SNAPSHOT, /* holds for the names that exist at launch */
	VERDICT_UNSUPPORTED, /* as is, the result would be wider than the policy */
};

/* Gaps (file effects that get through), exposures (ways around that are none)
 * and notes: X(NAME, code, sentence, what to do). */
#define GAPS(X)                                                                          \
	X(GAP_METADATA_WRITES, "metadata-writes",                                        \
		"mode, owner, times and extended attributes of files outside the "       \
		"writable roots can be changed",                                         \
		"use the bwrap backend")                                                 \
	X(GAP_TRUNCATE, "truncate",                                                      \
		"any file that the user may write can be emptied by truncate(2)",        \
		"use Linux 6.2 or later, or the bwrap backend")                          \
	X(GAP_OLD_ABI, "old-abi",                                                        \
		"device ioctls are not restricted by this Landlock ABI",                 \
		"use Linux 6.10 or later, or the bwrap backend")                         \
	X(GAP_ROOT_DEVICES, "root-devices",                                              \
		"root can make and open device nodes in writable roots",                 \
		"run as an unprivileged user, or use the bwrap backend")                 \
	X(GAP_LATER_MOUNTS, "later-mounts",                                              \
		"a file system that the host mounts during the run appears writable",    \
		"use `cordon run` where user namespaces can be made")                    \
	X(GAP_FIFOS, "fifos",                                                            \
		"existing FIFOs outside the writable roots can be written",              \
		"use a kernel with Landlock ABI 2 or later")                             \
	X(GAP_INHERITED_STDIO, "inherited-stdio",                                        \
		"files behind standard input, output and error can be opened again for " \
		"writing",                                                               \
		"use a kernel with Landlock ABI 2 or later, or pass pipes")              \
	X(GAP_SYMLINK_NAME, "symlink-name",                                              \
		"the way to a protected name passes a symbolic link that the command "   \
		"can replace",                                                           \
		"name the real path in the policy, or remove the link")                  \
	X(GAP_HARD_LINK_ALIAS, "hard-link-alias",                                        \
		"a protected file has another name that is not protected",               \
		"remove the other hard links, or protect them too")                      \
	X(GAP_MOUNT_ALIAS, "mount-alias",                                                \
		"a protected place is mounted at another path that gives more",          \
		"protect the other path too, or unmount it")                             \
	X(GAP_CASE_FOLD, "case-fold",                                                    \
		"the directory disregards case: other spellings may not be covered",     \
		"keep protected names out of case-insensitive directories")              \
	X(GAP_BEST_EFFORT, "best-effort", "a best-effort rule is not enforced",          \
		"use a backend that can express the rule, or remove best-effort")        \
	X(GAP_CUSTOM_RUNNER, "custom-runner", "the runner is not one that cordon knows", \
		"use a backend of cordon")

#define EXPOSURES(X)                                                                     \
	X(EXPOSURE_UNIX_SOCKETS, "unix-sockets",                                         \
		"a service behind a socket can act outside the sandbox",                 \
		"hide the socket")                                                       \
	X(EXPOSURE_OUTSIDE_REPLACE, "outside-replace",                                   \
		"a process outside that replaces a protected name lifts its protection", \
		"do not edit protected files while a command runs")                      \
	X(EXPOSURE_FIFOS_BELOW, "fifos-below",                                           \
		"a FIFO below a protected directory of a writable root can be written",  \
		"keep FIFOs out of protected directories")                               \
	X(EXPOSURE_SIGNALS, "signals",                                                   \
		"signals can be sent to other processes of the user",                    \
		"use Linux 6.12 or later, or the bwrap backend")                         \
	X(EXPOSURE_USERNS_OPEN, "userns-open",                                           \
		"the command can make user namespaces of its own",                       \
		"use the bwrap backend")

#define REMARKS(X)                                                                       \
	X(REMARK_FOREIGN_OWNER, "foreign-owner",                                         \
		"a writable root belongs to another user and cannot be written",         \
		"run as its owner")                                                      \
	X(REMARK_SHARED_MEMORY, "shared-memory", "/dev/shm cannot be used",              \
		"use the bwrap backend")                                                 \
	X(REMARK_NETWORK_TCP, "network-tcp-only",                                        \
		"only TCP and abstract sockets are refused", "use the bwrap backend")    \
	X(REMARK_DENY_LIST, "allow-list-only",                                           \
		"the mechanism only adds access: nothing below can be taken away",       \
		"use the bwrap backend")                                                 \
	X(REMARK_LIVE_PATTERN, "no-live-pattern",                                        \
		"the mechanism cannot hold a pattern for names made later",              \
		"add `snapshot`")                                                        \
	X(REMARK_TERMINALS, "existing-terminals",                                        \
		"new terminals cannot be told from those of other sessions",             \
		"use the bwrap backend, or `devices standard`")                          \
	X(REMARK_NEEDS_HOST, "needs-host",                                               \
		"what a pattern matches is only known on the host itself",               \
		"compile with --host")                                                   \
	X(REMARK_SNAPSHOT, "snapshot", "holds for the names that exist at launch", "")   \
	X(REMARK_RENAME, "rename-copies",                                                \
		"a rename between a pinned directory and its root is a copy (EXDEV)",    \
		"")                                                                      \
	X(REMARK_RESERVE, "reserve", "a missing name cannot be kept free yet",           \
		"remove `reserve`")                                                      \
	X(REMARK_ALIAS_DEVICES, "read-devices",                                          \
		"devices other than those named cannot be read", "")

enum reason {
	REASON_NONE,
#define REASON_NAME(name, code, sentence, fix) name,
	GAPS(REASON_NAME) EXPOSURES(REASON_NAME) REMARKS(REASON_NAME)
#undef REASON_NAME
		REASON_COUNT
};

struct reason_text {
	const char *code, *sentence, *fix;
};
const struct reason_text *reason_text(enum reason reason);

enum subject { SUBJECT_MECHANISM, SUBJECT_RULE, SUBJECT_SETTING };

/* One remark about a plan on a mechanism. */
struct remark {
	enum reason reason;
	enum subject subject;
	uint32_t index; /* rule, or enum setting */
	const char *witness; /* a path where it shows, NULL: none */
};

struct remarks {
	struct remark *list;
	size_t count, cap;
};

/* What a backend says of a plan. */
struct fidelity {
	const struct backend *backend;
	bool usable; /* false: an unsupported rule; the artifact must not be used */
	enum verdict *rules; /* one for each rule of the plan */
	enum verdict settings[SETTING_COUNT];
	struct remarks gaps, exposures, notes; /* notes: why a rule is narrower,
	                                        * snapshot or unsupported */
	unsigned abi; /* Landlock ABI that was assumed; 0: plays no part */
};

/* What a launch adds to the artifact; all zero for an artifact on its own. */
struct launch {
	const char *helper; /* host path of cordon-init; NULL: none */
	const char *directory; /* working directory of the command */
	const char *const *environment; /* NAME=VALUE, NULL-terminated; NULL: keep */
	bool tty;
	bool isolated; /* started in a mount namespace of its own, where no later mount
	                * of the host arrives (mount_namespaces(7), MS_PRIVATE) */
};

/*
 * How a runner says that it failed by itself, for callers that have only an exit
 * status and stderr. A line of stderr that equals an ignored one (without regard
 * to case) is nobody's; a remaining line that contains a fatal substring is the
 * runner's. Exit status alone proves nothing.
 */
struct failure_rule {
	int codes[4]; /* on which it may match; all 0: any but 0 */
	const char *const *ignored; /* NULL-terminated whole lines */
	const char *const *fatal; /* NULL-terminated substrings */
};

struct backend {
	const char *name;
	enum platform platform;
	/* Fills out; never reports errors: an unsupported rule is a verdict. */
	void (*check)(const struct plan *plan, const struct launch *launch,
		struct arena *arena, struct fidelity *out);
	/* Appends the artifact, NUL-separated argv (grants). Only when usable.
	 * False: a finding was reported (too many arguments). */
	bool (*emit)(const struct plan *plan, const struct launch *launch,
		const struct fidelity *fidelity, struct arena *arena, struct buf *out,
		struct diags *diags);
	/* The profile as JSON, where the arguments do not say all; may be NULL.
	 * A new reference. */
	json_t *(*describe)(const struct plan *plan, const struct fidelity *fidelity,
		struct arena *arena);
	const char *program; /* that takes the arguments, by its name */
	const char *extension; /* of the artifact in a bundle */
	const char *const *denials; /* substrings of stderr, NULL-terminated */
	/* What denials look like in full, for `run`, which knows that the command ran
	 * and whether it failed. */
	const char *const *effects;
	struct failure_rule failure;
};

/* In the order of the chains of runtime.md; ends with NULL. */
extern const struct backend *const backends[];

const struct backend *backend_find(const char *name);

/* Starts a fidelity: all exact, usable. */
void fidelity_init(struct fidelity *fidelity, const struct backend *backend,
	const struct plan *plan, struct arena *arena);

/* Adds to one of the three lists. */
void fidelity_remark(struct arena *arena, struct remarks *list, enum reason reason,
	enum subject subject, uint32_t index, const char *witness);

/* A rule that the mechanism cannot express: unsupported, or a gap if it is
 * best-effort (then false is returned: leave it out). */
bool fidelity_refuse(struct arena *arena, struct fidelity *fidelity, enum subject subject,
	uint32_t index, bool best_effort, enum reason why, const char *witness);

/* Raises the verdict of a rule or setting, never lowers it. */
void fidelity_verdict(struct fidelity *fidelity, enum subject subject, uint32_t index,
	enum verdict verdict);

/* Sockets of the host that the plan leaves open: an exposure of every Linux
 * mechanism. */
void fidelity_sockets(
	const struct plan *plan, struct arena *arena, struct fidelity *fidelity);

/* "full" without a gap, else "partial". */
const char *fidelity_enforcement(const struct fidelity *fidelity);

extern const struct backend backend_bwrap;
extern const struct backend backend_landlock;

/* The longest argument list that bwrap takes, its own options included
 * (bubblewrap 0.8: MAX_ARGS 9000, also through --args). */
#define BWRAP_ARGUMENTS_MAX 9000

/* bwrap: the configuration of cordon-init for the same plan (runtime/init.h). */
void bwrap_init_config(const struct plan *plan, const struct launch *launch,
	const struct fidelity *fidelity, struct buf *out);

/* landlock: the grants by themselves, for a child that restricts itself. */
struct grant {
	const char *path;
	bool write;
	uint64_t dev, ino; /* 0, 0: not known */
};
size_t landlock_grants(const struct plan *plan, const struct fidelity *fidelity,
	struct arena *arena, struct grant **out);

#endif
