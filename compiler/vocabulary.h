/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of the policy language, each list in one place (language.md). The
 * order of levels, modes, temp, devices and network is the order of access:
 * a greater value gives more.
 */
#ifndef CORDON_VOCABULARY_H
#define CORDON_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

enum level { LEVEL_HIDE, LEVEL_READ, LEVEL_WRITE };
#define LEVELS(X) X(LEVEL_HIDE, "hide") X(LEVEL_READ, "read") X(LEVEL_WRITE, "write")

enum mode { MODE_READ_ONLY, MODE_WORKSPACE_WRITE, MODE_DANGER_FULL_ACCESS, MODE_COUNT };
#define MODE_CONFINED_COUNT MODE_DANGER_FULL_ACCESS /* the modes below are confined */
#define MODES(X)                                                                         \
	X(MODE_READ_ONLY, "read-only")                                                   \
	X(MODE_WORKSPACE_WRITE, "workspace-write")                                       \
	X(MODE_DANGER_FULL_ACCESS, "danger-full-access")

enum platform { PLATFORM_LINUX, PLATFORM_MACOS, PLATFORM_WINDOWS, PLATFORM_COUNT };
#define PLATFORMS(X)                                                                     \
	X(PLATFORM_LINUX, "linux")                                                       \
	X(PLATFORM_MACOS, "macos") X(PLATFORM_WINDOWS, "windows")
#define PLATFORM_BIT(platform) (1U << (platform))
#define PLATFORM_ALL           ((1U << PLATFORM_COUNT) - 1)

enum setting { SETTING_TEMP, SETTING_DEVICES, SETTING_NETWORK, SETTING_COUNT };
#define SETTINGS(X)                                                                      \
	X(SETTING_TEMP, "temp")                                                          \
	X(SETTING_DEVICES, "devices") X(SETTING_NETWORK, "network")

enum temp { TEMP_NONE, TEMP_PRIVATE, TEMP_HOST };
#define TEMPS(X) X(TEMP_NONE, "none") X(TEMP_PRIVATE, "private") X(TEMP_HOST, "host")

enum devices { DEVICES_NULL, DEVICES_STANDARD, DEVICES_PTY };
#define DEVICES(X)                                                                       \
	X(DEVICES_NULL, "null") X(DEVICES_STANDARD, "standard") X(DEVICES_PTY, "pty")

enum network { NETWORK_NONE, NETWORK_HOST };
#define NETWORKS(X) X(NETWORK_NONE, "none") X(NETWORK_HOST, "host")

enum require { REQUIRE_PARTIAL, REQUIRE_FULL };
#define REQUIRES(X) X(REQUIRE_PARTIAL, "partial") X(REQUIRE_FULL, "full")

enum consent { CONSENT_NEVER, CONSENT_ASK, CONSENT_ALLOW };
#define CONSENTS(X)                                                                      \
	X(CONSENT_NEVER, "never") X(CONSENT_ASK, "ask") X(CONSENT_ALLOW, "allow")

/* Words behind a rule or a setting: bits, so that a rule holds a set. */
enum word {
	WORD_OPTIONAL = 1 << 0,
	WORD_CREATE = 1 << 1,
	WORD_CREATE_FILE = 1 << 2, /* with WORD_CREATE: "create file" */
	WORD_RESERVE = 1 << 3,
	WORD_SNAPSHOT = 1 << 4,
	WORD_BEST_EFFORT = 1 << 5,
	WORD_LOCKED = 1 << 6,
};
#define WORDS(X)                                                                         \
	X(WORD_OPTIONAL, "optional")                                                     \
	X(WORD_CREATE, "create")                                                         \
	X(WORD_RESERVE, "reserve")                                                       \
	X(WORD_SNAPSHOT, "snapshot")                                                     \
	X(WORD_BEST_EFFORT, "best-effort")                                               \
	X(WORD_LOCKED, "locked")

/* Guard statements (language.md, 9). */
enum guard {
	GUARD_DENY_COMMAND,
	GUARD_DENY_ARGUMENT,
	GUARD_DENY_EVAL,
	GUARD_DENY_METACHARACTERS,
	GUARD_JAIL,
};

enum limit { LIMIT_TIMEOUT, LIMIT_OUTPUT, LIMIT_COUNT };
#define LIMITS(X) X(LIMIT_TIMEOUT, "timeout") X(LIMIT_OUTPUT, "output")

enum environment {
	ENVIRONMENT_CLEAR,
	ENVIRONMENT_KEEP,
	ENVIRONMENT_DROP,
	ENVIRONMENT_SET
};
#define ENVIRONMENTS(X)                                                                  \
	X(ENVIRONMENT_CLEAR, "clear")                                                    \
	X(ENVIRONMENT_KEEP, "keep")                                                      \
	X(ENVIRONMENT_DROP, "drop")                                                      \
	X(ENVIRONMENT_SET, "set")

/* A list of words with their values; ends with text NULL. */
struct vocabulary {
	const char *text;
	int value;
};

extern const struct vocabulary vocabulary_levels[], vocabulary_modes[],
	vocabulary_platforms[], vocabulary_settings[], vocabulary_temp[],
	vocabulary_devices[], vocabulary_network[], vocabulary_require[],
	vocabulary_consent[], vocabulary_words[], vocabulary_limits[],
	vocabulary_environment[];

/* The values of a setting, e.g. vocabulary_temp for SETTING_TEMP. */
const struct vocabulary *vocabulary_of_setting(enum setting setting);

/* The text of a value; the value must be one of the list. */
const char *vocabulary_text(const struct vocabulary *list, int value);

/* True and *value set if text is in the list. */
bool vocabulary_find(const struct vocabulary *list, const char *text, int *value);

/* The entry nearest to a mistyped text, NULL if none is near (edit distance,
 * with transpositions, at most a third of the length and at least one). */
const char *vocabulary_nearest(const struct vocabulary *list, const char *text);

/* The distance that vocabulary_nearest uses; SIZE_MAX if too far to suggest. */
size_t vocabulary_distance(const char *candidate, const char *text);

#endif
