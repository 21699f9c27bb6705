// SPDX-License-Identifier: GPL-2.0
/* The objects of each cache, counted by a walk over all slabs. */

#include <linux/slab.h>
#include <linux/string.h>

#include "../slab/walk.h"
#include "../totals.h"
#include "cache_totals.h"

/*
 * Find or add the total of a cache. A cache that is created during the walk can have the
 * address of one that was destroyed: it gets the next index, which is not an address.
 */
static struct owner_cache_total *get_cache_total(struct xarray *totals,
						 const struct owner_slab_usage *usage)
{
	unsigned long index = (unsigned long)usage->cache;
	struct owner_cache_total *total;

	for (; (total = xa_load(totals, index)); index++)
		if (total->object_size == usage->object_size && !strcmp(total->name, usage->name))
			return total;
	total = kzalloc(sizeof(*total), OWNER_READER_GFP);
	if (!total)
		return NULL;
	total->name = kstrdup(usage->name, OWNER_READER_GFP);
	if (!total->name ||
	    xa_err(xa_store(totals, index, total, OWNER_READER_GFP))) {
		kfree(total->name);
		kfree(total);
		return NULL;
	}
	total->object_size = usage->object_size;
	return total;
}

/**
 * owner_sum_caches() - sum up the objects of each cache, tracked or not
 * @totals: an empty array; it is filled with struct owner_cache_total by the address of the
 *	cache; free it by owner_free_cache_totals(), after an error, too
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS if the task is killed.
 */
int owner_sum_caches(struct xarray *totals)
{
	struct owner_cursor cursor = { .ops = &owner_slab_source, .until_killed = true };
	struct owner_cache_total *total;
	struct owner_slab_usage usage;
	int error;

	owner_cursor_begin(&cursor);
	while ((error = owner_slab_next_usage(&cursor, &usage)) > 0) {
		total = get_cache_total(totals, &usage);
		error = total ? 0 : -ENOMEM;
		if (error)
			break;
		total->allocated += usage.allocated;
		total->tracked += usage.tracked;
		total->requested += usage.requested;
	}
	owner_cursor_end(&cursor);
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

	xa_for_each(totals, cache, total) {
		kfree(total->name);
		kfree(total);
	}
	xa_destroy(totals);
}
