// SPDX-License-Identifier: GPL-2.0
/* List, inspect and remove the snapshots of a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "snapshots/store.h"

#define NAME_FORMAT "%Y%m%dT%H%M%SZ"

void store_format_name(char name[STORE_NAME_LEN + 1], time_t time)
{
	struct tm tm;

	strftime(name, STORE_NAME_LEN + 1, NAME_FORMAT, gmtime_r(&time, &tm));
}

static bool parse_name(const char *name, time_t *time)
{
	struct tm tm = { 0 };
	const char *end = strptime(name, NAME_FORMAT, &tm);

	if (!end || *end || strlen(name) != STORE_NAME_LEN)
		return false;
	*time = timegm(&tm);
	return true;
}

/* Open a directory to list it, without moving the position of @fd. */
static DIR *open_directory(int fd, const char *name)
{
	int copy = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d;

	if (copy < 0)
		return NULL;
	d = fdopendir(copy);
	if (!d)
		close(copy);
	return d;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool store_list(int fd, struct snapshot_list *list)
{
	DIR *d = open_directory(fd, ".");
	struct dirent *e;
	time_t time;

	*list = (struct snapshot_list){ 0 };
	if (!d)
		return false;
	while ((e = readdir(d))) {
		if (!parse_name(e->d_name, &time))
			continue;
		list->names = grow_array(list->names, list->n, &list->cap, sizeof(*list->names));
		memcpy(list->names[list->n++], e->d_name, sizeof(*list->names));
	}
	closedir(d);
	qsort(list->names, list->n, sizeof(*list->names), compare_names);
	return true;
}

void store_free_list(struct snapshot_list *list)
{
	free(list->names);
}

bool store_read_about(const char *path, struct snapshot_about *about)
{
	char *file, line[STORE_LINE_LEN];
	long long time;
	FILE *f;

	if (asprintf(&file, "%s/" STORE_ABOUT, path) < 0)
		exit_out_of_memory();
	f = fopen(file, "re");
	free(file);
	if (!f)
		return false;
	*about = (struct snapshot_about){ 0 };
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "time %lld", &time) == 1)
			about->time = time;
		else if (!strncmp(line, "boot_id ", 8))
			memcpy(about->boot_id, line + 8, sizeof(line) - 8);
		else if (!strncmp(line, "kernel ", 7))
			memcpy(about->kernel, line + 7, sizeof(line) - 7);
	}
	fclose(f);
	return about->time;
}

bool store_remove(int fd, const char *name)
{
	DIR *d = open_directory(fd, name);
	struct dirent *e;

	if (!d)
		return false;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return !unlinkat(fd, name, AT_REMOVEDIR);
}

void store_remove_leftovers(int fd)
{
	DIR *d = open_directory(fd, ".");
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, STORE_PARTIAL, strlen(STORE_PARTIAL)))
			store_remove(fd, e->d_name);
	closedir(d);
}

/* Returns the bytes of the files of a snapshot. */
static u64 measure_snapshot(int fd, const char *name)
{
	DIR *d = open_directory(fd, name);
	struct dirent *e;
	struct stat st;
	u64 bytes = 0;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			bytes += st.st_size;
	closedir(d);
	return bytes;
}

/* Rename the snapshot first: a program that is killed here leaves no half snapshot. */
static bool remove_snapshot(int fd, const char *name)
{
	char partial[NAME_MAX];

	snprintf(partial, sizeof(partial), STORE_PARTIAL "%s", name);
	return !renameat(fd, name, fd, partial) && store_remove(fd, partial);
}

bool store_prune(int fd, u32 keep, u64 max_bytes)
{
	struct snapshot_list list;
	u64 bytes = 0;
	u32 kept = 0, i;
	bool ok = true;

	if (!store_list(fd, &list))
		return false;
	while (kept < list.n && kept < keep) {
		bytes += measure_snapshot(fd, list.names[list.n - 1 - kept]);
		if (kept && bytes > max_bytes)
			break;
		kept++;
	}
	for (i = 0; ok && i < list.n - kept; i++)
		ok = remove_snapshot(fd, list.names[i]);
	store_free_list(&list);
	return ok;
}
