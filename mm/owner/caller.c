// SPDX-License-Identifier: GPL-2.0
/*
 * Callers of allocators: remember their chains of one frame.
 */

#include <linux/percpu.h>

#include "caller.h"

DEFINE_PER_CPU(struct owner_cached_caller[1 << OWNER_CALLER_BITS], owner_cached_callers);

/**
 * owner_cache_caller() - let this CPU remember the chain of a caller
 * @ip: return address of the allocator
 * @handle: handle of the chain that was captured at depth 1, with a reference
 *
 * If the caller is an allocator itself, the chain consists of another address, and there is
 * nothing to remember.
 */
void owner_cache_caller(unsigned long ip, depot_stack_handle_t handle)
{
	struct owner_cached_caller *caller, *second;
	unsigned int slot = owner_caller_slot(ip);
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;
	unsigned long frame;

	/* The rule may have changed, and the chain have more frames. */
	if (stack_depot_copy(handle, &frame, 1) != 1 || frame != ip)
		return;
	cpu = stack_depot_cpu_acquire();
	if (!cpu)
		return;
	ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_refill_ref(cpu, handle);
	if (ref) {
		ref->tag = owner_caller_tag(ip);
		caller = this_cpu_ptr(&owner_cached_callers[slot]);
		second = this_cpu_ptr(&owner_cached_callers[slot + 1]);
		if (caller->ip != ip)
			*second = *caller;
		caller->ip = ip;
		caller->ref = (void *)ref - (void *)cpu;
	}
	stack_depot_cpu_release(cpu);
}
