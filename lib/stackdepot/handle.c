// SPDX-License-Identifier: GPL-2.0
/*
 * Evictable records of the stack depot: lookup by handle, references, and
 * counters. See evict.h for what a handle guarantees.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/bug.h>
#include <linux/export.h>
#include <linux/kmsan.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>

#include "evict.h"

/*
 * Find the pool and the record of @handle. Return NULL if there is no evictable
 * record of the handle's generation. If the handle may be stale, call this and
 * try to take a reference in one RCU read-side critical section.
 */
static __always_inline struct evictable_pool *
depot_find_by_handle(depot_stack_handle_t handle, struct stack_record **rec)
{
	union handle_parts parts = { .handle = handle };
	size_t offset = (size_t)parts.offset << DEPOT_STACK_ALIGN;
	u32 index = parts.pool_index_plus_1 - 1;
	struct evictable_pool *pool;
	u8 unit;

	/* Pairs with stack_depot_add_pool(): stack_pools[index] is set. */
	if (unlikely(index >= (u32)smp_load_acquire(&pools_num)))
		return NULL;

	pool = READ_ONCE(stack_pools[index]);
	/* Pairs with depot_add_evictable_pool(): the header is initialized. */
	if (unlikely(smp_load_acquire(&pool->tag) != EVICTABLE_POOL_TAG))
		return NULL;
	if (unlikely(offset % DEPOT_UNIT))
		return NULL;
	/* Pairs with depot_carve_record(): the record's count is initialized. */
	unit = smp_load_acquire(&pool->unit[offset / DEPOT_UNIT]);
	if (unlikely(unit != (UNIT_CARVED | parts.extra)))
		return NULL;

	*rec = (void *)pool + offset;
	return pool;
}

bool stack_depot_handle_is_stale(depot_stack_handle_t handle)
{
	union handle_parts parts = { .handle = handle };
	u32 index = parts.pool_index_plus_1 - 1;
	struct evictable_pool *pool;
	struct stack_record *rec;
	bool stale;

	/* Pairs with stack_depot_add_pool(). */
	if (index >= (u32)smp_load_acquire(&pools_num))
		return false;
	/* The pool may be freed. */
	rcu_read_lock_sched_notrace();
	pool = READ_ONCE(stack_pools[index]);
	stale = READ_ONCE(pool->tag) == EVICTABLE_POOL_TAG && !depot_find_by_handle(handle, &rec);
	rcu_read_unlock_sched_notrace();
	return stale;
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_handle_is_stale);

static __always_inline bool depot_get_refs(depot_stack_handle_t handle, unsigned int n)
{
	struct evictable_pool *pool;
	struct stack_record *rec;
	bool got;

	rcu_read_lock_sched_notrace();
	pool = depot_find_by_handle(handle, &rec);
	/* The acquire pairs with depot_fill_record(). */
	got = pool && refcount_add_not_zero_acquire(n, &rec->count);
	rcu_read_unlock_sched_notrace();
	if (!got)
		return false;

	/*
	 * If the handle is stale, the slot may have been reused after
	 * depot_find_by_handle() checked its generation. The reference prevents
	 * another reuse, so check again now.
	 */
	if (likely(rec->handle.handle == handle))
		return true;

	if (refcount_sub_and_test(n, &rec->count))
		stack_depot_release_record(pool->depot, rec);
	return false;
}

static __always_inline void depot_put_refs(depot_stack_handle_t handle, unsigned int n)
{
	struct evictable_pool *pool;
	struct stack_record *rec;

	if (!handle)
		return;

	/* The caller's reference keeps the record in place: no RCU needed. */
	pool = depot_find_by_handle(handle, &rec);
	/* Warn once: after a corruption, every following free may get here. */
	if (WARN_ONCE(!pool, "corrupt handle or unbalanced stack_depot_put()"))
		return;

	if (refcount_sub_and_test(n, &rec->count))
		stack_depot_release_record(pool->depot, rec);
}

/*
 * Drop a reference. Return the record if it was the last one: the caller holds the lock of
 * its instance, and frees it.
 */
