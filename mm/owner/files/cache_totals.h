/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of each cache. */
#ifndef _MM_OWNER_CACHE_TOTALS_H
#define _MM_OWNER_CACHE_TOTALS_H

#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct owner_cache_total - what one cache holds
 * @object_size: bytes that each object takes
 * @allocated: objects that are allocated
 * @hidden: free objects that the counters of slabs have as used, when the cache was met
 * @tracked: objects that have an owner
 * @requested: bytes that were asked for with the tracked objects
 * @name: name of the cache
 */
struct owner_cache_total {
	unsigned int object_size;
	unsigned long allocated;
	unsigned long hidden;
	unsigned long tracked;
	u64 requested;
	char name[];
};

int owner_sum_caches(struct xarray *totals);
void owner_free_cache_totals(struct xarray *totals);

#endif /* _MM_OWNER_CACHE_TOTALS_H */
