/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit tests of the stack depot's evictable records: helpers, and the tests that
 * evict_kunit.c runs.
 *
 * A test that depends on a bound or on exact counts creates its own instance, so
 * that other users of the depot do not disturb it. The entries of a stack are
 * computed from its number, the id, so that a reader can check which stack it got.
 */

#ifndef _LIB_STACKDEPOT_EVICT_KUNIT_H
#define _LIB_STACKDEPOT_EVICT_KUNIT_H

#include <kunit/test.h>
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/string.h>

#include "../evict.h"

#define MAX_FRAMES	CONFIG_STACKDEPOT_MAX_FRAMES
/* Bound of an instance that few stacks fill: 256 KiB, or more if pages are large. */
#define SMALL_DEPOT	(16 * POOL_BYTES)
#define GET		STACK_DEPOT_FLAG_GET
#define GET_ALLOC	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_CAN_ALLOC)
#define COUNT_ALLOC	(GET_ALLOC | STACK_DEPOT_FLAG_COUNT)
#define DATA_ALLOC	(GET_ALLOC | STACK_DEPOT_FLAG_DATA)

/*
 * The first frame of stack 0. It can be packed, as all frames of all stacks can be, and
 * is not in the kernel's text, which has interrupt entries.
 */
#define FRAME_0		(DEPOT_FRAME_BASE + 0x70000000UL)

/* Fill @entries with the @nr frames of stack @id. Stacks of different ids differ. */
static inline void fill_stack(unsigned long *entries, unsigned int nr, u32 id)
{
	for (unsigned int i = 0; i < nr; i++)
		entries[i] = FRAME_0 - BIT(28) + (hash_32(id + i * 0x9e37U, 22) << 3);
	entries[0] = FRAME_0 + id;
}

/* Return true if @handle leads to stack @id of depth @nr. */
static inline bool handle_has_stack(depot_stack_handle_t handle, unsigned int nr, u32 id)
{
	unsigned long want[MAX_FRAMES], found[MAX_FRAMES];

	fill_stack(want, nr, id);
	return stack_depot_copy(handle, found, MAX_FRAMES) == nr &&
	       !memcmp(found, want, nr * sizeof(*want));
}

/* The reference count of the record of @handle. */
static inline unsigned int read_refcount(depot_stack_handle_t handle)
{
	return refcount_read(&stack_depot_test_record(handle)->count);
}

static inline depot_stack_handle_t save_stack(struct evictable_depot *depot, unsigned int nr,
					      u32 id, depot_flags_t flags)
{
	unsigned long entries[MAX_FRAMES];

	fill_stack(entries, nr, id);
	return stack_depot_test_save(depot, entries, nr, GFP_KERNEL, flags);
}

/*
 * Wait until the memory freed so far can be reused. During boot, grace periods
 * are expedited, and one expedited grace period may not satisfy a polled cookie.
 */
static inline void wait_for_grace_period(void)
{
	unsigned long state = get_state_synchronize_rcu();

	do {
		synchronize_rcu();
	} while (!poll_state_synchronize_rcu(state));
}

/* Save a stack; if it is refused, wait for a grace period and try again. */
static inline depot_stack_handle_t save_stack_or_wait(struct evictable_depot *depot,
						      unsigned int nr, u32 id, unsigned long *waits)
{
	for (int tries = 0; tries < 4; tries++) {
		depot_stack_handle_t handle = save_stack(depot, nr, id, GET_ALLOC);

		if (handle)
			return handle;
		wait_for_grace_period();
		++*waits;
	}
	return 0;
}

/* The size class of a stack of @nr frames with counters. */
static inline unsigned int get_counted_size_class(unsigned int nr)
{
	return stack_depot_size_class(nr, HASH_COUNTED | HASH_PACKED);
}

/* Return true if the counters of @handle are @a, @b, @c and @a - @b. */
static inline bool handle_has_counters(depot_stack_handle_t handle, long a, long b, long c)
{
	long counters[STACK_DEPOT_COUNTERS];

	return stack_depot_counters(handle, counters) && counters[0] == a &&
	       counters[1] == b && counters[2] == c && counters[3] == a - b;
}

static inline void add_to_counters(depot_stack_handle_t handle, long a, long b, long c)
{
	stack_depot_count(handle, (const long[]){ a, b, c, a - b });
}

static inline unsigned long read_refusals(struct evictable_depot *depot, enum depot_refusal why)
{
	return stack_depot_count_refusals(depot, why);
}

static inline struct evictable_depot *create_test_depot(struct kunit *test, size_t bytes)
{
	struct evictable_depot *depot = stack_depot_test_create(bytes);

	if (!depot)
		kunit_skip(test, "no memory, or none left within the depot's bound");
	return depot;
}

/* Return true if two handles name the same slot of a pool, in any generation of the slot. */
static inline bool is_same_slot(depot_stack_handle_t a, depot_stack_handle_t b)
{
	union handle_parts x = { .handle = a }, y = { .handle = b };

	return x.pool_index_plus_1 == y.pool_index_plus_1 && x.offset == y.offset;
}

/* save_kunit.c */
void stack_depot_test_counts(struct kunit *test);
void stack_depot_test_too_deep(struct kunit *test);
void stack_depot_test_find_stack(struct kunit *test);
void stack_depot_test_late_table(struct kunit *test);
void stack_depot_test_copy(struct kunit *test);
void stack_depot_test_kinds_apart(struct kunit *test);
void stack_depot_test_raw(struct kunit *test);
void stack_depot_test_fetch_bounds(struct kunit *test);
void stack_depot_test_packed(struct kunit *test);
void stack_depot_test_print(struct kunit *test);
void stack_depot_test_collision(struct kunit *test);

/* counted_kunit.c */
void stack_depot_test_counted_apart(struct kunit *test);
void stack_depot_test_counted_zero(struct kunit *test);
void stack_depot_test_counted_deepest(struct kunit *test);
void stack_depot_test_counted_bound(struct kunit *test);

/* reuse_kunit.c */
void stack_depot_test_stale_handle(struct kunit *test);
void stack_depot_test_reader(struct kunit *test);
void stack_depot_test_kick(struct kunit *test);

/* bound_kunit.c */
void stack_depot_test_bound(struct kunit *test);
void stack_depot_test_full_large(struct kunit *test);
void stack_depot_test_data_share(struct kunit *test);
void stack_depot_test_fifth_pool(struct kunit *test);
void stack_depot_test_give(struct kunit *test);
void stack_depot_test_reserve(struct kunit *test);
void stack_depot_test_million(struct kunit *test);
void stack_depot_test_memory(struct kunit *test);

/* context_kunit.c */
void stack_depot_test_nmi(struct kunit *test);
void stack_depot_test_traced(struct kunit *test);
void stack_depot_test_forbidden(struct kunit *test);
void stack_depot_test_contexts(struct kunit *test);
void stack_depot_test_cost(struct kunit *test);

/* link_kunit.c */
void stack_depot_test_link(struct kunit *test);
void stack_depot_test_set_link(struct kunit *test);

/* stress_kunit.c */
void stack_depot_test_stress(struct kunit *test);
void stack_depot_test_taken_back(struct kunit *test);
void stack_depot_test_next_counted(struct kunit *test);

#endif /* _LIB_STACKDEPOT_EVICT_KUNIT_H */
