/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Totals by call chain and by cache. A reader has totals of its own, so that its output
 * shows one moment.
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
 * @stack: handle of the chain
 * @has_ref: @stack has a reference, so that it stays valid
 * @sum: of objects or of pages, without ages
 */
struct owner_chain_total {
	depot_stack_handle_t stack;
	bool has_ref;
	struct owner_sum sum;
};

/**
 * struct owner_chain_totals - what all call chains hold
 * @total: while chains are added, a hash table: each is in the slot of its hash, or in one
 *	behind it. Later an array of @count totals, in order of their handles.
 * @bits: the table has 2^@bits slots; 0: it has none
 * @count: number of chains
 *
 * Its memory is not tracked: otherwise a reader would be the largest owner on a small machine.
 */
struct owner_chain_totals {
	struct owner_chain_total **total;
	unsigned int bits;
	unsigned int count;
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

/* Chains that a ranking has room for. */
#define OWNER_RANKING_MAX	32

/**
 * struct owner_ranked_chain - what one call chain holds
 * @stack: handle of the chain
 * @objects: number of objects, of records if some are samples, or of pages
 * @bytes: bytes that they occupy
 */
struct owner_ranked_chain {
	depot_stack_handle_t stack;
	u64 objects;
	u64 bytes;
};

/**
 * struct owner_ranking - the call chains that hold most
 * @max: number of chains to keep
 * @count: number of chains in @row
 * @row: the chains, the largest first
 */
struct owner_ranking {
	unsigned int max;
	unsigned int count;
	struct owner_ranked_chain row[OWNER_RANKING_MAX];
};

/* chain_totals.c */
void owner_rank_chain(struct owner_ranking *ranking, const struct owner_ranked_chain *chain);
struct owner_chain_total *owner_get_chain_total(struct owner_chain_totals *totals,
						depot_stack_handle_t stack);
void owner_sort_chain_totals(struct owner_chain_totals *totals);
int owner_add_counted_chains(struct owner_chain_totals *totals, const struct owner_source_ops *ops);
int owner_sum_page_chains(struct owner_chain_totals *totals);
void owner_free_chain_totals(struct owner_chain_totals *totals);

/* slab_totals.c */
bool owner_counters_are_exact(void);
int owner_sum_slab_chains(struct owner_chain_totals *totals);
int owner_sum_caches(struct xarray *totals);
void owner_free_cache_totals(struct xarray *totals);

#endif /* _MM_OWNER_TOTALS_H */
