// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of page_owner: records of pages that the test allocates, frees, splits and
 * copies; and the depot's reference counts and page counters, compared with what all
 * records and CPU caches hold.
 */

#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "../../internal.h"
#include "../capture.h"
#include "../page.h"
#include "../rules/rules.h"
#include "../totals.h"
#include "../walk.h"
#include "chain.h"

#define SKIP_WITHOUT_SLAB_OWNER(test)						\
do {										\
	if (!IS_ENABLED(CONFIG_SLAB_OWNER))					\
		kunit_skip(test, "rules and queries need CONFIG_SLAB_OWNER");	\
} while (0)

/* Do chains have references of slab records, too? */
static bool slab_owner_is_on(void)
{
#ifdef CONFIG_SLAB_OWNER
	return static_branch_unlikely(&slab_owner_key);
#else
	return false;
#endif
}

/* Copy a page's record. The test has allocated the page, so the record does not change. */
static struct page_owner copy_record(struct page *page, unsigned long *flags)
{
	struct page_ext *ext = page_ext_get(page);
	struct page_owner owner = *(struct page_owner *)page_ext_data(ext, &page_owner_ops);

	*flags = ext->flags;
	page_ext_put(ext);
	return owner;
}

static bool is_allocated(struct page *page)
{
	unsigned long flags;

	copy_record(page, &flags);
	return flags & BIT(PAGE_EXT_OWNER_ALLOCATED);
}

static noinline struct page *plant_pages(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	/* No tail call: this function must be in the chain. */
	barrier();
	return page;
}

static noinline struct page *plant_elsewhere(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	barrier();
	return page;
}

static noinline void free_planted(struct page *page, unsigned int order)
{
	__free_pages(page, order);
	barrier();
}

/* Return the counted pages of all chains with a frame in this function. */
static unsigned long count_pages(struct kunit *test, void *function)
{
	struct owner_chain_total *total;
	unsigned long handle, found = 0;
	struct xarray totals;

	xa_init(&totals);
	KUNIT_EXPECT_EQ(test, owner_sum_page_chains(&totals), 0);
	xa_for_each(&totals, handle, total)
		if (passes(handle, function))
			found += total->sum.estimate.objects;
	owner_free_chain_totals(&totals);
	return found;
}

static void test_has_owner(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL | __GFP_ZERO, 0);
	struct page_owner owner;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	owner = copy_record(page, &flags);
	KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_pages));
	KUNIT_EXPECT_EQ(test, owner.order, 0);
	KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_ZERO));
	KUNIT_EXPECT_EQ(test, owner.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, owner.comm, current->comm);
	KUNIT_EXPECT_EQ(test, owner.last_migrate_reason, -1);
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER));
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	free_planted(page, 0);
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
	free_planted(page, 3);
	for (i = 0; i < 8; i++) {
		owner = copy_record(page + i, &flags);
		if (flags & BIT(PAGE_EXT_OWNER_ALLOCATED))
			continue;
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_pages));
		KUNIT_EXPECT_TRUE(test, passes(owner.free_handle, free_planted));
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
		KUNIT_EXPECT_EQ(test, copy_record(page + i, &flags).order, 3);
	split_page(page, 3);
	for (i = 0; i < 4; i++)
		free_planted(page + i, 0);
	for (i = 4; i < 8; i++) {
		owner = copy_record(page + i, &flags);
		KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_pages));
		KUNIT_EXPECT_EQ(test, owner.order, 0);
		free_planted(page + i, 0);
	}
}

static void test_folio_copy(struct kunit *test)
{
	struct page *from = plant_pages(GFP_KERNEL | __GFP_COMP, 2);
	struct page *to = plant_elsewhere(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, 2);
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, from);
	KUNIT_ASSERT_NOT_NULL(test, to);
	folio_copy_owner(page_folio(to), page_folio(from));
	for (i = 0; i < 4; i++) {
		struct page_owner owner = copy_record(to + i, &flags);

		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_pages));
		KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_COMP));
		owner = copy_record(from + i, &flags);
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_elsewhere));
	}
	free_planted(from, 2);
	KUNIT_EXPECT_TRUE(test, is_allocated(to));
	free_planted(to, 2);
}

/* --- Rules -------------------------------------------------------------------- */

static int write_rules(const char *sentences)
{
	char error_text[256];

	return owner_rules_write(sentences, strlen(sentences), error_text,
				 sizeof(error_text));
}

static unsigned int get_depth(struct page *page, unsigned long *first)
{
	unsigned long *frames, flags;
	unsigned int depth;

	depth = stack_depot_fetch(copy_record(page, &flags).handle, &frames);
	*first = depth ? frames[0] : 0;
	return depth;
}

