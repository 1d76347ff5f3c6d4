/* SPDX-License-Identifier: Apache-2.0
 *
 * One escaper per syntax that an artifact is written in. Nothing else in cordon
 * quotes.
 */
#ifndef CORDON_QUOTE_H
#define CORDON_QUOTE_H

#include <stddef.h>

#include "compiler/buf.h"

/* A word of a POSIX shell: bare where it may be, else in '…'. Any byte but NUL. */
void quote_sh(struct buf *out, const char *text);

/* Bytes in base64 (RFC 4648, with padding). */
void quote_base64(struct buf *out, const void *bytes, size_t len);

#endif
