// SPDX-License-Identifier: GPL-2.0
/* When dumps were taken: from their records, their files, or the user. */
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

static void parse_given(struct times *t, const char *text)
{
	char *list = xstrndup(text, strlen(text)), *one, *rest = list;

	while ((one = strsep(&rest, ","))) {
		t->given = grow(t->given, t->n, &t->cap, sizeof(*t->given));
		t->given[t->n++] = sentence_parse_time("--time", one);
	}
	free(list);
}

void times_parse(struct times *t, const char *text)
{
	t->source = TIME_RECORDS;
	t->n = 0;
	if (!strcmp(text, "records"))
		return;
	t->source = TIME_MTIME;
	if (!strcmp(text, "mtime"))
		return;
	t->source = TIME_GIVEN;
	parse_given(t, text);
}

static bool mtime_of(const char *path, u64 *ns)
{
	struct stat st;

	if (stat(path, &st)) {
		fprintf(stderr, "ownertop: %s: %s\n", path, strerror(errno));
		return false;
	}
	*ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	return true;
}

static bool time_of(const struct times *t, const struct dumps *dumps, u32 i, u64 *ns)
{
	switch (t->source) {
	case TIME_RECORDS:
		*ns = dumps->v[i].newest;
		if (!*ns)
			fprintf(stderr, "ownertop: trend: %s has no record that tells its time\n",
				dumps->v[i].path);
		return *ns;
	case TIME_MTIME:
		return mtime_of(dumps->v[i].path, ns);
	case TIME_GIVEN:
		*ns = t->given[i];
		return true;
	}
	return false;
}

static bool not_later(const struct times *t, const struct dumps *dumps, u32 i)
{
	static const char * const whence[] = {
		[TIME_RECORDS] = "by the time stamps of its records (was there a reboot?)",
		[TIME_MTIME] = "by the time its file was written",
		[TIME_GIVEN] = "by --time",
	};

	fprintf(stderr, "ownertop: trend: %s is not later than %s %s\n",
		dumps->v[i].path, dumps->v[i - 1].path, whence[t->source]);
	fputs("Name the dumps from the oldest on, or say when they were taken,\n"
	      "as in --time mtime or --time 0h,1h,2h.\n", stderr);
	return false;
}

static bool fill(const struct times *t, const struct dumps *dumps, u64 *ns)
{
	u32 i;

	for (i = 0; i < dumps->n; i++) {
		if (!time_of(t, dumps, i, &ns[i]))
			return false;
		if (i && ns[i] <= ns[i - 1])
			return not_later(t, dumps, i);
	}
	for (i = dumps->n; i--;)
		ns[i] -= ns[0];
	return true;
}

u64 *times_of(const struct times *t, const struct dumps *dumps)
{
	u64 *ns = xmalloc(dumps->n * sizeof(*ns));

	if (fill(t, dumps, ns))
		return ns;
	free(ns);
	return NULL;
}

void times_free(struct times *t)
{
	free(t->given);
}
