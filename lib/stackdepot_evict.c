// SPDX-License-Identifier: GPL-2.0
/*
 * The evictable side of the stack depot: stacks saved with
 * STACK_DEPOT_FLAG_GET, counted, and forgotten when the count falls to zero.
 *
 * Evictable records have a hash table and pools of their own, so that a lookup
 * for one kind can never return the other. What is shared is the shape: struct
 * stack_record, the handle, and stack_pools, so that whoever fetches a stack by
 * its handle (a debugger included) need not know which kind it is.
 *
 * Memory. A record takes the smallest size class that holds its frames, and the
 * counters behind them if it was saved with STACK_DEPOT_FLAG_COUNT. A pool
 * is cut into records of one class; a pool with no record in use may be cut
 * again for another class, so that a change in the mix of depths strands
 * nothing. A class keeps at most one empty pool, the others are idle: they
 * belong to no class and wait for the next one short of room. At the bound the
 * persistent side may take them, too.
 *
 * Lifetime. Lookup holds no lock. A freed record may be seen by lookups until a
 * grace period has passed, so only then is it used again, and only then is an
 * emptied pool cut again. The depot is called from within the allocators and
 * RCU and can neither wait for a grace period nor use call_rcu(): it compares
 * cookies. If that makes it refuse a stack, it asks for a grace period from
 * irq_work, which interrupts neither of them where it matters, so that freed
 * memory does not stay unusable on an idle system.
 *
 * Handles. A slot's generation stands in the extra bits of the handle and
 * changes whenever the slot gets a new record, also across cuts. Together with
 * the grace period this is what stack_depot_get() promises:
 *
 *  - Within one RCU read-side critical section that saw the handle where a
 *    holder keeps it, before the holder dropped its reference, the slot is not
 *    reused at all. Either the reference is taken and the stack is the one that
 *    was seen, or it has gone.
 *  - A handle remembered for longer is refused if the slot has been reused
 *    since, up to 31 times: the generation has STACK_DEPOT_EXTRA_BITS bits. Two
 *    uses of a slot are at least one grace period apart. There is no way to
 *    promise more: there are fewer handles than stacks to come.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/hardirq.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/log2.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/swap.h>

#include "stackdepot_internal.h"

/* === Geometry ============================================================= */

/* What the largest record there may be holds: frames, and counters behind them. */
#define EVICT_WORDS_MAX	260
static_assert(CONFIG_STACKDEPOT_MAX_FRAMES + STACK_DEPOT_COUNTERS <= EVICT_WORDS_MAX);

/* The most words a record of each class holds. */
static const u16 evict_words[] = {
	4, 8, 12, 16, 20, 24, 32, 48, 64, 128, EVICT_WORDS_MAX
};

static_assert(ARRAY_SIZE(evict_words) == DEPOT_EVICT_CLASSES);

/* Records start at multiples of this within a pool. */
#define EVICT_UNIT	32
#define EVICT_UNITS	(POOL_BYTES / EVICT_UNIT)

/* In the byte of a unit: the generation, and whether a record starts there. */
#define EVICT_GEN_MASK	((1U << STACK_DEPOT_EXTRA_BITS) - 1)
#define EVICT_RECORD	0x80U
static_assert(!(EVICT_GEN_MASK & EVICT_RECORD));

/*
 * The first word of an evictable pool. A persistent pool begins with a record,
 * hence with a list pointer, which is never odd; or, if it was an evictable one
 * once, with zero.
 */
#define EVICT_TAG	0x0e51c7edUL

/* Stands at the start of each pool; guarded by @ev->lock but for lookups. */
struct evict_pool {
	unsigned long tag;
	/* Always the one instance, but for tests. */
	struct depot_evict *ev;
	/* In the class's partial list, in the idle list, or (if full) in none. */
	struct list_head list;
	/* Freed records, longest freed first. */
	struct list_head free;
	/* When the pool became idle. */
	unsigned long rcu_state;
	u32 index;
	u32 class;
	u32 used;
	u32 cut;
	/*
	 * Read by lookups of a handle before they touch the record: a unit's
	 * mark says that there is a record, and its generation which one.
	 */
	u8 unit[EVICT_UNITS];
};

#define EVICT_POOL_DATA	ALIGN(sizeof(struct evict_pool), EVICT_UNIT)

/* Bytes of a record of class @c. */
static size_t evict_size(unsigned int c)
{
	return ALIGN(offsetof(struct stack_record, entries) +
		     evict_words[c] * sizeof(unsigned long), EVICT_UNIT);
}

/* The smallest class for @words. */
unsigned int depot_evict_class(unsigned int words)
{
	unsigned int c = 0;

	while (evict_words[c] < words)
		c++;
	return c;
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_class);

/* How many records of class @c a pool holds. */
unsigned int depot_evict_pool_records(unsigned int c)
{
	return (POOL_BYTES - EVICT_POOL_DATA) / evict_size(c);
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_pool_records);

