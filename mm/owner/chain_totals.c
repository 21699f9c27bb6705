// SPDX-License-Identifier: GPL-2.0
/* Totals by call chain, from the depot's counters. */

#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "totals.h"

/**
 * owner_get_chain_total() - find or add the total of a chain
 * @totals: totals by handle
 * @stack: the chain, referenced by the caller
 *
 * Return: the total, NULL without memory.
 */
struct owner_chain_total *owner_get_chain_total(struct xarray *totals, depot_stack_handle_t stack)
{
	struct owner_chain_total *total = xa_load(totals, stack);

	if (total)
		return total;
	total = kzalloc(sizeof(*total), OWNER_READER_GFP);
	if (!total)
		return NULL;
	if (xa_err(xa_store(totals, stack, total, OWNER_READER_GFP))) {
		kfree(total);
		return NULL;
	}
	if (stack_depot_get(stack))
		total->stack = stack;
	return total;
}

/**
 * owner_sum_counted_chains() - read the counters of all chains
 * @totals: is filled with struct owner_chain_total by handle; free it by
 *	owner_free_chain_totals(), after an error, too
 * @ops: owner_slab_chain_source or owner_page_chain_source
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS after a signal.
 */
int owner_sum_counted_chains(struct xarray *totals, const struct owner_source_ops *ops)
{
	struct owner_cursor cursor = { .ops = ops };
	struct owner_chain_total *total;
	struct owner_object chain;
	int error;

	owner_cursor_begin(&cursor);
	while ((error = owner_cursor_next(&cursor, &chain)) > 0) {
		total = owner_get_chain_total(totals, chain.owner.stack);
		error = total ? 0 : -ENOMEM;
		if (error)
			break;
		total->sum.estimate = chain.counted;
	}
	owner_cursor_end(&cursor);
	return error;
}

/**
 * owner_sum_page_chains() - sum up the pages of each chain
 * @totals: an empty array, as for owner_sum_counted_chains()
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS after a signal.
 */
int owner_sum_page_chains(struct xarray *totals)
{
	return owner_sum_counted_chains(totals, &owner_page_chain_source);
}

/**
 * owner_free_chain_totals() - free totals by chain, and drop their references
 * @totals: the totals
 */
void owner_free_chain_totals(struct xarray *totals)
{
	struct owner_chain_total *total;
	unsigned long handle;

	xa_for_each(totals, handle, total) {
		stack_depot_put(total->stack);
		kfree(total);
	}
	xa_destroy(totals);
}
