/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_SLAB_OWNER_H
#define _LINUX_SLAB_OWNER_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct kmem_cache;
struct slab;
struct owner_freed_records;

#ifdef CONFIG_SLAB_OWNER

/**
 * struct owner_record - who holds a slab object, or who freed it
 * @stack: depot handle of the call chain
 * @task: depot handle of the task's pid, tgid and name at the time, 0 if it
 *	could not be kept
 * @handle_pair: both of them, each with a reference; 0 while there is no owner.
 *	Written last on allocation and taken out first on free, at once and by
 *	one free only, whatever a buggy caller does.
 * @size: bytes the caller asked for
 * @rate: the number of the rate at which it was sampled, 0 if all were
 * @size_and_rate: both of them
 * @time: when, in units of OWNER_TICK_NS
 * @details: all three
 */
struct owner_record {
	union {
		struct {
			u32 stack;
			u32 task;
		};
		u64 handle_pair;
	};
	union {
		struct {
			union {
				struct {
					u32 size : 24;
					u32 rate : 8;
				};
				u32 size_and_rate;
			};
			u32 time;
		};
		u64 details;
	};
};

static_assert(sizeof(struct owner_record) == 16);

/* Of @size. */
#define OWNER_SIZE_BITS	24
#define OWNER_SIZE_MAX	(BIT(OWNER_SIZE_BITS) - 1)

/**
 * struct owner_slab_records - the records of one slab
 * @record: who holds each object
 * @tracked: how many have an owner that was sampled; OWNER_TRACKED_UNSAMPLED from the first
 *	on that was not. While it is 0 no object that is freed has one.
 * @inverse_size: 2^32 divided by the cache's size and rounded up: an object's offset times
 *	this, divided by 2^32, is its index
 * @obj_exts: what slab->obj_exts would hold if this did not stand there
 * @freed: who freed each object last, NULL until that is to be kept of one
 * @rcu: once the slab is gone
 *
 * A slab has one from the first of its objects on that is tracked. It takes the
 * place of the slab's vector of extensions in slab->obj_exts, marked by
 * OBJEXTS_OWNER_RECORDS, so that memory cgroups and allocation profiling pay nothing for
 * it where it is not, and it nothing for theirs.
 */
struct owner_slab_records {
	struct owner_record *record;
	atomic_t tracked;
	u32 inverse_size;
	union {
		struct {
			unsigned long obj_exts;
			struct owner_freed_records *freed;
		};
		struct rcu_head rcu;
	};
};

#define OWNER_TRACKED_UNSAMPLED	BIT(30)

/*
 * In slab->obj_exts: this is struct owner_slab_records. The bit is one that memory
 * cgroups never set together with MEMCG_DATA_OBJEXTS.
 */
#define OBJEXTS_OWNER_RECORDS		2UL

/* A slab's owners, from what stands in slab->obj_exts with OBJEXTS_OWNER_RECORDS. */
static __always_inline struct owner_slab_records *owner_slab_records_untag(unsigned long exts)
{
	return (struct owner_slab_records *)(exts & ~3UL);
}

/* The same where that may not be so; NULL then. */
static __always_inline struct owner_slab_records *owner_slab_records_of(unsigned long exts)
{
	return exts & OBJEXTS_OWNER_RECORDS ? owner_slab_records_untag(exts) : NULL;
}

DECLARE_STATIC_KEY_FALSE(slab_owner_key);

bool slab_owner_wanted(void);
void __slab_owner_alloc(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			unsigned long ip);
void __slab_owner_alloc_depth1(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			    unsigned long ip);
void __slab_owner_alloc_sampled(struct kmem_cache *s, void *object, gfp_t flags, size_t size,
			      unsigned long ip);
void __slab_owner_resize(const void *object, gfp_t flags, size_t size);
void __slab_owner_free(struct kmem_cache *s, struct slab *slab, void *object,
		       struct owner_slab_records *records);
void __slab_owner_free_bulk(struct kmem_cache *s, struct slab *slab, void **objects, int count,
			    struct owner_slab_records *records);
void __slab_owner_free_slab(struct slab *slab);
void __slab_owner_print(const struct slab *slab, unsigned int index);

/* mm/slub.c: free objects of a slab that SLUB counts as used, as a CPU has them */
unsigned int slab_owner_count_cpu_free(struct kmem_cache *s, const struct slab *slab);

/* mm/owner/percpu.c */
void __owner_percpu_alloc(const void *area, gfp_t flags, size_t size);
void __owner_percpu_free(const void *area);

/* Where others keep their vector of extensions: there, or moved aside by us. */
static __always_inline unsigned long *owner_obj_exts_ptr(unsigned long *obj_exts)
{
	unsigned long exts = READ_ONCE(*obj_exts);

	if (static_branch_unlikely(&slab_owner_key) && exts & OBJEXTS_OWNER_RECORDS)
		return &owner_slab_records_untag(exts)->obj_exts;
	return obj_exts;
}

/* cmpxchg() there, also if it is moved aside just then. Return: what stood there. */
static __always_inline unsigned long
owner_obj_exts_cmpxchg(unsigned long *obj_exts, unsigned long old, unsigned long new)
{
	unsigned long *home, found;

	do {
		home = owner_obj_exts_ptr(obj_exts);
		found = cmpxchg(home, old, new);
	} while (unlikely(found != old && home != owner_obj_exts_ptr(obj_exts)));
	return found;
}

/* What others see in slab->obj_exts. It is 0 more often than not. */
static __always_inline unsigned long owner_obj_exts_unwrap(unsigned long exts)
{
	if (exts && static_branch_unlikely(&slab_owner_key) && exts & OBJEXTS_OWNER_RECORDS)
		return READ_ONCE(owner_slab_records_untag(exts)->obj_exts);
	return exts;
}

/* What kmalloc() gave has been resized where it is: it is whose call this was. */
static __always_inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_resize(object, flags, size);
}

/* A slab is about to be freed: leave its extensions as if we had not been there. */
static __always_inline void slab_owner_free_slab(struct slab *slab)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_free_slab(slab);
}

/* Somebody asks about an object, or what its slot held last: say what is known. */
static __always_inline void slab_owner_print(const struct slab *slab, unsigned int index)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_print(slab, index);
}

/* A per-CPU area has been allocated at this address. */
static __always_inline void owner_percpu_alloc(const void *area, gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__owner_percpu_alloc(area, flags, size);
}

/* It is being freed. */
static __always_inline void owner_percpu_free(const void *area)
{
	if (static_branch_unlikely(&slab_owner_key))
		__owner_percpu_free(area);
}

#else /* CONFIG_SLAB_OWNER */

static inline bool slab_owner_wanted(void)
{
	return false;
}

static inline unsigned long
owner_obj_exts_cmpxchg(unsigned long *obj_exts, unsigned long old, unsigned long new)
{
	return cmpxchg(obj_exts, old, new);
}

static inline unsigned long owner_obj_exts_unwrap(unsigned long exts)
{
	return exts;
}

static inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
}

static inline void slab_owner_free_slab(struct slab *slab)
{
}

static inline void slab_owner_print(const struct slab *slab, unsigned int index)
{
}

static inline void owner_percpu_alloc(const void *area, gfp_t flags, size_t size)
{
}

static inline void owner_percpu_free(const void *area)
{
}

#endif /* CONFIG_SLAB_OWNER */

#endif /* _LINUX_SLAB_OWNER_H */
