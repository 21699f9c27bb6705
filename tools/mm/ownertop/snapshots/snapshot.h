/* SPDX-License-Identifier: GPL-2.0 */
/* Write a snapshot of the kernel's files about memory. */
#ifndef OWNERTOP_SNAPSHOT_H
#define OWNERTOP_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/types.h"

struct snapshot_options {
	const char *dir;	/* path of the directory of snapshots, for messages */
	int dir_fd;		/* the directory, locked */
	const char *root;	/* path below which proc/ and sys/ are; "" for this machine */
	u32 keep;		/* snapshots to keep */
	u64 max_bytes;		/* limit of the bytes of all snapshots */
	const atomic_bool *stop;	/* a signal handler sets it: give up */
};

/*
 * Write a snapshot, and remove the oldest ones beyond the limits. Returns false after a message
 * if there is no new snapshot, or if an old one could not be removed.
 */
bool snapshot_write(const struct snapshot_options *o);

#endif
