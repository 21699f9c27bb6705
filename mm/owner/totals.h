/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that each call chain holds. A reader has totals of its own, so that its output
 * shows one moment.
 */
#ifndef _MM_OWNER_TOTALS_H
#define _MM_OWNER_TOTALS_H

#include <linux/gfp_types.h>
#include <linux/types.h>

#include "compat.h"
#include "lang/kind.h"
#include "owner.h"
#include "sample.h"

struct owner_source_ops;

/*
 * Flags for memory that grows with the number of objects or chains. A reader gets an error
 * before the OOM killer kills somebody. The memory is allocated untracked, so that a reader does
 * not find its own.
 */
#define OWNER_READER_GFP	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN | \
				 OWNER_GFP_UNTRACKED)

/*
 * Flags for a reader's memory while a cursor holds slab_mutex and the lock of memory hotplug: do
 * not wait for reclaim. A task that mounts a file system or loads a module may be waiting for
 * slab_mutex. On failure end the cursor, and use OWNER_READER_GFP.
 */
#define OWNER_LOCKED_GFP	(GFP_NOWAIT | OWNER_GFP_UNTRACKED)

/**
 * struct owner_chain_total - what one call chain holds
 * @stack: handle of the chain, with a reference
 * @moving: while chains are collected: a CPU moved counts to the depot
 * @estimate: of slab objects and per-CPU areas, or of pages; without variances, and without the
 *	number of records if some are samples
 * @first: while chains are collected, their counters as they are read first
 * @second: the counters as they are read again
 */
struct owner_chain_total {
	depot_stack_handle_t stack;
	bool moving;
	union {
		struct owner_estimate estimate;
		struct {
			long first[STACK_DEPOT_COUNTERS];
			long second[STACK_DEPOT_COUNTERS];
		};
	};
};

/**
 * struct owner_chain_totals - what all call chains hold
 * @total: the chains that hold something, in the depot's order
 * @count: number of chains
 */
struct owner_chain_totals {
	struct owner_chain_total *total;
	unsigned int count;
};

int owner_collect_chains(struct owner_chain_totals *totals, enum owner_kind kind,
			 const struct owner_source_ops *uncounted);
void owner_free_chain_totals(struct owner_chain_totals *totals);

/* Chains that a ranking has room for. */
#define OWNER_RANKING_MAX	32

/**
 * struct owner_ranked_chain - what one call chain holds
 * @stack: handle of the chain
 * @objects: number of objects or of pages
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

void owner_rank_chain(struct owner_ranking *ranking, const struct owner_ranked_chain *chain);

#endif /* _MM_OWNER_TOTALS_H */
