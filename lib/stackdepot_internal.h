/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the stack depot tell each other.
 *
 * stackdepot.c		the persistent side: records that stay for ever
 * stackdepot_evict.c	the evictable side: records that are counted and reused
 * stackdepot_pool.c	the memory of both sides, and its bound
 */

#ifndef _LIB_STACKDEPOT_INTERNAL_H
#define _LIB_STACKDEPOT_INTERNAL_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct seq_file;

/* DEPOT_POOL_SIZE as the type of a size. */
#define POOL_BYTES	((size_t)DEPOT_POOL_SIZE)

/*
 * Pools by index: (handle.pool_index_plus_1 - 1). An index below pools_num has
 * its pool for ever. The two names are older than the split into files and have
 * no prefix: debuggers look for them to find records.
 */
extern void **stack_pools;
extern int pools_num;
/* How many pools there may be; what stack_pools has room for. */
extern unsigned int stack_max_pools;
/* Guards the two above, the spare pool and the persistent side. */
extern raw_spinlock_t depot_pool_lock;

/* The most buckets of @bucket bytes that a table may have within the bound. */
unsigned long depot_table_limit(size_t bucket);
/* Count @bytes of a table against the bound; before the pools are set up. */
void depot_charge(size_t bytes);

int depot_pools_early_init(void);
int depot_pools_init(void);

/* Memory for one pool if one may be wanted; no lock held. */
void *depot_prealloc_pool(gfp_t gfp);
/*
 * Register the spare pool, or *@prealloc, under depot_pool_lock. Returns its index,
 * -ENOSPC at the bound, -ENOMEM if there is no memory at hand.
 */
int depot_take_pool(void **prealloc);
/* Leave *@prealloc as the spare pool if none is there, under depot_pool_lock. */
void depot_keep_pool(void **prealloc);
/* Give back what neither of the two took; no lock held. */
void depot_free_prealloc(void *prealloc);

void depot_pools_show(struct seq_file *seq);

/* Why an evictable stack was not saved. */
enum depot_refusal {
	DEPOT_REFUSED_NMI,	/* called from NMI */
	DEPOT_REFUSED_BOUND,	/* all memory within the bound is in use */
	DEPOT_REFUSED_GRACE,	/* ... or waits for a grace period to end */
	DEPOT_REFUSED_NOMEM,	/* no page at hand, or none could be asked for */
	DEPOT_REFUSED_NOINIT,	/* before stack_depot_init() */
	DEPOT_REFUSALS,		/* how many; and not refused */
};

/* Classes there may be; how many are used depends on the largest stack. */
#define DEPOT_EVICT_CLASSES	11

struct evict_pool;

/* Records of one range of sizes. Guarded by depot_evict.lock. */
struct depot_evict_class {
	/* Pools with room: freed records, or space never cut. */
	struct list_head partial;
	/* The one pool with no record in use that the class may keep. */
	struct evict_pool *empty;
	unsigned int pools;
	unsigned long in_use;
	/* Records cut, and free again. */
	unsigned long freed;
	/*
	 * Why the last look found nothing, if the next would not either, see
	 * evict_known_full(); DEPOT_REFUSALS otherwise. Read without the lock.
	 */
	enum depot_refusal full;
	/* The state of RCU before that look. */
	unsigned long full_state;
};

/*
 * The evictable side. There is one, but for tests, which make their own to have
 * a bound of their own; a handle leads to the one it belongs to.
 */
struct depot_evict {
	/* Lookup is lock-free; changes are made under the lock. */
	struct hlist_head *table;
	u32 mask;

	/*
	 * Guards all below but the atomics. Taken outside of depot_pool_lock,
	 * inside of which it may only be tried.
	 */
	raw_spinlock_t lock;
	struct depot_evict_class class[DEPOT_EVICT_CLASSES];
	/* Pools of no class, by the time they were emptied. */
	struct list_head idle;
	unsigned int pools;
	unsigned int max_pools;
	unsigned long allocs;
	unsigned long evictions;
	unsigned long reused;
	unsigned long recut;

	atomic_long_t refused[DEPOT_REFUSALS];
	/* Records whose last reference was dropped in NMI. */
	struct llist_head deferred;
	/* Frees those, and has a grace period begin. */
	struct irq_work work;
	/* Asks for a grace period. */
	struct rcu_head rcu;
	/* @rcu is in use, and will be once more after that. */
	bool grace;
	bool grace_again;
};

void depot_evict_early_init(void);
/* Sets up the pools as well: nobody may save before both are there. */
int depot_evict_init(void);
depot_stack_handle_t depot_evict_save(unsigned long *entries,
				      unsigned int nr_entries, gfp_t gfp,
				      depot_flags_t flags);
bool depot_evict_stale(depot_stack_handle_t handle);
/*
 * Give up an idle pool for ever, under depot_pool_lock. Returns its index, and
 * in @start where the room in it begins; -ENOSPC if there is none at hand.
 */
int depot_evict_give(size_t *start);
/* The class of a record of @words, and the records a pool has of a class. */
unsigned int depot_evict_class(unsigned int words);
unsigned int depot_evict_pool_records(unsigned int c);
void depot_evict_show(struct seq_file *seq);
void depot_evict_show_classes(struct seq_file *seq);

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)
struct depot_evict *depot_evict_create(size_t bytes);
bool depot_evict_destroy(struct depot_evict *ev);
depot_stack_handle_t depot_evict_save_to(struct depot_evict *ev,
					 unsigned long *entries,
					 unsigned int nr_entries, gfp_t gfp,
					 depot_flags_t flags);
u32 depot_evict_hash(const unsigned long *entries, unsigned int nr_entries);
unsigned long depot_evict_in_use(struct depot_evict *ev);
size_t depot_evict_bytes(struct depot_evict *ev);
void depot_evict_at_bound(bool on);
#endif

#endif /* _LIB_STACKDEPOT_INTERNAL_H */
