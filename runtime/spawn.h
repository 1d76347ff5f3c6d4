/* SPDX-License-Identifier: Apache-2.0
 *
 * New processes, made so that a process with threads can do it: no process-wide
 * change, no signal handler of the caller runs in a child, no descriptor leaks.
 *
 * What a child calls must be async-signal-safe (signal-safety(7)): no allocation,
 * no stdio. Everything that it needs is prepared before.
 *
 * Sources: clone(2), vfork(2), pidfd_open(2), close_range(2).
 */
#ifndef CORDON_SPAWN_H
#define CORDON_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPAWN_STACK ((size_t)64 * 1024)

/*
 * Runs body on `stack` (SPAWN_STACK bytes, aligned to 16) in the memory of the
 * caller, who is held until the child has called execve(2) or ended: what body
 * writes to memory can be read afterwards. Its return value is its exit status. It
 * starts with all signals blocked and must leave dispositions to spawn_reset.
 * Returns the process id, and its pidfd (close-on-exec), or -errno.
 */
pid_t spawn_sharing(int (*body)(void *), void *arg, void *stack, int *pidfd);

/*
 * A copy of the caller. Its end sends no SIGCHLD to the caller and wait(2) does
 * not see it, only waitid(2) by pidfd with __WALL. body does not return; all
 * signals are blocked in it. Returns the process id or -errno.
 */
pid_t spawn_copy(void (*body)(void *), void *arg, int *pidfd);

/* In a child: every disposition the standard one, no signal blocked. */
void spawn_reset(void);

/* In a child: close-on-exec for every descriptor from 3. 0 or -errno. */
int spawn_seal(void);

/* In a child: closes every descriptor from 3 but these (-1: none). 0 or -errno. */
int spawn_keep(const int *fds, size_t count);

/* Descriptors that are never 0, 1 or 2, close-on-exec. 0 or -errno. */
int spawn_pipe(int fds[2]);

/* A file without a name that holds these bytes, at its start. Fd or -errno. */
int spawn_memory(const char *name, const void *bytes, size_t len);

/* Waits for the end of a child. False if somebody else reaped it. */
bool spawn_wait(int pidfd, int *status);

#endif
