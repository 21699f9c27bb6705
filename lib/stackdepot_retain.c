// SPDX-License-Identifier: GPL-2.0
/*
 * Evictable records of the stack depot: records that are retained without a reference. See
 * stackdepot_evict.h.
 */

#define pr_fmt(fmt) "stackdepot: " fmt

#include <kunit/visibility.h>
#include <linux/build_bug.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/printk.h>
#include <linux/rculist.h>
#include <linux/refcount.h>

#include "stackdepot_evict.h"

/* Records that are freed under the lock at a time. */
#define RETAINED_BATCH		32U

/* The pointers of a record in the list overlay its counters. */
static_assert(STACK_DEPOT_COUNTERS * sizeof(atomic_long_t) >= sizeof(struct list_head));

/* Remove @rec from the retained records. The caller holds depot->lock. */
static void depot_remove_retained(struct evictable_depot *depot, struct stack_record *rec)
{
	u8 *unit = depot_find_unit(depot_find_pool(rec), rec);

	WRITE_ONCE(*unit, *unit & ~UNIT_RETAINED);
	list_del(&rec->free_list);
	WRITE_ONCE(depot->nr_retained, depot->nr_retained - 1);
}

/* Free the record that was retained first. The caller holds depot->lock. */
static void depot_free_first_retained(struct evictable_depot *depot)
{
	struct stack_record *rec = list_first_entry(&depot->retained, struct stack_record,
						    free_list);

	depot_remove_retained(depot, rec);
	stack_depot_free_record(depot, rec);
}

/* Free some of the records that were retained first. The caller holds depot->lock. */
void stack_depot_free_retained_batch(struct evictable_depot *depot)
{
	for (unsigned int i = 0; i < RETAINED_BATCH && depot->nr_retained; i++)
		depot_free_first_retained(depot);
}

/* Return true if two records have the same words. memcmp() may be instrumented. */
static bool depot_have_same_words(struct stack_record *a, struct stack_record *b)
{
	const u32 *x = depot_find_frames(a, a->hash), *y = depot_find_frames(b, b->hash);

	if (a->hash != b->hash || a->size != b->size)
		return false;
	for (unsigned int i = a->size * depot_frame_size(a->hash) / sizeof(*x); i--; )
		if (x[i] != y[i])
			return false;
	return true;
}

/* Return true if another record has the words of @rec. */
static bool depot_has_twin(struct evictable_depot *depot, struct stack_record *rec)
{
	struct stack_record *twin;

	hlist_for_each_entry(twin, &depot->table[rec->hash & depot->mask], hash_node)
		if (twin != rec && depot_have_same_words(twin, rec))
			return true;
	return false;
}

/*
 * Retain @rec, whose last reference was dropped, or free it. Meanwhile, a save may have
 * stored its words anew: words have one record, so free this one. Any context.
 */
noinline void stack_depot_retain_record(struct evictable_depot *depot, struct stack_record *rec)
{
	struct evictable_pool *pool = depot_find_pool(rec);
	u8 *unit = depot_find_unit(pool, rec);
	unsigned long irqflags;

	if (!(rec->hash & HASH_COUNTED) || in_nmi()) {
		stack_depot_release_record(depot, rec);
		return;
	}

	raw_spin_lock_irqsave(&depot->lock, irqflags);
	printk_deferred_enter();
	if (depot->refusal[pool->class].why != DEPOT_NOT_REFUSED || depot_has_twin(depot, rec)) {
		stack_depot_free_record(depot, rec);
	} else {
		WRITE_ONCE(*unit, *unit | UNIT_RETAINED);
		list_add_tail(&rec->free_list, &depot->retained);
		WRITE_ONCE(depot->nr_retained, depot->nr_retained + 1);
		if (depot->nr_retained > DEPOT_RETAINED_MAX)
			depot_free_first_retained(depot);
	}
	printk_deferred_exit();
	raw_spin_unlock_irqrestore(&depot->lock, irqflags);
}

/* Take @n references to retained record @rec. The caller holds depot->lock. */
void stack_depot_revive_record(struct evictable_depot *depot, struct stack_record *rec,
			       unsigned int n)
{
	lockdep_assert_held(&depot->lock);
	depot_remove_retained(depot, rec);
	depot_clear_counters(rec);
	depot->revivals++;
	/*
	 * Order the unit and the counters before the count. Pairs with the acquire in
	 * depot_find_record() and depot_get_refs().
	 */
	refcount_set_release(&rec->count, n);
}

/* Free the records of @depot that are retained now. */
void stack_depot_free_retained_of(struct evictable_depot *depot)
{
	unsigned int batches = DIV_ROUND_UP(READ_ONCE(depot->nr_retained), RETAINED_BATCH);
	unsigned long irqflags;

	for (; batches; batches--) {
		raw_spin_lock_irqsave(&depot->lock, irqflags);
		printk_deferred_enter();
		stack_depot_free_retained_batch(depot);
		printk_deferred_exit();
		raw_spin_unlock_irqrestore(&depot->lock, irqflags);
	}
}
EXPORT_SYMBOL_IF_KUNIT(stack_depot_free_retained_of);

void stack_depot_free_retained(void)
{
	stack_depot_free_retained_of(&stack_depot_evictable);
}
