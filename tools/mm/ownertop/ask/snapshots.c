// SPDX-License-Identifier: GPL-2.0
/* Replace the directories of "ownertop record" among the inputs by the dumps in them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask/snapshots.h"
#include "ask/usage.h"
#include "base/alloc.h"
#include "base/exit_status.h"

#define NS_PER_SECOND 1000000000ULL
#define LINE_LEN 256

/* Facts about a snapshot that tell whether it can be compared with another. */
struct snapshot_about {
	u64 time;		/* in seconds */
	char boot_id[LINE_LEN];
	char kernel[LINE_LEN];
};

/* The inputs after the replacement. */
struct input_list {
	const char **paths;
	u32 n;
	u32 cap;
	u64 *times;		/* of each input that is a snapshot, in seconds; else 0 */
	u32 times_cap;
	bool all_are_snapshots;
	char *last_path;	/* the last snapshot */
	char *first_path;	/* the first snapshot */
	struct snapshot_about first;
	bool warned_boot;
	bool warned_kernel;
};

static char *join_path(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		exit_out_of_memory();
	return path;
}

/* Read the file "about" of the snapshot at @path. Returns false if @path has none. */
static bool read_about(const char *path, struct snapshot_about *about)
{
	char *file = join_path(path, "about"), line[LINE_LEN];
	FILE *f = fopen(file, "re");

	free(file);
	if (!f)
		return false;
	*about = (struct snapshot_about){ 0 };
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "time ", 5))
			about->time = strtoull(line + 5, NULL, 10);
		else if (!strncmp(line, "boot_id ", 8))
			memcpy(about->boot_id, line + 8, sizeof(line) - 8);
		else if (!strncmp(line, "kernel ", 7))
			memcpy(about->kernel, line + 7, sizeof(line) - 7);
	}
	fclose(f);
	return about->time;
}

/* Does a directory entry have the name of a snapshot, as 20261122T221500Z? */
static int is_snapshot(const struct dirent *entry)
{
	struct tm tm;
	const char *end = strptime(entry->d_name, "%Y%m%dT%H%M%SZ", &tm);

	return end && !*end && strlen(entry->d_name) == strlen("20261122T221500Z");
}

static void add_input(struct input_list *list, const char *path, u64 time)
{
	list->paths = grow_array(list->paths, list->n, &list->cap, sizeof(*list->paths));
	list->times = grow_array(list->times, list->n, &list->times_cap, sizeof(*list->times));
	list->times[list->n] = time;
	list->paths[list->n++] = path;
}

static void warn_if_snapshots_differ(struct input_list *list, const char *path,
				     const struct snapshot_about *about)
{
	if (!list->first_path) {
		list->first_path = xstrndup(path, strlen(path));
		list->first = *about;
		return;
	}
	if (strcmp(about->kernel, list->first.kernel) && !list->warned_kernel) {
		fprintf(stderr,
			"ownertop: warning: %s is of another kernel than %s: offsets may differ\n",
			path, list->first_path);
		list->warned_kernel = true;
	}
	if (strcmp(about->boot_id, list->first.boot_id) && !list->warned_boot) {
		fprintf(stderr,
			"ownertop: warning: %s is of another boot than %s, whose memory is gone\n",
			path, list->first_path);
		list->warned_boot = true;
	}
}

/* Add the dump @name of a snapshot if it has one. */
static bool add_dump(struct input_list *list, const char *snapshot, const char *name,
		     const struct snapshot_about *about)
{
	char *path = join_path(snapshot, name);

	if (access(path, F_OK)) {
		free(path);
		return false;
	}
	add_input(list, path, about->time);
	return true;
}