/* === The one instance ===================================================== */

static void evict_work(struct irq_work *work);

static struct depot_evict depot_evict = {
	.lock		= __RAW_SPIN_LOCK_UNLOCKED(depot_evict.lock),
	.idle		= LIST_HEAD_INIT(depot_evict.idle),
	.deferred	= LLIST_HEAD_INIT(depot_evict.deferred),
	/* The bound on all pools is what limits it. */
	.max_pools	= UINT_MAX,
	.work		= IRQ_WORK_INIT(evict_work),
};

/*
 * One bucket per 32 KB of memory, from 1K to 1M buckets. That is a 4096th of
 * memory and at most 8 MiB, which a depot takes also if nobody saves evictable
 * stacks: the bound on bytes is dealt out once, tables first, and early boot
 * cannot know who comes later.
 */
#define EVICT_TABLE_SCALE	15
#define EVICT_TABLE_MIN		BIT(10)
#define EVICT_TABLE_MAX		BIT(20)

static void evict_init_classes(struct depot_evict *ev)
{
	for (int c = 0; c < DEPOT_EVICT_CLASSES; c++) {
		INIT_LIST_HEAD(&ev->class[c].partial);
		ev->class[c].full = DEPOT_REFUSALS;
	}
}

/* There is memory for the table, or no boot. */
void __init depot_evict_early_init(void)
{
	unsigned long limit = depot_table_limit(sizeof(struct hlist_head));

	evict_init_classes(&depot_evict);
	depot_evict.table = alloc_large_system_hash("stackdepot evictable",
						    sizeof(struct hlist_head), 0,
						    EVICT_TABLE_SCALE,
						    HASH_EARLY | HASH_ZERO,
						    NULL, &depot_evict.mask,
						    min(EVICT_TABLE_MIN, limit),
						    min(EVICT_TABLE_MAX, limit));
	depot_charge((depot_evict.mask + 1UL) * sizeof(struct hlist_head));
}

