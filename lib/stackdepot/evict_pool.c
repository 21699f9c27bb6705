// SPDX-License-Identifier: GPL-2.0
/*
 * Evictable records of the stack depot: size classes, pools, and allocating and
 * freeing records. See evict.h.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kmsan.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "evict.h"

static void depot_run_work(struct irq_work *work);

static DEFINE_PER_CPU(struct depot_refusal_counts, evictable_refusals);

struct evictable_depot stack_depot_evictable = {
	.refused	= &evictable_refusals,
	.lock		= __RAW_SPIN_LOCK_UNLOCKED(stack_depot_evictable.lock),
	.idle		= LIST_HEAD_INIT(stack_depot_evictable.idle),
	.deferred_frees	= LLIST_HEAD_INIT(stack_depot_evictable.deferred_frees),
	/* Only stack_depot_max_pools limits this instance. */
	.max_pools	= UINT_MAX,
	/* Hard: with PREEMPT_RT, a CPU that goes offline runs no others. */
	.work		= IRQ_WORK_INIT_HARD(depot_run_work),
};

/*
 * Bytes of a record of each class, multiples of DEPOT_UNIT. With 64-bit words, packed
 * stacks of 8, 16, 24, 32 and 64 frames have no padding, nor have unpacked stacks of
 * 4, 8, 16, 20 and 64 frames without counters, and of 64 with counters.
 */
static const u16 class_bytes[DEPOT_NR_CLASSES] = {
	64, 96, 128, 160, 192, 224, 288, 320, 416, 544, 576, 1152, DEPOT_RECORD_MAX
};

/* Size of a record of class @class. */
size_t stack_depot_record_bytes(unsigned int class)
{
	return class_bytes[class];
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_record_bytes);

/* The smallest class whose records hold @nr_entries entries of the kind in @hash. */
unsigned int stack_depot_size_class(unsigned int nr_entries, u32 hash)
{
	size_t bytes = offsetof(struct stack_record, entries) + nr_entries * depot_frame_size(hash);
	unsigned int c = 0;

	if (hash & HASH_COUNTED)
		bytes += STACK_DEPOT_COUNTERS * sizeof(atomic_long_t);
	while (class_bytes[c] < bytes)
		c++;
	return c;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_size_class);

unsigned int stack_depot_records_per_pool(unsigned int class)
{
	return (POOL_BYTES - EVICTABLE_POOL_DATA) / stack_depot_record_bytes(class);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_records_per_pool);

void stack_depot_init_classes(struct evictable_depot *depot)
{
	for (int c = 0; c < DEPOT_NR_CLASSES; c++) {
		INIT_LIST_HEAD(&depot->class[c].partial);
		depot->refusal[c].why = DEPOT_NOT_REFUSED;
	}
}

/*
 * Have depot_run_work() run soon; any context. Not possible in early boot:
 * there, the next save frees the deferred records, and a grace period starts at
 * the first refusal after boot or when another user of RCU needs one.
 */
static bool depot_queue_work(struct evictable_depot *depot)
{
	if (system_state < SYSTEM_SCHEDULING)
		return false;

	irq_work_queue(&depot->work);
	return true;
}

/* === Pools. The caller holds depot->lock. ================================== */

static void depot_add_idle_pool(struct evictable_depot *depot, struct evictable_pool *pool)
{
	list_add_tail(&pool->list, &depot->idle);
	depot->nr_idle++;
}

/* Remove @pool, which has no record in use, from its class. */
static void depot_make_pool_idle(struct evictable_depot *depot, struct evictable_pool *pool)
{
	size_t step = stack_depot_record_bytes(pool->class) / DEPOT_UNIT;
	struct depot_class *class = &depot->class[pool->class];
	u8 *unit = &pool->unit[EVICTABLE_POOL_DATA / DEPOT_UNIT];

	/*
	 * New lookups by handle no longer touch the records. Lookups that have
	 * started end before the pool is carved again, which waits for a grace
	 * period. Keep the generations.
	 */
	for (u32 i = 0; i < pool->nr_carved; i++, unit += step)
		WRITE_ONCE(*unit, *unit & UNIT_GENERATION);

	class->pools--;
	class->nr_free -= pool->nr_carved;
	pool->rcu_state = get_state_synchronize_rcu();
	list_del(&pool->list);
	depot_add_idle_pool(depot, pool);
}

