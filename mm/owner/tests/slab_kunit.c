// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of slab records: allocate objects, and read their owners with the cursor that
 * the files use.
 */

#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "../slab/walk.h"
#include "plant.h"
#include "write_rules.h"

/**
 * struct found_objects - what a cursor over slab objects has found in one cache
 * @objects: number of tracked objects
 * @from_plant: those of them whose chain contains plant_object()
 * @own_task: tracked objects that the current task has allocated
 * @own_bytes: requested bytes of the objects that the current task has allocated
 * @youngest: time of the youngest record
 */
struct found_objects {
	unsigned int objects;
	unsigned int from_plant;
	unsigned int own_task;
	size_t own_bytes;
	u32 youngest;
};

static noinline void *plant_object(struct kmem_cache *cache)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	/* Prevent a tail call, so that plant_object() is in the call chain. */
	barrier();
	return object;
}

static struct found_objects find_cache_objects(const char *cache)
{
	struct owner_object object;
	struct found_objects found = {};
	struct owner_cursor cursor = { .ops = &owner_slab_source };

	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &object) > 0) {
		struct owner_task task;

		if (strcmp(object.cache, cache))
			continue;
		found.objects++;
		found.youngest = max(found.youngest, object.owner.time);
		found.from_plant += chain_has_function(object.owner.stack, plant_object);
		if (owner_task_fetch(object.owner.task, &task) &&
		    task.pid == current->pid && task.tgid == current->tgid &&
		    !strcmp(task.comm, current->comm)) {
			found.own_task++;
			found.own_bytes += object.size;
		}
	}
	owner_cursor_end(&cursor);
	return found;
}

static void test_planted_is_found(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *objects[PLANTED];
	struct found_objects found;
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_object(cache);
	found = find_cache_objects("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, PLANTED);
	KUNIT_EXPECT_EQ(test, found.from_plant, PLANTED);
	KUNIT_EXPECT_EQ(test, found.own_task, PLANTED);
	KUNIT_EXPECT_EQ(test, found.own_bytes, PLANTED * PLANTED_SIZE);
	/* Ticks and local_clock() drift. */
	KUNIT_EXPECT_LE(test, owner_record_time_to_ns(found.youngest),
			local_clock() + OWNER_TICK_NS);

	for (i = 0; i < PLANTED; i += 2)
		kmem_cache_free(cache, objects[i]);
	found = find_cache_objects("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, PLANTED / 2);

	for (i = 1; i < PLANTED; i += 2)
		kmem_cache_free(cache, objects[i]);
	found = find_cache_objects("owner_kunit");
	KUNIT_EXPECT_EQ(test, found.objects, 0);
	kmem_cache_destroy(cache);
}

/* The first objects of a boot have no negative time. */
static void test_first_tick(struct kunit *test)
{
	u64 first = (u64)INITIAL_JIFFIES >> OWNER_TICKS_SHIFT;

	KUNIT_EXPECT_LE(test, owner_record_time_to_ns(first), local_clock());
}

static void test_bulk_is_found(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *objects[PLANTED];

	KUNIT_ASSERT_TRUE(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, PLANTED, objects));
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, PLANTED);
	/* Free out of order: SLUB then builds several detached freelists. */
	swap(objects[0], objects[PLANTED - 1]);
	kmem_cache_free_bulk(cache, PLANTED, objects);
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, 0);
	kmem_cache_destroy(cache);
}

static noinline void *plant_with_own_chain(struct kmem_cache *cache)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

/*
 * Find the first tracked object of @cache and return how many references its call chain
 * has, without the reference of the cursor. Store the object's record in @owner.
 */
static unsigned int count_chain_references(const char *cache, struct owner_record *owner)
{
	struct owner_object object;
	unsigned int count = 0;
	struct owner_cursor cursor = { .ops = &owner_slab_source };

	stack_depot_cpu_caches_flush();
	owner_cursor_begin(&cursor);
	while (!count && owner_cursor_next(&cursor, &object) > 0) {
		if (strcmp(object.cache, cache))
			continue;
		*owner = object.owner;
		/* Subtract the reference that the cursor holds. */
		count = refcount_read(&__stack_depot_get_stack_record(owner->stack)->count) - 1;
	}
	owner_cursor_end(&cursor);
	return count;
}