/* Add the dumps of a snapshot that the sentence asks for. Paths of inputs are never freed. */
static void add_snapshot(struct input_list *list, const struct options *o, const char *path,
			 const struct snapshot_about *about)
{
	const unsigned int page = 1U << OWNER_KIND_PAGE;
	const struct owner_sentence *s = &o->select.sentence;
	unsigned int kinds = owner_lang_asked_kinds(s);
	bool compared = o->view->pair || o->view->series, found = false;

	if (kinds & page && kinds & ~page && compared)
		usage_refuse_value(o->view->name, path,
				   "has two dumps: add 'kind == page' or 'kind == slab'");
	if (kinds != page)
		found = add_dump(list, path, "slab_owner.zst", about);
	if (kinds & page || (!found && !(s->fields_used & 1U << OWNER_FIELD_KIND)))
		found |= add_dump(list, path, "page_owner.zst", about);
	if (!found)
		usage_refuse_value("source", path, "is a snapshot without such a dump");
	warn_if_snapshots_differ(list, path, about);
	free(list->last_path);
	list->last_path = xstrndup(path, strlen(path));
}

static void add_listed_snapshot(struct input_list *list, const struct options *o,
				const char *directory, const char *name)
{
	char *path = join_path(directory, name);
	struct snapshot_about about;

	if (!read_about(path, &about))
		usage_refuse_value("snapshot", path, "has no file 'about' that tells its time");
	add_snapshot(list, o, path, &about);
	free(path);
}

static void add_directory(struct input_list *list, const struct options *o, const char *directory)
{
	struct dirent **entries;
	int i, n = scandir(directory, &entries, is_snapshot, alphasort);

	if (n < 0) {
		fprintf(stderr, "ownertop: %s: %s\n", directory, strerror(errno));
		exit(STATUS_FAILED);
	}
	if (!n || ((o->view->pair || o->view->series) && n < 2))
		usage_refuse_value(o->view->name, directory,
				   n ? "has only one snapshot, and two are compared" :
				   "is a directory without snapshots; 'ownertop record' makes them");
	for (i = 0; i < n; i++) {
		if (o->view->series || o->view->explains || i == n - 1 || (o->view->pair && !i))
			add_listed_snapshot(list, o, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void add_input_or_directory(struct input_list *list, const struct options *o,
				   const char *path)
{
	struct snapshot_about about;
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		list->all_are_snapshots = false;
		add_input(list, path, 0);
	} else if (read_about(path, &about)) {
		add_snapshot(list, o, path, &about);
	} else {
		add_directory(list, o, path);
	}
}

/* The time of a snapshot is more exact than that of its newest record. */
static void use_snapshot_times(struct options *o, const struct input_list *list)
{
	struct dump_times *t = &o->times;
	u32 i;

	t->source = TIME_LIST;
	for (i = 0; i < list->n; i++) {
		t->list = grow_array(t->list, t->n, &t->cap, sizeof(*t->list));
		t->list[t->n++] = list->times[i] * NS_PER_SECOND;
	}
}

/*
 * Modules are at other addresses in another boot: use the kallsyms of the last snapshot only if all
 * inputs are snapshots of one boot.
 */
static void use_kallsyms_of_snapshots(struct options *o, const struct input_list *list)
{
	char *path;

	if (!list->last_path || !list->all_are_snapshots || list->warned_boot)
		return;
	path = join_path(list->last_path, "kallsyms.zst");
	if (access(path, F_OK))
		free(path);
	else
		o->snapshot_kallsyms = path;
}

void snapshots_replace_directories(struct options *o)
{
	struct input_list list = { .all_are_snapshots = true };
	int i;

	for (i = 0; i < o->nr_inputs; i++)
		add_input_or_directory(&list, o, o->inputs[i]);
	if (o->view->series && list.n && list.all_are_snapshots && o->times.source == TIME_RECORDS)
		use_snapshot_times(o, &list);
	use_kallsyms_of_snapshots(o, &list);
	o->inputs = (char * const *)list.paths;
	o->input_list = list.paths;
	o->nr_inputs = list.n;
	free(list.times);
	free(list.first_path);
	free(list.last_path);
}
