/* SPDX-License-Identifier: Apache-2.0
 *
 * clone(2) in the two forms that run needs. The caller's signals are blocked
 * around each: in a child that shares memory a handler would run on the data of
 * the caller.
 */
#include "runtime/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000 /* Linux 5.2 */
#endif
#ifndef P_PIDFD
#define P_PIDFD 3 /* Linux 5.4 */
#endif
#define CLOSE_RANGE_CLOEXEC_5_11 4U

static void block_all(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

pid_t spawn_sharing(int (*body)(void *), void *arg, void *stack, int *pidfd)
{
	sigset_t before;

	block_all(&before);
	pid_t pid = clone(body, (char *)stack + SPAWN_STACK,
		CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, arg, pidfd);
	int error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -error : pid;
}

pid_t spawn_copy(void (*body)(void *), void *arg, int *pidfd)
{
	sigset_t before;

	block_all(&before);
	/* The bare call: handlers of pthread_atfork(3) belong to the caller's
	 * libraries. No exit signal: see the header. */
	long pid = syscall(SYS_clone, CLONE_PIDFD, NULL, pidfd, NULL, NULL);
	int error = errno;
	if (pid == 0) {
		body(arg);
		_exit(125);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -error : (pid_t)pid;
}

/* The kernel's own call: the C library keeps two signals to itself, which a caller
 * may have left ignored (rt_sigaction(2)). All zero is SIG_DFL. */
void spawn_reset(void)
{
	static const char standard[64];
	sigset_t none;

	for (int sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, standard, NULL, (size_t)8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int close_all(unsigned first, unsigned last, unsigned flags)
{
	return first > last || syscall(SYS_close_range, first, last, flags) == 0 ? 0
										 : -errno;
}

int spawn_seal(void)
{
	return close_all(3, ~0U, CLOSE_RANGE_CLOEXEC_5_11);
}

int spawn_keep(const int *fds, size_t count)
{
	unsigned next = 3;
	int error = 0;

	/* Gap by gap: the smallest kept one that is not yet behind us. */
	while (!error) {
		unsigned least = ~0U;
		for (size_t i = 0; i < count; i++)
			if (fds[i] >= 0 && (unsigned)fds[i] >= next &&
				(unsigned)fds[i] < least)
				least = (unsigned)fds[i];
		if (least == ~0U)
			return close_all(next, ~0U, 0);
		error = least > next ? close_all(next, least - 1, 0) : 0;
		next = least + 1;
	}
	return error;
}

/* Out of the way of 0, 1 and 2, which a caller may have closed. */
static int move_up(int fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int error = errno;
	close(fd);
	errno = error;
	return moved;
}

int spawn_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) < 0) {
		fds[0] = fds[1] = -1;
		return -errno;
	}
	fds[0] = move_up(fds[0]);
	fds[1] = move_up(fds[1]);
	return fds[0] < 0 || fds[1] < 0 ? -EMFILE : 0;
}

int spawn_memory(const char *name, const void *bytes, size_t len)
{
	int fd = move_up(memfd_create(name, MFD_CLOEXEC));
	int error;

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(
			fd, (const char *)bytes + done, len - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? -errno : -EIO;
			close(fd);
			return error;
		}
		done += (size_t)n;
	}
	return fd;
}

bool spawn_wait(int pidfd, int *status)
{
	siginfo_t info;
	int result;

	do
		result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return false;
	*status = info.si_code == CLD_EXITED ? (info.si_status & 255) << 8
					     : info.si_status & 127;
	return true;
}