int depot_evict_init(void)
{
	unsigned long limit = depot_table_limit(sizeof(struct hlist_head));
	struct hlist_head *table;
	unsigned long entries;

	entries = (nr_free_buffer_pages() << PAGE_SHIFT) >> EVICT_TABLE_SCALE;
	entries = clamp(entries, EVICT_TABLE_MIN, EVICT_TABLE_MAX);
	entries = min(roundup_pow_of_two(entries), limit);

	evict_init_classes(&depot_evict);
	depot_evict.mask = entries - 1;
	table = kvcalloc(entries, sizeof(struct hlist_head), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	/* What the tables leave of the bound is for the pools. */
	depot_charge(entries * sizeof(struct hlist_head));
	if (depot_pools_init()) {
		kvfree(table);
		return -ENOMEM;
	}

	/* Pairs with evict_save(): who sees the table may use all of the above. */
	smp_store_release(&depot_evict.table, table);
	return 0;
}

/* === Looking up =========================================================== */

/*
 * In the hash of a record: it has counters. Buckets use lower bits only. So a
 * lookup by hash finds its own kind, and no field more is needed to tell which.
 */
#define EVICT_COUNTED	BIT(31)

static __always_inline u32 evict_hash(const unsigned long *entries,
				      unsigned int nr_entries)
{
	unsigned long h = nr_entries;

	/*
	 * A multiplication carries differences up only; the rotation brings
	 * them down again, so that every bit of every word counts.
	 */
	for (unsigned int i = 0; i < nr_entries; i++) {
		h = (h ^ entries[i]) * GOLDEN_RATIO_PRIME;
		h = (h << (BITS_PER_LONG / 2 - 3)) | (h >> (BITS_PER_LONG / 2 + 3));
	}
	h *= GOLDEN_RATIO_PRIME;

	return (h >> (BITS_PER_LONG - 32)) & ~EVICT_COUNTED;
}

static bool evict_same(const unsigned long *a, const unsigned long *b,
		       unsigned int n)
{
	/* Not memcmp(): that may be instrumented. */
	for (unsigned int i = 0; i < n; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* The counters of @rec, which has some. */
static atomic_long_t *evict_counters(struct stack_record *rec)
{
	return (atomic_long_t *)(rec->entries + rec->size);
}

/* Find a record of these frames and take a reference to it. */
static __always_inline struct stack_record *
evict_find(struct hlist_head *bucket, const unsigned long *entries,
	   unsigned int nr_entries, u32 hash)
{
	struct stack_record *rec;

	/*
	 * No variant that could be traced or calls into RCU: both may save
	 * stacks themselves.
	 */
	rcu_read_lock_sched_notrace();
	hlist_for_each_entry_rcu_notrace(rec, bucket, hash_node) {
		if (rec->hash != hash || rec->size != nr_entries)
			continue;
		/*
		 * The record may be freed at this moment, which writes over its
		 * frames. Then its count is zero and no reference can be taken.
		 */
		if (data_race(!evict_same(entries, rec->entries, nr_entries)))
			continue;
		if (refcount_inc_not_zero(&rec->count))
			break;
	}
	rcu_read_unlock_sched_notrace();

	return rec;
}

/*
 * The pool of @handle, if there is a record of the handle's generation in it.
 * For a handle that may be stale this is to be called, and the record's count
 * to be tried, in one read-side critical section.
 */
static __always_inline struct evict_pool *
evict_lookup(depot_stack_handle_t handle, struct stack_record **rec)
{
	union handle_parts parts = { .handle = handle };
	size_t offset = (size_t)parts.offset << DEPOT_STACK_ALIGN;
	u32 index = parts.pool_index_plus_1 - 1;
	struct evict_pool *pool;
	u8 unit;

	/* Pairs with depot_take_pool(). */
	if (unlikely(index >= (u32)smp_load_acquire(&pools_num)))
		return NULL;

	pool = stack_pools[index];
	/* Pairs with evict_grow(). */
	if (unlikely(smp_load_acquire(&pool->tag) != EVICT_TAG))
		return NULL;
	if (unlikely(offset % EVICT_UNIT))
		return NULL;
	/* Pairs with evict_cut_record(): the record's count can be read. */
	unit = smp_load_acquire(&pool->unit[offset / EVICT_UNIT]);
	if (unlikely(unit != (EVICT_RECORD | parts.extra)))
		return NULL;

	*rec = (void *)pool + offset;
	return pool;
}

/*
 * Does @handle, whose pool there is, lead to where an evictable record stood and
 * no longer does? A persistent record may have any extra bits in its handle.
 */
bool depot_evict_stale(depot_stack_handle_t handle)
{
	union handle_parts parts = { .handle = handle };
	struct evict_pool *pool = stack_pools[parts.pool_index_plus_1 - 1];
	struct stack_record *rec;

	return READ_ONCE(pool->tag) == EVICT_TAG && !evict_lookup(handle, &rec);
}
EXPORT_SYMBOL_IF_KUNIT(depot_evict_stale);

/* === Pools, under ev->lock ================================================ */

/* Make @pool, which has no record in use, one of no class. */
static void evict_retire(struct depot_evict *ev, struct evict_pool *pool)
{
	struct depot_evict_class *class = &ev->class[pool->class];
	size_t step = evict_size(pool->class) / EVICT_UNIT;
	u8 *unit = &pool->unit[EVICT_POOL_DATA / EVICT_UNIT];

	/*
	 * No new lookup by handle will touch a record here, and those under way
	 * are over by the time the pool is cut again. Generations stay.
	 */
	for (u32 i = 0; i < pool->cut; i++, unit += step)
		WRITE_ONCE(*unit, *unit & EVICT_GEN_MASK);

	class->pools--;
	class->freed -= pool->cut;
	pool->rcu_state = get_state_synchronize_rcu();
	list_move_tail(&pool->list, &ev->idle);
}

/* Cut pool @pool, which is of no class, for class @c. */
static void evict_cut(struct depot_evict *ev, struct evict_pool *pool,
		      unsigned int c)
{
	struct depot_evict_class *class = &ev->class[c];

	/* One is enough to keep, and of @pool every record is ready. */
	if (class->empty)
		evict_retire(ev, class->empty);

	pool->class = c;
	pool->used = 0;
	pool->cut = 0;
	INIT_LIST_HEAD(&pool->free);
	list_add(&pool->list, &class->partial);
	class->empty = pool;
	class->pools++;
}

/* The pool that has been idle for longest, if nobody can still look into it. */
static struct evict_pool *evict_take_idle(struct depot_evict *ev)
{
	struct evict_pool *pool;

	pool = list_first_entry_or_null(&ev->idle, struct evict_pool, list);
	if (!pool || !poll_state_synchronize_rcu(pool->rcu_state))
		return NULL;

	list_del(&pool->list);
	return pool;
}

static struct evict_pool *evict_grow(struct depot_evict *ev, void **prealloc,
				     enum depot_refusal *why)
{
	struct evict_pool *pool;
	int index;

	if (ev->pools >= ev->max_pools) {
		*why = DEPOT_REFUSED_BOUND;
		return NULL;
	}

	raw_spin_lock(&depot_pool_lock);
	index = depot_take_pool(prealloc);
	raw_spin_unlock(&depot_pool_lock);
	if (index < 0) {
		*why = index == -ENOSPC ? DEPOT_REFUSED_BOUND : DEPOT_REFUSED_NOMEM;
		return NULL;
	}

	pool = stack_pools[index];
	memset(pool, 0, sizeof(*pool));
	pool->ev = ev;
	pool->index = index;
	ev->pools++;
	/* Pairs with evict_lookup(). */
	smp_store_release(&pool->tag, EVICT_TAG);
	return pool;
}

/* At the bound: let the classes other than @c have no empty pool to spare. */
static void evict_reclaim(struct depot_evict *ev, unsigned int c)
{
	for (unsigned int i = 0; i < DEPOT_EVICT_CLASSES; i++) {
		struct evict_pool *pool = ev->class[i].empty;

		if (i == c || !pool)
			continue;
		ev->class[i].empty = NULL;
		evict_retire(ev, pool);
	}
}

/* === Records, under ev->lock ============================================== */

/* Cut one more record from a pool with space. */
static struct stack_record *evict_cut_record(struct evict_pool *pool)
{
	size_t offset = EVICT_POOL_DATA + pool->cut * evict_size(pool->class);
	struct stack_record *rec = (void *)pool + offset;
	u8 *unit = &pool->unit[offset / EVICT_UNIT];

	pool->cut++;
	rec->handle.pool_index_plus_1 = pool->index + 1;
	rec->handle.offset = offset >> DEPOT_STACK_ALIGN;
	refcount_set(&rec->count, 0);
	/* Pairs with evict_lookup(). */
	smp_store_release(unit, *unit | EVICT_RECORD);
	return rec;
}

/* How many pools are asked before another is taken, and before a refusal. */
#define EVICT_TRIES		4U
#define EVICT_TRIES_LAST	64U

/* Take a record from a pool of class @c, one of @tries, that has one ready. */
static struct stack_record *evict_pop(struct depot_evict *ev, unsigned int c,
				      unsigned int tries)
{
	struct depot_evict_class *class = &ev->class[c];
	struct stack_record *rec;
	struct evict_pool *pool;

	/*
	 * Take from the first pool as long as it can give, so that the others
	 * may become empty. The few tries bound the time under the lock: a pool
	 * that is passed by goes to the end, and is asked again later.
	 */
	for (tries = min(tries, class->pools); tries; tries--) {
		pool = list_first_entry_or_null(&class->partial,
						struct evict_pool, list);
		if (!pool)
			break;

		rec = list_first_entry_or_null(&pool->free, struct stack_record,
					       free_list);
		if (rec && poll_state_synchronize_rcu(rec->rcu_state)) {
			list_del(&rec->free_list);
			class->freed--;
			ev->reused++;
		} else if (pool->cut < depot_evict_pool_records(c)) {
			rec = evict_cut_record(pool);
		} else {
			list_move_tail(&pool->list, &class->partial);
			continue;
		}

		if (class->empty == pool)
			class->empty = NULL;
		if (++pool->used == depot_evict_pool_records(c))
			list_del_init(&pool->list);
		return rec;
	}

	return NULL;
}

/* The pool that @rec, of this side, stands in. */
static struct evict_pool *evict_pool_of(struct stack_record *rec)
{
	return stack_pools[rec->handle.pool_index_plus_1 - 1];
}

/* Something is there for @class that was not: refuse no more unseen. */
static void evict_not_full(struct depot_evict_class *class)
{
	if (class->full == DEPOT_REFUSED_BOUND)
		WRITE_ONCE(class->full, DEPOT_REFUSALS);
}

/* The same for a pool that any class can take. */
static void evict_none_full(struct depot_evict *ev)
{
	for (int c = 0; c < DEPOT_EVICT_CLASSES; c++)
		evict_not_full(&ev->class[c]);
}

/* Free @rec, whose count is zero. */
static void evict_free(struct depot_evict *ev, struct stack_record *rec)
{
	struct evict_pool *pool = evict_pool_of(rec);
	struct depot_evict_class *class = &ev->class[pool->class];

	/* Lookups may be at this record and will find their way on. */
	hlist_del_rcu(&rec->hash_node);
	rec->rcu_state = get_state_synchronize_rcu();
	list_add_tail(&rec->free_list, &pool->free);
	class->freed++;
	class->in_use--;
	ev->evictions++;

	if (list_empty(&pool->list))
		list_add_tail(&pool->list, &class->partial);
	evict_not_full(class);
	if (--pool->used)
		return;
	evict_none_full(ev);

	if (class->empty)
		evict_retire(ev, pool);
	else
		class->empty = pool;
}

/*
 * No record has been in use in an idle pool for a grace period: what was left
 * of lookups that knew of one is over, and no frames are compared there. What
 * remains are lookups by stale handles, which may begin at any time, and may
 * have seen the tag just before it goes. They read the units next, of which none
 * is marked; so the units stay as they are, and the room begins behind them.
 */
int depot_evict_give(size_t *start)
{
	struct depot_evict *ev = &depot_evict;
	struct evict_pool *pool;

	lockdep_assert_held(&depot_pool_lock);

	/* On one CPU an NMI would get a lock that is held. */
	if (in_nmi() || !raw_spin_trylock(&ev->lock))
		return -ENOSPC;
	pool = evict_take_idle(ev);
	if (pool) {
		ev->pools--;
		WRITE_ONCE(pool->tag, 0);
	}
	raw_spin_unlock(&ev->lock);
	if (!pool)
		return -ENOSPC;

	*start = EVICT_POOL_DATA;
	return pool->index;
}

/* Free what NMIs left behind. */
static void evict_drain(struct depot_evict *ev)
{
	struct llist_node *list = llist_del_all(&ev->deferred);
	struct stack_record *rec, *next;

	llist_for_each_entry_safe(rec, next, list, free_node)
		evict_free(ev, rec);
}

/*
 * Have evict_work() run soon, from any context. In early boot it cannot: what
 * NMIs left behind then waits for the next save, and a grace period for the
 * first refusal after that, or for somebody else to ask for one.
 */
static bool evict_kick(struct depot_evict *ev)
{
	if (system_state < SYSTEM_SCHEDULING)
		return false;

	irq_work_queue(&ev->work);
	return true;
}

static void evict_refuse(struct depot_evict *ev, enum depot_refusal why)
{
	atomic_long_inc(&ev->refused[why]);
}

/*
 * Would a stack of class @c be refused for the reason it was last time? Then it
 * is, and counted, with no lock taken, no page asked for, and nothing searched:
 *
 *  - at the bound with nothing free, until something is freed;
 *  - if all that is free waits for a grace period, until one begins, for which
 *    the refusal has asked. While the state of RCU is the same, nothing freed
 *    since then can be ready. What was freed before may be, at the end of a
 *    grace period: evict_grace_over() forgets the reason then.
 *
 * The two fields may come from different looks: that gives one refusal, or one
 * look, more than need be.
 */
static bool evict_known_full(struct depot_evict *ev, unsigned int c)
{
	struct depot_evict_class *class = &ev->class[c];
	enum depot_refusal why = READ_ONCE(class->full);

	/* What NMIs left behind is freed under the lock. */
	if (why == DEPOT_REFUSALS || !llist_empty(&ev->deferred))
		return false;
	if (why == DEPOT_REFUSED_GRACE &&
	    !same_state_synchronize_rcu(READ_ONCE(class->full_state),
					get_state_synchronize_rcu()))
		return false;

	evict_refuse(ev, why);
	return true;
}

/* A record of class @c, or NULL and the refusal is counted. */
static struct stack_record *evict_alloc(struct depot_evict *ev, unsigned int c,
					void **prealloc)
{
	struct depot_evict_class *class = &ev->class[c];
	/* Before asking whether anything is ready. */
	unsigned long state = get_state_synchronize_rcu();
	enum depot_refusal why, full = DEPOT_REFUSALS;
	struct stack_record *rec;
	struct evict_pool *pool;

	lockdep_assert_held(&ev->lock);

	rec = evict_pop(ev, c, EVICT_TRIES);
	if (rec)
		return rec;

	pool = evict_take_idle(ev);
	if (pool)
		ev->recut++;
	else
		pool = evict_grow(ev, prealloc, &why);
	if (pool) {
		evict_cut(ev, pool, c);
		return evict_pop(ev, c, 1);
	}

	if (why == DEPOT_REFUSED_BOUND) {
		/* Another pool was better than a long search; nothing is not. */
		rec = evict_pop(ev, c, EVICT_TRIES_LAST);
		if (rec)
			return rec;
		evict_reclaim(ev, c);
	}
	if (!list_empty(&ev->idle) || !list_empty(&class->partial)) {
		bool kicked = evict_kick(ev);

		if (why == DEPOT_REFUSED_BOUND) {
			why = DEPOT_REFUSED_GRACE;
			/* Provided that one comes, and all pools were asked. */
			if (kicked && class->pools <= EVICT_TRIES_LAST)
				full = why;
		}
	} else if (why == DEPOT_REFUSED_BOUND) {
		full = why;
	}
	WRITE_ONCE(class->full_state, state);
	WRITE_ONCE(class->full, full);
	evict_refuse(ev, why);
	return NULL;
}

/* === Interface ============================================================ */

/* Not found without the lock: look again under it, and add. */
static noinline depot_stack_handle_t
evict_save_new(struct depot_evict *ev, unsigned long *entries,
	       unsigned int nr_entries, u32 hash, gfp_t gfp, depot_flags_t flags)
{
	unsigned int counters = hash & EVICT_COUNTED ? STACK_DEPOT_COUNTERS : 0;
	unsigned int c = depot_evict_class(nr_entries + counters);
	struct hlist_head *bucket = &ev->table[hash & ev->mask];
	depot_stack_handle_t handle = 0;
	struct stack_record *rec;
	void *prealloc = NULL;
	unsigned long irqflags;

	if (evict_known_full(ev, c))
		return 0;

	/* Pages cannot be asked for under the lock. */
	if ((flags & STACK_DEPOT_FLAG_CAN_ALLOC) &&
	    READ_ONCE(ev->pools) < ev->max_pools)
		prealloc = depot_prealloc_pool(gfp);

	raw_spin_lock_irqsave(&ev->lock, irqflags);
	printk_deferred_enter();

	evict_drain(ev);
	rec = evict_find(bucket, entries, nr_entries, hash);
	if (!rec) {
		rec = evict_alloc(ev, c, &prealloc);
		if (rec) {
			struct evict_pool *pool = evict_pool_of(rec);
			size_t offset = (void *)rec - (void *)pool;
			u8 *unit = &pool->unit[offset / EVICT_UNIT];
			u8 gen = (*unit + 1) & EVICT_GEN_MASK;

			WRITE_ONCE(*unit, EVICT_RECORD | gen);
			rec->handle.extra = gen;
			rec->hash = hash;
			rec->size = nr_entries;
			memcpy(rec->entries, entries,
			       flex_array_size(rec, entries, nr_entries));
			for (unsigned int i = 0; i < counters; i++)
				atomic_long_set(&evict_counters(rec)[i], 0);
			kmsan_unpoison_memory(rec, evict_size(pool->class));
			/* Pairs with stack_depot_get_many(). */
			refcount_set_release(&rec->count, 1);
			hlist_add_head_rcu(&rec->hash_node, bucket);
			ev->class[pool->class].in_use++;
			ev->allocs++;
		}
	}
	if (rec)
		handle = rec->handle.handle;

	printk_deferred_exit();
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);

	if (prealloc) {
		raw_spin_lock_irqsave(&depot_pool_lock, irqflags);
		depot_keep_pool(&prealloc);
		raw_spin_unlock_irqrestore(&depot_pool_lock, irqflags);
		depot_free_prealloc(prealloc);
	}
	return handle;
}

static __always_inline depot_stack_handle_t
evict_save(struct depot_evict *ev, unsigned long *entries,
	   unsigned int nr_entries, gfp_t gfp, depot_flags_t flags)
{
	/* Pairs with depot_evict_init(). */
	struct hlist_head *table = smp_load_acquire(&ev->table);
	struct stack_record *rec;
	u32 hash;

	if (unlikely(in_nmi())) {
		evict_refuse(ev, DEPOT_REFUSED_NMI);
		return 0;
	}
	if (unlikely(!table)) {
		evict_refuse(ev, DEPOT_REFUSED_NOINIT);
		return 0;
	}

	/* Cut before hashing, or a stack cut short would never be found. */
	nr_entries = min_t(unsigned int, nr_entries, CONFIG_STACKDEPOT_MAX_FRAMES);
	hash = evict_hash(entries, nr_entries);
	if (flags & STACK_DEPOT_FLAG_COUNT)
		hash |= EVICT_COUNTED;
	rec = evict_find(&table[hash & ev->mask], entries, nr_entries, hash);
	if (likely(rec))
		return rec->handle.handle;

	return evict_save_new(ev, entries, nr_entries, hash, gfp, flags);
}

depot_stack_handle_t depot_evict_save(unsigned long *entries,
				      unsigned int nr_entries, gfp_t gfp,
				      depot_flags_t flags)
{
	return evict_save(&depot_evict, entries, nr_entries, gfp, flags);
}

/* The last reference to @rec is gone. */
static noinline void evict_release(struct depot_evict *ev,
				   struct stack_record *rec)
{
	unsigned long irqflags;

	/* The NMI may have interrupted the holder of the lock. */
	if (unlikely(in_nmi())) {
		llist_add(&rec->free_node, &ev->deferred);
		evict_kick(ev);
		return;
	}

	raw_spin_lock_irqsave(&ev->lock, irqflags);
	printk_deferred_enter();
	evict_free(ev, rec);
	printk_deferred_exit();
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);
}

/* A grace period that was asked for has ended. */
static void evict_grace_over(struct rcu_head *rcu)
{
	struct depot_evict *ev = container_of(rcu, struct depot_evict, rcu);
	unsigned long irqflags;
	bool again;

	raw_spin_lock_irqsave(&ev->lock, irqflags);
	for (int c = 0; c < DEPOT_EVICT_CLASSES; c++)
		if (ev->class[c].full == DEPOT_REFUSED_GRACE)
			WRITE_ONCE(ev->class[c].full, DEPOT_REFUSALS);
	again = ev->grace_again;
	ev->grace_again = false;
	ev->grace = again;
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);

	if (again)
		call_rcu_hurry(rcu, evict_grace_over);
}

