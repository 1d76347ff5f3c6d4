/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of the imaginary hosts.
 */
#include "compiler/call.h"

static const char *const temp_linux[] = {"/tmp", "/var/tmp"};
static const char *const temp_macos[] = {
	"/private/var/folders/zz/user/T", "/private/tmp", "/private/var/tmp"};
static const char *const temp_windows[] = {"C:\\Users\\user\\AppData\\Local\\Temp"};

static const struct call imagined[PLATFORM_COUNT] = {
	[PLATFORM_LINUX] =
		{
			.platform = PLATFORM_LINUX,
			.workspace = "/workspace",
			.home = "/home/user",
			.user = "user",
			.git_dir = "/repository/.git/worktrees/workspace",
			.git_common_dir = "/repository/.git",
			.temp_roots = temp_linux,
			.temp_root_count = 2,
			.temp_name = "cordon-1000/session",
		},
	[PLATFORM_MACOS] =
		{
			.platform = PLATFORM_MACOS,
			.workspace = "/workspace",
			.home = "/Users/user",
			.user = "user",
			.git_dir = "/repository/.git/worktrees/workspace",
			.git_common_dir = "/repository/.git",
			.temp_roots = temp_macos,
			.temp_root_count = 3,
			.temp_name = "cordon-501/session",
		},
	[PLATFORM_WINDOWS] =
		{
			.platform = PLATFORM_WINDOWS,
			.workspace = "C:\\workspace",
			.home = "C:\\Users\\user",
			.user = "user",
			.git_dir = "C:\\repository\\.git\\worktrees\\workspace",
			.git_common_dir = "C:\\repository\\.git",
			.temp_roots = temp_windows,
			.temp_root_count = 1,
			.temp_name = "cordon-user/session",
		},
};

const struct call *call_imagined(enum platform platform)
{
	return &imagined[platform];
}