/* Each tracked object holds one reference to its call chain; free drops it. */
static void test_handles_are_put_once(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct owner_record owner = {};
	void *objects[PLANTED];
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		objects[i] = plant_with_own_chain(cache);
	KUNIT_EXPECT_EQ(test, count_chain_references("owner_kunit", &owner), PLANTED);
	for (i = 1; i < PLANTED; i++)
		kmem_cache_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, count_chain_references("owner_kunit", &owner), 1);
	kmem_cache_free(cache, objects[0]);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(owner.stack));
	kmem_cache_destroy(cache);
}

/* If the depot had no room for the task, free does not count a reference for no handle. */
static void test_free_without_task(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct stack_depot_cpu_cache *cpu;
	struct owner_record *record;
	struct stack_depot_ref *ref;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		void *object = plant_object(cache);

		record = find_object_record(object);
		KUNIT_ASSERT_NOT_NULL(test, record);
		stack_depot_put(record->task);
		record->task = 0;
		kmem_cache_free(cache, object);
	}
	stack_depot_cpu_caches_flush();
	cpu = stack_depot_cpu_acquire();
	KUNIT_ASSERT_NOT_NULL(test, cpu);
	ref = stack_depot_find_ref(cpu, 0);
	i = ref ? ref->references : 0;
	stack_depot_cpu_release(cpu);
	KUNIT_EXPECT_EQ(test, i, 0);
	kmem_cache_destroy(cache);
}