struct stack_record *stack_depot_put_unfreed(depot_stack_handle_t handle)
{
	struct stack_record *rec;

	if (WARN_ONCE(!depot_find_by_handle(handle, &rec), "corrupt link"))
		return NULL;
	return refcount_dec_and_test(&rec->count) ? rec : NULL;
}

void stack_depot_set_link(depot_stack_handle_t handle, unsigned long word)
{
	struct stack_record *rec;

	if (WARN_ONCE(!depot_find_by_handle(handle, &rec) || !(rec->hash & HASH_LINKED) ||
		      depot_read_link(rec), "handle of a record that has a link or can have none"))
		return;
	if ((u64)word <= U32_MAX && !stack_depot_get(word))
		return;
	/* Lookups for the words that were saved do not find the record any more. */
	smp_store_release(&rec->entries[rec->size - 1], word);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_set_link);

bool stack_depot_get(depot_stack_handle_t handle)
{
	return depot_get_refs(handle, 1);
}
EXPORT_SYMBOL_GPL(stack_depot_get);

bool stack_depot_get_many(depot_stack_handle_t handle, unsigned int n)
{
	return depot_get_refs(handle, n);
}
EXPORT_SYMBOL_GPL(stack_depot_get_many);

void stack_depot_put(depot_stack_handle_t handle)
{
	depot_put_refs(handle, 1);
}
EXPORT_SYMBOL_GPL(stack_depot_put);

void stack_depot_put_many(depot_stack_handle_t handle, unsigned int n)
{
	depot_put_refs(handle, n);
}
EXPORT_SYMBOL_GPL(stack_depot_put_many);

/* Read @index from the frames at @frames of a record with @hash. */
static unsigned long depot_read_frame(const void *frames, unsigned int index, u32 hash)
{
	if (hash & HASH_PACKED)
		return depot_unpack_frame(((const u32 *)frames)[index]);
	/* The last word may become a link: stack_depot_set_link(). */
	return READ_ONCE(((const unsigned long *)frames)[index]);
}

/*
 * Find the frames of @handle. Set *@frames to them and *@hash to the kind of record.
 * Return their number. A caller without a reference may see a record that is being
 * reused, and gets wrong frames, but never memory outside of the pool. RCU-sched keeps
 * the pool from being freed.
 */
static unsigned int depot_find_frames_by_handle(depot_stack_handle_t handle, void **frames,
						u32 *hash)
{
	struct stack_record *rec;
	unsigned long *stored;
	unsigned int nr;
	size_t room;

	if (!depot_find_by_handle(handle, &rec)) {
		*hash = 0;
		*frames = NULL;
		/* stack_depot_fetch() would warn, also about a caller without a reference. */
		if (stack_depot_handle_is_stale(handle))
			return 0;
		nr = stack_depot_fetch(handle, &stored);
		*frames = stored;
		return nr;
	}

	*hash = READ_ONCE(rec->hash);
	*frames = depot_find_frames(rec, *hash);
	room = POOL_BYTES - ((unsigned long)*frames & (POOL_BYTES - 1));
	return min3((size_t)READ_ONCE(rec->size), room / depot_frame_size(*hash),
		    (size_t)CONFIG_STACKDEPOT_MAX_FRAMES);
}

unsigned int stack_depot_copy(depot_stack_handle_t handle, unsigned long *entries,
			      unsigned int max)
{
	unsigned int nr;
	void *frames;
	u32 hash;

	rcu_read_lock_sched_notrace();
	nr = depot_find_frames_by_handle(handle, &frames, &hash);
	for (unsigned int i = 0; i < min(nr, max); i++)
		entries[i] = depot_read_frame(frames, i, hash);
	rcu_read_unlock_sched_notrace();
	kmsan_unpoison_memory(entries, min(nr, max) * sizeof(*entries));
	return nr;
}
EXPORT_SYMBOL_GPL(stack_depot_copy);

