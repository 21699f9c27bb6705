// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: NMI, interrupts and raw spinlocks, and cost.
 */

#include <linux/bottom_half.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/timex.h>

#include "evict_kunit.h"

/*
 * In NMI a stack that is stored already is found; any other one is refused and counted.
 * Dropping the last reference in NMI does not take the lock; irq_work frees the record.
 * Counters need no lock.
 */
void stack_depot_test_nmi(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t handle, in_nmi_handle, in_nmi_found, counted;
	unsigned long flags, in_use;
	long counters[STACK_DEPOT_COUNTERS];
	bool got;

	handle = save_stack(depot, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);
	/* Not in the class of the other record. */
	counted = save_stack(depot, MAX_FRAMES, 1, COUNT_ALLOC);
	KUNIT_ASSERT_NE(test, counted, 0);

	/* Pretend that an NMI interrupted this CPU while it held the lock. */
	stack_depot_lock(&depot->lock, &flags);
	__preempt_count_add(NMI_OFFSET);
	in_nmi_handle = save_stack(depot, 8, 2, GET);
	in_nmi_found = save_stack(depot, 8, 1, GET);
	stack_depot_put_many(handle, 2);
	add_to_counters(counted, 1, 2, 3);
	got = stack_depot_counters(counted, counters);
	in_use = depot->class[stack_depot_size_class(8, 0)].in_use;
	__preempt_count_sub(NMI_OFFSET);
	stack_depot_unlock(&depot->lock, flags);

	KUNIT_EXPECT_EQ(test, in_nmi_handle, 0);
	KUNIT_EXPECT_EQ(test, in_nmi_found, handle);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_NMI), 1);
	KUNIT_EXPECT_EQ(test, in_use, 1);
	KUNIT_EXPECT_TRUE(test, got && counters[2] == 3);
	KUNIT_EXPECT_TRUE(test, handle_has_counters(counted, 1, 2, 3));
	stack_depot_put(counted);
	irq_work_sync(&depot->work);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
	/* With PREEMPT_RT, a CPU that goes offline runs only hard ones. */
	KUNIT_EXPECT_TRUE(test, irq_work_is_hard(&stack_depot_evictable.work));
}

/*
 * A trace event saves a stack while its CPU waits for a lock of the depot: as in NMI, without the
 * lock. stack_depot_lock() marks this CPU, whichever lock it takes: depot->lock stays free here.
 */
void stack_depot_test_traced(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t handle, traced_handle, traced_found;
	unsigned long flags, in_use;
	raw_spinlock_t lock;
	bool may_lock;

	raw_spin_lock_init(&lock);
	handle = save_stack(depot, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);

	stack_depot_lock(&lock, &flags);
	traced_handle = save_stack(depot, 8, 2, GET);
	traced_found = save_stack(depot, 8, 1, GET);
	stack_depot_put_many(handle, 2);
	in_use = depot->class[stack_depot_size_class(8, 0)].in_use;
	may_lock = stack_depot_may_lock();
	stack_depot_unlock(&lock, flags);

	KUNIT_EXPECT_EQ(test, traced_handle, 0);
	KUNIT_EXPECT_EQ(test, traced_found, handle);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_NMI), 1);
	KUNIT_EXPECT_EQ(test, in_use, 1);
	irq_work_sync(&depot->work);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_FALSE(test, may_lock);
	KUNIT_EXPECT_TRUE(test, stack_depot_may_lock());
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Where no lock may be waited for, a stack is stored if the lock is free and this CPU holds none.
 * Dropping the last reference does not take the lock.
 */
void stack_depot_test_forbidden(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t handle, stored, refused;
	unsigned long flags, in_use;

	handle = save_stack(depot, 8, 1, GET_ALLOC);
	KUNIT_ASSERT_NE(test, handle, 0);

	/* irq_work must not free the record before it is counted. */
	local_irq_save(flags);
	stack_depot_forbid_locks();
	stored = save_stack(depot, 8, 2, GET);
	stack_depot_put(stored);
	in_use = depot->class[stack_depot_size_class(8, 0)].in_use;
	stack_depot_allow_locks();
	local_irq_restore(flags);
	KUNIT_EXPECT_NE(test, stored, 0);
	KUNIT_EXPECT_EQ(test, in_use, 2);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_NMI), 0);

	stack_depot_lock(&depot->lock, &flags);
	stack_depot_forbid_locks();
	refused = save_stack(depot, 8, 3, GET);
	stack_depot_allow_locks();
	stack_depot_unlock(&depot->lock, flags);
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_EQ(test, read_refusals(depot, DEPOT_REFUSED_NMI), 1);

	stack_depot_put(handle);
	irq_work_sync(&depot->work);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

