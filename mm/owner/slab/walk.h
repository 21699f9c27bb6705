/* SPDX-License-Identifier: GPL-2.0 */
/* How readers see a slab and its records, which change while they are read. */
#ifndef _MM_OWNER_WALK_SLAB_H
#define _MM_OWNER_WALK_SLAB_H

#include <linux/types.h>

#include "../walk.h"
#include "records.h"

/**
 * struct owner_slab_snapshot - a slab as it was at one moment
 * @slab: the slab, which may have been freed since
 * @cache: its cache
 * @records: its records, NULL if it had none; readable until RCU is unlocked
 * @objects: how many objects it has room for
 * @allocated: how many objects are allocated, or kept free by the CPU that owns the slab or by
 *	sheaves
 * @frozen: a CPU owns the slab; with sheaves, no CPU owns one
 */
struct owner_slab_snapshot {
	struct slab *slab;
	struct kmem_cache *cache;
	struct owner_slab_records *records;
	unsigned int objects;
	unsigned int allocated;
	bool frozen;
};

/**
 * struct owner_slab_usage - how many objects of a slab are in use, tracked or not
 * @cache: the slab's cache, to be compared only
 * @name: its name, valid until the cursor moves on
 * @object_size: bytes that each object takes
 * @allocated: objects that are allocated
 * @tracked: objects that have an owner
 * @requested: bytes that were asked for with the tracked objects
 */
struct owner_slab_usage {
	struct kmem_cache *cache;
	const char *name;
	unsigned int object_size;
	unsigned int allocated;
	unsigned int tracked;
	size_t requested;
};

void owner_lock_caches_and_memory(struct owner_cursor *cursor);
void owner_unlock_caches_and_memory(struct owner_cursor *cursor);
int owner_slab_erase_freed(u64 *pos);
int owner_slab_next_usage(struct owner_cursor *cursor, struct owner_slab_usage *usage);
bool owner_slab_get_usage(struct owner_cursor *cursor, unsigned long pfn,
			  struct owner_slab_usage *usage);

#endif /* _MM_OWNER_WALK_SLAB_H */
