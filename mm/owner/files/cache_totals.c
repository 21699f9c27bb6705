// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of each cache, counted by a walk over all slabs.
 *
 * Memory for the total of another cache is allocated while the walk has dropped its locks. The walk
 * meets the slab again after that.
 */

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../slab/compat.h"
#include "../slab/walk.h"
#include "../totals.h"
#include "cache_totals.h"

/**
 * struct next_total - memory for a cache that has no total yet
 * @total: NULL until it is allocated
 * @size: bytes of @total, with the name; 0: no cache was met that needs one
 * @index: where it belongs in the array, which has a place for it when @total is allocated
 */
struct next_total {
	struct owner_cache_total *total;
	size_t size;
	unsigned long index;
};

/* The walk has dropped its locks. */
static int allocate_next_total(struct xarray *totals, struct next_total *next)
{
	if (!next->size)
		return 0;
	kfree(next->total);
	next->total = owner_kmalloc_untracked(next->size, OWNER_READER_GFP | __GFP_ZERO,
					      NUMA_NO_NODE);
	if (!next->total)
		return -ENOMEM;
	return xa_reserve(totals, next->index, OWNER_READER_GFP);
}

/*
 * Find or add the total of a cache. A cache that is created during the walk can have the
 * address of one that was destroyed: it gets the next index, which is not an address.
 *
 * Return: NULL if the total needs what allocate_next_total() allocates.
 */
static struct owner_cache_total *get_cache_total(struct xarray *totals,
						 const struct owner_slab_usage *usage,
						 struct next_total *next)
{
	unsigned long index = (unsigned long)usage->cache;
	struct owner_cache_total *total;
	size_t length, size;

	for (; (total = xa_load(totals, index)); index++)
		if (total->object_size == usage->object_size && !strcmp(total->name, usage->name))
			return total;
	length = strlen(usage->name) + 1;
	size = struct_size(total, name, length);
	total = next->total;
	if (!total || next->index != index || next->size < size) {
		next->index = index;
		next->size = size;
		return NULL;
	}
	next->total = NULL;
	total->object_size = usage->object_size;
	total->hidden = owner_count_hidden_in_cache(usage->cache);
	memcpy(total->name, usage->name, length);
	/* The place is reserved, so that this allocates nothing. */
	xa_store(totals, index, total, 0);
	return total;
}

/**
 * owner_sum_caches() - sum up the objects of each cache, tracked or not
 * @totals: an empty array; it is filled with struct owner_cache_total by the address of the
 *	cache; free it by owner_free_cache_totals(), after an error, too
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed.
 */
int owner_sum_caches(struct xarray *totals)
{
	struct owner_cursor cursor = { .ops = &owner_slab_source, .until_killed = true };
	struct owner_cache_total *total;
	struct owner_slab_usage usage;
	struct next_total next = {};
	unsigned long index;
	int error;

	do {
		error = allocate_next_total(totals, &next);
		if (error)
			break;
		owner_cursor_begin(&cursor);
		while ((error = owner_slab_next_usage(&cursor, &usage)) > 0) {
			total = get_cache_total(totals, &usage, &next);
			if (!total) {
				owner_cursor_step_back(&cursor);
				break;
			}
			total->allocated += usage.allocated;
			total->tracked += usage.tracked;
			total->requested += usage.requested;
		}
		owner_cursor_end(&cursor);
	} while (error > 0);
	kfree(next.total);
	xa_for_each(totals, index, total)
		total->allocated -= min(total->hidden, total->allocated - total->tracked);
	return error;
}

/**
 * owner_free_cache_totals() - free totals by cache
 * @totals: the totals
 */
void owner_free_cache_totals(struct xarray *totals)
{
	struct owner_cache_total *total;
	unsigned long cache;

	xa_for_each(totals, cache, total)
		kfree(total);
	xa_destroy(totals);
}
