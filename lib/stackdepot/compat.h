/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels have other names of timers and namespaces, and no allocation without locks. */
#ifndef _LIB_STACKDEPOT_COMPAT_H
#define _LIB_STACKDEPOT_COMPAT_H

#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/timer.h>

#ifdef timer_container_of

#define STACK_DEPOT_IMPORT_KUNIT_NAMESPACE	MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING")

#else

#define STACK_DEPOT_IMPORT_KUNIT_NAMESPACE	MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING)

#define timer_container_of(var, timer, field)	from_timer(var, timer, field)

static inline void timer_destroy_on_stack(struct timer_list *timer)
{
	destroy_timer_on_stack(timer);
}

static inline bool gfpflags_allow_spinning(gfp_t gfp)
{
	return true;
}

#endif

#endif /* _LIB_STACKDEPOT_COMPAT_H */
