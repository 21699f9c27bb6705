/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_SLAB_OWNER_H
#define _LINUX_SLAB_OWNER_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct kmem_cache;
struct slab;
struct slabobj_ext;

#ifdef CONFIG_SLAB_OWNER

/**
 * struct slab_owner - who holds a slab object
 * @stack: depot handle of the call chain
 * @task: depot handle of the task's pid, tgid and name at allocation, 0 if it
 *	could not be kept
 * @handles: both of them, each with a reference; 0 while the object has no
 *	owner. Written last on allocation and taken out first on free, at once
 *	and by one free only, whatever a buggy caller does.
 * @size: bytes the caller asked for
 * @time: when, in units of 2^OWNER_TIME_SHIFT ns since boot
 *
 * One for each object of a slab, beside what memory cgroups and allocation
 * profiling keep there.
 */
struct slab_owner {
	union {
		struct {
			u32 stack;
			u32 task;
		};
		u64 handles;
	};
	u32 size;
	u32 time;
};

DECLARE_STATIC_KEY_FALSE(slab_owner_key);

bool slab_owner_wanted(void);
void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size);
void __slab_owner_resize(const void *object, gfp_t flags, size_t size);
void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void **objects, int count);
bool __slab_owner_free_vector(struct slab *slab, struct slabobj_ext *vector);

/* An object has been allocated: note its owner. */
static __always_inline void slab_owner_alloc(struct kmem_cache *s, void *object,
					     gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_alloc(s, object, flags, size);
}

/* What kmalloc() gave has been resized where it is: it is whose call this was. */
static __always_inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_resize(object, flags, size);
}

/* Objects of one slab are about to be freed: nobody owns them any more. */
static __always_inline void slab_owner_free(struct kmem_cache *s, struct slab *slab,
					    void **objects, int count)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_free(s, slab, objects, count);
}

/*
 * A slab's vector, already out of reach for whoever starts to look now, is to
 * be freed. True if that has been taken care of.
 */
static __always_inline bool slab_owner_free_vector(struct slab *slab,
						   struct slabobj_ext *vector)
{
	if (static_branch_unlikely(&slab_owner_key))
		return __slab_owner_free_vector(slab, vector);
	return false;
}

#else /* CONFIG_SLAB_OWNER */

static inline bool slab_owner_wanted(void)
{
	return false;
}

static inline void slab_owner_alloc(struct kmem_cache *s, void *object,
				    gfp_t flags, size_t size)
{
}

static inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
}

static inline void slab_owner_free(struct kmem_cache *s, struct slab *slab,
				   void **objects, int count)
{
}

static inline bool slab_owner_free_vector(struct slab *slab, struct slabobj_ext *vector)
{
	return false;
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _LINUX_SLAB_OWNER_H */
