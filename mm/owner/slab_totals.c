// SPDX-License-Identifier: GPL-2.0
/*
 * Totals of slab objects, by call chain and by cache.
 *
 * Totals by chain come from the depot's counters, unless some owners are sampled: a
 * counter does not say how many objects a sample stands for, so that takes a walk.
 */

#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "record.h"
#include "slab_records.h"
#include "totals.h"
#include "walk_memo.h"

/**
 * owner_counters_are_exact() - do the depot's counters say what a walk would find?
 *
 * Samples that are taken after this call, because a rule with sample= was written
 * meanwhile, are counted as one object each.
 *
 * Return: false while a sampled object exists, because a sample stands for several objects.
 */
bool owner_counters_are_exact(void)
{
	long sampled = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sampled += READ_ONCE(per_cpu(owner_nr_sampled, cpu));
	return !sampled;
}

/* Returns the sum of the object's chain, NULL without memory. */
static struct owner_sum *add_object(struct owner_chain_totals *totals,
				    const struct owner_object *object)
{
	struct owner_chain_total *total = owner_get_chain_total(totals, object->owner.stack);

	if (!total)
		return NULL;
	owner_sum_add(&total->sum, owner_record_rate(&object->owner), object->size, object->held,
		      0);
	return &total->sum;
}

static int add_objects(struct owner_chain_totals *totals, struct owner_cursor *cursor)
{
	struct owner_object object;
	struct owner_sum *sum;
	int error;

	while ((error = owner_cursor_next(cursor, &object)) > 0) {
		sum = add_object(totals, &object);
		if (!sum)
			return -ENOMEM;
		if (object.source == OWNER_SOURCE_SLAB)
			owner_memo_add(cursor->memo, &object, OWNER_MEMO_ALL_SPANS, sum);
	}
	return error;
}

static int add_slab_objects(struct owner_chain_totals *totals)
{
	struct owner_cursor cursor = { .ops = &owner_slab_source, .until_killed = true };
	int error;

	cursor.memo = owner_memo_alloc(owner_record_time_now());
	owner_cursor_begin(&cursor);
	error = add_objects(totals, &cursor);
	owner_cursor_end(&cursor);
	owner_memo_free(cursor.memo);
	return error;
}

static int add_percpu_areas(struct owner_chain_totals *totals)
{
	struct owner_cursor cursor = { .ops = &owner_percpu_source, .until_killed = true };
	int error;

	owner_cursor_begin(&cursor);
	error = add_objects(totals, &cursor);
	owner_cursor_end(&cursor);
	return error;
}

/**
 * owner_sum_slab_chains() - sum up the slab objects and per-CPU areas of each chain
 * @totals: zeroed; free them by owner_free_chain_totals(), after an error, too
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS if the task is killed.
 */
int owner_sum_slab_chains(struct owner_chain_totals *totals)
{
	int error;

	if (owner_counters_are_exact())
		error = owner_add_counted_chains(totals, &owner_slab_chain_source);
	else
		error = add_slab_objects(totals);
	error = error ?: add_percpu_areas(totals);
	owner_sort_chain_totals(totals);
	return error;
}

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