/* A record has the requested size, not the size of the kmalloc cache. */
static void test_requested_size(struct kunit *test)
{
	size_t before = find_cache_objects("kmalloc-256").own_bytes;
	void *object = kmalloc(PLANTED_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_EQ(test, find_cache_objects("kmalloc-256").own_bytes - before, PLANTED_SIZE);
	kfree(object);
}

static noinline void *shrink_in_place(void *object, size_t size)
{
	void *same = krealloc(object, size, GFP_KERNEL);

	barrier();
	return same;
}

/* The caller of krealloc() owns an object that was resized in place, at its new size. */
static void test_krealloc_in_place(struct kunit *test)
{
	void *object = kmalloc(PLANTED_SIZE, GFP_KERNEL);
	struct owner_object found;
	unsigned int shrunk = 0;
	struct owner_cursor cursor = { .ops = &owner_slab_source };

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_PTR_EQ(test, shrink_in_place(object, PLANTED_SIZE - 50), object);
	owner_cursor_begin(&cursor);
	while (owner_cursor_next(&cursor, &found) > 0) {
		if (found.address != kasan_reset_tag(object))
			continue;
		shrunk++;
		KUNIT_EXPECT_EQ(test, found.size, PLANTED_SIZE - 50);
		KUNIT_EXPECT_TRUE(test, chain_has_function(found.owner.stack, shrink_in_place));
	}
	owner_cursor_end(&cursor);
	KUNIT_EXPECT_EQ(test, shrunk, 1);
	kfree(object);
}

/*
 * Records of kmalloc's caches are in other caches: if two kmalloc caches held each other's
 * records, freeing a slab would recurse.
 */
static void test_kmalloc_records_make_no_cycle(struct kunit *test)
{
	void *object = kmalloc(512, GFP_KERNEL);
	struct owner_slab_records *records;

	KUNIT_ASSERT_NOT_NULL(test, object);
	records = owner_slab_records_of(virt_to_slab(object)->obj_exts);
	KUNIT_ASSERT_NOT_NULL(test, records);
	KUNIT_EXPECT_FALSE(test, slab_owner_tracks_cache(virt_to_slab(records)->slab_cache));
	kfree(object);
}

/* The records of a slab are one allocation of exactly their size, and not tracked. */
static void test_records_have_exact_size(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0), *record_cache;
	void *object = plant_object(cache);
	struct owner_slab_records *records = find_slab_records(object);

	KUNIT_ASSERT_NOT_NULL(test, records);
	record_cache = virt_to_slab(records)->slab_cache;
	KUNIT_EXPECT_EQ(test, record_cache->object_size,
			16 + 16 * virt_to_slab(object)->objects);
	KUNIT_EXPECT_FALSE(test, slab_owner_tracks_cache(record_cache));
	/* The hook passes over it, also after a change of rules. */
	KUNIT_EXPECT_EQ(test, record_cache->owner_rate, OWNER_RATE_NEVER);
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	KUNIT_EXPECT_EQ(test, record_cache->owner_rate, OWNER_RATE_NEVER);
	KUNIT_EXPECT_NULL(test, find_slab_records(records));
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

/* Caches with equal numbers of objects per slab share the cache for their records. */
static void test_record_caches_are_shared(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0), *other;

	other = kmem_cache_create("owner_kunit_other", PLANTED_SIZE, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_NOT_NULL(test, cache->owner_record_cache);
	KUNIT_EXPECT_PTR_EQ(test, cache->owner_record_cache, other->owner_record_cache);
	kmem_cache_destroy(other);
	kmem_cache_destroy(cache);
}

/* Return the bytes that the allocator took for the records of the only slab of @cache. */
static long count_bytes_of_records(struct kunit *test, struct kmem_cache *cache)
{
	struct owner_records_counts before, after;
	struct slab *slab;
	long expected;
	void *object;
	int tries;

	/* Try again if another task's slab was allocated or freed in between. */
	for (tries = 0; tries < 10; tries++) {
		owner_records_read_counts(&before);
		object = plant_object(cache);
		KUNIT_ASSERT_NOT_NULL(test, find_slab_records(object));
		owner_records_read_counts(&after);
		slab = virt_to_slab(find_slab_records(object));
		/* With free=on there is a second allocation, for the records of frees. */
		expected = slab_size(slab) / slab->objects * (find_freed_record(object) ? 2 : 1);
		kmem_cache_free(cache, object);
		kmem_cache_shrink(cache);
		if (after.slabs - before.slabs == 1)
			break;
	}
	KUNIT_EXPECT_EQ(test, after.slots - before.slots, cache->owner_slab_objects);
	KUNIT_EXPECT_EQ(test, after.bytes - before.bytes, expected);
	return after.bytes - before.bytes;
}

/* The counted bytes are those that the allocator took, from each kind of cache. */
static void test_bytes_of_records(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct kmem_cache *record_cache = cache->owner_record_cache;
	long from_cache, from_kmalloc;

	from_cache = count_bytes_of_records(test, cache);
	WRITE_ONCE(cache->owner_record_cache, NULL);
	from_kmalloc = count_bytes_of_records(test, cache);
	WRITE_ONCE(cache->owner_record_cache, record_cache);
	KUNIT_EXPECT_LE(test, from_cache, from_kmalloc);
	kmem_cache_destroy(cache);
}

/*
 * A slab can have owner records and a vector of struct slabobj_ext at once, whichever is
 * allocated first, and each is found at its place.
 */
static void check_records_beside_vector(struct kunit *test, bool vector_first)
{
	struct kmem_cache *cache = create_test_cache(test, SLAB_ACCOUNT);
	void *object = vector_first ? alloc_untracked_object(cache) :
				      kmem_cache_alloc(cache, GFP_KERNEL);
	unsigned long vector;
	struct slab *slab;
	void *other;

	KUNIT_ASSERT_NOT_NULL(test, object);
	slab = virt_to_slab(object);
	KUNIT_EXPECT_EQ(test, !find_slab_records(object), vector_first);
	KUNIT_ASSERT_EQ(test, alloc_slab_obj_exts(slab, cache, GFP_KERNEL, false), 0);
	vector = (unsigned long)slab_obj_exts(slab);
	KUNIT_EXPECT_NE(test, vector, 0);

	other = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_PTR_EQ(test, virt_to_slab(other), slab);
	KUNIT_EXPECT_NOT_NULL(test, find_slab_records(object));
	KUNIT_EXPECT_EQ(test, (unsigned long)slab_obj_exts(slab), vector);
	/* A second call finds the vector of the first call. */
	KUNIT_EXPECT_EQ(test, alloc_slab_obj_exts(slab, cache, GFP_KERNEL, false), 0);
	KUNIT_EXPECT_EQ(test, (unsigned long)slab_obj_exts(slab), vector);

	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, vector_first ? 1 : 2);
	kmem_cache_free(cache, object);
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, 1);
	kmem_cache_free(cache, other);
	kmem_cache_destroy(cache);
}

