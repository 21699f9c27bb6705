/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for tests that allocate objects and look at their records. */
#ifndef _MM_OWNER_TESTS_PLANT_H
#define _MM_OWNER_TESTS_PLANT_H

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/kasan.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../../slab.h"
#include "../capture.h"
#include "../sample.h"
#include "../slab/hooks.h"
#include "../slab/records.h"
#include "../totals.h"
#include "../walk.h"
#include "chain.h"
#include "write_rules.h"

#define PLANTED		37
#define PLANTED_SIZE	200

static inline struct kmem_cache *create_test_cache(struct kunit *test, slab_flags_t flags)
{
	struct kmem_cache *cache;

	cache = kmem_cache_create("owner_kunit", PLANTED_SIZE, 0, SLAB_NO_MERGE | flags, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	return cache;
}

/* Allocate an object that has no owner: SLUB takes it for one that is not sampled. */
static inline void *alloc_untracked_object(struct kmem_cache *cache)
{
	u64 rate = cache->owner_rate;
	void *object;

	WRITE_ONCE(cache->owner_rate, OWNER_RATE_NEVER);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	WRITE_ONCE(cache->owner_rate, rate);
	return object;
}

/* Return the owner records of the slab of @object. NULL if the slab has none. */
static inline struct owner_slab_records *find_slab_records(const void *object)
{
	return owner_slab_records_of(READ_ONCE(virt_to_slab(object)->obj_exts));
}

static inline unsigned int get_object_index(void *object)
{
	struct slab *slab = virt_to_slab(object);

	return obj_to_index(slab->slab_cache, slab, object);
}

static inline struct owner_record *find_object_record(void *object)
{
	struct owner_slab_records *records = find_slab_records(object);

	return records ? &records->record[get_object_index(object)] : NULL;
}

/* Return the record of the object's last free. NULL if its slab keeps no records of frees. */
static inline const struct owner_record *find_freed_record(void *object)
{
	const struct owner_record *freed;

	rcu_read_lock();
	freed = owner_freed_records_of(virt_to_slab(object));
	rcu_read_unlock();
	return freed ? freed + get_object_index(object) : NULL;
}

static inline int require_slab_owner(struct kunit *test)
{
	if (!static_branch_unlikely(&slab_owner_key))
		kunit_skip(test, "boot with slab_owner=on");
	/* Tests expect neighbours in a slab. Another CPU would allocate from another slab. */
	return set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

/* As create_test_cache(). Skips a test that needs rules before it has anything to free. */
static inline struct kmem_cache *create_cache_for_rules(struct kunit *test, slab_flags_t flags)
{
	skip_without_rules();
	return create_test_cache(test, flags);
}

#endif /* _MM_OWNER_TESTS_PLANT_H */