static void evict_work(struct irq_work *work)
{
	struct depot_evict *ev = container_of(work, struct depot_evict, work);
	unsigned long irqflags;
	bool begin;

	raw_spin_lock_irqsave(&ev->lock, irqflags);
	printk_deferred_enter();
	evict_drain(ev);
	printk_deferred_exit();
	/* One under way may have begun too early for what was freed last. */
	begin = !ev->grace;
	ev->grace_again = !begin;
	ev->grace = true;
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);

	/* Not start_poll_synchronize_rcu(): that is not for hardirqs. */
	if (begin)
		call_rcu_hurry(&ev->rcu, evict_grace_over);
}

static __always_inline bool evict_get(depot_stack_handle_t handle, unsigned int n)
{
	struct stack_record *rec;
	struct evict_pool *pool;
	bool got;

	rcu_read_lock_sched_notrace();
	pool = evict_lookup(handle, &rec);
	got = pool && refcount_add_not_zero_acquire(n, &rec->count);
	rcu_read_unlock_sched_notrace();
	if (!got)
		return false;

	/*
	 * The slot may have been reused since evict_lookup(), if the handle was
	 * stale. Now that there is a reference it is not any more: look again.
	 */
	if (likely(rec->handle.handle == handle))
		return true;

	if (refcount_sub_and_test(n, &rec->count))
		evict_release(pool->ev, rec);
	return false;
}