static void test_owners_before_the_vector(struct kunit *test)
{
	check_records_beside_vector(test, false);
}

static void test_owners_after_the_vector(struct kunit *test)
{
	check_records_beside_vector(test, true);
}

#if !defined(CONFIG_SLUB_TINY) && !defined(SLAB_ALLOC_NOLOCK)
/* How many objects of the slab of @object owner/caches counts as allocated. */
static unsigned int count_allocated(struct kunit *test, const void *object)
{
	struct owner_cursor cursor = { .ops = &owner_slab_source };
	unsigned long pfn = page_to_pfn(virt_to_head_page(object));
	struct owner_slab_usage usage = {};

	owner_cursor_begin(&cursor);
	KUNIT_EXPECT_TRUE(test, owner_slab_get_usage(&cursor, pfn, &usage));
	owner_cursor_end(&cursor);
	return usage.allocated;
}

/*
 * Objects on a CPU's freelist are free, if the CPU owns the slab. No CPU owns a slab that is
 * not frozen, so what the CPU's freelist says must not be looked at.
 */
static void test_cpu_freelists(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct {
		void *freelist;
		unsigned long tid;
		struct slab *slab;
	} *c;				/* The beginning of struct kmem_cache_cpu */
	struct slab *full, *slab;
	void *first = plant_object(cache), **objects, *freelist;
	unsigned int i, last;

	full = virt_to_slab(first);
	/* The last object is in another slab. */
	last = full->objects;
	objects = kunit_kcalloc(test, last + 1, sizeof(*objects), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, objects);
	objects[0] = first;
	for (i = 1; i <= last; i++)
		objects[i] = plant_object(cache);
	slab = virt_to_slab(objects[last]);
	if (full->frozen || !slab->frozen) {
		while (i)
			kmem_cache_free(cache, objects[--i]);
		kmem_cache_destroy(cache);
		kunit_skip(test, "the allocator's debugging keeps no slab for a CPU");
	}
	KUNIT_ASSERT_PTR_NE(test, full, slab);
	KUNIT_EXPECT_EQ(test, count_allocated(test, objects[0]), last);
	KUNIT_EXPECT_EQ(test, count_allocated(test, objects[last]), 1);

	/* Nobody else uses this cache. */
	c = raw_cpu_ptr((void __percpu *)cache->cpu_slab);
	freelist = c->freelist;
	WRITE_ONCE(c->freelist, objects[0]);
	WRITE_ONCE(c->slab, full);
	KUNIT_EXPECT_EQ(test, count_allocated(test, objects[0]), last);

	/* A pointer into the slab that is not the start of an object is not followed. */
	WRITE_ONCE(c->slab, slab);
	WRITE_ONCE(c->freelist, objects[last] + 1);
	KUNIT_EXPECT_EQ(test, count_allocated(test, objects[last]), (unsigned int)slab->inuse);
	WRITE_ONCE(c->freelist, freelist);

	while (i)
		kmem_cache_free(cache, objects[--i]);
	kmem_cache_destroy(cache);
}
#endif

/* Objects of a cache with SLAB_NOLEAKTRACE are not tracked. */
static void test_untracked(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, SLAB_NOLEAKTRACE);
	void *object = plant_object(cache);

	KUNIT_EXPECT_NULL(test, find_slab_records(object));
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

