// SPDX-License-Identifier: GPL-2.0
/* Find the time of each dump of a trend: from its records, from its file, or from --time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "model/dumps.h"
#include "ask/sentence.h"
#include "ask/times.h"

#define NS_PER_SECOND 1000000000ULL

static void parse_time_list(struct dump_times *t, const char *text)
{
	char *list = xstrndup(text, strlen(text)), *one, *next = list;

	while ((one = strsep(&next, ","))) {
		t->list = grow_array(t->list, t->n, &t->cap, sizeof(*t->list));
		t->list[t->n++] = sentence_parse_time("--time", one);
	}
	free(list);
}

void dump_times_parse(struct dump_times *t, const char *text)
{
	t->n = 0;
	t->source = strcmp(text, "mtime") ? TIME_LIST : TIME_MTIME;
	if (t->source == TIME_LIST)
		parse_time_list(t, text);
}

static bool read_mtime(const char *path, u64 *ns)
{
	struct stat st;

	if (stat(path, &st)) {
		fprintf(stderr, "ownertop: %s: %s\n", path, strerror(errno));
		return false;
	}
	*ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	return true;
}

static bool find_dump_time(const struct dump_times *t, const struct dumps *dumps, u32 i, u64 *ns)
{
	switch (t->source) {
	case TIME_RECORDS:
		*ns = dumps->v[i].newest;
		if (!*ns)
			fprintf(stderr, "ownertop: trend: %s has no record that tells its time.\n"
				"Say when it was taken, as in --time mtime or --time 0h,1h,2h.\n",
				dumps->v[i].path);
		return *ns;
	case TIME_MTIME:
		return read_mtime(dumps->v[i].path, ns);
	case TIME_LIST:
		*ns = t->list[i];
		return true;
	}
	return false;
}

static bool report_dump_not_later(const struct dump_times *t, const struct dumps *dumps, u32 i)
{
	static const char * const origin[] = {
		[TIME_RECORDS] = "by the time stamps of its records (was there a reboot?)",
		[TIME_MTIME] = "by the time its file was written",
		[TIME_LIST] = "by --time",
	};

	fprintf(stderr, "ownertop: trend: %s is not later than %s %s\n",
		dumps->v[i].path, dumps->v[i - 1].path, origin[t->source]);
	fputs("Name the dumps from the oldest on, or say when they were taken,\n"
	      "as in --time mtime or --time 0h,1h,2h.\n", stderr);
	return false;
}

static bool find_dump_times(const struct dump_times *t, const struct dumps *dumps, u64 *ns)
{
	u32 i;

	for (i = 0; i < dumps->n; i++) {
		if (!find_dump_time(t, dumps, i, &ns[i]))
			return false;
		if (i && ns[i] <= ns[i - 1])
			return report_dump_not_later(t, dumps, i);
	}
	for (i = dumps->n; i--;)
		ns[i] -= ns[0];
	return true;
}

u64 *dump_times_find(const struct dump_times *t, const struct dumps *dumps)
{
	u64 *ns = xmalloc(dumps->n * sizeof(*ns));

	if (find_dump_times(t, dumps, ns))
		return ns;
	free(ns);
	return NULL;
}

void dump_times_free(struct dump_times *t)
{
	free(t->list);
}