static __always_inline void evict_put(depot_stack_handle_t handle, unsigned int n)
{
	struct stack_record *rec;
	struct evict_pool *pool;

	if (!handle)
		return;

	/* The caller's reference keeps the record where it is. */
	pool = evict_lookup(handle, &rec);
	/* Once: one corruption can reach every free that is to come. */
	if (WARN_ONCE(!pool, "corrupt handle or unbalanced stack_depot_put()"))
		return;

	if (refcount_sub_and_test(n, &rec->count))
		evict_release(pool->ev, rec);
}

bool stack_depot_get(depot_stack_handle_t handle)
{
	return evict_get(handle, 1);
}
EXPORT_SYMBOL_GPL(stack_depot_get);

bool stack_depot_get_many(depot_stack_handle_t handle, unsigned int n)
{
	return evict_get(handle, n);
}
EXPORT_SYMBOL_GPL(stack_depot_get_many);

void stack_depot_put(depot_stack_handle_t handle)
{
	evict_put(handle, 1);
}
EXPORT_SYMBOL_GPL(stack_depot_put);

void stack_depot_put_many(depot_stack_handle_t handle, unsigned int n)
{
	evict_put(handle, n);
}
EXPORT_SYMBOL_GPL(stack_depot_put_many);

/* === Counters ============================================================= */

