/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8, character by character: its length, its value, and whether a reader
 * could take it for a space or for nothing. Small enough to live in a header.
 */
#ifndef CORDON_UTF8_H
#define CORDON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the character at p (len > 0 bytes are there), 0 if it is not one. */
static inline size_t utf8_length_at(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;

	if (n == 0 || n > len || *p > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (n == 3 && ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f)))
		return 0;
	if (n == 4 && ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)))
		return 0;
	return n;
}

/* The value of a character of n bytes, as utf8_length_at gave it. */
static inline uint32_t utf8_value_at(const char *bytes, size_t n)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *p = (const unsigned char *)bytes;
	uint32_t value = p[0] & mask[n];

	for (size_t i = 1; i < n; i++)
		value = value << 6 | (p[i] & 0x3fU);
	return value;
}

static inline bool utf8_is_valid(const char *bytes, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length_at(bytes + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

static inline bool utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* The categories Zs, Zl, Zp and Cf of Unicode 15, without the ASCII space. */
static inline bool utf8_is_invisible(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0xa0, 0xa0}, {0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c},
		{0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2},
		{0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f},
		{0x205f, 0x2064}, {0x2066, 0x206f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
		{0xfff9, 0xfffb}, {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
		{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

#endif
