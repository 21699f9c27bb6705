// SPDX-License-Identifier: GPL-2.0
/*
 * A call chain, and a task, become handles.
 *
 * Both are kept in the stack depot's evictable side: a task is interned as
 * three words, just as a call chain is interned as its return addresses. A
 * handle comes with a reference, and goes with owner_record_drop().
 */

#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/stackdepot.h>

#include "capture.h"

void __init owner_capture_early_init(void)
{
	stack_depot_request_early_init();
}

/*
 * What makes captures cheap, and the depot if nobody said at boot that it will be
 * needed. May sleep, and be called again.
 */
int owner_capture_late_init(void)
{
	int error = stack_depot_init();

	if (error)
		return error;
	owner_unwind_init();
	owner_cpu_caches_init();
	/* Functions are looked for by name now, not amid an allocation. */
	owner_is_allocator(0);
	return 0;
}

/* --- When the depot has no room ------------------------------------------------ */

/* A handle that stands for what was not kept. Set once, while there is room. */
static depot_stack_handle_t no_room;

/* Its one frame, whose name says what it is. */
static noinline unsigned long slab_owner_no_room(void)
{
	return _THIS_IP_;
}

/* With the first call chain that is interned; @flags are those of its allocation. */
void owner_chain_prepare(gfp_t flags)
{
	unsigned long frame = slab_owner_no_room();
	depot_stack_handle_t handle;

	if (likely(READ_ONCE(no_room)))
		return;
	handle = stack_depot_save_flags(&frame, 1, flags | __GFP_NOWARN,
					STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
					STACK_DEPOT_FLAG_COUNT);
	if (cmpxchg(&no_room, 0, handle))
		stack_depot_put(handle);
}

/**
 * owner_chain_degrade - keep less of the call chain from here, which the depot has no room for
 * @depth: frames that there should be
 * @caller: OWNER_CALLER, where it starts
 *
 * The longest beginning of it that the depot has already, or finds room for where
 * others have gone; else what stands for all that was not kept: an object has at
 * least its size, its task and its time then. Each is counted.
 *
 * Return: a handle with a reference, or 0 if there is not even that.
 */
depot_stack_handle_t owner_chain_degrade(unsigned int depth, struct owner_caller caller)
{
	struct owner_unwind_buffer *walk = owner_unwind_buffer_get();
	depot_stack_handle_t handle = 0;
	unsigned int count;

	if (walk) {
		count = owner_unwind_chain(walk, depth, caller, false);
		while (!handle && count-- > 1)
			handle = stack_depot_save_flags(walk->frames, count, 0,
							STACK_DEPOT_FLAG_GET |
							STACK_DEPOT_FLAG_COUNT);
		owner_unwind_buffer_put();
	}
	if (handle) {
		owner_count_loss(OWNER_LOST_FRAMES);
		return handle;
	}
	handle = READ_ONCE(no_room);
	if (!stack_depot_get(handle))
		return 0;
	owner_count_loss(OWNER_LOST_CHAIN);
	return handle;
}

/* --- Tasks ------------------------------------------------------------- */

/**
 * owner_task_save - intern the current task as it is now
 * @flags: those of the allocation that is being tracked
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_task_save(gfp_t flags)
{
	unsigned long words[] = {
		owner_task_word(0), owner_task_word(1), owner_task_word(2),
	};
	depot_stack_handle_t handle;
	struct owner_cpu_cache *handles;

	handle = owner_handle_save(words, ARRAY_SIZE(words), flags, STACK_DEPOT_FLAG_RAW);
	handles = owner_cpu_begin();
	if (handles) {
		*owner_cpu_task_hint(handles) = owner_cpu_hint(handle);
		owner_cpu_end(handles);
	}
	return handle;
}
