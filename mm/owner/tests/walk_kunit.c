// SPDX-License-Identifier: GPL-2.0
/* Walks, and totals from walks, over slabs and per-CPU areas whose contents are known. */

#include <linux/jiffies.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include <asm/sections.h>

#include "../files/cache_totals.h"
#include "../slab/percpu.h"
#include "../slab/walk.h"
#include "../totals.h"
#include "plant.h"

static noinline void *plant_object(struct kmem_cache *cache, gfp_t flags)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL | flags);

	/* Prevent a tail call, so that this function is in the chain. */
	barrier();
	return object;
}

/* Sum up used objects and records of all slabs of @cache, as owner/caches does. */
static struct owner_slab_usage sum_cache_slabs(struct kmem_cache *cache)
{
	struct owner_slab_usage slab, all = {};
	struct owner_cursor cursor = { .ops = &owner_slab_source };

	owner_cursor_begin(&cursor);
	while (owner_slab_next_usage(&cursor, &slab) > 0) {
		if (slab.cache != cache)
			continue;
		all.name = slab.name;
		all.allocated += slab.allocated;
		all.tracked += slab.tracked;
		all.requested += slab.requested;
	}
	all.allocated -= min(all.allocated, owner_count_hidden_in_cache(cache));
	owner_cursor_end(&cursor);
	return all;
}

/*
 * SLUB counts free objects on a CPU's freelist as used; the walk does not. A cache with
 * slub_debug has no CPU freelists.
 */
static void test_slabs_are_counted(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *objects[PLANTED], *untracked;
	struct owner_slab_usage found;
	unsigned int i;

	for (i = 0; i < PLANTED; i++) {
		objects[i] = plant_object(cache, 0);
		found = sum_cache_slabs(cache);
		KUNIT_EXPECT_EQ(test, found.allocated, i + 1);
		KUNIT_EXPECT_EQ(test, found.tracked, i + 1);
		KUNIT_EXPECT_EQ(test, found.requested, (i + 1) * PLANTED_SIZE);
	}
	untracked = alloc_untracked_object(cache);
	found = sum_cache_slabs(cache);
	KUNIT_EXPECT_EQ(test, found.allocated, PLANTED + 1);
	KUNIT_EXPECT_EQ(test, found.tracked, PLANTED);
	kmem_cache_free(cache, untracked);

	for (i = 0; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	/* KASAN's quarantine delays the free, and SLUB counts the objects until then. */
	if (!IS_ENABLED(CONFIG_KASAN))
		KUNIT_EXPECT_EQ(test, sum_cache_slabs(cache).allocated, 0);
	KUNIT_EXPECT_EQ(test, sum_cache_slabs(cache).tracked, 0);
	kmem_cache_destroy(cache);
}

/*
 * A search of memory visits each online page frame, although it steps over holes. A hole
 * can end before its pageblock does, at a subsection.
 */
static void test_holes_end_in_pageblocks(struct kunit *test)
{
	unsigned long pfn, visited = 0, online = 0, long_steps = 0;

	get_online_mems();
	for (pfn = 0; pfn < max_pfn; pfn++)
		online += !!pfn_to_online_page(pfn);
	for (pfn = 0; pfn < max_pfn;) {
		if (pfn_to_online_page(pfn)) {
			visited++;
			pfn++;
		} else {
			pfn = owner_hole_end(pfn);
		}
	}
	put_online_mems();
	KUNIT_EXPECT_EQ(test, visited, online);
#ifdef CONFIG_SPARSEMEM
	for (pfn = 0; pfn < max_pfn; pfn += PAGES_PER_SUBSECTION)
		if (online_section_nr(pfn_to_section_nr(pfn)))
			long_steps += owner_hole_end(pfn) - pfn > PAGES_PER_SUBSECTION;
#else
	long_steps += owner_hole_end(0) > 1;
#endif
	KUNIT_EXPECT_EQ(test, long_steps, 0);
}

/* A search steps over a large folio at once, but over each page of other allocations. */
static void test_folios_are_stepped_over(struct kunit *test)
{
	struct page *folio = alloc_pages(GFP_KERNEL | __GFP_COMP, 3);
	struct page *pages = alloc_pages(GFP_KERNEL, 3);
	unsigned int i;

	if (folio) {
		KUNIT_EXPECT_EQ(test, owner_folio_frames(folio, page_to_pfn(folio)), 8);
		for (i = 1; i < 8; i++)
			KUNIT_EXPECT_EQ(test, 1,
					owner_folio_frames(folio + i, page_to_pfn(folio + i)));
		__free_pages(folio, 3);
	}
	if (pages) {
		KUNIT_EXPECT_EQ(test, owner_folio_frames(pages, page_to_pfn(pages)), 1);
		__free_pages(pages, 3);
	}
}

/* A cursor that begins at an object's position finds this object first. */
static void test_walk_from_a_position(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct owner_cursor cursor = { .ops = &owner_slab_source };
	struct owner_cursor second_cursor = { .ops = &owner_slab_source };
	struct owner_object object, last = {}, again;
	void *objects[PLANTED];
	unsigned int i, found = 0;
	u64 last_pos = 0;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_object(cache, 0);
	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &object) > 0) {
		if (object.slab_cache != cache)
			continue;
		found++;
		last = object;
		last_pos = cursor.found_pos;
	}
	owner_cursor_end(&cursor);
	KUNIT_EXPECT_EQ(test, found, PLANTED);

	second_cursor.pos = last_pos;
	owner_cursor_begin(&second_cursor);
	KUNIT_EXPECT_EQ(test, owner_cursor_next(&second_cursor, &again), 1);
	KUNIT_EXPECT_PTR_EQ(test, again.address, last.address);
	owner_cursor_end(&second_cursor);
	for (i = 0; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
}

