/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A directory of snapshots. Each snapshot is a directory that is named by its time, as
 * 20261122T221500Z, and contains:
 *
 *	about		time, boot and kernel, a line for each
 *	slab_owner.zst, page_owner.zst, kallsyms.zst, slabinfo.zst, meminfo.zst
 *
 * A name that begins with STORE_PARTIAL is a snapshot that is being written or removed, or the
 * remains of one whose program was killed meanwhile.
 */
#ifndef OWNERTOP_STORE_H
#define OWNERTOP_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "base/types.h"

#define STORE_PARTIAL ".partial-"
#define STORE_NAME_LEN 16
#define STORE_ABOUT "about"
#define STORE_LINE_LEN 256

/* The names of snapshots, from the oldest to the newest. */
struct snapshot_list {
	char (*names)[STORE_NAME_LEN + 1];
	u32 n;
	u32 cap;
};

/* Facts about a snapshot that tell whether it can be compared with another. */
struct snapshot_about {
	time_t time;
	char boot_id[STORE_LINE_LEN];
	char kernel[STORE_LINE_LEN];
};

void store_format_name(char name[STORE_NAME_LEN + 1], time_t time);
/* List the snapshots in the directory @fd. Returns false with errno set on failure. */
bool store_list(int fd, struct snapshot_list *list);
void store_free_list(struct snapshot_list *list);

/* Read the file "about" of the snapshot at @path. Returns false if @path has none. */
bool store_read_about(const char *path, struct snapshot_about *about);

/* Remove the remains of snapshots that killed programs left. The caller holds the lock of @fd. */
void store_remove_leftovers(int fd);
/*
 * Remove the oldest snapshots until at most @keep are left, with at most @max_bytes together.
 * The newest is never removed. Returns false with errno set on failure.
 */
bool store_prune(int fd, u32 keep, u64 max_bytes);
/* Remove the directory @name in @fd with its files. Returns false with errno set on failure. */
bool store_remove(int fd, const char *name);

#endif
