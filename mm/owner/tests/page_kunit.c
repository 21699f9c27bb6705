// SPDX-License-Identifier: GPL-2.0
/*
 * Pages with known owners, looked up in their records; and that the references
 * which all records hold, and CPUs keep, are exactly those that the depot counts, and
 * so are the pages that are allocated.
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
#include "plant.h"

/* A copy of a page's record; it is the test's page, so the record stays. */
static struct page_owner record_of_page(struct page *page, unsigned long *flags)
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

	record_of_page(page, &flags);
	return flags & BIT(PAGE_EXT_OWNER_ALLOCATED);
}

static noinline struct page *plant(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	/* Not a tail call: the chain shows who allocates. */
	barrier();
	return page;
}

static noinline struct page *plant_elsewhere(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	barrier();
	return page;
}

static noinline void uproot(struct page *page, unsigned int order)
{
	__free_pages(page, order);
	barrier();
}

/* How many pages are counted with chains that pass through a function. */
static unsigned long counted_pages(struct kunit *test, void *function)
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
	struct page *page = plant(GFP_KERNEL | __GFP_ZERO, 0);
	struct page_owner owner;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	owner = record_of_page(page, &flags);
	KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant));
	KUNIT_EXPECT_EQ(test, owner.order, 0);
	KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_ZERO));
	KUNIT_EXPECT_EQ(test, owner.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, owner.comm, current->comm);
	KUNIT_EXPECT_EQ(test, owner.last_migrate_reason, -1);
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER));
	KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	uproot(page, 0);
}

/* What it was last is known of a page that is free: a report may ask. */
static void test_freed(struct kunit *test)
{
	struct page *page = plant(GFP_KERNEL, 3);
	struct page_owner owner;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	/* Nobody else gets it meanwhile, as the test runs alone on this CPU's list. */
	preempt_disable();
	uproot(page, 3);
	for (i = 0; i < 8; i++) {
		owner = record_of_page(page + i, &flags);
		if (flags & BIT(PAGE_EXT_OWNER_ALLOCATED))
			continue;
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant));
		KUNIT_EXPECT_TRUE(test, passes(owner.free_handle, uproot));
		KUNIT_EXPECT_EQ(test, owner.free_pid, current->pid);
	}
	preempt_enable();
}

static void test_split(struct kunit *test)
{
	struct page *page = plant(GFP_KERNEL, 3);
	struct page_owner owner;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, record_of_page(page + i, &flags).order, 3);
	split_page(page, 3);
	for (i = 0; i < 4; i++)
		uproot(page + i, 0);
	for (i = 4; i < 8; i++) {
		owner = record_of_page(page + i, &flags);
		KUNIT_EXPECT_TRUE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant));
		KUNIT_EXPECT_EQ(test, owner.order, 0);
		uproot(page + i, 0);
	}
}

static void test_folio_copy(struct kunit *test)
{
	struct page *from = plant(GFP_KERNEL | __GFP_COMP, 2);
	struct page *to = plant_elsewhere(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, 2);
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, from);
	KUNIT_ASSERT_NOT_NULL(test, to);
	folio_copy_owner(page_folio(to), page_folio(from));
	for (i = 0; i < 4; i++) {
		struct page_owner owner = record_of_page(to + i, &flags);

		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant));
		KUNIT_EXPECT_TRUE(test, owner.gfp_mask == (GFP_KERNEL | __GFP_COMP));
		owner = record_of_page(from + i, &flags);
		KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_elsewhere));
	}
	uproot(from, 2);
	KUNIT_EXPECT_TRUE(test, is_allocated(to));
	uproot(to, 2);
}

/* --- Rules -------------------------------------------------------------------- */

static int write_rules(const char *sentences)
{
	char said[256];

	return owner_rules_write(sentences, strlen(sentences), said, sizeof(said));
}

static unsigned int depth_of(struct page *page, unsigned long *first)
{
	unsigned long *frames, flags;
	unsigned int depth;

	depth = stack_depot_fetch(record_of_page(page, &flags).handle, &frames);
	*first = depth ? frames[0] : 0;
	return depth;
}

