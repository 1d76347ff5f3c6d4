/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a backend was not used. Each cause has its own word, sentence and narrow fix;
 * the detail is what the mechanism itself said.
 *
 * What bwrap says of itself is read to tell causes apart (its messages: bubblewrap
 * 0.8, bubblewrap.c and network.c); it never decides whether a command ran.
 */
#ifndef CORDON_CAUSE_H
#define CORDON_CAUSE_H

#include <stdbool.h>

#include "compiler/arena.h"

/* X(NAME, verdict, sentence, fix) */
#define CAUSES(X)                                                                        \
	X(CAUSE_NONE, "usable", "", "")                                                  \
	X(CAUSE_MISSING, "missing", "bubblewrap is not installed",                       \
		"install bubblewrap (Debian, Ubuntu, Fedora: package `bubblewrap`)")     \
	X(CAUSE_NO_HELPER, "missing", "cordon-init is not installed",                    \
		"install cordon completely: cordon-init belongs into its libexec "       \
		"directory")                                                             \
	X(CAUSE_NO_LAUNCHER, "missing", "landlock-run is not installed",                 \
		"install cordon completely: landlock-run belongs into its libexec "      \
		"directory")                                                             \
	X(CAUSE_UNTRUSTED, "broken", "a program that confines can be changed by others", \
		"give the program and the directories above it to root")                 \
	X(CAUSE_USERNS, "blocked", "user namespaces are disabled",                       \
		"sysctl kernel.unprivileged_userns_clone=1, or allow user namespaces "   \
		"in the "                                                                \
		"container")                                                             \
	X(CAUSE_APPARMOR, "blocked", "AppArmor restricts user namespaces",               \
		"add an AppArmor profile for bwrap with `userns,`, or sysctl "           \
		"kernel.apparmor_restrict_unprivileged_userns=0")                        \
	X(CAUSE_LIMIT, "blocked", "the limit of user namespaces is used up",             \
		"raise user.max_user_namespaces (sysctl); three are needed for each "    \
		"sandbox")                                                               \
	X(CAUSE_NESTED, "nested",                                                        \
		"this process is itself confined and cannot make another sandbox",       \
		"start cordon outside of the container or sandbox")                      \
	X(CAUSE_LAYERS, "nested", "no more Landlock layers can be added",                \
		"start cordon outside of other Landlock sandboxes (16 layers at most)")  \
	X(CAUSE_KERNEL, "unusable kernel", "the kernel has no user namespaces",          \
		"use a kernel with CONFIG_USER_NS")                                      \
	X(CAUSE_NO_LANDLOCK, "unusable kernel", "the kernel has no Landlock",            \
		"use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK")                 \
	X(CAUSE_LANDLOCK_OFF, "unusable kernel", "Landlock is not enabled",              \
		"add landlock to the list of lsm= on the kernel's command line")         \
	X(CAUSE_KERNEL_OLD, "unusable kernel",                                           \
		"the kernel lacks a call that ending a command's tree needs",            \
		"use a kernel with CONFIG_PROC_CHILDREN and close_range(2)")             \
	X(CAUSE_EXPRESS, "cannot express the plan", "a rule cannot be expressed",        \
		"change the rule, or add `best-effort` to it")                           \
	X(CAUSE_PARTIAL, "cannot express the plan",                                      \
		"the policy requires full enforcement and this is partial",              \
		"use a backend without gaps, or take `require full` away")               \
	X(CAUSE_SIZE, "cannot express the plan", "the profile is too large",             \
		"name directories instead of single files, or run it with fewer "        \
		"variables")                                                             \
	X(CAUSE_LONG, "cannot express the plan",                                         \
		"the command has too many words for bwrap",                              \
		"pass fewer arguments (bwrap takes 9000 with its own), or ask for "      \
		"--backend landlock")                                                    \
	X(CAUSE_CHANGED, "broken", "a path changed while the sandbox was made",          \
		"try again; if it happens again, see who changes the path")              \
	X(CAUSE_NOT_ISOLATED, "blocked", "no mount namespace can be made for bwrap",     \
		"allow user namespaces")                                                 \
	X(CAUSE_LOCK, "broken", "the second lock was refused by the kernel",             \
		"start cordon outside of other Landlock sandboxes (16 layers at most)")  \
	X(CAUSE_SLOW, "broken", "the check did not end in time",                         \
		"see what the host is doing")                                            \
	X(CAUSE_BROKEN, "broken", "the runner failed",                                   \
		"run `cordon probe`, and mend what the runner says")

enum cause {
#define CAUSE_NAME(name, verdict, sentence, fix) name,
	CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
		CAUSE_COUNT
};

struct cause_text {
	const char *verdict, *sentence, *fix;
};
const struct cause_text *cause_text(enum cause cause);

/* Whether a cause lies in this call (its paths, its size, what happens beside it) and
 * not in the host. Another backend is then no way out: who can bring it about would
 * choose a weaker one. */
bool cause_is_of_call(enum cause cause);

/* What bwrap's own words mean on this host. */
enum cause cause_of_bwrap(const char *words);

/* What the errno of a Landlock call means. */
enum cause cause_of_landlock(int error);

/* The words of a runner as one printable line: the last one that begins with
 * `program: `, else the last. In the arena, "" if it said nothing. */
const char *cause_line(struct arena *arena, const char *words, const char *program);

#endif