unsigned int stack_depot_match(depot_stack_handle_t handle, const unsigned long *entries,
			       unsigned int nr_entries)
{
	unsigned int nr;
	void *frames;
	u32 hash;

	rcu_read_lock_sched_notrace();
	nr = depot_find_frames_by_handle(handle, &frames, &hash);
	/* Without a reference, the frames may change while they are compared. */
	if (nr > nr_entries || !data_race(depot_compare_frames(entries, nr, frames, hash)))
		nr = 0;
	rcu_read_unlock_sched_notrace();
	return nr;
}
EXPORT_SYMBOL_GPL(stack_depot_match);

unsigned long stack_depot_frame(depot_stack_handle_t handle, unsigned int index)
{
	unsigned long frame = 0;
	void *frames;
	u32 hash;

	rcu_read_lock_sched_notrace();
	if (index < depot_find_frames_by_handle(handle, &frames, &hash))
		frame = depot_read_frame(frames, index, hash);
	rcu_read_unlock_sched_notrace();
	return frame;
}
EXPORT_SYMBOL_GPL(stack_depot_frame);

/* Debuggers add this to packed frames. */
const unsigned long stack_depot_frame_base = DEPOT_FRAME_BASE;

/*
 * Find the record of @handle, to which the caller has a reference. Return NULL
 * if it has no counters.
 */
static struct stack_record *depot_find_counted_record(depot_stack_handle_t handle)
{
	struct stack_record *rec;

	if (!depot_find_by_handle(handle, &rec) || !(READ_ONCE(rec->hash) & HASH_COUNTED))
		return NULL;
	return rec;
}

bool stack_depot_has_counters(depot_stack_handle_t handle)
{
	bool counted;

	/* The caller may have no reference. */
	rcu_read_lock_sched_notrace();
	counted = depot_find_counted_record(handle);
	rcu_read_unlock_sched_notrace();
	return counted;
}

void stack_depot_count(depot_stack_handle_t handle, const long more[STACK_DEPOT_COUNTERS])
{
	struct stack_record *rec = depot_find_counted_record(handle);

	/* Warn once, as depot_put_refs() does. */
	if (WARN_ONCE(!rec, "corrupt handle or one without counters"))
		return;

	for (unsigned int i = 0; i < STACK_DEPOT_COUNTERS; i++)
		if (more[i])
			atomic_long_add(more[i], &depot_find_counters(rec)[i]);
}
EXPORT_SYMBOL_GPL(stack_depot_count);

bool stack_depot_counters(depot_stack_handle_t handle, long counters[STACK_DEPOT_COUNTERS])
{
	struct stack_record *rec = depot_find_counted_record(handle);

	if (!rec)
		return false;

	for (unsigned int i = 0; i < STACK_DEPOT_COUNTERS; i++)
		counters[i] = atomic_long_read(&depot_find_counters(rec)[i]);
	kmsan_unpoison_memory(counters, STACK_DEPOT_COUNTERS * sizeof(*counters));
	return true;
}
EXPORT_SYMBOL_GPL(stack_depot_counters);

/*
 * Read the handle of the record at unit @unit of @pool, without a reference.
 * Return 0 if the record does not seem to have @kind, HASH_COUNTED or HASH_DATA. The result is
 * reliable only for a record that is neither freed nor stored meanwhile.
 */
static depot_stack_handle_t depot_peek_handle(struct evictable_pool *pool, u32 index, u32 unit,
					      u32 kind)
{
	struct stack_record *rec = (void *)pool + unit * DEPOT_UNIT;
	/* Pairs with depot_carve_record(). */
	u8 state = smp_load_acquire(&pool->unit[unit]);
	union handle_parts parts = {
		.pool_index_plus_1 = index + 1,
		.offset = unit * DEPOT_UNIT >> DEPOT_STACK_ALIGN,
		.extra = state & UNIT_GENERATION,
	};

	if (!(state & UNIT_CARVED))
		return 0;
	/*
	 * Without a reference the record may be freed or stored concurrently, or
	 * persistent records may take the pool, so this may read any word. The
	 * caller takes a reference and checks again.
	 */
	return data_race(rec->hash) & kind ? parts.handle : 0;
}

