/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of slab_owner that need no internals of SLUB.
 *
 * The hooks of SLUB's fast paths are in mm/owner/slab/hooks.h.
 */
#ifndef _LINUX_SLAB_OWNER_H
#define _LINUX_SLAB_OWNER_H

#include <linux/compiler.h>
#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct mm_struct;
struct slab;
struct task_struct;

#ifdef CONFIG_OWNER_CAPTURE

void owner_task_changed(struct task_struct *task);
void owner_task_free(struct task_struct *task);

#else /* CONFIG_OWNER_CAPTURE */

static inline void owner_task_changed(struct task_struct *task)
{
}

static inline void owner_task_free(struct task_struct *task)
{
}

#endif /* CONFIG_OWNER_CAPTURE */

#ifdef CONFIG_SLAB_OWNER_USER

void owner_user_fork_maps(struct mm_struct *mm, struct mm_struct *oldmm);
void owner_user_drop_maps(struct mm_struct *mm);

#else /* CONFIG_SLAB_OWNER_USER */

static inline void owner_user_fork_maps(struct mm_struct *mm, struct mm_struct *oldmm)
{
}

static inline void owner_user_drop_maps(struct mm_struct *mm)
{
}

#endif /* CONFIG_SLAB_OWNER_USER */

#ifdef CONFIG_OWNER_REPORT

void owner_save_vmcoreinfo(void);

#else /* CONFIG_OWNER_REPORT */

static inline void owner_save_vmcoreinfo(void)
{
}

#endif /* CONFIG_OWNER_REPORT */

#ifdef CONFIG_SLAB_OWNER

DECLARE_STATIC_KEY_FALSE(slab_owner_key);

bool slab_owner_wanted(void);
void __slab_owner_resize(const void *object, gfp_t flags, size_t size);
void __owner_percpu_alloc(const void *area, gfp_t flags, size_t size);
void __owner_percpu_free(const void *area);

/* krealloc() resized an object in place: the caller of krealloc() owns it from now on. */
static __always_inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_resize(object, flags, size);
}

/* A per-CPU area of @size bytes on each CPU was allocated at @area. */
static __always_inline void owner_percpu_alloc(const void *area, gfp_t flags, size_t size)
{
	if (static_branch_unlikely(&slab_owner_key))
		__owner_percpu_alloc(area, flags, size);
}

/* The per-CPU area at @area is being freed. */
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

static inline void slab_owner_resize(const void *object, gfp_t flags, size_t size)
{
}

static inline void owner_percpu_alloc(const void *area, gfp_t flags, size_t size)
{
}

static inline void owner_percpu_free(const void *area)
{
}

#endif /* CONFIG_SLAB_OWNER */

#if defined(CONFIG_SLAB_OWNER) && defined(CONFIG_OWNER_REPORT)

void __slab_owner_print(const struct slab *slab, unsigned int index);
void owner_show_mem(void);

/* Log who allocated the object at this index of a slab, and who freed it last. */
static __always_inline void slab_owner_print(const struct slab *slab, unsigned int index)
{
	if (static_branch_unlikely(&slab_owner_key))
		__slab_owner_print(slab, index);
}

#else

static inline void slab_owner_print(const struct slab *slab, unsigned int index)
{
}

static inline void owner_show_mem(void)
{
}

#endif

#endif /* _LINUX_SLAB_OWNER_H */
