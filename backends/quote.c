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

bool quote_is_utf8(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < len;) {
		size_t n = p[i] < 0x80 ? 1 : p[i] >= 0xf0 ? 4 : p[i] >= 0xe0 ? 3 : 2;
		if ((p[i] >= 0x80 && p[i] < 0xc2) || p[i] > 0xf4 || n > len - i)
			return false;
		for (size_t k = 1; k < n; k++)
			if ((p[i + k] & 0xc0) != 0x80)
				return false;
		if ((p[i] == 0xe0 && p[i + 1] < 0xa0) || (p[i] == 0xed && p[i + 1] > 0x9f) ||
			(p[i] == 0xf0 && p[i + 1] < 0x90) || (p[i] == 0xf4 && p[i + 1] > 0x8f))
			return false;
		i += n;
	}
	return true;
}

void quote_base64(struct buf *out, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned v = (unsigned)p[i] << 16 | (n > 1 ? (unsigned)p[i + 1] << 8 : 0) |
			(n > 2 ? (unsigned)p[i + 2] : 0);
		buf_putc(out, digits[v >> 18]);
		buf_putc(out, digits[v >> 12 & 63]);
		buf_putc(out, n > 1 ? digits[v >> 6 & 63] : '=');
		buf_putc(out, n > 2 ? digits[v & 63] : '=');
	}
}
