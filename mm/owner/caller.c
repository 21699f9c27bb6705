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
 * If the caller is an allocator itself, the chain consists of another address. Then this is
 * remembered.
 */
void owner_cache_caller(unsigned long ip, depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	struct owner_cached_caller *caller;
	struct stack_depot_ref *ref;
	unsigned long frame;

	if (!cpu)
		return;
	caller = this_cpu_ptr(&owner_cached_callers[owner_caller_slot(ip)]);
	if (caller->ip == ip && !caller->handle)
		goto out;
	if (stack_depot_copy(handle, &frame, 1) != 1 || frame != ip) {
		caller->ip = ip;
		caller->handle = 0;
		goto out;
	}
	ref = stack_depot_find_ref(cpu, handle) ?: stack_depot_refill_ref(cpu, handle);
	if (ref) {
		caller->ip = ip;
		caller->handle = handle;
		ref->tag = owner_caller_tag(ip);
	}
out:
	stack_depot_cpu_release(cpu);
}
