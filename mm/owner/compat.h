/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels for the files of this directory. The code is written for the newest
 * one; a backport fills in here what an older one lacks. slab/compat.h has the same for slab/.
 */
#ifndef _MM_OWNER_COMPAT_H
#define _MM_OWNER_COMPAT_H

#include <linux/gfp.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../slab.h"

#ifdef SLAB_ALLOC_NO_OBJ_EXT

/* buddy_order_unsafe(), gfp_migratetype() */
#include "../page_alloc.h"

/* A page's record has this reason while the page has not been migrated. */
#define OWNER_PAGE_NOT_MIGRATED	MR_NEVER

/* How page_owner prints count_threshold. */
#define OWNER_THRESHOLD_FORMAT	"%llu\n"

/* The @i-th page of an allocation. */
#define owner_nth_page(page, i)	((page) + (i))

/* No flag of GFP makes an allocation untracked. */
#define OWNER_GFP_UNTRACKED	0

/* free_pages_nolock() frees pages where nobody may wait for a lock. */
#define OWNER_GFP_OF_FREE	__GFP_NOWARN

/**
 * owner_kmalloc_untracked() - allocate memory that has no owner
 * @size: number of bytes
 * @flags: flags of the allocation
 * @nid: the node, or NUMA_NO_NODE
 *
 * Return: the memory, for kfree(); NULL without memory.
 */
static inline void *owner_kmalloc_untracked(size_t size, gfp_t flags, int nid)
{
	return kmalloc_flags(size, flags, SLAB_ALLOC_NO_OBJ_EXT, nid);
}

/**
 * owner_kmalloc_nolock() - allocate zeroed memory that has no owner without waiting for a lock
 * @size: number of bytes
 * @nid: the node, or NUMA_NO_NODE
 *
 * Return: the memory, for kfree() or kfree_nolock(); NULL without memory.
 */
static inline void *owner_kmalloc_nolock(size_t size, int nid)
{
	return kmalloc_flags(size, __GFP_ZERO, SLAB_ALLOC_NOLOCK | SLAB_ALLOC_NO_OBJ_EXT, nid);
}

/**
 * owner_kvmalloc_untracked() - allocate memory of any size that has no owner
 * @size: number of bytes
 * @flags: flags of the allocation
 *
 * Return: the memory, for kvfree(); NULL without memory.
 */
static inline void *owner_kvmalloc_untracked(size_t size, gfp_t flags)
{
	/* Larger memory is pages. */
	if (size > KMALLOC_MAX_CACHE_SIZE)
		return kvmalloc(size, flags);
	return owner_kmalloc_untracked(size, flags, NUMA_NO_NODE);
}

#ifdef CONFIG_MEMCG
/*
 * Where the slab's vector of extensions has the obj_cgroup of an object; NULL if it has none. The
 * slab may be freed meanwhile: the pointer is read without a fault.
 */
static inline struct obj_cgroup **owner_objcg_in_vector(struct slab *slab, unsigned long vector,
							unsigned int index)
{
	struct kmem_cache *s = READ_ONCE(slab->slab_cache);
	unsigned int stride = slab_obj_ext_size(slab);

	if (!slab_needs_objcg(slab))
		return NULL;
	if (obj_exts_in_object(slab) && get_kernel_nofault(stride, &s->size))
		return NULL;
	return (struct obj_cgroup **)(vector + index * stride);
}
#endif

#else /* SLAB_ALLOC_NO_OBJ_EXT */

#include "../internal.h"

#define OWNER_PAGE_NOT_MIGRATED	-1
#define OWNER_THRESHOLD_FORMAT	"%llu"
#define owner_nth_page(page, i)	nth_page(page, i)

#define OWNER_GFP_UNTRACKED	__GFP_NO_OBJ_EXT
#define OWNER_GFP_OF_FREE	GFP_NOWAIT

static inline void *owner_kmalloc_untracked(size_t size, gfp_t flags, int nid)
{
	/* kmalloc() of a size that the compiler knows ignores the flag. */
	OPTIMIZER_HIDE_VAR(size);
	return kmalloc_node(size, flags | __GFP_NO_OBJ_EXT, nid);
}

/* This SLUB allocates no objects without waiting for locks. */
static inline void *owner_kmalloc_nolock(size_t size, int nid)
{
	return NULL;
}

static inline void kfree_nolock(const void *object)
{
	kfree(object);
}

static inline void *owner_kvmalloc_untracked(size_t size, gfp_t flags)
{
	return kvmalloc(size, flags | __GFP_NO_OBJ_EXT);
}

#ifdef CONFIG_MEMCG
static inline struct obj_cgroup **owner_objcg_in_vector(struct slab *slab, unsigned long vector,
							unsigned int index)
{
	return &((struct slabobj_ext *)vector)[index].objcg;
}
#endif

#endif /* SLAB_ALLOC_NO_OBJ_EXT */

#endif /* _MM_OWNER_COMPAT_H */
