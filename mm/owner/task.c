// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks: intern the current task, and read an interned one.
 */

#include <linux/gfp.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "task.h"

DEFINE_PER_CPU(struct owner_cached_task[OWNER_CACHED_TASKS], owner_cached_tasks);

/* Let owner_find_current_task_ref() find this task on this CPU. */
static void cache_task(const unsigned long *words, depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();
	unsigned int slot = owner_task_slot();
	struct owner_cached_task *task;
	struct stack_depot_ref *ref;

	if (!cpu)
		return;
	ref = stack_depot_refill_ref(cpu, handle);
	if (ref) {
		task = this_cpu_ptr(&owner_cached_tasks[slot]);
		memcpy(task->words, words, sizeof(task->words));
		task->handle = handle;
		ref->tag = owner_task_tag(slot);
	}
	stack_depot_cpu_release(cpu);
}

/**
 * owner_task_save() - intern the current task
 * @flags: flags of the allocation that is tracked
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_task_save(gfp_t flags)
{
	unsigned long words[OWNER_TASK_WORDS];
	depot_stack_handle_t handle;
	unsigned int i;

	for (i = 0; i < OWNER_TASK_WORDS; i++)
		words[i] = owner_task_word(i);

	/* @flags also forbid the depot to sleep where the tracked allocation must not. */
	handle = stack_depot_save_flags(words, ARRAY_SIZE(words), flags | __GFP_NOWARN,
					STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
					STACK_DEPOT_FLAG_DATA);
	if (handle)
		cache_task(words, handle);
	return handle;
}

/**
 * owner_task_fetch() - read an interned task
 * @handle: the task's handle, with a reference, or 0
 * @task: filled with the task
 *
 * Return: false if @handle is not a task's.
 */
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task)
{
	unsigned long *words;

	if (!handle || stack_depot_fetch(handle, &words) != OWNER_TASK_WORDS)
		return false;
	task->pid = (u32)words[0];
	task->tgid = (u64)words[0] >> 32;
	memcpy(task->comm, &words[1], TASK_COMM_LEN);
	task->comm[TASK_COMM_LEN - 1] = '\0';
	return true;
}
