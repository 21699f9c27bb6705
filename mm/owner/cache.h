/* SPDX-License-Identifier: GPL-2.0 */
/* Which caches are tracked. Set the sampling rate of a cache. */
#ifndef _MM_OWNER_CACHE_H
#define _MM_OWNER_CACHE_H

#include <linux/compiler.h>
#include <linux/slab.h>
#include <linux/types.h>

#include "../slab.h"
#include "sample.h"

#ifdef CONFIG_SLAB_OWNER

/*
 * Two kinds of caches are never tracked: those that hold records, and those that the
 * allocator's own debugging allocates from while it handles an allocation.
 */
static inline bool slab_owner_tracks_cache(const struct kmem_cache *s)
{
	return !(s->flags & (SLAB_NO_OBJ_EXT | SLAB_NOLEAKTRACE));
}

/* Set the sampling rate of a cache. The hook passes over caches that are never tracked. */
static inline void slab_owner_set_rate(struct kmem_cache *s, u64 rate)
{
	WRITE_ONCE(s->owner_rate, slab_owner_tracks_cache(s) ? rate : OWNER_RATE_NEVER);
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _MM_OWNER_CACHE_H */
