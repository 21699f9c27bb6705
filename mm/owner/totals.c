// SPDX-License-Identifier: GPL-2.0
/*
 * What the owners add up to, by call chain and by cache.
 *
 * They go into a table that belongs to the file that is read: it shows one moment,
 * however slowly it is read. What chains hold was counted as it came and went, unless
 * samples stand for more; what is in caches takes a walk over all slabs.
 */

#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "capture.h"
#include "totals.h"
#include "walk_memo.h"

/* What is added up under this key: all zeros at first, NULL if there is no memory. */
static void *total_at(struct xarray *totals, unsigned long key, size_t size)
{
	void *total = xa_load(totals, key);

	if (total)
		return total;
	total = kzalloc(size, GFP_KERNEL);
	if (total && xa_err(xa_store(totals, key, total, GFP_KERNEL))) {
		kfree(total);
		return NULL;
	}
	return total;
}

/* The walk holds a reference to the call chain. */
static struct owner_chain_total *chain_total(struct xarray *totals, depot_stack_handle_t stack)
{
	struct owner_chain_total *total = total_at(totals, stack, sizeof(*total));

	if (total && !total->stack && stack_depot_get(stack))
		total->stack = stack;
	return total;
}

static struct owner_sum *count_object(struct xarray *totals, const struct owner_object *object)
{
	struct owner_chain_total *total = chain_total(totals, object->owner.stack);

	if (!total)
		return NULL;
	owner_sum_add(&total->sum, object->owner.rate, object->size, object->slab_size, 0);
	return &total->sum;
}

/* As counted when objects, or pages, came and went. */
static int total_counted(struct xarray *totals, enum owner_counter which)
{
	struct owner_chain_total *total;
	struct owner_estimate holds;
	struct owner_cursor walk = {};
	int error;

	owner_counters_flush();
	while ((error = owner_chains_next(&walk, which, &holds)) > 0) {
		total = chain_total(totals, walk.held.stack);
		error = total ? 0 : -ENOMEM;
		if (error)
			break;
		owner_estimate_join(&total->sum.estimate, &holds);
	}
	owner_cursor_release(&walk);
	return error;
}

/* As found by a walk, with what samples stand for. */
static int total_found(struct xarray *totals, struct owner_cursor *walk)
{
	struct owner_object object;
	struct owner_sum *sum;
	int error;

	walk->known = owner_memo_alloc(owner_now());
	while ((error = owner_cursor_next(walk, &object)) > 0) {
		sum = count_object(totals, &object);
		error = sum ? 0 : -ENOMEM;
		if (error)
			break;
		owner_memo_remember(walk->known, &object, MEMO_ALL_SPANS, sum);
	}
	owner_memo_free(walk->known);
	walk->known = NULL;
	return error;
}

/**
 * owner_total_chains - add up what each call chain holds
 * @totals: an empty array; it is filled with struct owner_chain_total by handle,
 *	and freed by owner_free_chains() also after an error
 *
 * Return: 0, -ENOMEM or, after a signal, -ERESTARTSYS.
 */
int owner_total_chains(struct xarray *totals)
{
	bool counted = owner_chains_count_all();
	struct owner_cursor walk = {};
	struct owner_object object;
	int error = 0;

	if (counted)
		error = total_counted(totals, OWNER_OBJECTS);
	owner_cursor_begin(&walk);
	if (!counted)
		error = total_found(totals, &walk);
	while (!error && owner_percpu_next(&walk, &object))
		error = count_object(totals, &object) ? owner_cursor_rest(&walk) : -ENOMEM;
	owner_cursor_end(&walk);
	return error;
}

/**
 * owner_total_pages - add up the pages of each call chain
 * @totals: as for owner_total_chains()
 *
 * Return: 0, -ENOMEM or, after a signal, -ERESTARTSYS.
 */
int owner_total_pages(struct xarray *totals)
{
	return total_counted(totals, OWNER_PAGES);
}

void owner_free_chains(struct xarray *totals)
{
	struct owner_chain_total *total;
	unsigned long handle;

	xa_for_each(totals, handle, total) {
		stack_depot_put(total->stack);
		kfree(total);
	}
	xa_destroy(totals);
}

static int count_slab(struct xarray *totals, const struct owner_slab_usage *slab)
{
	struct owner_cache_total *total;

	total = total_at(totals, (unsigned long)slab->cache, sizeof(*total));
	if (total && !total->name)
		total->name = kstrdup(slab->name, GFP_KERNEL);
	if (!total || !total->name)
		return -ENOMEM;
	total->object_size = slab->object_size;
	total->allocated += slab->allocated;
	total->tracked += slab->tracked;
	total->requested += slab->requested;
	return 0;
}

/**
 * owner_total_caches - add up what each cache holds, owned or not
 * @totals: an empty array; it is filled with struct owner_cache_total by address,
 *	and freed by owner_free_caches() also after an error
 *
 * Return: 0, -ENOMEM or, after a signal, -ERESTARTSYS.
 */
int owner_total_caches(struct xarray *totals)
{
	struct owner_cursor walk = {};
	struct owner_slab_usage slab;
	int error;

	owner_cursor_begin(&walk);
	while ((error = owner_cursor_next_slab(&walk, &slab)) > 0) {
		error = count_slab(totals, &slab);
		if (error)
			break;
	}
	owner_cursor_end(&walk);
	return error;
}

void owner_free_caches(struct xarray *totals)
{
	struct owner_cache_total *total;
	unsigned long cache;

	xa_for_each(totals, cache, total) {
		kfree(total->name);
		kfree(total);
	}
	xa_destroy(totals);
}