/* A walk holds a reference to the call chain of its last object, even if that is freed. */
static void test_walk_holds_what_it_found(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *planted = plant_object(cache, 0);
	struct owner_cursor cursor = { .ops = &owner_slab_source };
	struct owner_object object;
	int found;

	owner_cursor_begin(&cursor);
	do
		found = owner_cursor_next(&cursor, &object);
	while (found > 0 && object.address != kasan_reset_tag(planted));
	/* A failed assertion would leave the cursor open. */
	if (found != 1)
		owner_cursor_end(&cursor);
	KUNIT_ASSERT_EQ(test, found, 1);
	kmem_cache_free(cache, planted);
	KUNIT_EXPECT_TRUE(test, chain_has_function(object.owner.stack, plant_object));
	owner_cursor_end(&cursor);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(object.owner.stack));
	kmem_cache_destroy(cache);
}

static noinline void __percpu *plant_percpu_area(size_t size)
{
	void __percpu *area = __alloc_percpu(size, 8);

	barrier();
	return area;
}

static unsigned int count_planted_percpu_areas(struct kunit *test, size_t *bytes)
{
	struct owner_object object;
	struct owner_cursor cursor = { .ops = &owner_percpu_source };
	unsigned int found = 0;

	*bytes = 0;
	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &object) > 0) {
		if (!chain_has_function(object.owner.stack, plant_percpu_area))
			continue;
		found++;
		*bytes += object.size;
		KUNIT_EXPECT_STREQ(test, object.cache, "percpu");
	}
	owner_cursor_end(&cursor);
	return found;
}

static void test_areas_are_found(struct kunit *test)
{
	void __percpu *areas[PLANTED];
	size_t bytes;
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		areas[i] = plant_percpu_area(24);
	KUNIT_EXPECT_EQ(test, count_planted_percpu_areas(test, &bytes), PLANTED);
	KUNIT_EXPECT_EQ(test, bytes, PLANTED * 24 * num_possible_cpus());
	for (i = 0; i < PLANTED; i += 2)
		free_percpu(areas[i]);
	KUNIT_EXPECT_EQ(test, count_planted_percpu_areas(test, &bytes), PLANTED / 2);
	for (i = 1; i < PLANTED; i += 2)
		free_percpu(areas[i]);
	KUNIT_EXPECT_EQ(test, count_planted_percpu_areas(test, &bytes), 0);
}

