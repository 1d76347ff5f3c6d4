/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <linux/fs.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "runtime/host_facts.h"
#include "runtime/target_host.h"
#include "runtime/walk.h"

#define SWAP_ROUNDS 4000

/* The facts of one path or the matches of one pattern, of a fresh target. */
static struct fact look(struct scratch *scratch, const char *path)
{
	const char *paths[] = {path};
	struct needs needs = {.paths = paths, .path_count = 1};
	struct target target;

	MUST(target_host(&target, &needs, &scratch->arena) == 0);
	const struct fact *fact = target_find(&target, path);
	MUST(fact && fact->canonical && fact->deepest);
	return *fact;
}

static struct match_set match(struct scratch *scratch, const char *pattern)
{
	const char *patterns[] = {pattern};
	struct needs needs = {.patterns = patterns, .pattern_count = 1};
	struct target target;

	MUST(target_host(&target, &needs, &scratch->arena) == 0);
	const struct match_set *set = target_matches(&target, pattern);
	MUST(set);
	return *set;
}

static void same_object(const struct fact *fact, const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_string_equal(fact->canonical, path);
	assert_true(fact->dev == st.st_dev && fact->ino == st.st_ino);
	assert_int_equal(fact->links, st.st_nlink);
	assert_int_equal(fact->owner, st.st_uid);
	assert_int_equal(fact->error, 0);
	assert_false(fact->changed || fact->dangling);
}

static void test_plain(void **state)
{
	struct scratch *scratch = *state;
	char *dir = at(scratch, "/d"), *file = at(scratch, "/d/f"),
	     *fifo = at(scratch, "/p");
	struct fact fact;

	make_dir(dir, 0755);
	make_file(file, "");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fact = look(scratch, dir);
	same_object(&fact, dir);
	assert_int_equal(fact.kind, KIND_DIRECTORY);
	assert_string_equal(fact.deepest, dir);
	assert_int_equal(fact.crossed_count, 0);
	fact = look(scratch, file);
	same_object(&fact, file);
	assert_int_equal(fact.kind, KIND_FILE);
	/* Would block if it were opened for real. */
	fact = look(scratch, fifo);
	same_object(&fact, fifo);
	assert_int_equal(fact.kind, KIND_OTHER);
	fact = look(scratch, "/");
	same_object(&fact, "/");
	assert_int_equal(fact.kind, KIND_DIRECTORY);
}

static void missing(struct scratch *scratch, const char *path, const char *canonical,
	const char *deepest, bool dangling)
{
	struct fact fact = look(scratch, path);

	assert_int_equal(fact.kind, KIND_MISSING);
	assert_int_equal(fact.error, 0);
	assert_false(fact.changed);
	assert_true(fact.dangling == dangling);
	assert_string_equal(fact.canonical, canonical);
	assert_string_equal(fact.deepest, deepest);
	assert_true(fact.dev == 0 && fact.ino == 0);
}

static void test_missing(void **state)
{
	struct scratch *scratch = *state;

	make_dir(at(scratch, "/d"), 0755);
	make_file(at(scratch, "/f"), "");
	make_link("d", at(scratch, "/l"));
	missing(scratch, at(scratch, "/d/x/y"), at(scratch, "/d/x/y"), at(scratch, "/d"),
		false);
	missing(scratch, at(scratch, "/l/x"), at(scratch, "/d/x"), at(scratch, "/d"),
		false);
	missing(scratch, at(scratch, "/f/x"), at(scratch, "/f/x"), at(scratch, "/f"),
		false);
	missing(scratch, "/none-such", "/none-such", "/", false);
}

static void test_dangling(void **state)
{
	struct scratch *scratch = *state;
	struct fact fact;

	make_link("x/y", at(scratch, "/one"));
	make_link("one", at(scratch, "/two"));
	make_file(at(scratch, "/f"), "");
	make_link("f/below", at(scratch, "/three"));
	missing(scratch, at(scratch, "/one"), at(scratch, "/x/y"), scratch->path, true);
	missing(scratch, at(scratch, "/two"), at(scratch, "/x/y"), scratch->path, true);
	missing(scratch, at(scratch, "/three"), at(scratch, "/f/below"),
		at(scratch, "/f"), true);
	/* Below a dangling link nothing exists. */
	missing(scratch, at(scratch, "/one/z"), at(scratch, "/x/y/z"), scratch->path,
		false);

	/* `..` behind a missing name has no meaning yet. */
	make_link("x/../f", at(scratch, "/four"));
	fact = look(scratch, at(scratch, "/four"));
	assert_int_equal(fact.kind, KIND_MISSING);
	assert_int_equal(fact.error, EINVAL);
	assert_false(fact.dangling);
}

