/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing byte string. Holds any bytes; data is always followed by a NUL that
 * does not count, and is never NULL after the first put. Out of memory is
 * abort(3): outputs are written whole or not at all.
 */
#ifndef CORDON_BUF_H
#define CORDON_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
};

#define BUF_INIT                                                                         \
	{                                                                                \
		NULL, 0, 0                                                               \
	}

void buf_release(struct buf *buf);
void buf_put(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* text and the NUL behind it: one field of a NUL-separated list. */
void buf_field(struct buf *buf, const char *text);

#endif
