/* SPDX-License-Identifier: Apache-2.0
 *
 * A host in a few lines of text, so that tests of the core need no file system.
 * One statement a line:
 *
 *     workspace /ws        add-dir /ws2        home /home/user
 *     dir PATH   file PATH   socket PATH       parents are made as directories
 *     link PATH -> TEXT                        looked up as the kernel does
 *     closed PATH                              a directory that may not be searched
 *     hardlinks PATH N     owner PATH UID      casefold PATH
 *     changed PATH                             changes while it is looked at
 *     euid N   abi N       set NAME=TEXT       mode MODE
 *     deciding PATH        git-dir PATH        git-common-dir PATH
 *
 * An object has the inode number of its line.
 */
#ifndef CORDON_TEST_FAKE_HOST_H
#define CORDON_TEST_FAKE_HOST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/path.h"
#include "compiler/policy.h"

#define FAKE_MAX 256

enum fake_kind { FAKE_DIR, FAKE_FILE, FAKE_SOCKET, FAKE_LINK };

struct fake_object {
	const char *path;
	enum fake_kind kind;
	const char *text;
	bool closed, casefold, changed;
	uint64_t ino, links;
	uint32_t owner;
};

struct fake_host {
	struct arena *arena;
	struct fake_object objects[FAKE_MAX];
	size_t count;
	struct call call;
	const char *add_dirs[8];
	const char *deciding[8];
	struct call_value values[8];
	unsigned euid, abi;
};

static inline struct fake_object *fake_find(struct fake_host *host, const char *path)
{
	for (size_t i = 0; i < host->count; i++)
		if (strcmp(host->objects[i].path, path) == 0)
			return &host->objects[i];
	return NULL;
}

static inline struct fake_object *fake_add(
	struct fake_host *host, const char *path, enum fake_kind kind, const char *text)
{
	struct fake_object *known = fake_find(host, path);

	if (known)
		return known;
	if (strcmp(path, "/") != 0)
		fake_add(host, path_parent(host->arena, path), FAKE_DIR, NULL);
	if (host->count == FAKE_MAX)
		abort();
	struct fake_object *object = &host->objects[host->count++];
	*object = (struct fake_object){.path = path,
		.kind = kind,
		.text = text,
		.ino = 1000 + host->count,
		.links = 1,
		.owner = host->euid};
	return object;
}

static inline void fake_line(struct fake_host *host, char *line)
{
	char *arrow = strstr(line, " -> ");
	char *word = strtok(line, " ");
	char *path = strtok(NULL, arrow ? "" : " ");
	char *rest = arrow ? arrow + 4 : strtok(NULL, "");

	if (!word || word[0] == '#')
		return;
	if (arrow)
		*arrow = '\0';
	const struct {
		const char *word;
		enum fake_kind kind;
	} kinds[] = {{"dir", FAKE_DIR}, {"file", FAKE_FILE}, {"socket", FAKE_SOCKET},
		{"link", FAKE_LINK}};
	for (size_t i = 0; i < 4; i++)
		if (strcmp(word, kinds[i].word) == 0)
			fake_add(host, path, kinds[i].kind, rest);
	if (strcmp(word, "closed") == 0)
		fake_add(host, path, FAKE_DIR, NULL)->closed = true;
	else if (strcmp(word, "hardlinks") == 0)
		fake_add(host, path, FAKE_FILE, NULL)->links = strtoull(rest, NULL, 10);
	else if (strcmp(word, "owner") == 0)
		fake_add(host, path, FAKE_DIR, NULL)->owner = (uint32_t)strtoul(
			rest, NULL, 10);
	else if (strcmp(word, "casefold") == 0)
		fake_add(host, path, FAKE_DIR, NULL)->casefold = true;
	else if (strcmp(word, "changed") == 0)
		fake_add(host, path, FAKE_DIR, NULL)->changed = true;
	else if (strcmp(word, "workspace") == 0)
		host->call.workspace = fake_add(host, path, FAKE_DIR, NULL)->path;
	else if (strcmp(word, "home") == 0)
		host->call.home = fake_add(host, path, FAKE_DIR, NULL)->path;
	else if (strcmp(word, "add-dir") == 0)
		host->add_dirs[host->call.add_dir_count++] =
			fake_add(host, path, FAKE_DIR, NULL)->path;
	else if (strcmp(word, "git-dir") == 0)
		host->call.git_dir = fake_add(host, path, FAKE_DIR, NULL)->path;
	else if (strcmp(word, "git-common-dir") == 0)
		host->call.git_common_dir = fake_add(host, path, FAKE_DIR, NULL)->path;
	else if (strcmp(word, "deciding") == 0)
		host->deciding[host->call.deciding_count++] = path;
	else if (strcmp(word, "euid") == 0)
		host->euid = (unsigned)strtoul(path, NULL, 10);
	else if (strcmp(word, "abi") == 0)
		host->abi = (unsigned)strtoul(path, NULL, 10);
	else if (strcmp(word, "set") == 0) {
		char *equals = strchr(path, '=');
		*equals = '\0';
		host->values[host->call.value_count++] = (struct call_value){
			path, equals + 1};
	}
}