/* A rule's depth is the number of frames of a chain. */
static void test_depth(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	void *object;

	KUNIT_ASSERT_EQ(test, write_rules("depth=3 if cache == owner_kunit"), 0);
	object = plant_object(cache);
	KUNIT_EXPECT_EQ(test, stack_depot_copy(find_object_record(object)->stack, NULL, 0), 3);
	KUNIT_EXPECT_TRUE(test, chain_has_function(find_object_record(object)->stack,
						   plant_object));
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

static noinline char *plant_string_copy(void)
{
	char *copy = kstrdup("owner_kunit", GFP_KERNEL);

	barrier();
	return copy;
}

static void expect_only_planter_in_chain(struct kunit *test, void *object, void *planter)
{
	depot_stack_handle_t stack = find_object_record(object)->stack;

	KUNIT_EXPECT_EQ(test, stack_depot_copy(stack, NULL, 0), 1);
	KUNIT_EXPECT_TRUE(test, chain_has_function(stack, planter));
}

/* At depth 1 the frame is the caller of the allocator, also if the CPU cache has the chain. */
static void test_depth_of_one(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, write_rules("depth=1"), 0);
	for (i = 0; i < 4; i++) {
		void *object = plant_with_own_chain(cache);
		char *copy = plant_string_copy();

		KUNIT_ASSERT_NOT_NULL(test, object);
		KUNIT_ASSERT_NOT_NULL(test, copy);
		expect_only_planter_in_chain(test, object, plant_with_own_chain);
		expect_only_planter_in_chain(test, copy, plant_string_copy);
		kmem_cache_free(cache, object);
		kfree(copy);
	}
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	kmem_cache_destroy(cache);
}

/* With track=off, tracked objects keep their records until free; new ones are not tracked. */
static void test_switched_off(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	void *before = plant_object(cache), *after;

	KUNIT_ASSERT_EQ(test, write_rules("track=off"), 0);
	after = plant_object(cache);
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, 1);
	kmem_cache_free(cache, before);
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, 0);
	/* This object reuses the slot of a tracked one. */
	before = plant_object(cache);
	KUNIT_EXPECT_EQ(test, find_cache_objects("owner_kunit").objects, 0);
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	kmem_cache_free(cache, before);
	kmem_cache_free(cache, after);
	kmem_cache_destroy(cache);
}

static noinline void free_planted_object(struct kmem_cache *cache, void *object)
{
	kmem_cache_free(cache, object);
	barrier();
}

/* With free=on, the record of a free lasts until the slot is reused. */
static void test_free_owner(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	struct owner_slab_records *records;
	struct owner_record freed;
	void *object, *neighbour;

	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache == owner_kunit"), 0);
	object = plant_object(cache);
	records = find_slab_records(object);
	KUNIT_ASSERT_NOT_NULL(test, records);
	KUNIT_ASSERT_NOT_NULL(test, find_freed_record(object));
	KUNIT_EXPECT_EQ(test, find_freed_record(object)->handle_pair, 0);
	/* Allocate a second object of the slab, so that freeing the first keeps the slab. */
	neighbour = plant_object(cache);
	free_planted_object(cache, object);
	freed = *find_freed_record(object);
	KUNIT_EXPECT_TRUE(test, chain_has_function(freed.stack, free_planted_object));
	KUNIT_EXPECT_FALSE(test, chain_has_function(freed.stack, plant_object));
	KUNIT_EXPECT_EQ(test, owner_record_requested(&freed), PLANTED_SIZE);
	KUNIT_EXPECT_EQ(test, records->record[get_object_index(object)].handle_pair, 0);
	/* With KASAN this object is in another slot, since freed slots are in quarantine. */
	object = plant_object(cache);
	KUNIT_EXPECT_EQ(test, find_freed_record(object)->handle_pair, 0);
	kmem_cache_free(cache, object);
	kmem_cache_free(cache, neighbour);
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	kmem_cache_destroy(cache);
}

