/* SPDX-License-Identifier: Apache-2.0
 *
 * Escapers.
 */
#include "backends/quote.h"

#include <string.h>

void quote_sh(struct buf *out, const char *text)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+./:,@%=";

	if (*text && text[strspn(text, bare)] == '\0') {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

void quote_base64(struct buf *out, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned v = (unsigned)p[i] << 16 |
			     (n > 1 ? (unsigned)p[i + 1] << 8 : 0) |
			     (n > 2 ? (unsigned)p[i + 2] : 0);
		buf_putc(out, digits[v >> 18]);
		buf_putc(out, digits[v >> 12 & 63]);
		buf_putc(out, n > 1 ? digits[v >> 6 & 63] : '=');
		buf_putc(out, n > 2 ? digits[v & 63] : '=');
	}
}
