/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard descriptors of a confined command. A descriptor that was opened
 * outside stands on the mounts of the host: through /proc/self/fd a directory leads
 * past every mount of the sandbox, and a file can be opened again for writing or have
 * its mode changed, whatever the plan says of its path (proc(5), fchmod(2)).
 *
 * So a directory is refused, and a file on standard input that the plan does not make
 * writable is replaced by a copy in memory, from where it stands. Standard output and
 * error are the caller's own grant.
 */
#ifndef CORDON_STDIO_H
#define CORDON_STDIO_H

#include "compiler/plan.h"

#define STDIO_COPY_MAX ((size_t)256 * 1024 * 1024) /* bytes of standard input */

/* *input: a descriptor for the command's 0, the caller's to close; -1: the own one
 * will do. False and *error, a sentence. */
__attribute__((warn_unused_result)) bool stdio_prepare(
	const struct plan *plan, struct arena *arena, int *input, const char **error);

#endif
