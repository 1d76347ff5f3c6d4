/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command writes to its standard output or error, kept up to a limit. What
 * comes behind the limit is read and dropped: a command is neither held nor ended
 * for what it says, and memory stays bounded.
 */
#ifndef CORDON_CAPTURE_H
#define CORDON_CAPTURE_H

#include <stdbool.h>

#include "compiler/buf.h"

struct capture {
	int read; /* non-blocking; -1: closed */
	int write; /* for the command; -1: closed */
	size_t limit; /* bytes */
	struct buf kept;
	bool truncated;
};

#define CAPTURE_INIT                                                                     \
	{                                                                                \
		-1, -1, 0, BUF_INIT, false                                               \
	}

/* 0 or -errno. */
__attribute__((warn_unused_result)) int capture_open(
	struct capture *capture, size_t limit);

/* Reads what is there now. False at the end of the file or after an error. */
bool capture_read(struct capture *capture);

/* After the command's tree is dead: reads what is left, closes, and puts a marker line
 * behind what was cut. */
void capture_finish(struct capture *capture);

void capture_release(struct capture *capture);

#endif
