/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks: the current task as words, interned in the stack depot as chains are.
 *
 * Each CPU remembers the handles of the tasks that ran on it last.
 */
#ifndef _MM_OWNER_TASK_H
#define _MM_OWNER_TASK_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/stackdepot_refs.h>
#include <linux/types.h>

#include "owner.h"

/* A task is interned as three words: pid and tgid, then comm. */
#define OWNER_TASK_WORDS	(1 + TASK_COMM_LEN / sizeof(unsigned long))
static_assert(OWNER_TASK_WORDS == 3 || !IS_ENABLED(CONFIG_SLAB_OWNER));

/**
 * struct owner_cached_task - a task whose handle this CPU remembers
 * @words: the task
 * @handle: its handle, without a reference; 0 if this entry is unused
 */
struct owner_cached_task {
	unsigned long words[OWNER_TASK_WORDS];
	depot_stack_handle_t handle;
};

#define OWNER_CACHED_TASKS	64

/* By the lowest bits of the pid. Used while the CPU cache is acquired. */
DECLARE_PER_CPU(struct owner_cached_task[OWNER_CACHED_TASKS], owner_cached_tasks);

/* One word of the current task: see OWNER_TASK_WORDS. */
static __always_inline unsigned long owner_task_word(unsigned int i)
{
	if (!i)
		return (u64)(u32)current->tgid << 32 | (u32)current->pid;
	/* A comm that changes meanwhile reads as a mixture of both, but is terminated. */
	return data_race(((unsigned long *)current->comm)[i - 1]);
}

static __always_inline unsigned int owner_task_slot(void)
{
	return (unsigned int)current->pid % OWNER_CACHED_TASKS;
}

/* The tag of references to a cached task. Tags of chains are even. */
static __always_inline u32 owner_task_tag(unsigned int slot)
{
	return 2 * slot + 1;
}

/* Find this CPU's references to the current task. Return: NULL if none can be taken. */
static __always_inline struct stack_depot_ref *
owner_find_current_task_ref(struct stack_depot_cpu_cache *cpu)
{
	unsigned int slot = owner_task_slot(), i;
	const struct owner_cached_task *task = this_cpu_ptr(&owner_cached_tasks[slot]);
	struct stack_depot_ref *ref;

	for (i = 0; i < OWNER_TASK_WORDS; i++)
		if (unlikely(task->words[i] != owner_task_word(i)))
			return NULL;
	ref = stack_depot_find_ref(cpu, task->handle);
	return likely(ref && ref->tag == owner_task_tag(slot) && stack_depot_can_take_ref(ref)) ?
	       ref : NULL;
}

depot_stack_handle_t owner_task_save(gfp_t flags);
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task);

#endif /* _MM_OWNER_TASK_H */