static void test_links(void **state)
{
	struct scratch *scratch = *state;
	struct fact fact;

	make_dir(at(scratch, "/a"), 0755);
	make_dir(at(scratch, "/a/b"), 0755);
	make_dir(at(scratch, "/c"), 0755);
	make_file(at(scratch, "/a/f"), "");
	make_link("../a/b", at(scratch, "/c/rel"));
	make_link(at(scratch, "/c/rel"), at(scratch, "/abs"));
	make_link("abs/../f", at(scratch, "/up")); /* a/b/.. is a, not here */
	make_link("./a//f/", at(scratch, "/slash"));

	fact = look(scratch, at(scratch, "/abs"));
	same_object(&fact, at(scratch, "/a/b"));
	assert_int_equal(fact.crossed_count, 2);
	assert_string_equal(fact.crossed[0].name, at(scratch, "/abs"));
	assert_string_equal(fact.crossed[0].text, at(scratch, "/c/rel"));
	assert_string_equal(fact.crossed[1].name, at(scratch, "/c/rel"));
	assert_string_equal(fact.crossed[1].text, "../a/b");
	fact = look(scratch, at(scratch, "/up"));
	same_object(&fact, at(scratch, "/a/f"));
	assert_int_equal(fact.crossed_count, 3);
	fact = look(scratch, at(scratch, "/slash"));
	same_object(&fact, at(scratch, "/a/f"));
	/* As values of a call may be: `..` of what the link leads to. */
	fact = look(scratch, at(scratch, "/abs/../f"));
	same_object(&fact, at(scratch, "/a/f"));
	fact = look(scratch, "/../..");
	same_object(&fact, "/");
}

static void test_link_limit(void **state)
{
	struct scratch *scratch = *state;
	struct fact fact;

	make_file(at(scratch, "/0"), "");
	for (int i = 1; i <= 41; i++)
		make_link(at(scratch, "/%d", i - 1), at(scratch, "/%d", i));
	fact = look(scratch, at(scratch, "/40"));
	same_object(&fact, at(scratch, "/0"));
	assert_int_equal(fact.crossed_count, 40);
	fact = look(scratch, at(scratch, "/41"));
	assert_int_equal(fact.error, ELOOP);
	assert_int_equal(fact.kind, KIND_MISSING);
	make_link("loop", at(scratch, "/loop"));
	assert_int_equal(look(scratch, at(scratch, "/loop/x")).error, ELOOP);
}

static void test_magic_links(void **state)
{
	struct scratch *scratch = *state;
	struct fact fact;

	make_link("/proc/self/cwd", at(scratch, "/magic"));
	assert_int_equal(look(scratch, at(scratch, "/magic")).error, ELOOP);
	assert_int_equal(look(scratch, "/proc/self/fd/0").error, ELOOP);
	/* An ordinary link of /proc. */
	fact = look(scratch, "/proc/mounts");
	assert_int_equal(fact.error, 0);
	assert_int_equal(fact.kind, KIND_FILE);
	assert_int_equal(fact.crossed_count, 2);
}

static void test_strange_names(void **state)
{
	static const char *const names[] = {" ", "a b", "new\nline", "\"'`$(x)",
		"\xff\xfe", "*", "[a]", "\\", "...", "\x01", "-"};
	struct scratch *scratch = *state;
	struct fact fact;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *file = at(scratch, "/%s", names[i]);
		make_file(file, "");
		fact = look(scratch, file);
		same_object(&fact, file);
		make_link(names[i], at(scratch, "/link%zu", i));
		fact = look(scratch, at(scratch, "/link%zu", i));
		same_object(&fact, file);
	}
}

