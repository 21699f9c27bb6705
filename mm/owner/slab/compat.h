/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between versions of SLUB: free objects are in sheaves, or on the freelists of
 * CPUs' slabs; the flags of an allocation that are not of GFP exist, or do not.
 */
#ifndef _MM_OWNER_SLAB_COMPAT_H
#define _MM_OWNER_SLAB_COMPAT_H

#include <linux/mm.h>
#include <linux/types.h>

#include "../../slab.h"

/* SLUB with sheaves */
#ifdef SLAB_ALLOC_NOLOCK

unsigned int slab_owner_count_sheaf_objects(struct kmem_cache *s);

/* Free objects of the slab that its counters have as used, and that can be found. */
static inline unsigned int owner_count_hidden_in_slab(struct kmem_cache *s,
						      const struct slab *slab, bool frozen)
{
	return 0;
}

/* Free objects of the cache that the counters of its slabs have as used. */
static inline unsigned int owner_count_hidden_in_cache(struct kmem_cache *s)
{
	return slab_owner_count_sheaf_objects(s);
}

/* The slab that this page belongs to. */
static __always_inline struct slab *owner_slab_of_page(const struct page *page)
{
	return (struct slab *)compound_head(page);
}

#else /* SLAB_ALLOC_NOLOCK */

unsigned int slab_owner_count_cpu_free(struct kmem_cache *s, const struct slab *slab);

static inline unsigned int owner_count_hidden_in_slab(struct kmem_cache *s,
						      const struct slab *slab, bool frozen)
{
	/* SLUB's fast paths write to what this reads, so leave out slabs that no CPU owns. */
	return frozen ? slab_owner_count_cpu_free(s, slab) : 0;
}

static inline unsigned int owner_count_hidden_in_cache(struct kmem_cache *s)
{
	return 0;
}

static __always_inline struct slab *owner_slab_of_page(struct page *page)
{
	struct folio *folio = page_folio(page);

	return folio_slab(folio);
}

#endif /* SLAB_ALLOC_NOLOCK */

#endif /* _MM_OWNER_SLAB_COMPAT_H */