/* Give @pool, which belongs to no class, to class @c. */
static void depot_assign_pool(struct evictable_depot *depot, struct evictable_pool *pool,
			      unsigned int c)
{
	struct depot_class *class = &depot->class[c];

	/*
	 * A class keeps one empty pool. Keep the new one: all of its records can
	 * be used at once, those of the other wait for a grace period.
	 */
	if (class->empty)
		depot_make_pool_idle(depot, class->empty);

	pool->class = c;
	pool->nr_used = 0;
	pool->nr_carved = 0;
	INIT_LIST_HEAD(&pool->free);
	list_add(&pool->list, &class->partial);
	class->empty = pool;
	class->pools++;
}

/* Take the pool that became idle first, if its grace period has ended. */
static struct evictable_pool *depot_remove_idle_pool(struct evictable_depot *depot)
{
	struct evictable_pool *pool;

	pool = list_first_entry_or_null(&depot->idle, struct evictable_pool, list);
	if (!pool || !poll_state_synchronize_rcu(pool->rcu_state))
		return NULL;

	list_del(&pool->list);
	depot->nr_idle--;
	return pool;
}

/* Add a pool to stack_pools. A CPU that only tried depot->lock only tries the pools' lock, too. */
static int depot_add_pool(void **prealloc)
{
	int index;

	if (in_nmi() || this_cpu_read(stack_depot_locks) >= STACK_DEPOT_FORBIDDEN) {
		if (!raw_spin_trylock(&stack_depot_pool_lock))
			return -EBUSY;
	} else {
		raw_spin_lock(&stack_depot_pool_lock);
	}
	index = stack_depot_add_pool(prealloc, true);
	raw_spin_unlock(&stack_depot_pool_lock);
	return index;
}

/* Add a new pool. On failure return NULL and set *@why. */
static struct evictable_pool *depot_add_evictable_pool(struct evictable_depot *depot,
						       void **prealloc, enum depot_refusal *why)
{
	struct evictable_pool *pool;
	int index;

	if (depot->pools >= depot->max_pools) {
		*why = DEPOT_REFUSED_BOUND;
		return NULL;
	}

	index = depot_add_pool(prealloc);
	if (index < 0) {
		*why = index == -ENOSPC ? DEPOT_REFUSED_BOUND : DEPOT_REFUSED_NOMEM;
		return NULL;
	}

	pool = stack_pools[index];
	pool->depot = depot;
	pool->index = index;
	depot->pools++;
	/* Publish the initialized header. Pairs with depot_find_by_handle(). */
	smp_store_release(&pool->tag, EVICTABLE_POOL_TAG);
	return pool;
}

/* At the bound, retire the empty pools of all classes except @c. */
static void depot_make_empty_pools_idle(struct evictable_depot *depot, unsigned int c)
{
	for (unsigned int i = 0; i < DEPOT_NR_CLASSES; i++) {
		struct evictable_pool *pool = depot->class[i].empty;

		if (i == c || !pool)
			continue;
		depot->class[i].empty = NULL;
		depot_make_pool_idle(depot, pool);
	}
}

/*
 * Idle pools have had no record in use for a grace period, so no lookup by hash
 * can still compare frames in them. Lookups by stale handles may start at any
 * time, and may have read the tag just before it is cleared. They read @unit
 * next and find no record there. The units are therefore left alone, and the
 * caller's records start behind them.
 */
int stack_depot_take_idle_pool(size_t *start)
{
	struct evictable_depot *depot = &stack_depot_evictable;
	struct evictable_pool *pool;

	lockdep_assert_held(&stack_depot_pool_lock);

	/* On UP, trylock would succeed in NMI even if the lock is held. */
	if (in_nmi() || !raw_spin_trylock(&depot->lock))
		return -ENOSPC;
	pool = depot_remove_idle_pool(depot);
	if (pool) {
		depot->pools--;
		stack_depot_count_evictable_pools(-1);
		WRITE_ONCE(pool->tag, 0);
	}
	raw_spin_unlock(&depot->lock);
	if (!pool)
		return -ENOSPC;

	*start = EVICTABLE_POOL_DATA;
	return pool->index;
}

/* === Allocating records. The caller holds depot->lock. ===================== */

/* Carve one more record from a pool that has room. */
static struct stack_record *depot_carve_record(struct evictable_pool *pool)
{
	size_t offset = EVICTABLE_POOL_DATA +
			pool->nr_carved * stack_depot_record_bytes(pool->class);
	struct stack_record *rec = (void *)pool + offset;
	u8 *unit = depot_find_unit(pool, rec);