/* The record of @handle, which the caller has a reference to, if it has counters. */
static struct stack_record *evict_counted(depot_stack_handle_t handle)
{
	struct stack_record *rec;

	if (!evict_lookup(handle, &rec) || !(rec->hash & EVICT_COUNTED))
		return NULL;
	return rec;
}

void stack_depot_count(depot_stack_handle_t handle,
		       const long more[STACK_DEPOT_COUNTERS])
{
	struct stack_record *rec = evict_counted(handle);

	/* Once, as for stack_depot_put(). */
	if (WARN_ONCE(!rec, "corrupt handle or one without counters"))
		return;

	for (unsigned int i = 0; i < STACK_DEPOT_COUNTERS; i++)
		if (more[i])
			atomic_long_add(more[i], &evict_counters(rec)[i]);
}
EXPORT_SYMBOL_GPL(stack_depot_count);

bool stack_depot_counters(depot_stack_handle_t handle,
			  long counters[STACK_DEPOT_COUNTERS])
{
	struct stack_record *rec = evict_counted(handle);

	if (!rec)
		return false;

	for (unsigned int i = 0; i < STACK_DEPOT_COUNTERS; i++)
		counters[i] = atomic_long_read(&evict_counters(rec)[i]);
	return true;
}
EXPORT_SYMBOL_GPL(stack_depot_counters);

