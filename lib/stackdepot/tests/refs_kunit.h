/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_STACKDEPOT_REFS_KUNIT_H
#define _LIB_STACKDEPOT_REFS_KUNIT_H

#include <linux/stackdepot_capture.h>

/* Give a reference to the CPU cache of this CPU, or to the depot if the cache is in use. */
static inline void put_handle(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (!cpu)
		return stack_depot_put(handle);
	stack_depot_put_handle(cpu, handle);
	stack_depot_cpu_release(cpu);
}

#endif /* _LIB_STACKDEPOT_REFS_KUNIT_H */
