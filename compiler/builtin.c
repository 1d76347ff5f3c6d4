/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in policy, embedded by the Makefile.
 */
#include "compiler/builtin.h"

const char builtin_policy[] = {
#include "default_policy.inc"
	0};
const size_t builtin_policy_len = sizeof(builtin_policy) - 1;
