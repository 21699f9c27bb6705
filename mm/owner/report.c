// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of one object, printed to the kernel's log for whoever asks with
 * mem_dump_obj() or destroys a cache that is not empty. In any context.
 */

#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>

#include "../slab.h"
#include "owner.h"

static void print_owner(const char *what, const struct slab_owner *record)
{
	/* Nobody waits for a report: what changes meanwhile reads as a mixture. */
	struct slab_owner owner = data_race(*record);
	struct owner_task task = { .comm = "?" };
	unsigned long *entries;
	unsigned int count;
	u64 age;

	if (!owner.handles || !owner_get(&owner))
		return;
	owner_task_fetch(owner.task, &task);
	age = (u32)(local_clock() >> OWNER_TIME_SHIFT) - owner.time;
	pr_info("    %s by pid %d, tgid %d (%s), size %u, %llu ms ago:\n",
		what, task.pid, task.tgid, task.comm, owner.size,
		div_u64(age << OWNER_TIME_SHIFT, NSEC_PER_MSEC));
	count = stack_depot_fetch(owner.stack, &entries);
	stack_trace_print(entries, count, 6);
	owner_put(&owner);
}

void __slab_owner_print(const struct slab *slab, unsigned int index)
{
	struct slab_owners *owners;

	rcu_read_lock();
	owners = slab_owners(READ_ONCE(slab->obj_exts));
	if (owners && index < slab->objects) {
		print_owner("allocated", &owners->live[index]);
		if (owners->freed)
			print_owner("freed", &owners->freed[index]);
	}
	rcu_read_unlock();
}
