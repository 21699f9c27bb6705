// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of page_owner: records of pages that the test allocates, frees, splits and
 * copies; and the depot's reference counts and page counters, compared with what all
 * records and CPU caches hold.
 */

#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/kmsg_dump.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "../../internal.h"
#include "../capture.h"
#include "../compat.h"
#include "../page/page.h"
#include "../slab/compat.h"
#include "../totals.h"
#include "../walk.h"
#include "chain.h"
#include "page_reader_kunit.h"
#include "write_rules.h"

/* Return true if slab records exist: they hold references to call chains, like page records. */
static bool slab_owner_is_on(void)
{
#ifdef CONFIG_SLAB_OWNER
	return static_branch_unlikely(&slab_owner_key);
#else
	return false;
#endif
}

/*
 * Return page_owner's record of @page. Read it without a lock: the test has allocated the
 * page, so nobody changes the record.
 */
static struct page_owner read_page_record(struct page *page, unsigned long *flags)
{
	struct page_ext *ext = page_ext_get(page);
	struct page_owner owner = *(struct page_owner *)page_ext_data(ext, &page_owner_ops);

	*flags = ext->flags;
	page_ext_put(ext);
	return owner;
}

static bool is_page_owned(struct page *page)
{
	unsigned long flags;

	read_page_record(page, &flags);
	return flags & BIT(PAGE_EXT_OWNER_ALLOCATED);
}

static noinline struct page *plant_pages(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	/* Prevent a tail call, so that plant_pages() is in the call chain. */
	barrier();
	return page;
}

static noinline struct page *plant_pages_by_other_chain(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	barrier();
	return page;
}

static noinline void free_planted_pages(struct page *page, unsigned int order)
{
	__free_pages(page, order);
	barrier();
}

/* Sum the depot's page counters of all chains that have a frame in @function. */
static unsigned long count_pages_of_function(struct kunit *test, void *function)
{
	struct owner_chain_totals totals = {};
	struct owner_chain_total *total;
	unsigned long found = 0;

	KUNIT_EXPECT_EQ(test, owner_collect_chains(&totals, OWNER_KIND_PAGE, NULL), 0);
	for (total = totals.total; total < totals.total + totals.count; total++)
		if (chain_has_function(total->stack, function))
			found += total->estimate.objects;
	owner_free_chain_totals(&totals);
	return found;
}

static void test_has_owner(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL | __GFP_ZERO, 0);
	struct page_owner owner;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	owner = read_page_record(page, &flags);
	KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle, plant_pages));
	KUNIT_EXPECT_EQ(test, owner.order, 0);
	KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_ZERO));
	KUNIT_EXPECT_EQ(test, owner.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, owner.comm, current->comm);
	KUNIT_EXPECT_EQ(test, owner.last_migrate_reason, OWNER_PAGE_NOT_MIGRATED);
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER));
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	free_planted_pages(page, 0);
}

/* A free page keeps its record, for dump_page(). */
static void test_freed(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL, 3);
	struct page_owner owner;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	/* The pages stay on this CPU's free list while the test cannot be preempted. */
	preempt_disable();
	free_planted_pages(page, 3);
	for (i = 0; i < 8; i++) {
		owner = read_page_record(page + i, &flags);
		if (flags & BIT(PAGE_EXT_OWNER_ALLOCATED))
			continue;
		KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle, plant_pages));
		KUNIT_EXPECT_TRUE(test, chain_has_function(owner.free_handle, free_planted_pages));
		KUNIT_EXPECT_EQ(test, owner.free_pid, current->pid);
	}
	preempt_enable();
}

static void test_split(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL, 3);
	struct page_owner owner;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, read_page_record(page + i, &flags).order, 3);
	split_page(page, 3);
	for (i = 0; i < 4; i++)
		free_planted_pages(page + i, 0);
	for (i = 4; i < 8; i++) {
		owner = read_page_record(page + i, &flags);
		KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
		KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle, plant_pages));
		KUNIT_EXPECT_EQ(test, owner.order, 0);
		free_planted_pages(page + i, 0);
	}
}

static void test_folio_copy(struct kunit *test)
{
	struct page *from = plant_pages(GFP_KERNEL | __GFP_COMP, 2);
	struct page *to = plant_pages_by_other_chain(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, 2);
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, from);
	KUNIT_ASSERT_NOT_NULL(test, to);
	folio_copy_owner(page_folio(to), page_folio(from));
	for (i = 0; i < 4; i++) {
		struct page_owner owner = read_page_record(to + i, &flags);

		KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle, plant_pages));
		KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_COMP));
		owner = read_page_record(from + i, &flags);
		KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle,
							   plant_pages_by_other_chain));
	}
	free_planted_pages(from, 2);
	KUNIT_EXPECT_TRUE(test, is_page_owned(to));
	free_planted_pages(to, 2);
}