/*
 * Take a reference to the first record with counters at unit *@unit of a pool or behind,
 * and set *@unit to the unit behind. Return 0 if there is none.
 */
static depot_stack_handle_t depot_get_counted_in_pool(u32 index, u32 *unit)
{
	depot_stack_handle_t handle = 0;
	struct evictable_pool *pool;

	rcu_read_lock_sched_notrace();
	pool = READ_ONCE(stack_pools[index]);
	/* Pairs with depot_add_evictable_pool(). */
	if (smp_load_acquire(&pool->tag) != EVICTABLE_POOL_TAG)
		*unit = DEPOT_UNITS;
	while (!handle && *unit < DEPOT_UNITS) {
		handle = depot_peek_handle(pool, index, (*unit)++, HASH_COUNTED);
		if (!handle)
			continue;
		if (!depot_get_refs(handle, 1)) {
			handle = 0;
		} else if (unlikely(!depot_find_counted_record(handle))) {
			depot_put_refs(handle, 1);
			handle = 0;
		}
	}
	rcu_read_unlock_sched_notrace();
	return handle;
}

depot_stack_handle_t stack_depot_next_counted(u64 *pos)
{
	u64 index = *pos / DEPOT_UNITS;
	u32 unit = *pos % DEPOT_UNITS;

	/* Pairs with stack_depot_add_pool(). */
	for (; index < (u32)smp_load_acquire(&pools_num); index++, unit = 0) {
		depot_stack_handle_t handle;

		cond_resched();
		handle = depot_get_counted_in_pool(index, &unit);
		if (handle) {
			*pos = index * DEPOT_UNITS + unit;
			return handle;
		}
	}

	*pos = max(*pos, index * DEPOT_UNITS);
	return 0;
}
EXPORT_SYMBOL_GPL(stack_depot_next_counted);

bool stack_depot_is_in_use(depot_stack_handle_t handle)
{
	struct stack_record *rec;

	/* Pairs with refcount_sub_and_test(): a record is freed after its last reference. */
	smp_rmb();
	if (!depot_find_by_handle(handle, &rec) || !refcount_read(&rec->count))
		return false;
	/* Pairs with depot_fill_record(): a reused record has its new handle before a reference. */
	smp_rmb();
	return READ_ONCE(rec->handle.handle) == handle;
}

bool stack_depot_peek(u64 *pos, depot_flags_t flag, depot_stack_handle_t *handle)
{
	u32 kind = flag == STACK_DEPOT_FLAG_DATA ? HASH_DATA : HASH_COUNTED;
	u64 index = *pos / DEPOT_UNITS;
	u32 unit = *pos % DEPOT_UNITS;
	struct evictable_pool *pool;

	*handle = 0;
	/* Pairs with stack_depot_add_pool(). */
	if (index >= (u32)smp_load_acquire(&pools_num))
		return false;
	pool = READ_ONCE(stack_pools[index]);
	/* Pairs with depot_add_evictable_pool(). */
	if (smp_load_acquire(&pool->tag) != EVICTABLE_POOL_TAG)
		unit = DEPOT_UNITS;
	while (unit < DEPOT_UNITS && !*handle) {
		*handle = depot_peek_handle(pool, index, unit++, kind);
		/* A record that is being stored has the counters of another one. */
		if (*handle && !stack_depot_is_in_use(*handle))
			*handle = 0;
	}
	/* Pairs with depot_fill_record(): the counters are written first. */
	smp_rmb();
	*pos = index * DEPOT_UNITS + unit;
	return true;
}

#if IS_ENABLED(CONFIG_STACKDEPOT_KUNIT_TEST)
/* The record of @handle, which can be of any kind. */
struct stack_record *stack_depot_test_record(depot_stack_handle_t handle)
{
	union handle_parts parts = { .handle = handle };

	return stack_pools[parts.pool_index_plus_1 - 1] +
	       ((size_t)parts.offset << DEPOT_STACK_ALIGN);
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_test_record);
#endif
