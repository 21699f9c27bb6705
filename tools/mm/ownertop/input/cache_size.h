/* SPDX-License-Identifier: GPL-2.0 */
/* Which slab cache a file of debugfs is about, and how large its objects are. */
#ifndef OWNERTOP_CACHE_SIZE_H
#define OWNERTOP_CACHE_SIZE_H

#include "base/types.h"

#define CACHE_NAME_LEN 64

struct cache {
	char name[CACHE_NAME_LEN];	/* "": not known */
	u64 object_size;	/* 0: not known */
	u64 held_size;		/* with what the allocator adds to it */
};

/*
 * @path is .../kernel/debug/slab/CACHE/alloc_traces, of this machine or in a
 * copy of its /sys: then .../kernel/slab/CACHE/ has the sizes. Otherwise the
 * size is known of caches that have it in their name (kmalloc-64).
 */
void cache_of_path(const char *path, struct cache *cache);

#endif
