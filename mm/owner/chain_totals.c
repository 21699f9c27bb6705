// SPDX-License-Identifier: GPL-2.0
/* Totals by call chain, from the depot's counters. */

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "totals.h"

/**
 * owner_rank_chain() - put a chain among those that hold most
 * @ranking: the chains that hold most
 * @chain: left out if @ranking is full of larger ones
 */
void owner_rank_chain(struct owner_ranking *ranking, const struct owner_ranked_chain *chain)
{
	unsigned int i = ranking->count;

	while (i && ranking->row[i - 1].bytes < chain->bytes)
		i--;
	if (i == ranking->max)
		return;
	if (ranking->count < ranking->max)
		ranking->count++;
	memmove(&ranking->row[i + 1], &ranking->row[i],
		(ranking->count - 1 - i) * sizeof(*chain));
	ranking->row[i] = *chain;
}

#define FIRST_BITS	9

/* The slot of the chain's total, or the empty slot in which it belongs. */
static struct owner_chain_total **find_slot(const struct owner_chain_totals *totals,
					    depot_stack_handle_t stack)
{
	unsigned int i = hash_32(stack, totals->bits);

	while (totals->total[i] && totals->total[i]->stack != stack)
		i = (i + 1) & (BIT(totals->bits) - 1);
	return &totals->total[i];
}

/* Make sure that a quarter of the slots is empty after one more total. */
static int make_room(struct owner_chain_totals *totals)
{
	struct owner_chain_totals more = {
		.bits = totals->bits ? totals->bits + 1 : FIRST_BITS,
		.count = totals->count,
	};
	unsigned int i;

	if (totals->bits && totals->count < BIT(totals->bits) / 4 * 3)
		return 0;
	more.total = kvcalloc(BIT(more.bits), sizeof(*more.total), OWNER_READER_GFP);
	if (!more.total)
		return -ENOMEM;
	for (i = 0; totals->bits && i < BIT(totals->bits); i++)
		if (totals->total[i])
			*find_slot(&more, totals->total[i]->stack) = totals->total[i];
	kvfree(totals->total);
	*totals = more;
	return 0;
}

/**
 * owner_get_chain_total() - find or add the total of a chain
 * @totals: the totals, not sorted yet
 * @stack: the chain, referenced by the caller
 *
 * Return: the total, which stays where it is; NULL without memory.
 */
struct owner_chain_total *owner_get_chain_total(struct owner_chain_totals *totals,
						depot_stack_handle_t stack)
{
	struct owner_chain_total **slot;

	if (make_room(totals))
		return NULL;
	slot = find_slot(totals, stack);
	if (*slot)
		return *slot;
	*slot = kzalloc(sizeof(**slot), OWNER_READER_GFP);
	if (!*slot)
		return NULL;
	(*slot)->stack = stack;
	(*slot)->has_ref = stack_depot_get(stack);
	totals->count++;
	return *slot;
}

static int compare_handles(const void *a, const void *b)
{
	const struct owner_chain_total *x = *(const struct owner_chain_total **)a;
	const struct owner_chain_total *y = *(const struct owner_chain_total **)b;

	cond_resched();
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/**
 * owner_sort_chain_totals() - make an array of the totals, in order of their handles
 * @totals: the totals; no chain can be added afterwards
 */
void owner_sort_chain_totals(struct owner_chain_totals *totals)
{
	unsigned int i, used = 0;

	for (i = 0; totals->bits && i < BIT(totals->bits); i++) {
		if (!totals->total[i])
			continue;
		swap(totals->total[used], totals->total[i]);
		used++;
	}
	sort(totals->total, used, sizeof(*totals->total), compare_handles, NULL);
}

/**
 * owner_add_counted_chains() - add what the counters of all chains say
 * @totals: the totals; free them by owner_free_chain_totals(), after an error, too
 * @ops: owner_slab_chain_source or owner_page_chain_source
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS if the task is killed.
 */
int owner_add_counted_chains(struct owner_chain_totals *totals, const struct owner_source_ops *ops)
{
	struct owner_cursor cursor = { .ops = ops, .until_killed = true };
	struct owner_chain_total *total;
	struct owner_object chain;
	int error;

	cursor.sums = owner_chain_sums_alloc();
	owner_cursor_begin(&cursor);
	while ((error = owner_cursor_next(&cursor, &chain)) > 0) {
		total = owner_get_chain_total(totals, chain.owner.stack);
		error = total ? 0 : -ENOMEM;
		if (error)
			break;
		total->sum.estimate = chain.counted;
	}
	owner_cursor_end(&cursor);
	kvfree(cursor.sums);
	return error;
}

/**
 * owner_sum_page_chains() - sum up the pages of each chain
 * @totals: zeroed; free them by owner_free_chain_totals(), after an error, too
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS if the task is killed.
 */
int owner_sum_page_chains(struct owner_chain_totals *totals)
{
	int error = owner_add_counted_chains(totals, &owner_page_chain_source);

	owner_sort_chain_totals(totals);
	return error;
}

/**
 * owner_free_chain_totals() - free totals by chain, and drop their references
 * @totals: the totals
 */
void owner_free_chain_totals(struct owner_chain_totals *totals)
{
	unsigned int i;

	for (i = 0; totals->bits && i < BIT(totals->bits); i++) {
		if (totals->total[i] && totals->total[i]->has_ref)
			stack_depot_put(totals->total[i]->stack);
		kfree(totals->total[i]);
	}
	kvfree(totals->total);
}