/* --- Rules -------------------------------------------------------------------- */

static unsigned int get_chain_depth(struct page *page, unsigned long *first)
{
	unsigned long flags;

	*first = 0;
	return stack_depot_copy(read_page_record(page, &flags).handle, first, 1);
}

static void test_depth(struct kunit *test)
{
	struct page *few, *many, *none, *other;
	unsigned long first, flags;
	int error;

	error = write_rules("depth=3 if kind == page && order == 2; "
			    "depth=40 if kind == page && order == 1; "
			    "track=off if kind == page && order == 3");
	few = plant_pages(GFP_KERNEL, 2);
	many = plant_pages(GFP_KERNEL, 1);
	none = plant_pages(GFP_KERNEL, 3);
	other = plant_pages(GFP_KERNEL, 0);
	write_rules("clear");
	KUNIT_ASSERT_EQ(test, error, 0);
	KUNIT_ASSERT_TRUE(test, few && many && none && other);

	KUNIT_EXPECT_EQ(test, get_chain_depth(few, &first), 3);
	KUNIT_EXPECT_FALSE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_TRUE(test, chain_has_function(read_page_record(few, &flags).handle,
						   plant_pages));
	KUNIT_EXPECT_LE(test, get_chain_depth(many, &first), 40);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_GT(test, get_chain_depth(other, &first), 3);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	read_page_record(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER));
	free_planted_pages(few, 2);
	free_planted_pages(many, 1);
	free_planted_pages(none, 3);
	read_page_record(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	free_planted_pages(other, 0);
}

/* A migrated folio is tracked if the source folio was tracked, and is counted for its chain. */
static void check_untracked_folio_migration(struct kunit *test, bool into_untracked)
{
	struct page *tracked, *untracked;
	unsigned long flags;
	int error;

	tracked = plant_pages(GFP_KERNEL | __GFP_COMP, 3);
	error = write_rules("track=off if kind == page && order == 3");
	untracked = plant_pages_by_other_chain(GFP_KERNEL | __GFP_COMP, 3);
	write_rules("clear");
	KUNIT_ASSERT_EQ(test, error, 0);
	KUNIT_ASSERT_TRUE(test, tracked && untracked);
	KUNIT_EXPECT_TRUE(test, is_page_owned(tracked));
	KUNIT_EXPECT_FALSE(test, is_page_owned(untracked));
	if (into_untracked)
		folio_copy_owner(page_folio(untracked), page_folio(tracked));
	else
		folio_copy_owner(page_folio(tracked), page_folio(untracked));
	KUNIT_EXPECT_TRUE(test, chain_has_function(read_page_record(untracked, &flags).handle,
						   plant_pages));
	KUNIT_EXPECT_FALSE(test, chain_has_function(read_page_record(tracked, &flags).handle,
						    plant_pages));
	KUNIT_EXPECT_EQ(test, is_page_owned(into_untracked ? untracked : tracked), into_untracked);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), into_untracked ? 8 : 0);
	free_planted_pages(tracked, 3);
	free_planted_pages(untracked, 3);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
}

static void test_untracked_copy(struct kunit *test)
{
	skip_without_rules();
	check_untracked_folio_migration(test, true);
	check_untracked_folio_migration(test, false);
}

/* --- Interrupts ---------------------------------------------------------------- */

static struct page *interrupt_page;
static bool interrupted;

static noinline void plant_page_in_interrupt(struct irq_work *work)
{
	interrupt_page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN, 0);
	WRITE_ONCE(interrupted, true);
}

/*
 * A page that an interrupt handler allocates is owned by the chain of the handler, also if
 * the interrupted task is inside page_owner.
 */
static void test_interrupt_is_owner(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT(plant_page_in_interrupt);
	struct page_owner owner;
	unsigned long flags;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "no interrupt allocates pages");
	interrupted = false;
	/* The work must interrupt this task. */
	preempt_disable();
	current->in_page_owner |= BIT(0);
	irq_work_queue(&work);
	while (!READ_ONCE(interrupted))
		cpu_relax();
	current->in_page_owner &= ~BIT(0);
	preempt_enable();
	irq_work_sync(&work);
	KUNIT_ASSERT_NOT_NULL(test, interrupt_page);
	owner = read_page_record(interrupt_page, &flags);
	KUNIT_EXPECT_TRUE(test, chain_has_function(owner.handle, plant_page_in_interrupt));
	free_planted_pages(interrupt_page, 0);
}