static void test_depth(struct kunit *test)
{
	struct page *few, *many, *none, *other;
	unsigned long first, flags;
	int error;

	error = write_rules("depth=3 if kind == page && order == 2; "
			    "depth=40 if kind == page && order == 1; "
			    "track=off if kind == page && order == 3");
	few = plant(GFP_KERNEL, 2);
	many = plant(GFP_KERNEL, 1);
	none = plant(GFP_KERNEL, 3);
	other = plant(GFP_KERNEL, 0);
	write_rules("clear");
	KUNIT_ASSERT_EQ(test, error, 0);
	KUNIT_ASSERT_TRUE(test, few && many && none && other);

	KUNIT_EXPECT_EQ(test, depth_of(few, &first), 3);
	KUNIT_EXPECT_FALSE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_TRUE(test, passes(record_of_page(few, &flags).handle, plant));
	KUNIT_EXPECT_LE(test, depth_of(many, &first), 40);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	KUNIT_EXPECT_GT(test, depth_of(other, &first), 3);
	KUNIT_EXPECT_TRUE_MSG(test, owner_is_allocator(first), "%pS", (void *)first);
	record_of_page(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER));
	uproot(few, 2);
	uproot(many, 1);
	uproot(none, 3);
	record_of_page(none, &flags);
	KUNIT_EXPECT_FALSE(test, flags & BIT(PAGE_EXT_OWNER_ALLOCATED));
	uproot(other, 0);
}

/* A folio that takes another's place has an owner if that had one, and counters know. */
static void copy_between(struct kunit *test, bool into_untracked)
{
	struct page *tracked, *untracked;
	unsigned long flags;
	int error;

	tracked = plant(GFP_KERNEL | __GFP_COMP, 3);
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
	KUNIT_EXPECT_TRUE(test, passes(record_of_page(untracked, &flags).handle, plant));
	KUNIT_EXPECT_FALSE(test, passes(record_of_page(tracked, &flags).handle, plant));
	KUNIT_EXPECT_EQ(test, is_allocated(into_untracked ? untracked : tracked), into_untracked);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), into_untracked ? 8 : 0);
	uproot(tracked, 3);
	uproot(untracked, 3);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);
}

static void test_untracked_copy(struct kunit *test)
{
	copy_between(test, true);
	copy_between(test, false);
}

/* --- Interrupts ---------------------------------------------------------------- */

static struct page *of_interrupt;
static bool interrupted;

static noinline enum hrtimer_restart plant_in_interrupt(struct hrtimer *timer)
{
	of_interrupt = alloc_pages(GFP_ATOMIC | __GFP_NOWARN, 0);
	WRITE_ONCE(interrupted, true);
	return HRTIMER_NORESTART;
}

/* An interrupt comes while page_owner gives the depot memory. */
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
	/* It is this task that is interrupted. */
	preempt_disable();
	current->in_page_owner |= BIT(0);
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL);
	while (!READ_ONCE(interrupted))
		cpu_relax();
	current->in_page_owner &= ~BIT(0);
	preempt_enable();
	destroy_hrtimer_on_stack(&timer);
	KUNIT_ASSERT_NOT_NULL(test, of_interrupt);
	owner = record_of_page(of_interrupt, &flags);
	KUNIT_EXPECT_TRUE(test, passes(owner.handle, plant_in_interrupt));
	uproot(of_interrupt, 0);
}

/* What page_owner needs for itself is told by a chain that says so. */
static void test_own_pages(struct kunit *test)
{
	unsigned long flags;
	struct page *page;

	current->in_page_owner |= BIT(0);
	page = plant(GFP_KERNEL, 0);
	current->in_page_owner &= ~BIT(0);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_FALSE(test, passes(record_of_page(page, &flags).handle, plant));
	KUNIT_EXPECT_TRUE(test, is_allocated(page));
	uproot(page, 0);
}

/* --- What it adds up to --------------------------------------------------------- */

static void test_totals(struct kunit *test)
{
	unsigned int i, orders[] = { 0, 0, 1, 6 }, planted = 0;
	struct page *pages[ARRAY_SIZE(orders)];

	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		pages[i] = plant(GFP_KERNEL, orders[i]);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
		planted += 1 << orders[i];
	}
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), planted);
	/* Each of its pages goes by itself. */
	split_page(pages[3], 6);
	for (i = 0; i < 64; i++) {
		uproot(pages[3] + i, 0);
		KUNIT_EXPECT_EQ(test, counted_pages(test, plant), --planted);
	}
	for (i = 0; i < 3; i++)
		uproot(pages[i], orders[i]);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);

	/* More than are changed at a time, all at once. */
	pages[0] = plant(GFP_KERNEL, 6);
	KUNIT_ASSERT_NOT_NULL(test, pages[0]);
	KUNIT_EXPECT_TRUE(test, is_allocated(pages[0] + 63));
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 64);
	uproot(pages[0], 6);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);
}

