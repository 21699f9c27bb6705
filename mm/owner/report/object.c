// SPDX-License-Identifier: GPL-2.0
/*
 * Print an object's owner to the kernel's log, for mem_dump_obj() and for
 * kmem_cache_destroy() of a cache that is not empty. Works in any context.
 */

#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/stackdepot.h>

#include "../../slab.h"
#include "../choice.h"
#include "../escape.h"
#include "../frame.h"
#include "../record.h"
#include "../slab/records.h"
#include "../task.h"

/* @action is the verb to print: "allocated" or "freed". */
static void print_owner(const char *action, const struct owner_record *record)
{
	/* A report takes no lock. A record that changes meanwhile may be printed mixed. */
	struct owner_record owner = data_race(*record);
	struct owner_task task = { .comm = "?" };
	char comm[OWNER_ESCAPED_COMM];
	unsigned int count, i;

	if (!owner.handle_pair || !owner_record_get_refs(&owner))
		return;
	owner_task_fetch(owner.task, &task);
	owner_escape_name(comm, sizeof(comm), task.comm, "");
	pr_info("    %s by pid %d, tgid %d (%s), size %u, %llu ms ago:\n",
		action, task.pid, task.tgid, comm, owner_record_requested(&owner),
		div_u64(owner_record_age_ns(owner.time), NSEC_PER_MSEC));
	count = stack_depot_copy(owner.stack, NULL, 0);
	for (i = 0; i < count; i++) {
		unsigned long frame = stack_depot_frame(owner.stack, i);

		/* Reports of corrupted memory are printed on deep stacks: without a buffer. */
		if (owner_is_module_data(frame))
			pr_info("       %#lx\n", frame);
		else
			pr_info("       %pS\n", (void *)frame);
	}
	owner_record_put_refs(&owner);
}

/**
 * __slab_owner_print() - print who allocated an object, and who freed it last if kept
 * @slab: the object's slab, which cannot be freed meanwhile
 * @index: of the object in the slab
 */
void __slab_owner_print(const struct slab *slab, unsigned int index)
{
	const struct owner_record *freed;
	struct owner_slab_records *records;

	rcu_read_lock();
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (records && index < slab->objects) {
		print_owner("allocated", &records->record[index]);
		freed = owner_freed_records_of(slab);
		if (freed && READ_ONCE(owner_frees_recorded))
			print_owner("freed", &freed[index]);
	}
	rcu_read_unlock();
}
