/* SPDX-License-Identifier: Apache-2.0
 *
 * The keeper: a process between cordon and a command that no namespace holds
 * together. It starts the command, passes signals on, and when the command ends, or
 * when cordon goes away in whatever manner, it ends all that is left of the
 * command's tree before it reports.
 *
 * Nothing gets away from it: it is the subreaper of the tree (prctl(2),
 * PR_SET_CHILD_SUBREAPER), so a process that forks twice comes back to it. From
 * Landlock ABI 6 it also lives in a domain of its own with the signal scope, and the
 * command in one below that: kill(2) with -1 then reaches exactly the tree, all at
 * once, so that nothing can fork faster than it is killed; and the command cannot
 * reach the keeper.
 *
 * It reports in struct init_event: INIT_READY (value: the ABI), then one of
 * INIT_EXECUTED, INIT_EXEC_FAILED, INIT_FAILED, and the end.
 */
#ifndef CORDON_KEEPER_H
#define CORDON_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

/* Everything is prepared before the keeper is made: it allocates nothing. */
struct keeper {
	int control; /* read end: signals to pass on; its end is the end of all */
	int events; /* write end */
	int ruleset; /* for the command; -1: unconfined */
	int scope; /* ruleset of the keeper's own domain; -1: none */
	int abi;
	const char *const *candidates; /* what to execute, one after the other */
	char **argv; /* of the command */
	char **shell; /* {"/bin/sh", NULL, argv[1]…}: for a script without #! */
	char **environment;
	const char *directory; /* NULL: as it is */
	bool tty;
	int input, output, error; /* become 0, 1 and 2; -1: as they are */
	void *stack; /* SPAWN_STACK */
};

/* Whether a keeper without a scope can do its work on this kernel. */
bool keeper_can_list(void);

/* The body of spawn_copy. */
void keeper_main(void *keeper);

#endif
