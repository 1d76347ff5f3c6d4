/* SPDX-License-Identifier: Apache-2.0
 *
 * Landlock as the kernel speaks it: constants, structures, system calls, and
 * the table of what each ABI added. Declared here because the headers of a
 * distribution may be older than the kernel that it runs on.
 *
 * The one idea: an ABI only ever adds bits, and a bit that the running kernel
 * does not know is EINVAL for the whole ruleset. So a ruleset is made from
 * landlock_steps[] up to the smaller of two numbers, the ABI that the kernel
 * reports and the newest one that the caller was written for. A newer kernel
 * is then used as the newest known one.
 *
 * Plain C on raw system calls: the static launchers (musl, no heap) and
 * cordon share it. Every function returns 0 or more, or -errno. None of them
 * allocates, prints or keeps state.
 */
#ifndef CORDON_LANDLOCK_UAPI_H
#define CORDON_LANDLOCK_UAPI_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _LINUX_LANDLOCK_H
#error "runtime/landlock_uapi.h takes the place of <linux/landlock.h>"
#endif

/* System calls: the same numbers on every architecture. Linux 5.13, ABI 1. */
#define LANDLOCK_SYS_CREATE_RULESET 444
#define LANDLOCK_SYS_ADD_RULE       445
#define LANDLOCK_SYS_RESTRICT_SELF  446

/* landlock_create_ruleset(2) flags, with a NULL attribute. */
#define LANDLOCK_CREATE_RULESET_VERSION (1U << 0) /* 5.13, ABI 1 */
#define LANDLOCK_CREATE_RULESET_ERRATA  (1U << 1) /* 6.15, ABI 7 */

/* landlock_add_rule(2) rule type. */
#define LANDLOCK_RULE_PATH_BENEATH 1 /* 5.13, ABI 1 */
#define LANDLOCK_RULE_NET_PORT     2 /* 6.7, ABI 4 */

/* File-system rights. */
#define LANDLOCK_ACCESS_FS_EXECUTE      (1ULL << 0) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_WRITE_FILE   (1ULL << 1) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_READ_FILE    (1ULL << 2) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_READ_DIR     (1ULL << 3) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_REMOVE_DIR   (1ULL << 4) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_REMOVE_FILE  (1ULL << 5) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_CHAR    (1ULL << 6) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_DIR     (1ULL << 7) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_REG     (1ULL << 8) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_SOCK    (1ULL << 9) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_FIFO    (1ULL << 10) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_BLOCK   (1ULL << 11) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_MAKE_SYM     (1ULL << 12) /* 5.13, ABI 1 */
#define LANDLOCK_ACCESS_FS_REFER        (1ULL << 13) /* 5.19, ABI 2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE     (1ULL << 14) /* 6.2, ABI 3 */
#define LANDLOCK_ACCESS_FS_IOCTL_DEV    (1ULL << 15) /* 6.10, ABI 5 */
#define LANDLOCK_ACCESS_FS_RESOLVE_UNIX (1ULL << 16) /* 7.1, ABI 9 */

/* Network rights. */
#define LANDLOCK_ACCESS_NET_BIND_TCP         (1ULL << 0) /* 6.7, ABI 4 */
#define LANDLOCK_ACCESS_NET_CONNECT_TCP      (1ULL << 1) /* 6.7, ABI 4 */
#define LANDLOCK_ACCESS_NET_BIND_UDP         (1ULL << 2) /* 7.2, ABI 10 */
#define LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP (1ULL << 3) /* 7.2, ABI 10 */

/* Scopes: what may not be reached outside of the domain. */
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* 6.12, ABI 6 */
#define LANDLOCK_SCOPE_SIGNAL               (1ULL << 1) /* 6.12, ABI 6 */

/* 8 bytes in ABI 1, 16 from ABI 4, 24 from ABI 6. Every kernel takes the
 * longest form as long as what it does not know is zero. */
struct landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