/* Convert the address at which a walk finds an area to the pointer of __alloc_percpu(). */
static void __percpu *convert_to_percpu_pointer(const void *address)
{
	unsigned long area = (unsigned long)address;

	if (IS_ENABLED(CONFIG_SMP))
		area += (unsigned long)__per_cpu_start - (unsigned long)pcpu_base_addr;
	return (void __percpu *)area;
}

/* Allocate enough per-CPU areas that some share a hash bucket. */
#define MANY_AREAS	2048

/* A walk finds all per-CPU areas, although the test frees each and allocates another. */
static void test_areas_that_go_meanwhile(struct kunit *test)
{
	void __percpu **others = kunit_kcalloc(test, MANY_AREAS, sizeof(*others), GFP_KERNEL);
	struct owner_object object;
	struct owner_cursor cursor = { .ops = &owner_percpu_source };
	unsigned int i, found = 0;

	KUNIT_ASSERT_NOT_NULL(test, others);
	for (i = 0; i < MANY_AREAS; i++)
		KUNIT_ASSERT_TRUE(test, plant_percpu_area(8));
	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &object) > 0) {
		if (!chain_has_function(object.owner.stack, plant_percpu_area))
			continue;
		if (found < MANY_AREAS)
			others[found] = __alloc_percpu(8, 8);
		found++;
		free_percpu(convert_to_percpu_pointer(object.address));
	}
	owner_cursor_end(&cursor);
	KUNIT_EXPECT_EQ(test, found, MANY_AREAS);
	for (i = 0; i < MANY_AREAS; i++)
		free_percpu(others[i]);
}

/* More memory has room for more areas: a free searches a bucket with interrupts disabled. */
static void test_table_of_areas(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, owner_percpu_bits_for(SZ_16M), 8);
	KUNIT_EXPECT_EQ(test, owner_percpu_bits_for(SZ_1G), 12);
	/* A million areas make some 16 in a bucket. */
	KUNIT_EXPECT_EQ(test, owner_percpu_bits_for(16ULL * SZ_1G), 16);
	KUNIT_EXPECT_EQ(test, owner_percpu_bits_for(1024ULL * SZ_1G), 16);
	KUNIT_EXPECT_EQ(test, owner_percpu_bits,
			owner_percpu_bits_for((u64)totalram_pages() << PAGE_SHIFT));
}

/* A cursor that has held its locks for too long drops them before it looks for an object. */
static void test_sources_yield(struct kunit *test)
{
	static const struct owner_source_ops * const sources[] = {
		&owner_slab_source, &owner_percpu_source,
	};
	struct kmem_cache *cache = create_test_cache(test, 0);
	void __percpu *area = plant_percpu_area(8);
	void *planted = plant_object(cache, 0);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		struct owner_cursor cursor = { .ops = sources[i] };
		unsigned long overdue = jiffies - 1;
		struct owner_object object;

		owner_cursor_begin(&cursor);
		cursor.deadline = overdue;
		KUNIT_EXPECT_EQ(test, owner_cursor_next(&cursor, &object), 1);
		KUNIT_EXPECT_TRUE(test, time_after(cursor.deadline, overdue));
		owner_cursor_end(&cursor);
	}
	kmem_cache_free(cache, planted);
	free_percpu(area);
	kmem_cache_destroy(cache);
}

