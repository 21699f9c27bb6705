/* SPDX-License-Identifier: GPL-2.0 */
/* Find the name and the sizes of a slab cache from the path of its alloc_traces. */
#ifndef OWNERTOP_CACHE_SIZE_H
#define OWNERTOP_CACHE_SIZE_H

#include "base/types.h"

#define CACHE_NAME_LEN 64

struct cache {
	char name[CACHE_NAME_LEN];	/* name of the cache; "": unknown */
	u64 object_size;	/* bytes of an object; 0: unknown */
	u64 held_size;		/* bytes of an object with its padding and metadata */
};

/*
 * Fill @cache from the path of its alloc_traces. If @path is
 * .../kernel/debug/slab/CACHE/alloc_traces, in /sys or in a copy of it, the sizes are read from
 * .../kernel/slab/CACHE/. Otherwise only a cache with a size in its name (kmalloc-64) has a
 * known size.
 */
void cache_find_name_and_sizes(const char *path, struct cache *cache);

#endif
