/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels have other names of timers and namespaces, and no pages without locks. */
#ifndef _LIB_STACKDEPOT_COMPAT_H
#define _LIB_STACKDEPOT_COMPAT_H

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/timer.h>

#ifdef timer_container_of

#define STACK_DEPOT_IMPORT_KUNIT_NAMESPACE	MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING")

/* Allocate pages without locks where @gfp forbids to wait for one. Early boot drops its flags. */
static __always_inline struct page *stack_depot_alloc_memory(gfp_t gfp, unsigned int order)
{
	if (!gfpflags_allow_spinning(gfp | ~gfp_allowed_mask))
		return alloc_pages_nolock(0, NUMA_NO_NODE, order);
	return alloc_pages(gfp_nested_mask(gfp), order);
}

static __always_inline void stack_depot_free_memory(void *pages, unsigned int order)
{
	free_pages_nolock(virt_to_page(pages), order);
}

#else

#define STACK_DEPOT_IMPORT_KUNIT_NAMESPACE	MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING)

#define timer_container_of(var, timer, field)	from_timer(var, timer, field)

static inline void timer_destroy_on_stack(struct timer_list *timer)
{
	destroy_timer_on_stack(timer);
}

static __always_inline struct page *stack_depot_alloc_memory(gfp_t gfp, unsigned int order)
{
	return alloc_pages(gfp_nested_mask(gfp), order);
}

static __always_inline void stack_depot_free_memory(void *pages, unsigned int order)
{
	free_pages((unsigned long)pages, order);
}

#endif

#endif /* _LIB_STACKDEPOT_COMPAT_H */