/*
 * The handle of what starts at @unit of the pool, if it seems to be a counted
 * stack; or 0. Of a stack that is there all the time it is right.
 */
static depot_stack_handle_t evict_peek_counted(struct evict_pool *pool, u32 index,
					       u32 unit)
{
	struct stack_record *rec = (void *)pool + unit * EVICT_UNIT;
	/* Pairs with evict_cut_record(). */
	u8 mark = smp_load_acquire(&pool->unit[unit]);
	union handle_parts parts = {
		.pool_index_plus_1 = index + 1,
		.offset = unit * EVICT_UNIT >> DEPOT_STACK_ALIGN,
		.extra = mark & EVICT_GEN_MASK,
	};

	if (!(mark & EVICT_RECORD))
		return 0;
	/*
	 * Without a reference the record may be going or coming, or its pool be
	 * given to persistent records: any word may stand here. The caller
	 * looks again.
	 */
	return data_race(rec->hash) & EVICT_COUNTED ? parts.handle : 0;
}

depot_stack_handle_t stack_depot_next_counted(u64 *place)
{
	u64 index = *place / EVICT_UNITS;
	u32 unit = *place % EVICT_UNITS;

	/* Pairs with depot_take_pool(). */
	for (; index < (u32)smp_load_acquire(&pools_num); index++, unit = 0) {
		struct evict_pool *pool = stack_pools[index];

		cond_resched();
		/* Pairs with evict_grow(). */
		if (smp_load_acquire(&pool->tag) != EVICT_TAG)
			continue;

		for (; unit < EVICT_UNITS; unit++) {
			depot_stack_handle_t handle;

			/* RCU holds for one record at a time, within evict_get(). */
			handle = evict_peek_counted(pool, index, unit);
			if (!handle || !evict_get(handle, 1))
				continue;
			if (likely(evict_counted(handle))) {
				*place = index * EVICT_UNITS + unit + 1;
				return handle;
			}
			evict_put(handle, 1);
		}
	}

	*place = max(*place, index * EVICT_UNITS);
	return 0;
}
EXPORT_SYMBOL_GPL(stack_depot_next_counted);

