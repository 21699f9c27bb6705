/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SLUB's hooks. The inline part finds out whether there is anything to do: most
 * often there is not.
 */
#ifndef _MM_OWNER_HOOKS_H
#define _MM_OWNER_HOOKS_H

#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/math.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include "../../slab.h"
#include "../cache.h"
#include "../sample.h"
#include "compat.h"
#include "records.h"

#ifdef CONFIG_SLAB_OWNER

int slab_owner_start(void);

/* oom=off: print no call chains when memory runs out. */
extern bool owner_oom_report;

void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			unsigned long ip);
void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size);
void __slab_owner_alloc_nolock(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			       unsigned long ip);
void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void *object);
void __slab_owner_free_slow(struct kmem_cache *s, struct slab *slab, void *object);
void __slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab, void **objects, int count);
void __slab_owner_free_slab(struct slab *slab);
void owner_freed_record_erase(struct owner_record *record);

/* The size of the cache's objects, and how many a slab has, were calculated. */
static inline void slab_owner_set_sizes(struct kmem_cache *s, unsigned int slab_objects)
{
	slab_owner_set_rate(s, OWNER_RATE_ALL);
	s->owner_inverse_size = DIV_ROUND_UP_ULL(BIT_ULL(32), s->size);
	s->owner_slab_objects = slab_objects;
}

/* An object was allocated: record its owner, unless its cache is sampled and this is no sample. */
static __always_inline void slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags,
					     size_t size)
{
	u64 rate;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	rate = READ_ONCE(s->owner_rate);
	if (likely(rate == OWNER_RATE_ALL))
		__slab_owner_alloc(s, object, flags, size, _RET_IP_);
	else if (owner_sample_spend(rate, size))
		__slab_owner_alloc_sampled(s, object, flags, size);
}

#ifdef SLAB_ALLOC_NOLOCK
/* As slab_owner_alloc(). @alloc_flags: SLUB's own flags of this allocation. */
static __always_inline void slab_owner_alloc_flags(struct kmem_cache *s, void *object, gfp_t flags,
						   size_t size, unsigned int alloc_flags)
{
	if (!static_branch_unlikely(&slab_owner_key))
		return;
	/*
	 * SLUB's sheaves have no owner: a sheaf stays with its cache after the task whose object
	 * or free needed it, and its records could need another sheaf.
	 */
	if (unlikely(alloc_flags & SLAB_ALLOC_NO_OWNER))
		return;
	if (likely(alloc_flags_allow_spinning(alloc_flags)))
		slab_owner_alloc(s, object, flags, size);
	else
		__slab_owner_alloc_nolock(s, object, flags, size, _RET_IP_);
}
#endif

/* Can an object of this slab have an owner? @exts: slab->obj_exts. */
static __always_inline bool slab_owner_has_tracked(unsigned long exts)
{
	return exts & (OBJEXTS_OWNER_UNSAMPLED | OBJEXTS_OWNER_SLOW) ||
	       atomic_read(&owner_slab_records_untag(exts)->sampled);
}

/* Objects of one slab are about to be freed: drop their records. */
static __always_inline void slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab,
						 void **objects, int count)
{
	unsigned long exts;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	exts = READ_ONCE(slab->obj_exts);
	if (exts & OBJEXTS_OWNER_RECORDS && slab_owner_has_tracked(exts))
		__slab_owner_free_bulk(s, slab, objects, count);
}

/* One object is about to be freed: drop its record. */
static __always_inline void slab_owner_free(struct kmem_cache *s, struct slab *slab,
					    void *object)
{
	unsigned long exts;

	if (!static_branch_unlikely(&slab_owner_key))
		return;
	exts = READ_ONCE(slab->obj_exts);
	if (!(exts & OBJEXTS_OWNER_RECORDS) || !slab_owner_has_tracked(exts))
		return;
	if (likely(!(exts & OBJEXTS_OWNER_SLOW)))
		__slab_owner_free(s, slab, object);
	else
		__slab_owner_free_slow(s, slab, object);
}

/* As slab_owner_free(), where no lock may be waited for. */
static __always_inline void slab_owner_free_nolock(struct kmem_cache *s, struct slab *slab,
						   void *object)
{
	if (!static_branch_unlikely(&slab_owner_key))
		return;
	stack_depot_forbid_locks();
	slab_owner_free(s, slab, object);
	stack_depot_allow_locks();
}

/* A slab is about to be freed: drop its records and restore its vector of extensions. */
static __always_inline void slab_owner_free_slab(struct slab *slab)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_free_slab(slab);
}

#else /* CONFIG_SLAB_OWNER */

static inline void slab_owner_set_sizes(struct kmem_cache *s, unsigned int slab_objects)
{
}

static inline void slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags,
				    size_t size)
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

static inline void slab_owner_free_nolock(struct kmem_cache *s, struct slab *slab,
					  void *object)
{
}

static inline void slab_owner_alloc_flags(struct kmem_cache *s, void *object, gfp_t flags,
					  size_t size, unsigned int alloc_flags)
{
}

static inline void slab_owner_free_slab(struct slab *slab)
{
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_HOOKS_H */