struct landlock_net_port_attr {
	uint64_t allowed_access;
	uint64_t port; /* host byte order */
};

/* What each ABI added. The index is the ABI. */
struct landlock_step {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

static const struct landlock_step landlock_steps[] = {
	[1] = {.fs = (1ULL << 13) - 1}, /* EXECUTE to MAKE_SYM */
	[2] = {.fs = LANDLOCK_ACCESS_FS_REFER},
	[3] = {.fs = LANDLOCK_ACCESS_FS_TRUNCATE},
	[4] = {.net = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP},
	[5] = {.fs = LANDLOCK_ACCESS_FS_IOCTL_DEV},
	[6] = {.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL},
	[7] = {.fs = 0}, /* audit flags, errata query */
	[8] = {.fs = 0}, /* TSYNC */
	[9] = {.fs = LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	[10] = {.net = LANDLOCK_ACCESS_NET_BIND_UDP |
		       LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
};

/* The newest ABI whose file-system rights cordon handles: from here on
 * enforcement of a run is called full. RESOLVE_UNIX is left out, it is no
 * right of a file and would break every client of a local daemon. */
#define LANDLOCK_FULL_ABI 5

/* From here on the scopes exist. */
#define LANDLOCK_SCOPE_ABI 6

/* Read and execute; and what is left of any set on a non-directory, where
 * the other rights are EINVAL. */
#define LANDLOCK_READ                                                                    \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                     \
		LANDLOCK_ACCESS_FS_READ_DIR)
#define LANDLOCK_FILE                                                                    \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                    \
		LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |             \
		LANDLOCK_ACCESS_FS_IOCTL_DEV | LANDLOCK_ACCESS_FS_RESOLVE_UNIX)

/* Everything that kernels of this ABI know, but nothing newer than newest. */
static inline struct landlock_step landlock_known(int abi, int newest)
{
	int steps = sizeof landlock_steps / sizeof landlock_steps[0];
	struct landlock_step sum = {0};

	for (int i = 1; i <= abi && i <= newest && i < steps; i++) {
		sum.fs |= landlock_steps[i].fs;
		sum.net |= landlock_steps[i].net;
		sum.scoped |= landlock_steps[i].scoped;
	}
	return sum;
}

/* The file-system rights that cordon handles under this ABI. */
static inline uint64_t landlock_handled_fs(int abi)
{
	return landlock_known(abi, LANDLOCK_FULL_ABI).fs;
}

static inline int landlock_result(long ret)
{
	return ret < 0 ? -errno : (int)ret;
}

/* The ABI of the running kernel, from 1. -ENOSYS: built without Landlock,
 * -EOPNOTSUPP: not enabled at boot. */
static inline int landlock_abi(void)
{
	return landlock_result(syscall(
		LANDLOCK_SYS_CREATE_RULESET, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

/* A new ruleset; the descriptor is close-on-exec. */
static inline int landlock_create(const struct landlock_ruleset_attr *attr)
{
	return landlock_result(
		syscall(LANDLOCK_SYS_CREATE_RULESET, attr, sizeof *attr, 0));
}

/* Allow access to what fd refers to and to all that lies beneath it. The
 * rights that a non-directory cannot have are taken away; so are those that
 * are not in handled, which would be EINVAL too. When nothing is left there
 * is nothing to allow: no rule is added. */
static inline int landlock_allow(int ruleset, int fd, uint64_t access, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access & handled,
		.parent_fd = fd,
	};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= LANDLOCK_FILE;
	if (!rule.allowed_access)
		return 0;
	return landlock_result(syscall(
		LANDLOCK_SYS_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
}

/* Needs no_new_privs (or CAP_SYS_ADMIN). For good, for this thread and all of
 * its future children. */
static inline int landlock_restrict(int ruleset)
{
	return landlock_result(syscall(LANDLOCK_SYS_RESTRICT_SELF, ruleset, 0));
}

static inline int landlock_no_new_privs(void)
{
	return landlock_result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

#endif