/* Pages that page_owner allocates for the depot get dummy_handle. */
static void test_own_pages(struct kunit *test)
{
	unsigned long flags;
	struct page *page;

	current->in_page_owner |= BIT(0);
	page = plant_pages(GFP_KERNEL, 0);
	current->in_page_owner &= ~BIT(0);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_FALSE(test, chain_has_function(read_page_record(page, &flags).handle,
						    plant_pages));
	KUNIT_EXPECT_TRUE(test, is_page_owned(page));
	free_planted_pages(page, 0);
}

/* --- Counters of pages --------------------------------------------------------- */

static void test_totals(struct kunit *test)
{
	unsigned int i, orders[] = { 0, 0, 1, 6 }, planted = 0;
	struct page *pages[ARRAY_SIZE(orders)];

	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		pages[i] = plant_pages(GFP_KERNEL, orders[i]);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
		planted += 1 << orders[i];
	}
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), planted);
	/* Free the pages one by one. */
	split_page(pages[3], 6);
	for (i = 0; i < 64; i++) {
		free_planted_pages(pages[3] + i, 0);
		KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), --planted);
	}
	for (i = 0; i < 3; i++)
		free_planted_pages(pages[i], orders[i]);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);

	/* Allocate 64 pages at once: more than page_owner updates in one batch. */
	pages[0] = plant_pages(GFP_KERNEL, 6);
	KUNIT_ASSERT_NOT_NULL(test, pages[0]);
	KUNIT_EXPECT_TRUE(test, is_page_owned(pages[0] + 63));
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 64);
	free_planted_pages(pages[0], 6);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
}

static noinline void record_pages_again(struct page *page, unsigned int order)
{
	set_page_owner(page, order, GFP_KERNEL);
	barrier();
}

/*
 * If page_owner records an allocation of pages that its records show as allocated, it must
 * count these pages for the second chain only.
 */
static void test_counted_once(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL, 2);

	KUNIT_ASSERT_NOT_NULL(test, page);
	record_pages_again(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, record_pages_again), 4);
	free_planted_pages(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, record_pages_again), 0);
}

/*
 * Of gigantic pages that are allocated at boot, the first page is reserved and has no record.
 * When they are freed, the other pages must not stay counted.
 */
static void test_first_is_untracked(struct kunit *test)
{
	const long one_less[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = -1 };
	struct page *page = plant_pages(GFP_KERNEL, 2);
	struct page_ext *ext;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	stack_depot_count(read_page_record(page, &flags).handle, one_less);
	ext = page_ext_get(page);
	ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	page_ext_put(ext);
	free_planted_pages(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
}

/* dump_page() must not free a chain, which may take a lock that the oops has interrupted. */
static void test_oops_keeps_chain(struct kunit *test)
{
	unsigned long frames[] = { (unsigned long)test_oops_keeps_chain, _THIS_IP_ };
	depot_stack_handle_t handle;

	handle = stack_depot_save_flags(frames, ARRAY_SIZE(frames), GFP_KERNEL,
					PAGE_OWNER_DEPOT_FLAGS);
	KUNIT_ASSERT_NE(test, handle, 0);
	KUNIT_EXPECT_FALSE(test, page_owner_put_stack_oops(handle));
	KUNIT_ASSERT_TRUE(test, stack_depot_get(handle));
	KUNIT_EXPECT_TRUE(test, page_owner_put_stack_oops(handle));
	stack_depot_put(handle);
	KUNIT_EXPECT_TRUE(test, page_owner_put_stack_oops(0));
}

/* dump_page() prints the name of a task without its control characters. */
static void test_dumped_name(struct kunit *test)
{
	char *text = kunit_kzalloc(test, SZ_8K, GFP_KERNEL), comm[TASK_COMM_LEN];
	static const char name[TASK_COMM_LEN] = "a\033b\n";
	struct kmsg_dump_iter iter;
	struct page *page;
	size_t length = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	get_task_comm(comm, current);
	set_task_comm(current, name);
	page = plant_pages(GFP_KERNEL, 0);
	set_task_comm(current, comm);
	KUNIT_ASSERT_NOT_NULL(test, page);
	dump_page_owner(page);
	kmsg_dump_rewind(&iter);
	kmsg_dump_get_buffer(&iter, false, text, SZ_8K - 1, &length);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "(a\\033b\\012), ts "));
	free_planted_pages(page, 0);
}

