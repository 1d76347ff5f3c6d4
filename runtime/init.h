/* SPDX-License-Identifier: Apache-2.0
 *
 * The protocol between cordon and cordon-init, the first process of every
 * bubblewrap sandbox.
 *
 *     cordon-init CONFIG-FD STATUS-FD -- ARGV...
 *
 * CONFIG-FD is a memfd that holds the configuration: a sequence of fields, each
 * ended by NUL. A record is a keyword field and the fixed number of fields
 * that the table below names, so a path may hold any byte but NUL.
 *
 *   bind   ro|rw  DEV:INO  PATH   PATH is a mount of that very object (decimal
 *                                 st_dev:st_ino), read-only or not
 *   pin    DEV:INO PATH           a writable mount of that directory
 *   mask   0|0111 PATH            PATH is an empty read-only tmpfs, that mode;
 *                                 with 0111 something may be opened below
 *   null   PATH                   PATH is the null device, not openable
 *   link   TEXT   PATH            PATH is a symbolic link with that text
 *   lock-ro PATH                  second lock: read and execute beneath PATH
 *   lock-rw PATH                  second lock: everything beneath PATH
 *   stderr FD                     descriptor that becomes 2 of the command
 *   tty                           the command gets the terminal: its own
 *                                 foreground process group
 *   check                         run the checks, execute nothing, exit 0; the
 *                                 second lock is taken for trial before
 *                                 INIT_READY, and ARGV may be missing
 *
 * PATH is absolute and canonical; the checks open it with
 * RESOLVE_NO_SYMLINKS (openat2(2)), so a component that was swapped for a
 * link is a refusal. `bind ro` also tries to write and must fail.
 * The second lock is taken when at least one lock record is there and the
 * kernel has Landlock ABI 2 or later; ABI 6 scopes are added where known. A
 * lock that the kernel has but refuses is a failure, never skipped. fd 1 and
 * 2 of the command are granted where they are regular files, terminals or the
 * null device, for reading and writing as each descriptor is open itself.
 *
 * Every event is one struct init_event, written to STATUS-FD with one write(2)
 * (shorter than PIPE_BUF, hence atomic). The command never has STATUS-FD. When
 * its reader goes away, cordon-init ends and the command with it; before
 * INIT_READY is taken nothing is executed.
 *
 * The command is in a process group of its own and not its leader. SIGTERM,
 * SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT and SIGTSTP that
 * reach cordon-init are passed on to that group, each once; so a signal to
 * cordon-init and one to its process group do the same. With `tty` a ^Z does not
 * last (nothing in there could continue the command), and it is the caller's
 * part to take the terminal back afterwards.
 *
 * CONFIG-FD, STATUS-FD: from 3, and not the one of `stderr`. The exit status is
 * that of the command, 128+n for a signal; 125 when nothing was executed.
 */
#ifndef CORDON_INIT_H
#define CORDON_INIT_H

#include <stdint.h>

enum init_event_kind {
	INIT_READY = 1, /* all checks passed; value: Landlock ABI of the second
	                   * lock, 0 if none was taken */
	INIT_REFUSED, /* a check failed; record: its number in the
	                   * configuration from 0, value: errno or 0 */
	INIT_FAILED, /* cordon-init itself failed; value: errno,
	                   * record: enum init_step */
	INIT_EXECUTED, /* execve(2) of the command succeeded */
	INIT_EXEC_FAILED, /* value: errno of execve(2); nothing was run */
	INIT_EXITED, /* value: exit status */
	INIT_SIGNALED, /* value: signal number */
};

enum init_step {
	INIT_STEP_USAGE = 1, /* argv or configuration not as above */
	INIT_STEP_FORK, /* or the child ended before exec: EINTR */
	INIT_STEP_LOCK, /* Landlock ruleset, rule or restrict_self; not dumpable */
	INIT_STEP_STDERR,
};

struct init_event {
	uint32_t kind;
	int32_t value;
	uint32_t record;
	uint32_t pad;
	uint64_t utime_us; /* of the command's whole tree, with INIT_EXITED */
	uint64_t stime_us; /* and INIT_SIGNALED: getrusage(2) RUSAGE_CHILDREN */
	uint64_t maxrss_kib;
};

#endif