/* Totals by chain count slab objects and per-CPU areas, each for its own call chain. */
static void test_totals_by_chain(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	unsigned int i, chains = 0, area_chains = 0;
	struct owner_chain_total *total;
	void __percpu *area = plant_percpu_area(48);
	struct owner_chain_totals totals = {};
	void *objects[PLANTED];

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_object(cache, 0);
	KUNIT_EXPECT_EQ(test, owner_collect_chains(&totals, OWNER_KIND_SLAB,
						   &owner_percpu_source), 0);
	for (i = 0; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	free_percpu(area);

	/* Totals hold references, so the chains stay in the depot after their objects are freed. */
	for (i = 0; i < totals.count; i++) {
		total = &totals.total[i];
		if (chain_has_function(total->stack, plant_object)) {
			chains++;
			KUNIT_EXPECT_EQ(test, total->estimate.objects, PLANTED);
			KUNIT_EXPECT_EQ(test, total->estimate.bytes, PLANTED * PLANTED_SIZE);
		} else if (chain_frame_is_in(total->stack, 0, plant_percpu_area)) {
			/* A new chunk's objects are allocated below this function, not by it. */
			area_chains++;
			KUNIT_EXPECT_EQ(test, total->estimate.objects, 1);
			KUNIT_EXPECT_EQ(test, total->estimate.bytes, 48 * num_possible_cpus());
		}
	}
	KUNIT_EXPECT_EQ(test, chains, 1);
	KUNIT_EXPECT_EQ(test, area_chains, 1);
	owner_free_chain_totals(&totals);
	kmem_cache_destroy(cache);
}

static void test_totals_by_cache(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	static const char gone_name[] = "owner_kunit_gone";
	struct owner_cache_total *total, *gone;
	void *tracked = plant_object(cache, 0);
	void *untracked = alloc_untracked_object(cache);
	struct xarray totals;
	unsigned long key, caches = 0;

	/* Add the total of a cache that had the same address, and was destroyed meanwhile. */
	xa_init(&totals);
	gone = kzalloc(struct_size(gone, name, sizeof(gone_name)), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gone);
	strscpy(gone->name, gone_name, sizeof(gone_name));
	gone->object_size = cache->size;
	KUNIT_ASSERT_NULL(test, xa_store(&totals, (unsigned long)cache, gone, GFP_KERNEL));

	KUNIT_EXPECT_EQ(test, owner_sum_caches(&totals), 0);
	xa_for_each(&totals, key, total) {
		KUNIT_EXPECT_GE(test, total->allocated, total->tracked);
		caches++;
	}
	KUNIT_EXPECT_GT(test, caches, 20);
	KUNIT_EXPECT_EQ(test, gone->allocated, 0);
	total = xa_load(&totals, (unsigned long)cache + 1);
	KUNIT_ASSERT_NOT_NULL(test, total);
	KUNIT_EXPECT_STREQ(test, total->name, "owner_kunit");
	KUNIT_EXPECT_EQ(test, total->object_size, cache->size);
	KUNIT_EXPECT_EQ(test, total->allocated, 2);
	KUNIT_EXPECT_EQ(test, total->tracked, 1);
	KUNIT_EXPECT_EQ(test, total->requested, PLANTED_SIZE);
	owner_free_cache_totals(&totals);
	kmem_cache_free(cache, tracked);
	kmem_cache_free(cache, untracked);
	kmem_cache_destroy(cache);
}

static struct kunit_case owner_walk_cases[] = {
	KUNIT_CASE(test_slabs_are_counted),
	KUNIT_CASE(test_holes_end_in_pageblocks),
	KUNIT_CASE(test_folios_are_stepped_over),
	KUNIT_CASE(test_walk_from_a_position),
	KUNIT_CASE(test_walk_holds_what_it_found),
	KUNIT_CASE(test_areas_are_found),
	KUNIT_CASE(test_areas_that_go_meanwhile),
	KUNIT_CASE(test_table_of_areas),
	KUNIT_CASE(test_sources_yield),
	KUNIT_CASE(test_totals_by_chain),
	KUNIT_CASE(test_totals_by_cache),
	{}
};

static struct kunit_suite owner_walk_suite = {
	.name = "owner_walk",
	.init = require_slab_owner,
	.test_cases = owner_walk_cases,
};

kunit_test_suite(owner_walk_suite);
