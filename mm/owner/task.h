/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks: the current task as words, interned in the stack depot as chains are.
 *
 * A task keeps its own handle in task_struct, with a reference, until its pid, its comm or its
 * cgroup changes. A capture looks this CPU's references up by the handle, and reads no words.
 */
#ifndef _MM_OWNER_TASK_H
#define _MM_OWNER_TASK_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/stackdepot_capture.h>
#include <linux/types.h>

#include "owner.h"

/* A task is interned as four words: pid and tgid, comm, and the number of its cgroup. */
#define OWNER_TASK_CGROUP_WORD	(1 + TASK_COMM_LEN / sizeof(unsigned long))
#define OWNER_TASK_WORDS	(OWNER_TASK_CGROUP_WORD + 1)
static_assert(OWNER_TASK_WORDS == 4 || !IS_ENABLED(CONFIG_SLAB_OWNER));

/* A context has one more word: see user/user.h. */
#define OWNER_CONTEXT_WORDS	(OWNER_TASK_WORDS + 1)

/*
 * Find this CPU's references to the current task. @get_batch: if only one is left, get a batch
 * from the depot. Return: NULL if no reference can be got.
 *
 * owner_task holds a reference until it is 0, and the depot reuses the handle after that
 * only. If another task changes this one's comm right now, the ref is of the old comm, as
 * if the change had come later.
 */
static __always_inline struct stack_depot_ref *
owner_find_current_task_ref(struct stack_depot_cpu_cache *cpu, bool get_batch)
{
	struct stack_depot_ref *ref = stack_depot_find_ref(cpu, READ_ONCE(current->owner_task));

	return likely(ref) ? stack_depot_usable_ref(ref, get_batch) : NULL;
}

depot_stack_handle_t owner_task_save(gfp_t flags);
unsigned long owner_task_read_word(unsigned int i);
void owner_task_cache_handle(depot_stack_handle_t handle);
bool owner_task_fetch(depot_stack_handle_t handle, struct owner_task *task);

#endif /* _MM_OWNER_TASK_H */