static noinline void plant_again(struct page *page, unsigned int order)
{
	set_page_owner(page, order, GFP_KERNEL);
	barrier();
}

/* Another owner is noted, of which nobody had said that the first one has gone. */
static void test_counted_once(struct kunit *test)
{
	struct page *page = plant(GFP_KERNEL, 2);

	KUNIT_ASSERT_NOT_NULL(test, page);
	plant_again(page, 2);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant_again), 4);
	uproot(page, 2);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant_again), 0);
}

/* As if the record of one page among others had never been written. */
static void test_counts_each_page(struct kunit *test)
{
	const long one_less[STACK_DEPOT_COUNTERS] = { [OWNER_PAGES] = -1 };
	struct page *page = plant(GFP_KERNEL, 2);
	depot_stack_handle_t handle;
	struct page_ext *ext;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, page);
	handle = record_of_page(page, &flags).handle;
	ext = page_ext_get(page + 2);
	ext->flags &= ~BIT(PAGE_EXT_OWNER_ALLOCATED);
	page_ext_put(ext);
	stack_depot_count(handle, one_less);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 3);
	uproot(page, 2);
	KUNIT_EXPECT_EQ(test, counted_pages(test, plant), 0);
}

/* A slab's pages say how many objects of which cache are owned. */
static void test_serves_slab(struct kunit *test)
{
	struct kmem_cache *cache = make_cache(test, 0);
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);
	struct owner_object found;
	struct owner_cursor cursor = { .ops = &owner_page_source };
	unsigned long pfn;

	KUNIT_ASSERT_NOT_NULL(test, object);
	pfn = page_to_pfn(virt_to_head_page(object));
	cursor.pos = pfn;
	owner_cursor_begin(&cursor);
	KUNIT_EXPECT_EQ(test, owner_cursor_next(&cursor, &found), 1);
	KUNIT_EXPECT_EQ(test, found.pfn, pfn);
	KUNIT_EXPECT_STREQ(test, found.cache ?: "", "owner_kunit");
	KUNIT_EXPECT_EQ(test, found.pages.objects, 1);
	KUNIT_EXPECT_EQ(test, found.pages.owned, static_branch_unlikely(&slab_owner_key) ? 1 : 0);
	owner_cursor_end(&cursor);
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

/* --- References ----------------------------------------------------------------- */

#define COUNT_BITS	16

struct count {
	depot_stack_handle_t handle;
	unsigned int references;
	long pages;			/* allocated; less what only CPUs have counted */
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

/* What a CPU keeps ready. */
static void count_kept(struct counting *counting, const struct owner_cpu_cache *handles)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handles->ref); i++)
		count_handle(counting, handles->ref[i].handle, handles->ref[i].references,
			     -handles->pages[i]);
#ifdef CONFIG_OWNER_UNWIND_ORC
	for (i = 0; i < ARRAY_SIZE(handles->sites) * SITE_WAYS; i++)
		count_handle(counting, handles->sites[i / SITE_WAYS].site[i % SITE_WAYS].handle, 1,
			     0);
#endif
}

/* Chains that are held once more, for good: page_owner's three, and slab_owner_no_room. */
#define HELD_FOR_GOOD	4

static bool is_right(struct counting *counting, const struct count *count,
		     unsigned int references)
{
	if (references < count->references)
		return false;
	/* What slab objects hold is not counted here. */
	if (static_branch_unlikely(&slab_owner_key))
		return true;
	counting->surplus += references - count->references;
	return references <= count->references + 1;
}

/* What the depot counts of a chain that is held, so that it stays. Tasks have no counters. */
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

/* Nothing else runs. */
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
			count_kept(counting, per_cpu(owner_cpu_caches_home, cpu));
	for (i = 0; i < BIT(COUNT_BITS); i++) {
		struct count *count = &counting->counts[i];
		struct stack_record *chain;
		unsigned int references;

		if (!count->handle)
			continue;
		compare_pages(counting, count);
		chain = __stack_depot_get_stack_record(count->handle);
		references = chain ? refcount_read(&chain->count) : 0;
		if (is_right(counting, count, references))
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
	KUNIT_EXPECT_LE(test, counting.surplus, HELD_FOR_GOOD);
	KUNIT_EXPECT_EQ_MSG(test, counting.miscounted, 0,
			    "of %u chains; handle %u: %ld pages, counted as %ld",
			    counting.chains, counting.first_miscounted.handle,
			    counting.first_miscounted.pages, counting.first_miscounted_pages);
	/* To be compared with all that the depot has. */
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