	pool->nr_carved++;
	rec->handle.pool_index_plus_1 = pool->index + 1;
	rec->handle.offset = offset >> DEPOT_STACK_ALIGN;
	refcount_set(&rec->count, 0);
	/* Publish the count of zero. Pairs with depot_find_by_handle(). */
	smp_store_release(unit, *unit | UNIT_CARVED);
	return rec;
}

/* Pools searched before a new pool is added, and before a stack is refused. */
#define SEARCH_POOLS		4U
#define SEARCH_POOLS_LAST	64U

/* Take a free record from one of the first @max_pools pools of class @c. */
static struct stack_record *depot_pop_record(struct evictable_depot *depot, unsigned int c,
					     unsigned int max_pools)
{
	struct depot_class *class = &depot->class[c];
	struct stack_record *rec;
	struct evictable_pool *pool;

	/*
	 * Use the first pool for as long as it has records, so that the others
	 * can become empty. Limiting the search bounds the time under the lock.
	 * A pool without a usable record moves to the end of the list.
	 */
	for (max_pools = min(max_pools, class->pools); max_pools; max_pools--) {
		pool = list_first_entry_or_null(&class->partial, struct evictable_pool, list);
		if (!pool)
			break;

		rec = list_first_entry_or_null(&pool->free, struct stack_record, free_list);
		if (rec && poll_state_synchronize_rcu(rec->rcu_state)) {
			list_del(&rec->free_list);
			class->nr_free--;
			depot->slots_reused++;
		} else if (pool->nr_carved < stack_depot_records_per_pool(c)) {
			rec = depot_carve_record(pool);
		} else {
			list_move_tail(&pool->list, &class->partial);
			continue;
		}

		if (class->empty == pool)
			class->empty = NULL;
		if (++pool->nr_used == stack_depot_records_per_pool(c))
			list_del_init(&pool->list);
		return rec;
	}

	return NULL;
}

/* Bytes that records saved with STACK_DEPOT_FLAG_DATA may use. */
static size_t depot_data_limit(const struct evictable_depot *depot)
{
	return min(depot->max_pools, stack_depot_max_pools) * POOL_BYTES / DEPOT_DATA_SHARE;
}

/*
 * Return true if the share of data is in use, so that a record of class @c and with
 * @hash must be refused. Exact under depot->lock, otherwise approximate.
 */
static bool depot_data_share_is_used(struct evictable_depot *depot, unsigned int c, u32 hash)
{
	return hash & HASH_DATA && READ_ONCE(depot->data_bytes) + stack_depot_record_bytes(c) >
				   depot_data_limit(depot);
}

/*
 * Return why the last allocation of class @c failed if the next one would fail, too, else
 * DEPOT_NOT_REFUSED:
 *
 *  - DEPOT_REFUSED_BOUND holds until a record is freed.
 *  - DEPOT_REFUSED_GRACE holds while the RCU cookie is unchanged: no record freed
 *    since then can be ready. Records freed earlier become ready when the grace
 *    period that was started ends; depot_end_grace_period() clears the refusal.
 *  - DEPOT_REFUSED_NOMEM holds for callers that cannot wait for memory.
 *
 * If the failed allocation did not search all pools, or no grace period was started, or
 * there was no page, the refusal holds until the next tick. The lock is not held, so
 * the fields may be from different allocations. The effect is one unneeded refusal or
 * one unneeded search.
 */
static enum depot_refusal depot_find_refusal(struct evictable_depot *depot, unsigned int c,
					     bool may_wait)
{
	struct depot_class_refusal *last = &depot->refusal[c];
	/* Read once: another CPU may clear it, and no refusal is counted as DEPOT_NOT_REFUSED. */
	enum depot_refusal why = READ_ONCE(last->why);

	/* Deferred records are freed under the lock, and may give room. */
	if (why == DEPOT_NOT_REFUSED || !llist_empty(&depot->deferred_frees))
		return DEPOT_NOT_REFUSED;
	if (why == DEPOT_REFUSED_NOMEM && (may_wait || stack_depot_has_spare_pool()))
		return DEPOT_NOT_REFUSED;
	if (READ_ONCE(last->retry) && time_after(jiffies, READ_ONCE(last->tick)))
		return DEPOT_NOT_REFUSED;
	if (why == DEPOT_REFUSED_GRACE &&
	    !same_state_synchronize_rcu(READ_ONCE(last->rcu_state), get_state_synchronize_rcu()))
		return DEPOT_NOT_REFUSED;
	return why;
}

/*
 * Refuse a record of class @c and with @hash, and count the refusal, if trying to
 * allocate it would be in vain. This avoids the lock, a page allocation and a search.
 * @may_wait: the caller can wait until there is memory
 */
