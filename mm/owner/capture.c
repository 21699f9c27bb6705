// SPDX-License-Identifier: GPL-2.0
/*
 * Slow paths of captures and of dropping a record's references, their initialization, and
 * owner.verify=.
 */

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/moduleparam.h>
#include <linux/stackdepot.h>

#include "capture.h"

/* Reserve memory for the depot: called while the boot line is parsed. */
void __init owner_capture_early_init(void)
{
	stack_depot_request_early_evictable();
	owner_allocators_init();
	stack_depot_capture_skip(owner_is_allocator);
}

/**
 * owner_capture_late_init() - allocate the tables that make captures cheap
 *
 * Also initializes the depot, if the boot line did not ask for it. May sleep. Idempotent.
 *
 * Return: 0, or -ENOMEM if there is no memory for the depot.
 */
int owner_capture_late_init(void)
{
	stack_depot_capture_skip(owner_is_allocator);
	return stack_depot_capture_init();
}

/* --- owner.verify= ------------------------------------------------------------- */

static bool verify;

static int set_verify(const char *text, const struct kernel_param *param)
{
	int error = param_set_bool(text, param);

	if (error)
		return error;
	if (verify)
		static_branch_enable(&stack_depot_verify_key);
	else
		static_branch_disable(&stack_depot_verify_key);
	return 0;
}

static const struct kernel_param_ops verify_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_verify,
	.get = param_get_bool,
};

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "owner."
module_param_cb(verify, &verify_ops, &verify, 0600);
MODULE_PARM_DESC(verify, "walk each chain with the kernel's unwinder as well, and compare");

/* --- What chains hold -------------------------------------------------------- */

/**
 * owner_charge_chain() - charge a chain whose ref is not at hand
 * @stack: handle of the chain, with a reference
 * @n: 1 for an object that is allocated, -1 for one that is freed
 * @charge: what the object adds to the counters
 */
void owner_charge_chain(depot_stack_handle_t stack, long n, struct owner_charge charge)
{
	s32 counters[STACK_DEPOT_COUNTERS] = {};
	struct stack_depot_cpu_cache *cpu;

	if (!charge.counted)
		return;
	owner_charge_counters(counters, n, charge);
	cpu = stack_depot_cpu_acquire();
	stack_depot_count_on_cpu(cpu, stack, counters);
	if (cpu)
		stack_depot_cpu_release(cpu);
}

/* --- Records ----------------------------------------------------------------- */

/*
 * Intern the running chain without leading allocators, and count a loss if the depot has no
 * room for all of it. Return: a handle with a reference, or 0.
 */
static depot_stack_handle_t capture_chain(unsigned int depth, struct stack_depot_caller caller,
					  gfp_t flags)
{
	enum stack_depot_captured captured = STACK_DEPOT_CAPTURED_ALL;
	depot_stack_handle_t stack;

	stack = stack_depot_capture(depth, STACK_DEPOT_FLAG_SKIP, flags, caller, &captured);
	if (unlikely(!stack))
		owner_count_loss(OWNER_LOST_STACK);
	else if (unlikely(captured == STACK_DEPOT_CAPTURED_SHORTER))
		owner_count_loss(OWNER_LOST_FRAMES);
	else if (unlikely(captured == STACK_DEPOT_CAPTURED_NONE))
		owner_count_loss(OWNER_LOST_CHAIN);
	return stack;
}

/* Get a reference that this CPU keeps to the current task. Return: its handle, or 0. */
static depot_stack_handle_t get_current_task_ref(struct stack_depot_cpu_cache *cpu)
{
	struct stack_depot_ref *ref = owner_find_current_task_ref(cpu, true);

	if (unlikely(!ref))
		return 0;
	stack_depot_get_ref(ref);
	/*
	 * The fast path looks for a reference before it drops the one of the last free in the slot.
	 * Leave a reference for it.
	 */
	if (unlikely(!stack_depot_can_get_ref(ref)))
		stack_depot_get_ref_batch(ref);
	return ref->handle;
}

/**
 * owner_record_fill() - capture who allocates or frees here, and when
 * @owner: filled with handles, which have references, and with the time. Its size and
 *	rate are left to the caller.
 * @flags: flags of the allocation
 * @depth: number of frames to keep, at most OWNER_DEPTH_MAX
 * @caller: STACK_DEPOT_CALLER of the allocator's hook. Allocators at the chain's start are
 *	left out.
 * @charge: charged to the chain
 *
 * Return: false if the depot had no room for any chain: the loss is counted.
 */
bool owner_record_fill(struct owner_record *owner, gfp_t flags, unsigned int depth,
		       struct stack_depot_caller caller, struct owner_charge charge)
{
	depot_stack_handle_t stack = capture_chain(depth, caller, flags), task = 0;
	struct stack_depot_cpu_cache *cpu;
	struct stack_depot_ref *ref;

	if (!stack)
		return false;
	if (stack_depot_verifies())
		stack_depot_verify(stack, depth, STACK_DEPOT_FLAG_SKIP, caller);
	cpu = stack_depot_cpu_acquire();
	if (likely(cpu)) {
		ref = stack_depot_find_ref(cpu, stack);
		if (likely(ref)) {
			owner_charge_counters(ref->counters, 1, charge);
			charge = OWNER_NO_CHARGE;
		}
		task = get_current_task_ref(cpu);
		stack_depot_cpu_release(cpu);
	}
	if (unlikely(charge.counted))
		owner_charge_chain(stack, 1, charge);
	if (unlikely(!task)) {
		task = owner_task_save(flags);
		if (!task)
			owner_count_loss(OWNER_LOST_TASK);
	}
	owner->stack = stack;
	owner->task = task;
	owner->time = owner_record_time_now();
	return true;
}

/* Put a batch of references to @handle into the depot if this CPU can keep no more of them. */
static void put_batch_if_full(struct stack_depot_cpu_cache *cpu, depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, handle);

	if (ref && !stack_depot_can_put_ref(ref))
		stack_depot_put_ref_batch(ref);
}

/**
 * owner_record_drop() - drop the references of a record
 * @handle_pair: handles that were taken out of a record; either can be 0
 * @charge: taken off the chain's counters
 */
void owner_record_drop(u64 handle_pair, struct owner_charge charge)
{
	struct owner_record owner = { .handle_pair = handle_pair };
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	bool dropped = false;

	if (likely(cpu)) {
		put_batch_if_full(cpu, owner.stack);
		put_batch_if_full(cpu, owner.task);
		dropped = owner_record_drop_to_cpu(cpu, handle_pair, charge, NULL);
		stack_depot_cpu_release(cpu);
	}
	if (dropped)
		return;
	if (owner.stack)
		owner_charge_chain(owner.stack, -1, charge);
	cpu = stack_depot_cpu_acquire();
	if (unlikely(!cpu))
		return owner_record_put_refs(&owner);
	stack_depot_put_handle(cpu, owner.stack);
	stack_depot_put_handle(cpu, owner.task);
	stack_depot_cpu_release(cpu);
}
