/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the stack depot tell each other.
 *
 * stackdepot.c		the persistent side: records that stay for ever
 * stackdepot_pool.c	the memory of both sides, and its bound
 */

#ifndef _LIB_STACKDEPOT_INTERNAL_H
#define _LIB_STACKDEPOT_INTERNAL_H

#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct seq_file;

/* DEPOT_POOL_SIZE as the type of a size. */
#define POOL_BYTES	((size_t)DEPOT_POOL_SIZE)

/*
 * Pools by index: (handle.pool_index_plus_1 - 1). Debuggers find records
 * through these names. An index below pools_num has its pool for ever.
 */
extern void **stack_pools;
extern int pools_num;
/* How many pools there may be; what stack_pools has room for. */
extern unsigned int stack_max_pools;
/* Guards the two above, the spare pool and the persistent side. */
extern raw_spinlock_t pool_lock;

/* The most buckets of @bucket bytes that a table may have within the bound. */
unsigned long depot_table_limit(size_t bucket);
/* Count @bytes of a table against the bound; before the pools are set up. */
void depot_charge(size_t bytes);

int depot_pools_early_init(void);
int depot_pools_init(void);

/* Memory for one pool if one may be wanted; no lock held. */
void *depot_prealloc_pool(gfp_t gfp);
/*
 * Register the spare pool, or *@prealloc, under pool_lock. Returns its index,
 * -ENOSPC at the bound, -ENOMEM if there is no memory at hand.
 */
int depot_take_pool(void **prealloc);
/* Leave *@prealloc as the spare pool if none is there, under pool_lock. */
void depot_keep_pool(void **prealloc);
/* Give back what neither of the two took; no lock held. */
void depot_free_prealloc(void *prealloc);

void depot_pools_show(struct seq_file *seq);

#endif /* _LIB_STACKDEPOT_INTERNAL_H */
