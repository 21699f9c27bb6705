/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals by call chain and by cache. A reader fills an xarray of its own, so that its
 * output shows one moment.
 */
#ifndef _MM_OWNER_TOTALS_H
#define _MM_OWNER_TOTALS_H

#include <linux/gfp_types.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "sum.h"
#include "walk.h"

/*
 * Flags for memory that grows with the number of objects or chains. A reader gets an error
 * before the OOM killer kills somebody. The memory is not tracked, so that a reader does
 * not find its own.
 */
#define OWNER_READER_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN | \
				 __GFP_NO_OBJ_EXT)

/**
 * struct owner_chain_total - what one call chain holds
 * @stack: handle of the chain, with a reference
 * @sum: of objects or of pages, without ages
 */
struct owner_chain_total {
	depot_stack_handle_t stack;
	struct owner_sum sum;
};

/**
 * struct owner_cache_total - what one cache holds
 * @name: name of the cache
 * @object_size: bytes that each object takes
 * @allocated: objects that are allocated
 * @tracked: objects that have an owner
 * @requested: bytes that were asked for with the tracked objects
 */
struct owner_cache_total {
	char *name;
	unsigned int object_size;
	unsigned long allocated;
	unsigned long tracked;
	u64 requested;
};

/* chain_totals.c */
struct owner_chain_total *owner_get_chain_total(struct xarray *totals,
						depot_stack_handle_t stack);
int owner_sum_counted_chains(struct xarray *totals, const struct owner_source_ops *ops);
int owner_sum_page_chains(struct xarray *totals);
void owner_free_chain_totals(struct xarray *totals);

/* slab_totals.c */
bool owner_counters_are_exact(void);
int owner_sum_slab_chains(struct xarray *totals);
int owner_sum_caches(struct xarray *totals);
void owner_free_cache_totals(struct xarray *totals);

#endif /* _MM_OWNER_TOTALS_H */