bool stack_depot_refuse_early(struct evictable_depot *depot, unsigned int c, u32 hash,
			      bool may_wait)
{
	enum depot_refusal why = depot_data_share_is_used(depot, c, hash) ?
				 DEPOT_REFUSED_DATA : depot_find_refusal(depot, c, may_wait);

	if (why == DEPOT_NOT_REFUSED)
		return false;
	depot_count_refusal(depot, why);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_refuse_early);

/* Remember that an allocation of class @c failed. @rcu_state: taken before it. */
static void depot_note_refusal(struct evictable_depot *depot, unsigned int c,
			       enum depot_refusal why, bool retry, unsigned long rcu_state)
{
	struct depot_class_refusal *last = &depot->refusal[c];

	WRITE_ONCE(last->rcu_state, rcu_state);
	WRITE_ONCE(last->tick, jiffies);
	WRITE_ONCE(last->retry, retry);
	WRITE_ONCE(last->why, why);
	depot_count_refusal(depot, why);
}

/*
 * Take a record of class @c from a pool of the class, or from one that is idle or new.
 * Return NULL and set *@why if there is none.
 */
static struct stack_record *depot_take_record(struct evictable_depot *depot, unsigned int c,
					      void **prealloc, enum depot_refusal *why)
{
	struct evictable_pool *pool;
	struct stack_record *rec;

	rec = depot_pop_record(depot, c, SEARCH_POOLS);
	if (rec)
		return rec;

	pool = depot_remove_idle_pool(depot);
	if (pool)
		depot->pools_recut++;
	else
		pool = depot_add_evictable_pool(depot, prealloc, why);
	if (pool) {
		depot_assign_pool(depot, pool, c);
		return depot_pop_record(depot, c, 1);
	}

	/* No pool can be added: search more pools before refusing. */
	return *why == DEPOT_REFUSED_BOUND ? depot_pop_record(depot, c, SEARCH_POOLS_LAST) : NULL;
}

/*
 * Allocate a record of class @c for words with @hash. Return NULL if refused; the
 * refusal is counted.
 */
struct stack_record *stack_depot_alloc_record(struct evictable_depot *depot, unsigned int c,
					      u32 hash, void **prealloc)
{
	/* Read before any cookie is polled below. */
	unsigned long rcu_state = get_state_synchronize_rcu();
	struct depot_class *class = &depot->class[c];
	struct stack_record *rec;
	enum depot_refusal why;
	bool retry;

	lockdep_assert_held(&depot->lock);

	if (depot_data_share_is_used(depot, c, hash)) {
		depot_count_refusal(depot, DEPOT_REFUSED_DATA);
		return NULL;
	}
	rec = depot_take_record(depot, c, prealloc, &why);
	if (rec) {
		if (depot->refusal[c].why != DEPOT_NOT_REFUSED)
			WRITE_ONCE(depot->refusal[c].why, DEPOT_NOT_REFUSED);
		return rec;
	}

	retry = why == DEPOT_REFUSED_NOMEM;
	if (why == DEPOT_REFUSED_BOUND)
		depot_make_empty_pools_idle(depot, c);
	if (!list_empty(&depot->idle) || !list_empty(&class->partial)) {
		bool queued = depot_queue_work(depot);

		if (why == DEPOT_REFUSED_BOUND) {
			why = DEPOT_REFUSED_GRACE;
			/* Without a grace period, the cookie may never change. */
			retry = !queued || class->pools > SEARCH_POOLS_LAST;
		}
	}
	depot_note_refusal(depot, c, why, retry, rcu_state);
	return NULL;
}

/*
 * Return true if the depot refused a record because all of its room is in use. Return false if it
 * only lacked a page. Approximate, as the lock is not held.
 */
bool stack_depot_is_full(struct evictable_depot *depot)
{
	for (unsigned int c = 0; c < DEPOT_NR_CLASSES; c++) {
		enum depot_refusal why = READ_ONCE(depot->refusal[c].why);

		if (why == DEPOT_REFUSED_BOUND || why == DEPOT_REFUSED_GRACE)
			return true;
	}
	return false;
}

/* Refusals for reason @why on all CPUs. */
unsigned long stack_depot_count_refusals(struct evictable_depot *depot, enum depot_refusal why)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(depot->refused, cpu)->count[why]);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_count_refusals);

/* === Freeing records ====================================================== */

/* A record or pool became free for class @c: do not refuse early any more. */
static void depot_clear_refusal(struct evictable_depot *depot, unsigned int c)
{
	if (depot->refusal[c].why == DEPOT_REFUSED_BOUND)
		WRITE_ONCE(depot->refusal[c].why, DEPOT_NOT_REFUSED);
}