/* === Statistics =========================================================== */

static const char * const refusal_names[] = {
	[DEPOT_REFUSED_NMI]	= "refused_nmi",
	[DEPOT_REFUSED_BOUND]	= "refused_bound",
	[DEPOT_REFUSED_GRACE]	= "refused_grace",
	[DEPOT_REFUSED_NOMEM]	= "refused_nomem",
	[DEPOT_REFUSED_NOINIT]	= "refused_noinit",
};

static_assert(ARRAY_SIZE(refusal_names) == DEPOT_REFUSALS);

/* One past the class that holds the largest stack, with counters. */
static unsigned int evict_classes(void)
{
	return depot_evict_class(CONFIG_STACKDEPOT_MAX_FRAMES + STACK_DEPOT_COUNTERS) + 1;
}

/* A copy of the figures, so that they fit each other. */
struct evict_stats {
	struct depot_evict_class class[DEPOT_EVICT_CLASSES];
	unsigned long in_use, freed, allocs, evictions, reused, recut;
	unsigned int pools, classless;
};

static void evict_read(struct depot_evict *ev, struct evict_stats *stats)
{
	unsigned long irqflags;

	memset(stats, 0, sizeof(*stats));

	raw_spin_lock_irqsave(&ev->lock, irqflags);
	memcpy(stats->class, ev->class, sizeof(ev->class));
	stats->allocs = ev->allocs;
	stats->evictions = ev->evictions;
	stats->reused = ev->reused;
	stats->recut = ev->recut;
	stats->pools = ev->pools;
	raw_spin_unlock_irqrestore(&ev->lock, irqflags);

	stats->classless = stats->pools;
	for (unsigned int c = 0; c < DEPOT_EVICT_CLASSES; c++) {
		stats->in_use += stats->class[c].in_use;
		stats->freed += stats->class[c].freed;
		stats->classless -= stats->class[c].pools;
	}
}

/* The lines that were there before there were classes. */
void depot_evict_show(struct seq_file *seq)
{
	struct evict_stats stats;

	evict_read(&depot_evict, &stats);
	seq_printf(seq, "refcounted_allocations: %lu\n", stats.allocs);
	seq_printf(seq, "refcounted_frees: %lu\n", stats.evictions);
	seq_printf(seq, "refcounted_in_use: %lu\n", stats.in_use);
	seq_printf(seq, "freelist_size: %lu\n", stats.freed);
}

void depot_evict_show_classes(struct seq_file *seq)
{
	struct evict_stats stats;

	evict_read(&depot_evict, &stats);
	for (unsigned int c = 0; c < evict_classes(); c++) {
		const struct depot_evict_class *class = &stats.class[c];
		unsigned long room = class->pools * depot_evict_pool_records(c);

		seq_printf(seq, "class_%u_in_use: %lu\n", evict_words[c],
			   class->in_use);
		seq_printf(seq, "class_%u_free: %lu\n", evict_words[c],
			   room - class->in_use);
		seq_printf(seq, "class_%u_bytes: %zu\n", evict_words[c],
			   class->pools * POOL_BYTES);
	}
	seq_printf(seq, "classless_bytes: %zu\n", stats.classless * POOL_BYTES);
	seq_printf(seq, "evictions: %lu\n", stats.evictions);
	seq_printf(seq, "slots_reused: %lu\n", stats.reused);
	seq_printf(seq, "pools_recut: %lu\n", stats.recut);
	for (unsigned int i = 0; i < DEPOT_REFUSALS; i++)
		seq_printf(seq, "%s: %ld\n", refusal_names[i],
			   atomic_long_read(&depot_evict.refused[i]));
}

#include "stackdepot_evict_kunit.h"
