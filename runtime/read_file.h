/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading policies: a whole file into the arena, and the loader that the core
 * calls for `include`.
 *
 * A file is a regular file or a FIFO (a shell's process substitution), or `-`,
 * standard input. What it is, is looked at before it is opened for real: no
 * device is ever opened.
 *
 * An included path is taken relative to the directory of the including file as
 * that was named (of standard input: the current directory); the file system
 * resolves `..`. One file under two names is read once: files are told apart by
 * device and inode.
 */
#ifndef CORDON_READ_FILE_H
#define CORDON_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"
#include "compiler/policy.h"
#include "compiler/source.h"

struct file_text {
	const char *text; /* in the arena, a NUL behind it; may hold NULs */
	size_t len;
	uint64_t dev, ino;
};

/* False and *error, a sentence with the path. At most `most` bytes. */
__attribute__((warn_unused_result)) bool read_file(struct arena *arena, const char *path,
	size_t most, struct file_text *out, const char **error);

struct policy_file {
	const char *path; /* as opened; "-" is standard input */
	uint32_t number; /* in the sources */
	uint64_t dev, ino;
};

/* All files of one compilation, in the order of reading; one object under two names
 * stands here twice, with the same number. */
struct policy_files {
	struct arena *arena;
	struct sources *sources;
	struct policy_file *list;
	size_t count, cap;
};

void policy_files_init(
	struct policy_files *files, struct arena *arena, struct sources *sources);

/* The number of a file, read if it is new; 0 and *error, a sentence. */
uint32_t policy_files_read(
	struct policy_files *files, const char *path, const char **error);

/* The loader of policy.h over files; files must outlive it. */
struct loader policy_files_loader(struct policy_files *files);

#endif
