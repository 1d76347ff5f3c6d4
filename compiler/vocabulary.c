/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables made from the lists of vocabulary.h, and "did you mean".
 */
#include "compiler/vocabulary.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define ENTRY(value, text) {text, value},
#define TABLE(name, LIST)                                                                \
	const struct vocabulary vocabulary_##name[] = {LIST(ENTRY){NULL, 0}}

TABLE(levels, LEVELS);
TABLE(modes, MODES);
TABLE(platforms, PLATFORMS);
TABLE(settings, SETTINGS);
TABLE(temp, TEMPS);
TABLE(devices, DEVICES);
TABLE(network, NETWORKS);
TABLE(require, REQUIRES);
TABLE(consent, CONSENTS);
TABLE(words, WORDS);
TABLE(limits, LIMITS);
TABLE(environment, ENVIRONMENTS);

const struct vocabulary *vocabulary_of_setting(enum setting setting)
{
	static const struct vocabulary *const values[SETTING_COUNT] = {
		[SETTING_TEMP] = vocabulary_temp,
		[SETTING_DEVICES] = vocabulary_devices,
		[SETTING_NETWORK] = vocabulary_network,
	};

	assert(setting < SETTING_COUNT);
	return values[setting];
}

const char *vocabulary_text(const struct vocabulary *list, int value)
{
	for (; list->text; list++)
		if (list->value == value)
			return list->text;
	assert(!"a value of the list");
	return "";
}

bool vocabulary_find(const struct vocabulary *list, const char *text, int *value)
{
	for (; list->text; list++) {
		if (strcmp(list->text, text) == 0) {
			*value = list->value;
			return true;
		}
	}
	return false;
}

#define WORD_MAX 64

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours. */
static size_t edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
	size_t row[3][WORD_MAX + 1];
	size_t *before = row[0], *last = row[1], *now = row[2];

	for (size_t j = 0; j <= lb; j++)
		last[j] = j;
	for (size_t i = 1; i <= la; i++) {
		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] != b[j - 1];
			now[j] = smaller(
				last[j - 1] + cost, 1 + smaller(last[j], now[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
		}
		size_t *free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[lb];
}

size_t vocabulary_distance(const char *candidate, const char *text)
{
	size_t la = strlen(candidate), lb = strlen(text);

	if (la > WORD_MAX || lb > WORD_MAX || lb == 0)
		return SIZE_MAX;

	size_t distance = edit_distance(candidate, la, text, lb);
	size_t near = lb / 3 > 1 ? lb / 3 : 1;
	return distance <= near ? distance : SIZE_MAX;
}

const char *vocabulary_nearest(const struct vocabulary *list, const char *text)
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	for (; list->text; list++) {
		size_t distance = vocabulary_distance(list->text, text);
		if (distance < best_distance) {
			best = list->text;
			best_distance = distance;
		}
	}
	return best;
}