/* A pool became free that any class can take. */
static void depot_clear_all_refusals(struct evictable_depot *depot)
{
	for (int c = 0; c < DEPOT_NR_CLASSES; c++)
		depot_clear_refusal(depot, c);
}

/* Free @rec, whose count is zero, but not what it links to. */
static void depot_free_unlinked_record(struct evictable_depot *depot, struct stack_record *rec)
{
	struct evictable_pool *pool = depot_find_pool(rec);
	struct depot_class *class = &depot->class[pool->class];

	/* Concurrent lookups may be at @rec; its next pointer stays valid for them. */
	hlist_del_rcu(&rec->hash_node);
	rec->rcu_state = get_state_synchronize_rcu();
	list_add_tail(&rec->free_list, &pool->free);
	class->nr_free++;
	class->in_use--;
	depot->evictions++;
	if (rec->hash & HASH_DATA)
		WRITE_ONCE(depot->data_bytes,
			   depot->data_bytes - stack_depot_record_bytes(pool->class));

	if (list_empty(&pool->list))
		list_add_tail(&pool->list, &class->partial);
	depot_clear_refusal(depot, pool->class);
	if (--pool->nr_used)
		return;
	depot_clear_all_refusals(depot);

	if (class->empty)
		depot_make_pool_idle(depot, pool);
	else
		class->empty = pool;
}

/*
 * Free @rec, whose count is zero, and the records that lose their last reference with it.
 * The caller holds depot->lock.
 */
static void depot_free_record(struct evictable_depot *depot, struct stack_record *rec)
{
	while (rec) {
		/* Freeing overwrites the first words. */
		depot_stack_handle_t link = depot_read_link(rec);

		depot_free_unlinked_record(depot, rec);
		rec = link ? stack_depot_put_unfreed(link) : NULL;
	}
}

/* Free the records that NMIs released. The caller holds depot->lock. */
void stack_depot_free_deferred(struct evictable_depot *depot)
{
	struct llist_node *list = llist_del_all(&depot->deferred_frees);
	struct stack_record *rec, *next;

	llist_for_each_entry_safe(rec, next, list, free_node)
		depot_free_record(depot, rec);
}

/* Free @rec, whose last reference was dropped. Any context. */
noinline void stack_depot_release_record(struct evictable_depot *depot, struct stack_record *rec)
{
	unsigned long irqflags;

	if (unlikely(!stack_depot_may_lock())) {
		llist_add(&rec->free_node, &depot->deferred_frees);
		depot_queue_work(depot);
		return;
	}

	stack_depot_lock(&depot->lock, &irqflags);
	printk_deferred_enter();
	depot_free_record(depot, rec);
	printk_deferred_exit();
	stack_depot_unlock(&depot->lock, irqflags);
}

/* RCU callback: the grace period that depot_run_work() started has ended. */
static void depot_end_grace_period(struct rcu_head *rcu)
{
	struct evictable_depot *depot = container_of(rcu, struct evictable_depot, rcu);
	unsigned long irqflags;
	bool again;

	stack_depot_lock(&depot->lock, &irqflags);
	for (int c = 0; c < DEPOT_NR_CLASSES; c++)
		if (depot->refusal[c].why == DEPOT_REFUSED_GRACE)
			WRITE_ONCE(depot->refusal[c].why, DEPOT_NOT_REFUSED);
	again = depot->gp_again;
	depot->gp_again = false;
	depot->gp_pending = again;
	stack_depot_unlock(&depot->lock, irqflags);

	if (again)
		call_rcu_hurry(rcu, depot_end_grace_period);
}

/* irq_work: free the deferred records, and start a grace period. */
static void depot_run_work(struct irq_work *work)
{
	struct evictable_depot *depot = container_of(work, struct evictable_depot, work);
	unsigned long irqflags;
	bool start;

	stack_depot_lock(&depot->lock, &irqflags);
	printk_deferred_enter();
	stack_depot_free_deferred(depot);
	printk_deferred_exit();
	/*
	 * A grace period that is pending may have started before the last record
	 * was freed: request another one after it.
	 */
	start = !depot->gp_pending;
	depot->gp_again = !start;
	depot->gp_pending = true;
	stack_depot_unlock(&depot->lock, irqflags);

	/* start_poll_synchronize_rcu() must not be called from hard interrupts. */
	if (start)
		call_rcu_hurry(&depot->rcu, depot_end_grace_period);
}

#include "evict_instances.h"