/* A free is recorded if the rule had free=on when the object was allocated. */
static void test_free_by_rule(struct kunit *test)
{
	struct kmem_cache *cache = create_cache_for_rules(test, 0);
	void *before, *with[2], *after;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, write_rules("free=off if cache == owner_kunit"), 0);
	before = plant_object(cache);
	KUNIT_EXPECT_NULL(test, find_freed_record(before));
	/* The second rule lets frees be recorded to the end. */
	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache == owner_kunit;"
					  "free=on if cache == owner_other"), 0);
	with[0] = plant_object(cache);
	with[1] = plant_object(cache);
	KUNIT_ASSERT_PTR_EQ(test, find_slab_records(with[0]), find_slab_records(before));
	KUNIT_ASSERT_EQ(test, write_rules("free=off if cache == owner_kunit"), 0);
	after = plant_object(cache);
	free_planted_object(cache, before);
	KUNIT_EXPECT_EQ(test, find_freed_record(before)->handle_pair, 0);
	for (i = 0; i < ARRAY_SIZE(with); i++) {
		free_planted_object(cache, with[i]);
		KUNIT_EXPECT_TRUE(test, chain_has_function(find_freed_record(with[i])->stack,
							   free_planted_object));
	}

	/* Reuse of the slot drops the record of the free, even if the new object is untracked. */
	KUNIT_ASSERT_EQ(test, write_rules("track=off if cache == owner_kunit"), 0);
	for (i = 0; i < ARRAY_SIZE(with); i++) {
		with[i] = plant_object(cache);
		KUNIT_EXPECT_EQ(test, find_freed_record(with[i])->handle_pair, 0);
	}
	free_planted_object(cache, with[0]);
	KUNIT_EXPECT_EQ(test, find_freed_record(with[0])->handle_pair, 0);
	kmem_cache_free(cache, with[1]);
	kmem_cache_free(cache, after);
	KUNIT_EXPECT_EQ(test, write_rules("clear"), 0);
	kmem_cache_destroy(cache);
}

/* Freeing a slab drops the references of its records. */
static void test_slab_goes(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *object = plant_with_own_chain(cache);
	struct owner_record *record = find_object_record(object);
	struct owner_record copy;

	KUNIT_ASSERT_NOT_NULL(test, record);
	copy = *record;
	/* Restore the record, as if the object had been freed without a hook. */
	KUNIT_ASSERT_TRUE(test, owner_record_get_refs(&copy));
	kmem_cache_free(cache, object);
	record->size_and_rate = PLANTED_SIZE;
	WRITE_ONCE(record->handle_pair, copy.handle_pair);
	kmem_cache_destroy(cache);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(copy.stack));
}

static struct kunit_case owner_slab_cases[] = {
	KUNIT_CASE(test_planted_is_found),
	KUNIT_CASE(test_first_tick),
	KUNIT_CASE(test_bulk_is_found),
	KUNIT_CASE(test_handles_are_put_once),
	KUNIT_CASE(test_free_without_task),
	KUNIT_CASE(test_requested_size),
	KUNIT_CASE(test_krealloc_in_place),
	KUNIT_CASE(test_kmalloc_records_make_no_cycle),
	KUNIT_CASE(test_records_have_exact_size),
	KUNIT_CASE(test_record_caches_are_shared),
	KUNIT_CASE(test_bytes_of_records),
	KUNIT_CASE(test_owners_before_the_vector),
	KUNIT_CASE(test_owners_after_the_vector),
#if !defined(CONFIG_SLUB_TINY) && !defined(SLAB_ALLOC_NOLOCK)
	KUNIT_CASE(test_cpu_freelists),
#endif
	KUNIT_CASE(test_untracked),
	KUNIT_CASE(test_depth),
	KUNIT_CASE(test_depth_of_one),
	KUNIT_CASE(test_switched_off),
	KUNIT_CASE(test_free_owner),
	KUNIT_CASE(test_free_by_rule),
	KUNIT_CASE(test_slab_goes),
	{}
};

static struct kunit_suite owner_slab_suite = {
	.name = "owner_slab",
	.init = require_slab_owner,
	.test_cases = owner_slab_cases,
};

kunit_test_suite(owner_slab_suite);
