/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing byte string; capacity doubles.
 */
#include "compiler/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buf *buf, size_t more)
{
	if (more > SIZE_MAX / 2 - buf->len)
		abort();

	size_t want = buf->len + more + 1;
	if (want <= buf->cap)
		return;

	size_t cap = buf->cap ? buf->cap : 64;
	while (cap < want)
		cap *= 2;
	buf->data = realloc(buf->data, cap);
	if (!buf->data)
		abort();
	buf->cap = cap;
}

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf)BUF_INIT;
}

void buf_put(struct buf *buf, const void *bytes, size_t len)
{
	reserve(buf, len);
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_put(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
	buf_put(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (len < 0)
		abort();

	reserve(buf, (size_t)len);
	va_start(ap, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, ap);
	va_end(ap);
	buf->len += (size_t)len;
}

void buf_field(struct buf *buf, const char *text)
{
	buf_put(buf, text, strlen(text) + 1);
}