/* If the record of one page of an allocation is missing, the other pages are still counted. */
static void test_counts_each_page(struct kunit *test)
{
	const long one_less[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = -1 };
	struct page *page = plant_pages(GFP_KERNEL, 2);
	depot_stack_handle_t handle;
	struct page_ext *ext;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	handle = read_page_record(page, &flags).handle;
	ext = page_ext_get(page + 2);
	ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	page_ext_put(ext);
	stack_depot_count(handle, one_less);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 3);
	free_planted_pages(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages_of_function(test, plant_pages), 0);
}

/* The cursor over pages reports the cache of a slab page, its objects and tracked objects. */
static void test_serves_slab(struct kunit *test)
{
	struct owner_cursor cursor = { .ops = &owner_page_source };
	struct owner_object found;
	struct kmem_cache *cache;
	unsigned long pfn;
	void *object;

	if (!IS_ENABLED(CONFIG_SLAB_OWNER_RULES))
		kunit_skip(test, "the walk over pages needs CONFIG_SLAB_OWNER_RULES");
	cache = kmem_cache_create("owner_kunit", 200, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	/* The slab counts free objects in sheaves as used. Empty the sheaves. */
	if (owner_count_hidden_in_cache(cache))
		kmem_cache_shrink(cache);
	KUNIT_EXPECT_EQ(test, owner_count_hidden_in_cache(cache), 0);
	pfn = page_to_pfn(virt_to_head_page(object));
	cursor.pos = pfn;
	owner_cursor_begin(&cursor);
	KUNIT_EXPECT_EQ(test, owner_cursor_next(&cursor, &found), 1);
	KUNIT_EXPECT_EQ(test, found.pfn, pfn);
	KUNIT_EXPECT_STREQ(test, found.cache ?: "", "owner_kunit");
	KUNIT_EXPECT_EQ(test, found.pages.objects, 1);
	KUNIT_EXPECT_EQ(test, found.pages.owned, slab_owner_is_on());
	owner_cursor_end(&cursor);
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

/* --- References ----------------------------------------------------------------- */

#define COUNT_BITS	16

struct handle_tally {
	depot_stack_handle_t handle;
	unsigned int references;
	long pages;			/* allocated */
};

struct reference_check {
	struct handle_tally *counts;
	unsigned int pages;
	unsigned int chains;
	unsigned int surplus;
	unsigned int wrong;
	struct handle_tally first_wrong;
	unsigned int first_wrong_count;
	unsigned int miscounted;
	struct handle_tally first_miscounted;
	long first_miscounted_pages;
};

static void add_handle_references(struct reference_check *counting, depot_stack_handle_t handle,
				  unsigned int references, long pages)
{
	u32 at = hash_32(handle, COUNT_BITS);

	if (!handle)
		return;
	while (counting->counts[at].handle && counting->counts[at].handle != handle)
		at = (at + 1) % BIT(COUNT_BITS);
	counting->chains += !counting->counts[at].handle;
	counting->counts[at].handle = handle;
	counting->counts[at].references += references;
	counting->counts[at].pages += pages;
}

/* Count the references that a CPU keeps. */
static void add_cpu_references(struct reference_check *counting, unsigned int nr)
{
	const struct stack_depot_cpu_cache *cpu =
		rcu_dereference_protected(per_cpu(stack_depot_cpu_caches_home, nr), true);
	const struct stack_depot_ref *ref;
	unsigned int i;

	for (i = 0; cpu && i < STACK_DEPOT_REFS; i++) {
		ref = &cpu->ref[i];
		/* KASAN's stacks are kept for ever, without references. */
		if (ref->handle != STACK_DEPOT_REF_UNUSED && ref->references)
			add_handle_references(counting, ref->handle, ref->references, 0);
	}
	for (i = 0; cpu && i < STACK_DEPOT_EVICTED; i++)
		add_handle_references(counting, cpu->evicted[i], 1, 0);
}

/* Chains with a reference that is never put: page_owner's three, and stack_depot_no_room. */
#define PERMANENT_CHAINS	4

static bool is_reference_count_right(struct reference_check *counting,
				     const struct handle_tally *count, unsigned int references)
{
	if (references < count->references)
		return false;
	/*
	 * @count has the references of page records and CPU caches only. While slab_owner is on,
	 * slab records hold further references to the same chains, so the number can be larger.
	 */
	if (slab_owner_is_on())
		return true;
	counting->surplus += references - count->references;
	return references <= count->references + 1;
}

/*
 * Compare a chain's page counter with the number of pages whose records name the chain.
 * The handle of a task has no counters, and its records are not counted as pages.
 */
static void compare_page_counter(struct reference_check *counting, const struct handle_tally *count)
{
	long counters[STACK_DEPOT_COUNTERS] = {};

	stack_depot_read_counters(count->handle, counters);
	if (counters[OWNER_PAGES] == count->pages)
		return;
	if (!counting->miscounted++) {
		counting->first_miscounted = *count;
		counting->first_miscounted_pages = counters[OWNER_PAGES];
	}
}

/* Count the references that all page records and CPU caches hold. stop_machine() calls this. */
static int count_all_references(void *data)
{
	struct reference_check *counting = data;
	unsigned long pfn;
	unsigned int i;
	int cpu;

	for (pfn = min_low_pfn; pfn < max_pfn; pfn++) {
		struct page *page = pfn_to_online_page(pfn);
		struct page_ext *ext = page ? page_ext_get(page) : NULL;
		struct page_owner *owner;

		if (!ext)
			continue;
		owner = page_ext_data(ext, &page_owner_ops);
		add_handle_references(counting, owner->handle, 1,
				      !!(ext->flags & BIT(PAGE_EXT_OWNER_ALLOCATED)));
		add_handle_references(counting, owner->free_handle, 1, 0);
		counting->pages++;
		page_ext_put(ext);
	}
	for_each_possible_cpu(cpu)
		add_cpu_references(counting, cpu);
	for (i = 0; i < BIT(COUNT_BITS); i++) {
		struct handle_tally *count = &counting->counts[i];
		struct stack_record *chain;
		unsigned int references;

		if (!count->handle)
			continue;
		compare_page_counter(counting, count);
		chain = __stack_depot_get_stack_record(count->handle);
		references = chain ? refcount_read(&chain->count) : 0;
		if (is_reference_count_right(counting, count, references))
			continue;
		if (!counting->wrong++) {
			counting->first_wrong = *count;
			counting->first_wrong_count = references;
		}
	}
	return 0;
}

static void test_references(struct kunit *test)
{
	struct reference_check counting = {
		.counts = vcalloc(BIT(COUNT_BITS), sizeof(struct handle_tally)),
	};

	KUNIT_ASSERT_NOT_NULL(test, counting.counts);
	stop_machine(count_all_references, &counting, NULL);
	KUNIT_EXPECT_GT(test, counting.pages, 1000);
	KUNIT_EXPECT_GT(test, counting.chains, 30);
	KUNIT_EXPECT_EQ_MSG(test, counting.wrong, 0,
			    "of %u chains; handle %u: held %u times, %u references",
			    counting.chains, counting.first_wrong.handle,
			    counting.first_wrong.references, counting.first_wrong_count);
	KUNIT_EXPECT_LE(test, counting.surplus, PERMANENT_CHAINS);
	KUNIT_EXPECT_EQ_MSG(test, counting.miscounted, 0,
			    "of %u chains; handle %u: %ld pages, counted as %ld",
			    counting.chains, counting.first_miscounted.handle,
			    counting.first_miscounted.pages, counting.first_miscounted_pages);
	/* A person can compare this number with the file stackdepot/stats. */
	kunit_info(test, "chains: %u", counting.chains);
	vfree(counting.counts);
}

static int require_page_owner(struct kunit *test)
{
	if (!owner_pages_tracked())
		kunit_skip(test, "boot with page_owner=on");
	return 0;
}

static struct kunit_case owner_page_cases[] = {
	KUNIT_CASE(test_has_owner),
	KUNIT_CASE(test_freed),
	KUNIT_CASE(test_split),
	KUNIT_CASE(test_folio_copy),
	KUNIT_CASE(test_depth),
	KUNIT_CASE(test_untracked_copy),
	KUNIT_CASE(test_interrupt_is_owner),
	KUNIT_CASE(test_own_pages),
	KUNIT_CASE(test_totals),
	KUNIT_CASE(test_counted_once),
	KUNIT_CASE(test_first_is_untracked),
	KUNIT_CASE(test_oops_keeps_chain),
	KUNIT_CASE(test_dumped_name),
	KUNIT_CASE(test_counts_each_page),
	KUNIT_CASE(test_serves_slab),
	KUNIT_CASE(test_fault),
	KUNIT_CASE(test_signal),
	KUNIT_CASE_SLOW(test_references),
	{}
};

static struct kunit_suite owner_page_suite = {
	.name = "owner_page",
	.init = require_page_owner,
	.test_cases = owner_page_cases,
};

kunit_test_suite(owner_page_suite);