static void test_depth(struct kunit *test)
{
	struct page *few, *many, *none, *other;
	unsigned long first, flags;
	int error;

	SKIP_WITHOUT_SLAB_OWNER(test);
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

	KUNIT_EXPECT_EQ(test, get_depth(few, &first), 3);
	KUNIT_EXPECT_FALSE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_TRUE(test, passes(copy_record(few, &flags).handle, plant_pages));
	KUNIT_EXPECT_LE(test, get_depth(many, &first), 40);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_GT(test, get_depth(other, &first), 3);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	copy_record(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER));
	free_planted(few, 2);
	free_planted(many, 1);
	free_planted(none, 3);
	copy_record(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	free_planted(other, 0);
}

/* A migrated folio is tracked if the old one was, and the counters follow. */
static void check_untracked_copy(struct kunit *test, bool into_untracked)
{
	struct page *tracked, *untracked;
	unsigned long flags;
	int error;

	tracked = plant_pages(GFP_KERNEL | __GFP_COMP, 3);
	error = write_rules("track=off if kind == page && order == 3");
	untracked = plant_elsewhere(GFP_KERNEL | __GFP_COMP, 3);
	write_rules("clear");
	KUNIT_ASSERT_EQ(test, error, 0);
	KUNIT_ASSERT_TRUE(test, tracked && untracked);
	KUNIT_EXPECT_TRUE(test, is_allocated(tracked));
	KUNIT_EXPECT_FALSE(test, is_allocated(untracked));
	if (into_untracked)
		folio_copy_owner(page_folio(untracked), page_folio(tracked));
	else
		folio_copy_owner(page_folio(tracked), page_folio(untracked));
	KUNIT_EXPECT_TRUE(test, passes(copy_record(untracked, &flags).handle, plant_pages));
	KUNIT_EXPECT_FALSE(test, passes(copy_record(tracked, &flags).handle, plant_pages));
	KUNIT_EXPECT_EQ(test, is_allocated(into_untracked ? untracked : tracked), into_untracked);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), into_untracked ? 8 : 0);
	free_planted(tracked, 3);
	free_planted(untracked, 3);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);
}

static void test_untracked_copy(struct kunit *test)
{
	SKIP_WITHOUT_SLAB_OWNER(test);
	check_untracked_copy(test, true);
	check_untracked_copy(test, false);
}

/* --- Interrupts ---------------------------------------------------------------- */

static struct page *interrupt_page;
static bool interrupted;

static noinline enum hrtimer_restart plant_in_interrupt(struct hrtimer *timer)
{
	interrupt_page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN, 0);
	WRITE_ONCE(interrupted, true);
	return HRTIMER_NORESTART;
}

/* An interrupt while page_owner allocates memory for the depot: its pages get its chain. */
static void test_interrupt_is_owner(struct kunit *test)
{
	struct page_owner owner;
	unsigned long flags;
	struct hrtimer timer;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "no interrupt allocates pages");
	interrupted = false;
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = plant_in_interrupt;
	/* The timer must interrupt this task. */
	preempt_disable();
	current->in_page_owner |= BIT(0);
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL);
	while (!READ_ONCE(interrupted))
		cpu_relax();
	current->in_page_owner &= ~BIT(0);
	preempt_enable();
	destroy_hrtimer_on_stack(&timer);
	KUNIT_ASSERT_NOT_NULL(test, interrupt_page);
	owner = copy_record(interrupt_page, &flags);
	KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_in_interrupt));
	free_planted(interrupt_page, 0);
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
	KUNIT_EXPECT_FALSE(test, passes(copy_record(page, &flags).handle, plant_pages));
	KUNIT_EXPECT_TRUE(test, is_allocated(page));
	free_planted(page, 0);
}

/* --- Counters of pages --------------------------------------------------------- */

static void test_totals(struct kunit *test)
{
	unsigned int i, orders[] = { 0, 0, 1, 6 }, planted = 0;
	struct page *pages[ARRAY_SIZE(orders)];

	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		pages[i] = plant_pages(GFP_KERNEL, orders[i]);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
		planted += 1 << orders[i];
	}
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), planted);
	/* Free the pages one by one. */
	split_page(pages[3], 6);
	for (i = 0; i < 64; i++) {
		free_planted(pages[3] + i, 0);
		KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), --planted);
	}
	for (i = 0; i < 3; i++)
		free_planted(pages[i], orders[i]);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);

	/* One allocation of more than UPDATE_BATCH pages. */
	pages[0] = plant_pages(GFP_KERNEL, 6);
	KUNIT_ASSERT_NOT_NULL(test, pages[0]);
	KUNIT_EXPECT_TRUE(test, is_allocated(pages[0] + 63));
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 64);
	free_planted(pages[0], 6);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);
}

static noinline void record_again(struct page *page, unsigned int order)
{
	set_page_owner(page, order, GFP_KERNEL);
	barrier();
}

/* A second allocation is recorded, although the free was not: count the pages once. */
static void test_counted_once(struct kunit *test)
{
	struct page *page = plant_pages(GFP_KERNEL, 2);

	KUNIT_ASSERT_NOT_NULL(test, page);
	record_again(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);
	KUNIT_EXPECT_EQ(test, count_pages(test, record_again), 4);
	free_planted(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages(test, record_again), 0);
}