/* The call and the objects of a listing; NULL: an empty one. */
static inline void fake_init(
	struct fake_host *host, struct arena *arena, const char *text)
{
	*host = (struct fake_host){.arena = arena, .euid = 1000, .abi = 7};
	host->call = *call_imagined(PLATFORM_LINUX);
	host->call.git_dir = host->call.git_common_dir = NULL;
	host->call.add_dirs = host->add_dirs;
	host->call.deciding = host->deciding;
	host->call.values = host->values;
	fake_add(host, "/tmp", FAKE_DIR, NULL);
	fake_add(host, "/var/tmp", FAKE_DIR, NULL);
	while (text && *text) {
		size_t len = strcspn(text, "\n");
		fake_line(host, arena_bytes(arena, text, len));
		text += len + (text[len] == '\n');
	}
	fake_add(host, host->call.workspace, FAKE_DIR, NULL);
	fake_add(host, host->call.home, FAKE_DIR, NULL);
}

/* The look-up of the kernel, on the listing. */
static inline void fake_fact(struct fake_host *host, const char *path, struct fact *fact)
{
	struct link *crossed = arena_array(host->arena, 41, sizeof(*crossed));
	char *todo = arena_bytes(host->arena, path, strlen(path));
	char *at = arena_bytes(host->arena, "/", 1);
	bool missing = false;

	*fact = (struct fact){.path = path, .crossed = crossed};
	while (*todo) {
		while (*todo == '/')
			todo++;
		size_t len = strcspn(todo, "/");
		if (!len)
			break;
		char *name = arena_bytes(host->arena, todo, len);
		todo += len;
		if (strcmp(name, "..") == 0) {
			at = path_parent(host->arena, at);
			continue;
		}
		struct fake_object *parent = fake_find(host, at);
		if (!missing && parent && parent->closed) {
			fact->error = EACCES;
			missing = true;
		}
		if (parent && parent->casefold)
			fact->casefold = true;
		if (parent && parent->changed)
			fact->changed = true;
		char *next = path_join(host->arena, at, name);
		struct fake_object *object = missing ? NULL : fake_find(host, next);
		if (object && object->kind == FAKE_LINK) {
			if (fact->crossed_count == 40) {
				fact->error = ELOOP;
				break;
			}
			crossed[fact->crossed_count++] = (struct link){
				next, object->text};
			if (object->text[0] == '/')
				at = arena_bytes(host->arena, "/", 1);
			const char *rest = todo;
			todo = arena_printf(host->arena, "%s%s", object->text, rest);
			fact->dangling |= strspn(rest, "/") == strlen(rest);
			continue;
		}
		missing |= !object;
		at = next;
		if (object)
			fact->deepest = at;
	}
	fact->canonical = at;
	struct fake_object *object = missing ? NULL : fake_find(host, at);
	if (!object) {
		fact->kind = KIND_MISSING;
		return;
	}
	fact->dangling = false;
	fact->changed |= object->changed;
	fact->kind = object->kind == FAKE_DIR    ? KIND_DIRECTORY
		     : object->kind == FAKE_FILE ? KIND_FILE
						 : KIND_OTHER;
	fact->dev = 1;
	fact->ino = object->ino;
	fact->links = object->links;
	fact->owner = object->owner;
}

static inline void fake_matches(
	struct fake_host *host, const char *pattern, struct match_set *set)
{
	struct glob *glob = glob_compile(host->arena, pattern);
	struct fact *list = arena_array(host->arena, FAKE_MAX, sizeof(*list));

	*set = (struct match_set){.pattern = pattern, .matches = list};
	for (size_t i = 0; i < host->count; i++)
		if (glob_matches(glob, host->objects[i].path))
			fake_fact(host, host->objects[i].path, &list[set->count++]);
}

static inline void fake_target(
	struct fake_host *host, const struct policy *policy, struct target *target)
{
	struct needs needs = {0};

	policy_needs(policy, &host->call, host->arena, &needs);
	*target = (struct target){.platform = PLATFORM_LINUX,
		.euid = host->euid,
		.uid = host->euid,
		.landlock_abi = host->abi};
	for (size_t i = 0; i < needs.path_count; i++) {
		struct fact fact;
		fake_fact(host, needs.paths[i], &fact);
		target_add(target, host->arena, &fact);
	}
	target->matches = arena_array(
		host->arena, needs.pattern_count, sizeof(*target->matches));
	for (size_t i = 0; i < needs.pattern_count; i++)
		fake_matches(
			host, needs.patterns[i], &target->matches[target->match_count++]);
	struct link *links = arena_array(host->arena, FAKE_MAX, sizeof(*links));
	struct fact *sockets = arena_array(host->arena, FAKE_MAX, sizeof(*sockets));
	for (size_t i = 0; i < host->count; i++) {
		const struct fake_object *o = &host->objects[i];
		if (o->kind == FAKE_LINK && path_depth(o->path) == 1)
			links[target->root_link_count++] = (struct link){
				o->path, o->text};
		if (o->kind == FAKE_SOCKET)
			fake_fact(host, o->path, &sockets[target->socket_count++]);
	}
	target->root_links = links;
	target->sockets = sockets;
	target_index(target, host->arena);
}

#endif
