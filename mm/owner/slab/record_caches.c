// SPDX-License-Identifier: GPL-2.0
/*
 * The caches that slab records are allocated from.
 *
 * kmalloc() rounds up to its next size: 16 bytes for each of 42 objects would take 1,024
 * bytes. Therefore each number of objects per slab has a cache, whose objects are the
 * records of one slab. All caches with that number share it. It is created with the first
 * of them and never destroyed: there are some 30 different numbers in a running system.
 *
 * As long as a tracked cache has no such cache, the records of its slabs come from kmalloc().
 */

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "../../slab.h"
#include "hooks.h"
#include "records.h"

static struct kmem_cache *record_caches[64];
static unsigned int nr_record_caches;

/* Protects record_caches. Taken outside slab_mutex, which kmem_cache_create() takes. */
static DEFINE_MUTEX(record_caches_mutex);

static struct kmem_cache *find_record_cache(unsigned int objects)
{
	unsigned int i;

	for (i = 0; i < nr_record_caches; i++)
		if (record_caches[i]->object_size == owner_records_size(objects))
			return record_caches[i];
	return NULL;
}

/*
 * SLAB_NOLEAKTRACE: records are not tracked themselves, and kmemleak need not know them.
 * SLAB_NO_MERGE: the cache must not become an alias of one whose objects are tracked.
 */
static bool create_record_cache(unsigned int objects)
{
	struct kmem_cache_args args = { .align = OWNER_RECORDS_ALIGN };
	struct kmem_cache *cache;
	char name[32];

	if (nr_record_caches == ARRAY_SIZE(record_caches))
		return false;
	snprintf(name, sizeof(name), "owner_records-%u", objects);
	cache = kmem_cache_create(name, owner_records_size(objects), &args,
				  SLAB_NO_MERGE | SLAB_NOLEAKTRACE);
	if (!cache)
		return false;
	record_caches[nr_record_caches++] = cache;
	return true;
}

/*
 * Give each cache that is tracked the cache for its records. Return: the number of objects
 * per slab for which there is none yet, 0 if all caches have theirs.
 */
static unsigned int assign_record_caches(void)
{
	struct kmem_cache *s, *record_cache;
	unsigned int missing = 0;

	mutex_lock(&slab_mutex);
	list_for_each_entry(s, &slab_caches, list) {
		if (!slab_owner_tracks_cache(s) || s->owner_record_cache)
			continue;
		record_cache = find_record_cache(s->owner_slab_objects);
		if (!record_cache) {
			missing = s->owner_slab_objects;
			break;
		}
		/* Pairs with READ_ONCE() in alloc_records(). */
		smp_store_release(&s->owner_record_cache, record_cache);
	}
	mutex_unlock(&slab_mutex);
	return missing;
}

/**
 * owner_record_caches_create() - create the caches for records that are missing
 *
 * Context: may sleep.
 */
void owner_record_caches_create(void)
{
	unsigned int missing;

	mutex_lock(&record_caches_mutex);
	while ((missing = assign_record_caches()) && create_record_cache(missing))
		;
	mutex_unlock(&record_caches_mutex);
}

void __slab_owner_cache_created(struct kmem_cache *s)
{
	if (s && slab_owner_tracks_cache(s) && !s->owner_record_cache)
		owner_record_caches_create();
}