/* One page of an allocation has no record: its neighbours are counted all the same. */
static void test_counts_each_page(struct kunit *test)
{
	const long one_less[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = -1 };
	struct page *page = plant_pages(GFP_KERNEL, 2);
	depot_stack_handle_t handle;
	struct page_ext *ext;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	handle = copy_record(page, &flags).handle;
	ext = page_ext_get(page + 2);
	ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	page_ext_put(ext);
	stack_depot_count(handle, one_less);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 3);
	free_planted(page, 2);
	KUNIT_EXPECT_EQ(test, count_pages(test, plant_pages), 0);
}

/* A query of a slab's pages finds the cache, its objects, and how many are owned. */
static void test_serves_slab(struct kunit *test)
{
	struct owner_cursor cursor = { .ops = &owner_page_source };
	struct owner_object found;
	struct kmem_cache *cache;
	unsigned long pfn;
	void *object;

	SKIP_WITHOUT_SLAB_OWNER(test);
	cache = kmem_cache_create("owner_kunit", 200, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
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

struct count {
	depot_stack_handle_t handle;
	unsigned int references;
	long pages;			/* allocated, minus those counted in CPU caches only */
};

struct counting {
	struct count *counts;
	unsigned int pages;
	unsigned int chains;
	unsigned int surplus;
	unsigned int wrong;
	struct count first_wrong;
	unsigned int first_wrong_count;
	unsigned int miscounted;
	struct count first_miscounted;
	long first_miscounted_pages;
};

static void count_handle(struct counting *counting, depot_stack_handle_t handle,
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

/* Count the references and pages in a CPU cache. */
static void count_cpu_cache(struct counting *counting, const struct owner_cpu_cache *cpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpu->ref); i++)
		count_handle(counting, cpu->ref[i].handle, cpu->ref[i].references,
			     -cpu->pages[i]);
#ifdef CONFIG_OWNER_UNWIND_ORC
	for (i = 0; i < ARRAY_SIZE(cpu->sites) * SITE_WAYS; i++)
		count_handle(counting, cpu->sites[i / SITE_WAYS].site[i % SITE_WAYS].handle, 1,
			     0);
#endif
}

/* Chains with a reference that is never put: page_owner's three, and slab_owner_no_room. */
#define PERMANENT_CHAINS	4

static bool check_references(struct counting *counting, const struct count *count,
			     unsigned int references)
{
	if (references < count->references)
		return false;
	/* @count lacks the references that slab records hold: only the lower bound is known. */
	if (slab_owner_is_on())
		return true;
	counting->surplus += references - count->references;
	return references <= count->references + 1;
}

/* Compare the chain's counter of pages. Handles of tasks have no counters. */
static void compare_pages(struct counting *counting, const struct count *count)
{
	long counters[STACK_DEPOT_COUNTERS] = {};

	stack_depot_counters(count->handle, counters);
	if (counters[OWNER_PAGES] == count->pages)
		return;
	if (!counting->miscounted++) {
		counting->first_miscounted = *count;
		counting->first_miscounted_pages = counters[OWNER_PAGES];
	}
}

/* Runs in stop_machine(): nothing is allocated meanwhile. */
static int count_references(void *data)
{
	struct counting *counting = data;
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
		count_handle(counting, owner->handle, 1,
			     !!(ext->flags & BIT(PAGE_EXT_OWNER_ALLOCATED)));
		count_handle(counting, owner->free_handle, 1, 0);
		counting->pages++;
		page_ext_put(ext);
	}
	for_each_possible_cpu(cpu)
		if (per_cpu(owner_cpu_caches_home, cpu))
			count_cpu_cache(counting, per_cpu(owner_cpu_caches_home, cpu));
	for (i = 0; i < BIT(COUNT_BITS); i++) {
		struct count *count = &counting->counts[i];
		struct stack_record *chain;
		unsigned int references;

		if (!count->handle)
			continue;
		compare_pages(counting, count);
		chain = __stack_depot_get_stack_record(count->handle);
		references = chain ? refcount_read(&chain->count) : 0;
		if (check_references(counting, count, references))
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
	struct counting counting = {
		.counts = vcalloc(BIT(COUNT_BITS), sizeof(struct count)),
	};

	KUNIT_ASSERT_NOT_NULL(test, counting.counts);
	stop_machine(count_references, &counting, NULL);
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
	/* For comparison with stackdepot/stats. */
	kunit_info(test, "chains: %u", counting.chains);
	vfree(counting.counts);
}

static int page_test_init(struct kunit *test)
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
	KUNIT_CASE(test_counts_each_page),
	KUNIT_CASE(test_serves_slab),
	KUNIT_CASE_SLOW(test_references),
	{}
};

static struct kunit_suite owner_page_suite = {
	.name = "owner_page",
	.init = page_test_init,
	.test_cases = owner_page_cases,
};

kunit_test_suite(owner_page_suite);
