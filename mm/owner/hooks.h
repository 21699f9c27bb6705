/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What SLUB does at each allocation and each free itself: find out that there is
 * nothing to do, which is most often so.
 */
#ifndef _MM_OWNER_HOOKS_H
#define _MM_OWNER_HOOKS_H

#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/slab_owner.h>

#include "../slab.h"
#include "sample.h"

#ifdef CONFIG_SLAB_OWNER

/* An object has been allocated: note its owner, unless its cache is sampled and it is not. */
static __always_inline void slab_owner_alloc(struct kmem_cache *s, void *object,
					     gfp_t flags, size_t size)
{
	u64 rate;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	rate = READ_ONCE(s->owner_rate);
	if (rate == OWNER_RATE_ALL && READ_ONCE(s->owner_depth_is_one))
		__slab_owner_alloc_depth1(s, object, flags, size, _RET_IP_);
	else if (rate == OWNER_RATE_ALL)
		__slab_owner_alloc(s, object, flags, size, _RET_IP_);
	else if (owner_sample_spend(rate, size))
		__slab_owner_alloc_sampled(s, object, flags, size, _RET_IP_);
}

/* The owners of a slab's objects, if one that is freed can have one. */
static __always_inline struct owner_slab_records *owner_slab_records_tracking(struct slab *slab)
{
	unsigned long exts = READ_ONCE(slab->obj_exts);
	struct owner_slab_records *records = owner_slab_records_untag(exts);

	return exts & OBJEXTS_OWNER_RECORDS && atomic_read(&records->tracked) ? records : NULL;
}

/* Objects of one slab are about to be freed: nobody owns them any more. */
static __always_inline void slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab,
						 void **objects, int count)
{
	struct owner_slab_records *records;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	records = owner_slab_records_tracking(slab);
	if (records)
		__slab_owner_free_bulk(s, slab, objects, count, records);
}

static __always_inline void slab_owner_free(struct kmem_cache *s, struct slab *slab,
					    void *object)
{
	struct owner_slab_records *records;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	records = owner_slab_records_tracking(slab);
	if (records)
		__slab_owner_free(s, slab, object, records);
}

#else /* CONFIG_SLAB_OWNER */

static inline void slab_owner_alloc(struct kmem_cache *s, void *object,
				    gfp_t flags, size_t size)
{
}

static inline void slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab,
					void **objects, int count)
{
}

static inline void slab_owner_free(struct kmem_cache *s, struct slab *slab,
				   void *object)
{
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_HOOKS_H */
