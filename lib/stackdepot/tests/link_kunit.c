// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the stack depot: records whose last word is a link to another record.
 */

#include <linux/irq_work.h>
#include <linux/preempt.h>

#include "evict_kunit.h"

#define WORDS		4
#define NO_LINK		BIT_ULL(40)

static depot_stack_handle_t save_linked(struct evictable_depot *depot, u64 last)
{
	unsigned long words[WORDS] = { 1, 2, 3, last };

	return stack_depot_test_save(depot, words, WORDS, GFP_KERNEL,
				     DATA_ALLOC | DEPOT_FLAG_LINKED);
}

/* Free a linked record, in NMI if @nmi: the record that it links to is freed, too. */
static void free_linked_record(struct kunit *test, bool nmi)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t chain, linked;
	unsigned long flags;

	chain = save_stack(depot, 8, 1, DATA_ALLOC);
	KUNIT_ASSERT_NE(test, chain, 0);
	linked = save_linked(depot, chain);
	KUNIT_ASSERT_NE(test, linked, 0);
	KUNIT_EXPECT_EQ(test, read_refcount(chain), 2);
	/* Equal words are the same record, which has one reference to the chain. */
	KUNIT_EXPECT_EQ(test, save_linked(depot, chain), linked);
	KUNIT_EXPECT_EQ(test, read_refcount(chain), 2);
	stack_depot_put(linked);
	stack_depot_put(chain);
	KUNIT_EXPECT_EQ(test, read_refcount(chain), 1);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 2);

	if (nmi) {
		/* Pretend that an NMI interrupted this CPU while it held the lock. */
		raw_spin_lock_irqsave(&depot->lock, flags);
		__preempt_count_add(NMI_OFFSET);
		stack_depot_put(linked);
		__preempt_count_sub(NMI_OFFSET);
		raw_spin_unlock_irqrestore(&depot->lock, flags);
		irq_work_sync(&depot->work);
	} else {
		stack_depot_put(linked);
	}
	KUNIT_EXPECT_FALSE(test, stack_depot_get(chain));
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_EQ(test, depot->data_bytes, 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}

void stack_depot_test_link(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "words have 32 bits: each is a link");
	free_linked_record(test, false);
	free_linked_record(test, true);
}

/* A record gets its link later, or a number that is none. */
void stack_depot_test_set_link(struct kunit *test)
{
	struct evictable_depot *depot = create_test_depot(test, SMALL_DEPOT);
	depot_stack_handle_t chain, linked, other;

	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "words have 32 bits: each is a link");
	chain = save_stack(depot, 8, 1, DATA_ALLOC);
	linked = save_linked(depot, NO_LINK);
	other = save_linked(depot, NO_LINK + 1);
	KUNIT_ASSERT_TRUE(test, chain && linked && other);
	KUNIT_EXPECT_NE(test, linked, other);
	KUNIT_EXPECT_EQ(test, read_refcount(chain), 1);

	stack_depot_set_link(linked, chain);
	KUNIT_EXPECT_EQ(test, stack_depot_frame(linked, WORDS - 1), chain);
	KUNIT_EXPECT_EQ(test, read_refcount(chain), 2);
	stack_depot_put(chain);
	stack_depot_put(linked);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(chain));

	stack_depot_set_link(other, NO_LINK + 2);
	KUNIT_EXPECT_EQ(test, stack_depot_frame(other, WORDS - 1), NO_LINK + 2);
	stack_depot_put(other);
	KUNIT_EXPECT_EQ(test, stack_depot_test_in_use(depot), 0);
	KUNIT_EXPECT_TRUE(test, stack_depot_test_destroy(depot));
}
