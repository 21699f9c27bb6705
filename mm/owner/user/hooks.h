/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Called by allocations, by changes of the rules and by the file slab_owner. See user.h.
 */
#ifndef _MM_OWNER_USER_HOOKS_H
#define _MM_OWNER_USER_HOOKS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/gfp_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stackdepot_capture.h>

#include "../owner.h"

struct seq_file;

#ifdef CONFIG_SLAB_OWNER_USER

int owner_user_start(void);
void owner_user_attach(struct owner_record *owner, gfp_t flags);
void owner_user_show_lines(struct seq_file *m, depot_stack_handle_t task);

/*
 * Find this CPU's references to the context of the current entry into the kernel. Return:
 * NULL if there is no context yet, or no reference can be got.
 */
static __always_inline struct stack_depot_ref *
owner_find_context_ref(struct stack_depot_cpu_cache *cpu)
{
	struct stack_depot_ref *ref;

	/* In an interrupt, the user stack is of a task that did not cause the allocation. */
	if (unlikely(!in_task() || current->in_execve))
		return NULL;
	ref = stack_depot_find_ref(cpu, current->owner_context);
	return likely(ref && stack_depot_can_get_ref(ref)) ? ref : NULL;
}

#else /* CONFIG_SLAB_OWNER_USER */

static inline int owner_user_start(void)
{
	return -EOPNOTSUPP;
}

static inline void owner_user_attach(struct owner_record *owner, gfp_t flags)
{
}

static inline void owner_user_show_lines(struct seq_file *m, depot_stack_handle_t task)
{
}

static inline struct stack_depot_ref *owner_find_context_ref(struct stack_depot_cpu_cache *cpu)
{
	return NULL;
}

#endif /* CONFIG_SLAB_OWNER_USER */

#endif /* _MM_OWNER_USER_HOOKS_H */