static char *pad(struct scratch *scratch, size_t len)
{
	char *path = at(scratch, "/%0*d", 1, 0);

	while (strlen(path) < len) {
		size_t more = len - strlen(path) - 1;
		path = arena_printf(&scratch->arena, "%s/%0*d", path,
			(int)(more > 200 ? 200 : more), 0);
		if (len - strlen(path) == 1) /* no room for another component */
			path = arena_printf(&scratch->arena, "%s0", path);
	}
	return path;
}

static void test_long_paths(void **state)
{
	struct scratch *scratch = *state;
	char *most = pad(scratch, PATH_MAX - 1), *more = pad(scratch, PATH_MAX);
	struct fact fact;

	assert_int_equal(strlen(most), PATH_MAX - 1);
	assert_int_equal(strlen(more), PATH_MAX);
	missing(scratch, most, most, scratch->path, false);
	assert_int_equal(look(scratch, more).error, ENAMETOOLONG);

	int fd = open(scratch->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (char *p = most + strlen(scratch->path) + 1; *p;) {
		char *name = p;
		p += strcspn(p, "/");
		bool last = !*p;
		if (!last)
			*p++ = '\0';
		assert_int_equal(mkdirat(fd, name, 0755), 0);
		int next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
		if (!last)
			p[-1] = '/';
	}
	close(fd);
	fact = look(scratch, most);
	same_object(&fact, most);
	fact = look(scratch, at(scratch, "/%0256d", 0));
	assert_int_equal(fact.error, ENAMETOOLONG);
}

static void unsearchable(struct scratch *scratch)
{
	struct fact fact;
	struct match_set set;

	make_dir(at(scratch, "/d"), 0700);
	make_file(at(scratch, "/d/f"), "");
	make_dir(at(scratch, "/e"), 0711);
	make_file(at(scratch, "/e/f"), "");
	MUST(chmod(scratch->path, 0755) == 0);
	become(SCRATCH_OTHER_UID);
	fact = look(scratch, at(scratch, "/d/f"));
	MUST(fact.error == EACCES && fact.kind == KIND_MISSING);
	MUST(strcmp(fact.canonical, at(scratch, "/d/f")) == 0);
	MUST(strcmp(fact.deepest, at(scratch, "/d")) == 0);
	fact = look(scratch, at(scratch, "/d"));
	MUST(fact.error == 0 && fact.kind == KIND_DIRECTORY);
	fact = look(scratch, at(scratch, "/e/f"));
	MUST(fact.error == 0 && fact.kind == KIND_FILE);
	/* May be searched, but not listed: what matches is not known. */
	set = match(scratch, at(scratch, "/**/f"));
	MUST(set.error && set.count == 0 && strstr(set.error, "Permission denied"));
	MUST(strcmp(set.error_path, at(scratch, "/d")) == 0 ||
		strcmp(set.error_path, at(scratch, "/e")) == 0);
	set = match(scratch, at(scratch, "/?"));
	MUST(!set.error && set.count == 2);
}

static void test_unsearchable(void **state)
{
	run_in_child(*state, unsearchable, "needs root to become another user");
}

static void test_host(void **state)
{
	struct scratch *scratch = *state;
	struct needs needs = {0};
	struct target target;
	long abi = syscall(444, NULL, (size_t)0, 1U);

	assert_int_equal(target_host(&target, &needs, &scratch->arena), 0);
	assert_int_equal(target.platform, PLATFORM_LINUX);
	assert_false(target.imagined);
	assert_int_equal(target.euid, geteuid());
	assert_int_equal(target.landlock_abi, abi > 0 ? abi : 0);
	assert_null(target_find(&target, "/"));
	for (size_t i = 0; i < target.root_link_count; i++) {
		char text[PATH_MAX] = "";
		assert_true(
			readlink(target.root_links[i].name, text, sizeof(text) - 1) > 0);
		assert_string_equal(target.root_links[i].text, text);
		assert_true(!i || strcmp(target.root_links[i - 1].name,
					  target.root_links[i].name) < 0);
	}
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	MUST(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	MUST(listen(fd, 1) == 0);
	return fd;
}

static bool lists(struct scratch *scratch, const char *path)
{
	struct needs needs = {0};
	struct target target;
	size_t found = 0;

	MUST(target_host(&target, &needs, &scratch->arena) == 0);
	for (size_t i = 0; i < target.socket_count; i++) {
		MUST(!i ||
			strcmp(target.sockets[i - 1].path, target.sockets[i].path) < 0);
		found += strcmp(target.sockets[i].canonical, path) == 0;
	}
	MUST(found <= 1);
	return found == 1;
}

static void test_sockets(void **state)
{
	static const char *const names[] = {
		"plain", "a b", " lead", "new\nline", "two\n\nlines\n", "tail ", "\xff"};
	struct scratch *scratch = *state;
	int fds[sizeof(names) / sizeof(*names)];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		fds[i] = listen_at(at(scratch, "/%s", names[i]));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_true(lists(scratch, at(scratch, "/%s", names[i])));

	/* By another name: canonical, and once. */
	make_link(".", at(scratch, "/link"));
	int fd = listen_at(at(scratch, "/link/other"));
	assert_true(lists(scratch, at(scratch, "/other")));
	assert_false(lists(scratch, at(scratch, "/link/other")));
	close(fd);

	/* Removed, or not bound any more. */
	unlink(at(scratch, "/plain"));
	assert_false(lists(scratch, at(scratch, "/plain")));
	make_file(at(scratch, "/plain"), "");
	assert_false(lists(scratch, at(scratch, "/plain")));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		close(fds[i]);
	assert_false(lists(scratch, at(scratch, "/a b")));
}

static void foreign_sockets(struct scratch *scratch)
{
	char *open_one = at(scratch, "/open"), *closed = at(scratch, "/closed");

	listen_at(open_one);
	listen_at(closed);
	MUST(chmod(open_one, 0666) == 0 && chmod(closed, 0755) == 0);
	MUST(chmod(scratch->path, 0755) == 0);
	MUST(lists(scratch, closed));
	become(SCRATCH_OTHER_UID);
	MUST(lists(scratch, open_one));
	MUST(!lists(scratch, closed));
}

static void test_foreign_sockets(void **state)
{
	run_in_child(*state, foreign_sockets, "needs root to become another user");
}

static void assert_matches(
	struct scratch *scratch, const char *pattern, const char *const *names)
{
	struct match_set set = match(scratch, at(scratch, "%s", pattern));
	size_t i = 0;

	assert_null(set.error);
	for (; names[i]; i++) {
		assert_true(i < set.count);
		assert_string_equal(set.matches[i].path, at(scratch, "%s", names[i]));
	}
	assert_int_equal(set.count, i);
}

static void test_patterns(void **state)
{
	struct scratch *scratch = *state;
	char *odd = at(scratch, "/a/\n \xff");

	make_dir(at(scratch, "/a"), 0755);
	make_dir(at(scratch, "/a/b"), 0755);
	make_dir(at(scratch, "/a/b/env"), 0755);
	make_dir(at(scratch, "/c"), 0755);
	make_file(at(scratch, "/a/env"), "");
	make_file(at(scratch, "/a/b/env/env"), "");
	make_file(at(scratch, "/a.x"), "");
	make_file(at(scratch, "/.env"), "");
	make_file(odd, "");
	assert_matches(scratch, "/**/env",
		(const char *[]){"/a/b/env", "/a/b/env/env", "/a/env", NULL});
	assert_matches(scratch, "/*.x", (const char *[]){"/a.x", NULL});
	assert_matches(scratch, "/a/e*", (const char *[]){"/a/env", NULL});
	assert_matches(scratch, "/a/env", (const char *[]){"/a/env", NULL});
	assert_matches(scratch, "/none/**/env", (const char *[]){NULL});
	assert_matches(scratch, "/a.x/**/env", (const char *[]){NULL});
	assert_matches(scratch, "/a/*\xff", (const char *[]){"/a/\n \xff", NULL});
	assert_matches(
		scratch, "/*", (const char *[]){"/.env", "/a", "/a.x", "/c", NULL});

	struct match_set set = match(scratch, at(scratch, "/a/b/*"));
	same_object(&set.matches[0], at(scratch, "/a/b/env"));
	assert_int_equal(set.matches[0].kind, KIND_DIRECTORY);
}

static void test_pattern_links(void **state)
{
	struct scratch *scratch = *state;
	struct match_set set;

	make_dir(at(scratch, "/real"), 0755);
	make_file(at(scratch, "/real/env"), "");
	make_dir(at(scratch, "/ws"), 0755);
	make_link("../real", at(scratch, "/ws/dir"));
	make_link("../real/env", at(scratch, "/ws/env"));
	make_link("..", at(scratch, "/ws/up"));
	make_link("nowhere", at(scratch, "/ws/gone.env"));

	/* Below the prefix no link is entered; one that matches is a match. */
	set = match(scratch, at(scratch, "/ws/**/env"));
	assert_null(set.error);
	assert_int_equal(set.count, 1);
	assert_string_equal(set.matches[0].path, at(scratch, "/ws/env"));
	same_object(&set.matches[0], at(scratch, "/real/env"));
	assert_int_equal(set.matches[0].crossed_count, 1);
	set = match(scratch, at(scratch, "/ws/*.env"));
	assert_int_equal(set.count, 1);
	assert_true(set.matches[0].dangling);
	assert_string_equal(set.matches[0].canonical, at(scratch, "/ws/nowhere"));

	/* In the prefix links are followed, and told. */
	set = match(scratch, at(scratch, "/ws/dir/*"));
	assert_int_equal(set.count, 1);
	assert_string_equal(set.matches[0].path, at(scratch, "/ws/dir/env"));
	same_object(&set.matches[0], at(scratch, "/real/env"));
	assert_int_equal(set.matches[0].crossed_count, 1);
	assert_string_equal(set.matches[0].crossed[0].name, at(scratch, "/ws/dir"));
}

static void test_pattern_not_entered(void **state)
{
	struct match_set set = match(*state, "/**/self");

	/* /proc/self and /proc/self/task/… would match. */
	for (size_t i = 0; i < set.count; i++)
		assert_int_not_equal(strncmp(set.matches[i].path, "/proc/", 6), 0);
}

static void many(struct scratch *scratch)
{
	struct match_set set;

	own_mounts();
	MUST(mount("none", scratch->path, "tmpfs", 0, NULL) == 0);
	int fd = open(scratch->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i <= TARGET_MATCHES_MAX; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%d", i);
		MUST(mknodat(fd, name, S_IFREG | 0600, 0) == 0);
	}
	set = match(scratch, at(scratch, "/*"));
	MUST(set.error && set.count == 0 && strstr(set.error, "more than 100000 names"));
	MUST(strcmp(set.error_path, scratch->path) == 0);
	MUST(unlinkat(fd, "0", 0) == 0);
	set = match(scratch, at(scratch, "/*"));
	MUST(!set.error && set.count == TARGET_MATCHES_MAX);
	/* A mount point is crossed. */
	MUST(mkdir(at(scratch, "/m"), 0755) == 0);
	MUST(mount("none", at(scratch, "/m"), "tmpfs", 0, NULL) == 0);
	make_file(at(scratch, "/m/env"), "");
	set = match(scratch, at(scratch, "/**/env"));
	MUST(!set.error && set.count == 1);
	MUST(mkdir(at(scratch, "/p"), 0755) == 0);
	MUST(mount("proc", at(scratch, "/p"), "proc", 0, NULL) == 0);
	set = match(scratch, at(scratch, "/**/status"));
	MUST(!set.error && set.count == 0);
}

static void test_many_matches(void **state)
{
	run_in_child(*state, many, "needs root for a mount namespace");
}

/* Few file systems can disregard case, so what the system would say of /d is put
 * into the cache: who lies in such a directory is what is tested. */
static void test_casefold(void **state)
{
	struct scratch *scratch = *state;
	struct fold_cache *cache = arena_alloc(&scratch->arena, sizeof(*cache));
	struct match_set set;
	struct stat st;

	make_dir(at(scratch, "/d"), 0755);
	make_dir(at(scratch, "/d/sub"), 0755);
	make_file(at(scratch, "/d/sub/file"), "");
	make_link("d/sub", at(scratch, "/link"));
	assert_int_equal(stat(at(scratch, "/d"), &st), 0);
	cache->slots[st.st_ino % FOLD_SLOTS] = (struct fold_slot){
		st.st_dev, st.st_ino, true, true};

	assert_false(host_fact(&scratch->arena, cache, at(scratch, "/d")).casefold);
	assert_false(host_fact(&scratch->arena, cache, at(scratch, "/none")).casefold);
	assert_true(host_fact(&scratch->arena, cache, at(scratch, "/d/sub")).casefold);
	assert_true(host_fact(&scratch->arena, cache, at(scratch, "/d/none/x")).casefold);
	assert_true(host_fact(&scratch->arena, cache, at(scratch, "/link")).casefold);
	set = host_matches(&scratch->arena, cache, at(scratch, "/**/file"));
	assert_int_equal(set.count, 1);
	assert_true(set.matches[0].casefold);
	set = host_matches(&scratch->arena, cache, at(scratch, "/*"));
	assert_int_equal(set.count, 2);
	assert_false(set.matches[0].casefold);
	assert_true(set.matches[1].casefold); /* the link, by where it leads */

	/* What this kernel says where it can. */
	int flags[2] = {0x40000000}; /* FS_CASEFOLD_FL */
	make_dir(at(scratch, "/e"), 0755);
	int fd = open(at(scratch, "/e"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool can = ioctl(fd, FS_IOC_SETFLAGS, flags) == 0;
	close(fd);
	assert_true(look(scratch, at(scratch, "/e/none")).casefold == can);
}

/* What somebody does at the very moment at which the walk sees `when`. */
struct ambush {
	const char *when, *from, *to, *link;
	bool done;
};

static bool ambush(void *ctx, int fd, const struct stat *st, const char *path)
{
	struct ambush *plan = ctx;

	(void)fd, (void)st;
	if (plan->done || strcmp(path, plan->when) != 0)
		return true;
	plan->done = true;
	MUST(rename(plan->from, plan->to) == 0);
	MUST(!plan->link || symlink(plan->link, plan->from) == 0);
	return true;
}

static void ambushed(struct scratch *scratch, struct ambush plan, const char *path,
	const char *canonical)
{
	struct ambush again = plan;
	struct walk walk = {.arena = &scratch->arena, .visit = ambush, .ctx = &plan};

	walk_path(&walk, path);
	assert_true(plan.done && walk.changed);
	assert_int_equal(walk.fd, -1);
	walk_release(&walk);

	/* Back again; the second attempt tells how it is then. */
	if (again.link)
		unlink(again.from);
	MUST(rename(again.to, again.from) == 0);
	walk.ctx = &again;
	walk_path_retry(&walk, path);
	assert_false(walk.changed);
	assert_string_equal(walk.canonical, canonical);
	walk_release(&walk);
}

static void test_ambush(void **state)
{
	struct scratch *scratch = *state;
	char *one = at(scratch, "/ws/one"), *away = at(scratch, "/away");
	char *file = at(scratch, "/ws/one/f");

	make_dir(at(scratch, "/ws"), 0755);
	make_dir(at(scratch, "/secret"), 0755);
	make_file(at(scratch, "/secret/f"), "");
	make_dir(one, 0755);
	make_file(file, "");
	/* Replaced by a link when the walk is in it, or through it. */
	ambushed(scratch,
		(struct ambush){
			.when = one, .from = one, .to = away, .link = "../secret"},
		file, at(scratch, "/secret/f"));
	unlink(one);
	MUST(rename(away, one) == 0);
	ambushed(scratch,
		(struct ambush){
			.when = file, .from = one, .to = away, .link = "../secret"},
		file, at(scratch, "/secret/f"));
	unlink(one);
	MUST(rename(away, one) == 0);
	/* Moved away between the step down and `..`. */
	make_dir(at(scratch, "/two"), 0755);
	ambushed(scratch,
		(struct ambush){.when = one, .from = one, .to = at(scratch, "/two/one")},
		at(scratch, "/ws/one/../one"),
		at(scratch, "/ws/one/../one")); /* no canonical name */
}

/* A directory and a link that leads elsewhere change places all the time. */
struct swap {
	const char *a, *b;
	volatile bool stop;
};

static void *swap_on(void *ctx)
{
	struct swap *swap = ctx;

	while (!swap->stop) {
		syscall(SYS_renameat2, AT_FDCWD, swap->a, AT_FDCWD, swap->b,
			2U /* EXCHANGE */);
		usleep(50);
	}
	return NULL;
}

/* Each object has one canonical name at every moment: whatever is told must be
 * one of the true pairs, or changed. */
static void test_swapped_links(void **state)
{
	struct scratch *scratch = *state;
	struct swap swap = {.a = at(scratch, "/ws/d"), .b = at(scratch, "/ws/other")};
	char *inside[] = {at(scratch, "/ws/d/f"), at(scratch, "/ws/other/f")};
	char *outside = at(scratch, "/secret/f");
	struct stat in, out;
	size_t seen_in = 0, seen_out = 0, changed = 0;
	pthread_t swapper;

	make_dir(at(scratch, "/ws"), 0755);
	make_dir(at(scratch, "/ws/d"), 0755);
	make_dir(at(scratch, "/secret"), 0755);
	make_file(inside[0], "");
	make_file(outside, "");
	make_link("../secret", at(scratch, "/ws/other"));
	assert_int_equal(stat(inside[0], &in), 0);
	assert_int_equal(stat(outside, &out), 0);

	assert_int_equal(pthread_create(&swapper, NULL, swap_on, &swap), 0);
	for (int i = 0; i < SWAP_ROUNDS; i++) {
		struct scratch mine = *scratch;
		arena_init(&mine.arena);
		struct fact fact = look(&mine, inside[0]);
		if (fact.changed) {
			changed++;
		} else if (fact.ino == in.st_ino) {
			assert_string_equal(fact.canonical, inside[0]);
			assert_int_equal(fact.crossed_count, 0);
			seen_in++;
		} else {
			assert_int_equal(fact.kind, KIND_FILE);
			assert_true(fact.ino == out.st_ino);
			assert_string_equal(fact.canonical, outside);
			assert_int_equal(fact.crossed_count, 1);
			seen_out++;
		}
		arena_release(&mine.arena);
	}
	swap.stop = true;
	pthread_join(swapper, NULL);
	printf("# inside %zu, outside %zu, changed %zu\n", seen_in, seen_out, changed);
	assert_true(seen_in && seen_out);
}

/* `..` of a directory that is moved away meanwhile: never a wrong parent. */
static void test_moved_parent(void **state)
{
	struct scratch *scratch = *state;
	struct swap swap = {.a = at(scratch, "/one/d"), .b = at(scratch, "/two/d")};
	struct stat one, two;
	pthread_t swapper;

	make_dir(at(scratch, "/one"), 0755);
	make_dir(at(scratch, "/two"), 0755);
	make_dir(at(scratch, "/one/d"), 0755);
	make_dir(at(scratch, "/two/d"), 0755);
	make_file(at(scratch, "/one/f"), "");
	make_file(at(scratch, "/two/f"), "");
	make_link("one/d/../f", at(scratch, "/link"));
	assert_int_equal(stat(at(scratch, "/one/f"), &one), 0);
	assert_int_equal(stat(at(scratch, "/two/f"), &two), 0);

	assert_int_equal(pthread_create(&swapper, NULL, swap_on, &swap), 0);
	for (int i = 0; i < SWAP_ROUNDS; i++) {
		struct scratch mine = *scratch;
		arena_init(&mine.arena);
		struct fact fact = look(&mine, at(&mine, "/link"));
		if (!fact.changed) {
			assert_string_equal(fact.canonical, at(&mine, "/one/f"));
			assert_true(fact.ino == one.st_ino && fact.ino != two.st_ino);
		}
		arena_release(&mine.arena);
	}
	swap.stop = true;
	pthread_join(swapper, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_missing),
		TEST(test_dangling),
		TEST(test_links),
		TEST(test_link_limit),
		TEST(test_magic_links),
		TEST(test_strange_names),
		TEST(test_long_paths),
		TEST(test_unsearchable),
		TEST(test_host),
		TEST(test_sockets),
		TEST(test_foreign_sockets),
		TEST(test_patterns),
		TEST(test_pattern_links),
		TEST(test_pattern_not_entered),
		TEST(test_many_matches),
		TEST(test_casefold),
		TEST(test_ambush),
		TEST(test_swapped_links),
		TEST(test_moved_parent),
	};
	int status;

	if (scratch_cannot_run(&status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