struct hardirq_case {
	struct irq_work work;
	struct evictable_depot *depot;
	int failed;
};

/* Save a stack, get and put references as an allocator does. Return the failures. */
static int save_get_and_put_stack(struct evictable_depot *depot, depot_flags_t flags, gfp_t gfp)
{
	unsigned long entries[8];
	int failed = 0;

	for (u32 id = 0; id < 300; id++) {
		depot_stack_handle_t handle;

		fill_stack(entries, 8, id);
		handle = stack_depot_test_save(depot, entries, 8, gfp, flags);
		failed += !handle || !stack_depot_get(handle);
		stack_depot_put_many(handle, 2);
	}
	return failed;
}

static void run_in_hardirq(struct irq_work *work)
{
	struct hardirq_case *c = container_of(work, struct hardirq_case, work);

	c->failed = save_get_and_put_stack(c->depot, GET_ALLOC, GFP_ATOMIC);
}

/* Save in softirq, in hardirq and under a raw spinlock, for lockdep to check. */
void stack_depot_test_contexts(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, 8 * SMALL_DEPOT);
	static DEFINE_RAW_SPINLOCK(lock);
	struct hardirq_case c = { .depot = depot, .failed = -1 };
	depot_stack_handle_t handle;
	unsigned long flags;
	int failed;

	local_bh_disable();
	failed = save_get_and_put_stack(depot, GET_ALLOC, GFP_ATOMIC);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, failed, 0);

	/* With PREEMPT_RT this irq_work runs in a thread, which may allocate. */
	init_irq_work(&c.work, run_in_hardirq);
	irq_work_queue(&c.work);
	irq_work_sync(&c.work);
	KUNIT_EXPECT_EQ(test, c.failed, 0);

	/* Without STACK_DEPOT_FLAG_CAN_ALLOC the stack may be refused. */
	raw_spin_lock_irqsave(&lock, flags);
	handle = save_stack(depot, 8, 1000, GET);
	failed = handle && !stack_depot_get(handle);
	if (handle)
		stack_depot_put_many(handle, 2);
	raw_spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_EQ(test, failed, 0);

	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

/*
 * Print the cost of the hot operations in cycles, which are instructions under a
 * simulator whose cycle counter counts instructions.
 */
void stack_depot_test_cost(struct kunit *test)
{
	static const unsigned int depths[] = { 1, 4, 8, 16 };
	const unsigned int loops = 1000;

	for (unsigned int d = 0; d < ARRAY_SIZE(depths); d++) {
		unsigned int nr = min(depths[d], MAX_FRAMES);
		unsigned long entries[16];
		depot_stack_handle_t handle, keep;
		cycles_t start, t[4];

		fill_stack(entries, nr, 5000 + d);
		keep = stack_depot_save(entries, nr, GFP_KERNEL);
		handle = stack_depot_save_flags(entries, nr, GFP_KERNEL, GET_ALLOC);
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_ASSERT_NE(test, keep, 0);

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_save_flags(entries, nr, GFP_KERNEL,
					       STACK_DEPOT_FLAG_CAN_ALLOC);
		t[0] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_save_flags(entries, nr, GFP_KERNEL, GET_ALLOC);
		t[1] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			stack_depot_put(handle);
		t[2] = get_cycles() - start;

		start = get_cycles();
		for (unsigned int i = 0; i < loops; i++)
			(void)stack_depot_get(handle);
		t[3] = get_cycles() - start;

		stack_depot_put_many(handle, loops + 1);
		kunit_info(test, "depth %u: persistent hit %llu, evictable hit %llu, put %llu, get %llu\n",
			   nr, (u64)t[0] / loops, (u64)t[1] / loops,
			   (u64)t[2] / loops, (u64)t[3] / loops);
	}
}
