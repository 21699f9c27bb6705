/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for tests that allocate objects and look at their records. */
#ifndef _MM_OWNER_TESTS_PLANT_H
#define _MM_OWNER_TESTS_PLANT_H

#include <kunit/test.h>
#include <linux/slab.h>

#include "../../slab.h"
#include "../capture.h"
#include "../hooks.h"
#include "../sample.h"
#include "../slab_records.h"
#include "../totals.h"
#include "../walk.h"
#include "chain.h"

#define PLANTED		37
#define PLANTED_SIZE	200

static inline struct kmem_cache *make_cache(struct kunit *test, slab_flags_t flags)
{
	struct kmem_cache *cache;

	cache = kmem_cache_create("owner_kunit", PLANTED_SIZE, 0, SLAB_NO_MERGE | flags, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	return cache;
}

/* The records of an object's slab, NULL if it has none. */
static inline struct owner_slab_records *slab_records_of(const void *object)
{
	return owner_slab_records_of(READ_ONCE(virt_to_slab(object)->obj_exts));
}

static inline unsigned int index_of(void *object)
{
	struct slab *slab = virt_to_slab(object);

	return obj_to_index(slab->slab_cache, slab, object);
}

static inline struct owner_record *record_of(void *object)
{
	struct owner_slab_records *records = slab_records_of(object);

	return records ? &records->record[index_of(object)] : NULL;
}

/* The record of who freed the object last. NULL if its slab has no such records. */
static inline const struct owner_record *freed_record_of(void *object)
{
	const struct owner_record *freed;

	rcu_read_lock();
	freed = owner_freed_records_of(virt_to_slab(object));
	rcu_read_unlock();
	return freed ? freed + index_of(object) : NULL;
}

static inline int owner_test_init(struct kunit *test)
{
	if (!static_branch_unlikely(&slab_owner_key))
		kunit_skip(test, "boot with slab_owner=on");
	return 0;
}

#endif /* _MM_OWNER_TESTS_PLANT_H */
