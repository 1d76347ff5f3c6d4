/* SPDX-License-Identifier: Apache-2.0
 *
 * Every finding that cordon can make. A code never changes its meaning and is
 * never given again. E0xx: error, W1xx: warning, N2xx: note.
 *
 * X(code, title): the title is one sentence for catalogues; the message of a
 * finding names the thing at hand.
 */
#ifndef CORDON_CODES_H
#define CORDON_CODES_H

#define CODES(X)                                                                         \
	/* Text and tokens. */                                                           \
	X(E001, "the file does not begin with `cordon 1`")                               \
	X(E002, "the language version is not known")                                     \
	X(E003, "syntax error")                                                          \
	X(E004, "a character that has no place here")                                    \
	X(E005, "the input is not UTF-8, or a lone carriage return")                     \
	X(E006, "a string does not end on its line")                                     \
	X(E007, "an escape that strings do not know")                                    \
	X(E008, "a bare path with a character that must be quoted")                      \
	X(E009, "a control character or NUL in a path")                                  \
	X(E010, "blocks are nested too deeply")                                          \
	X(E012, "too many rules")                                                        \
	/* Words. */                                                                     \
	X(E013, "unknown statement")                                                     \
	X(E014, "unknown word")                                                          \
	X(E015, "unknown mode")                                                          \
	X(E016, "unknown platform")                                                      \
	X(E017, "unknown value of a statement")                                          \
	X(E018, "words that exclude each other, or a word twice")                        \
	X(E019, "a word that this target does not take")                                 \
	X(E020, "a statement that has no place in this block")                           \
	X(E021, "a pattern that would grant, or stands where none may")                  \
	X(E022, "a quantity that is not a whole number above 0 with a unit")             \
	X(E023, "not a valid name")                                                      \
	X(E024, "an environment statement that may not be")                              \
	X(E025, "a pattern that is not well formed")                                     \
	/* Paths and values. */                                                          \
	X(E030, "a path that is not absolute")                                           \
	X(E031, "`..` in a policy path")                                                 \
	X(E032, "unknown variable")                                                      \
	X(E033, "a variable without a value")                                            \
	X(E034, "a value that may not stand in a path")                                  \
	X(E035, "a path that is too long")                                               \
	X(E036, "a rule at or below /dev or /proc")                                      \
	X(E037, "a path that is not absolute on a platform")                             \
	X(E038, "a path that is not valid on a platform")                                \
	/* Names and files. */                                                           \
	X(E040, "unknown set")                                                           \
	X(E041, "sets that contain each other")                                          \
	X(E042, "an empty set in a hide")                                                \
	X(E043, "a name that is defined twice")                                          \
	X(E044, "unknown policy")                                                        \
	X(E045, "policies that extend each other")                                       \
	X(E046, "an included file that cannot be read")                                  \
	X(E047, "files that include each other")                                         \
	X(E048, "includes are nested too deeply")                                        \
	X(E049, "which policy is meant is not clear")                                    \
	/* Layers, bounds, modes. */                                                     \
	X(E050, "two rules for the same path in one layer")                              \
	X(E051, "two statements of the same kind in one layer")                          \
	X(E052, "a rule gives more than a lock permits")                                 \
	X(E053, "a lock re-grants through a call value")                                 \
	X(E054, "a mode that is narrower than the one below it")                         \
	X(E055, "a ceiling that is raised, or a requirement that is lowered")            \
	X(E056, "a ladder entry that cannot be")                                         \
	X(E057, "a mode above the ceiling")                                              \
	X(E058, "a rule at or above the private temporary directory")                    \
	X(E059, "an expectation that does not hold")                                     \
	X(E060, "the workspace is /, a home directory or above one")                     \
	/* At launch. */                                                                 \
	X(E070, "a path that must exist is missing")                                     \
	X(E071, "a path that cannot be looked at")                                       \
	X(E072, "a grant that passes a link in the writable area")                       \
	X(E073, "two rules that are one path on this host")                              \
	X(E074, "a path that changed while it was looked at")                            \
	X(E075, "a pattern whose matches cannot be listed")                              \
	X(E076, "no place for a private temporary directory")                            \
	X(E077, "a file that decides and that others can write")                         \
	X(E078, "a rule of this version that cannot be enforced yet")                    \
	X(E079, "an artifact that is too large for its mechanism")                       \
	X(E080, "a backend that was asked for cannot express the policy")                \
	X(E081, "danger-full-access has no profile")                                     \
	X(E082, "a requirement that no backend meets")                                   \
	X(E084, "a profile that needs to know what a pattern matches")                   \
	X(E085, "something that the command needs is hidden from it")                    \
	X(E086, "a limit that is wider than the policy's")                               \
	/* Warnings. */                                                                  \
	X(W101, "a pattern character in a quoted path")                                  \
	X(W102, "braces in a pattern are ordinary characters")                           \
	X(W103, "write on a single file")                                                \
	X(W104, "network host below network none")                                       \
	X(W105, "the workspace is hidden")                                               \
	X(W106, "danger-full-access can be reached from a policy that hides or locks")   \
	X(W107, "read-only grants write access")                                         \
	X(W108, "something that a run made could not be removed")                        \
	X(W109, "a policy file that others can write: run will refuse it")               \
	/* Notes. */                                                                     \
	X(N201, "a rule replaces a built-in one")                                        \
	X(N202, "a required path is taken as present")                                   \
	X(N203, "an inherited rule still opens something below")                         \
	X(N204, "rules that are one path on this host")                                  \
	X(N205, "known control sockets stay open")

enum code {
#define CODE_NAME(code, title) CODE_##code,
	CODES(CODE_NAME)
#undef CODE_NAME
		CODE_COUNT
};

#endif
