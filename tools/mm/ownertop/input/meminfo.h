/* SPDX-License-Identifier: GPL-2.0 */
/* Read the sizes of a machine's memory. */
#ifndef OWNERTOP_MEMINFO_H
#define OWNERTOP_MEMINFO_H

#include <stdbool.h>

#include "base/types.h"

struct meminfo {
	u64 total;	/* bytes of memory */
	u64 slab;	/* bytes of all slabs; 0: unknown */
};

/*
 * Read the meminfo of the machine of a dump: that of its snapshot, if @dump is in one, or of this
 * machine if @dump is NULL. Returns false if it is unknown.
 */
bool meminfo_read_of_dump(const char *dump, struct meminfo *m);

#endif
