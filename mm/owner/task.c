// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks: intern the current task, and read an interned one.
 *
 * task_struct has two fields for this. owner_task is the task's handle, with a reference,
 * or 0. owner_task_changes counts changes of the pid, of the comm and of the cgroup. Another
 * task can change the comm and the cgroup at any time:
 *
 *	the task, and interrupts on it		who changes it
 *	read owner_task_changes			change the comm or the cgroup
 *	read pid, comm and cgroup		increment owner_task_changes
 *	set owner_task				if owner_task is set, exchange it with 0
 *	read owner_task_changes again
 *
 * If the task has read what was before and sets owner_task too late for the exchange, it finds
 * that owner_task_changes is not what it was, and sets owner_task to 0.
 */

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/init_task.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "cgroup.h"
#include "task.h"

/**
 * owner_task_read_word() - read one word of the current task
 * @i: index of the word, below OWNER_TASK_WORDS
 */
unsigned long owner_task_read_word(unsigned int i)
{
	if (!i)
		return (u64)(u32)current->tgid << 32 | (u32)current->pid;
	if (i == OWNER_TASK_CGROUP_WORD)
		return owner_cgroup_of_task(NULL);
	/* A comm that changes meanwhile reads as a mixture of both, but is terminated. */
	return data_race(((unsigned long *)current->comm)[i - 1]);
}

/* Make a task forget its handle. */
static void forget_task_handle(struct task_struct *task)
{
	/* Most tasks that are freed or renamed have none, if slab_owner is off. */
	if (READ_ONCE(task->owner_task))
		stack_depot_put(xchg(&task->owner_task, 0));
}

/* Let the current task keep @handle, which was interned when it had @changes. */
static void keep_task_handle(depot_stack_handle_t handle, int changes)
{
	if (!stack_depot_get(handle))
		return;
	stack_depot_put(xchg(&current->owner_task, handle));
	/* xchg() is a full barrier: see the top of this file. */
	if (atomic_read(&current->owner_task_changes) != changes)
		forget_task_handle(current);
}

/**
 * owner_task_cache_handle() - let this CPU keep references to a task
 * @handle: handle of the task or of its context, with a reference
 */
void owner_task_cache_handle(depot_stack_handle_t handle)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_acquire();

	if (!cpu)
		return;
	stack_depot_get_batch(cpu, handle);
	stack_depot_cpu_release(cpu);
}

/* Take a reference to the handle that the current task keeps. Return: 0 if it keeps none. */
static depot_stack_handle_t get_kept_handle(void)
{
	depot_stack_handle_t handle = READ_ONCE(current->owner_task);

	/* The task may change and the depot evict the handle meanwhile. */
	return handle && stack_depot_get(handle) ? handle : 0;
}

/**
 * owner_task_save() - intern the current task
 * @flags: flags of the allocation that is tracked; 0: allocate nothing, as a free must not
 *
 * Return: a handle with a reference, or 0 if the depot has no room.
 */
noinline depot_stack_handle_t owner_task_save(gfp_t flags)
{
	int changes = atomic_read_acquire(&current->owner_task_changes);
	depot_stack_handle_t handle = get_kept_handle();
	unsigned long words[OWNER_TASK_WORDS];
	unsigned int i;

	if (!handle) {
		for (i = 0; i < OWNER_TASK_WORDS; i++)
			words[i] = owner_task_read_word(i);
		/* @flags also forbid the depot to sleep where the tracked allocation must not. */
		handle = stack_depot_save_flags(words, ARRAY_SIZE(words), flags | __GFP_NOWARN,
						STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA |
						(flags ? STACK_DEPOT_FLAG_CAN_ALLOC : 0));
		if (!handle) {
			if (!flags)
				stack_depot_request_refill();
			return 0;
		}
		keep_task_handle(handle, changes);
	}
	owner_task_cache_handle(handle);
	return handle;
}

/**
 * owner_task_changed() - forget the handle of a task whose pid, comm or cgroup has changed
 * @task: the current task, or another one, which may be running
 */
void owner_task_changed(struct task_struct *task)
{
	/* A full barrier before owner_task is read: see the top of this file. */
	atomic_inc_return(&task->owner_task_changes);
	forget_task_handle(task);
}

/* Captures before cgroup_init() have found no cgroup, nor the name of the idle task. */
static int __init owner_task_init(void)
{
	owner_task_changed(&init_task);
	return 0;
}
early_initcall(owner_task_init);

/**
 * owner_task_free() - forget the handle of a task that is being freed
 * @task: the task, which does not run any more
 */
void owner_task_free(struct task_struct *task)
{
	forget_task_handle(task);
}

/**
 * owner_task_fetch() - read an interned task
 * @handle: the handle of the task or of its context, with a reference, or 0
 * @task: filled with the task
 *
 * Return: false if @handle is not a task's.
 */
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task)
{
	unsigned long *words;
	unsigned int count;

	count = handle ? stack_depot_fetch(handle, &words) : 0;
	if (count != OWNER_TASK_WORDS && count != OWNER_CONTEXT_WORDS)
		return false;
	task->pid = (u32)words[0];
	task->tgid = (u64)words[0] >> 32;
	memcpy(task->comm, &words[1], TASK_COMM_LEN);
	task->comm[TASK_COMM_LEN - 1] = '\0';
	task->cgroup = words[OWNER_TASK_CGROUP_WORD];
	return true;
}
