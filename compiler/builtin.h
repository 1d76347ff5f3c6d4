/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in policy: the text of policies/default.cordon.
 */
#ifndef CORDON_BUILTIN_H
#define CORDON_BUILTIN_H

#include <stddef.h>

extern const char builtin_policy[];
extern const size_t builtin_policy_len;

#define BUILTIN_POLICY_NAME "built-in/default.cordon"

#endif
