// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of one object: a record in the files that list them, and in the
 * kernel's log, for whoever asks with mem_dump_obj() or destroys a cache that is
 * not empty, in any context.
 */

#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/rcupdate.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>

#include "../slab.h"
#include "record.h"
#include "report.h"
#include "slab_records.h"
#include "walk.h"

/* How many objects one that was sampled stands for, itself included. */
void owner_show_weight(struct seq_file *m, const struct owner_object *object)
{
	u64 weight = owner_weight(object->owner.rate, object->size) * 1000;

	weight += 1 << (OWNER_WEIGHT_SHIFT - 1);
	weight >>= OWNER_WEIGHT_SHIFT;
	seq_printf(m, "%llu.%03llu", weight / 1000, weight % 1000);
}

/**
 * owner_show_object - the head of a record, in page_owner's grammar
 * @m: where to
 * @object: which a walk holds
 */
void owner_show_object(struct seq_file *m, const struct owner_object *object)
{
	const struct owner_record *owner = &object->owner;
	struct owner_task task = { .comm = "?" };

	owner_task_fetch(owner->task, &task);
	seq_printf(m, "%s allocated via order 0, size %zu, slab %u, cache %s, ",
		   object->pfn ? "Slab object" : "Per-CPU area",
		   object->size, object->slab_size, object->cache);
	if (owner->rate) {
		seq_puts(m, "weight ");
		owner_show_weight(m, object);
		seq_puts(m, ", ");
	}
	seq_printf(m, "pid %d, tgid %d (%s), ts %llu ns\n", task.pid, task.tgid, task.comm,
		   owner_timestamp(owner->time));
	seq_printf(m, "PFN 0x%lx object %p index %u\n",
		   object->pfn, object->address, object->index);
}

static void print_owner(const char *what, const struct owner_record *record)
{
	/* Nobody waits for a report: what changes meanwhile reads as a mixture. */
	struct owner_record owner = data_race(*record);
	struct owner_task task = { .comm = "?" };
	unsigned long *entries;
	unsigned int count;

	if (!owner.handle_pair || !owner_record_get(&owner))
		return;
	owner_task_fetch(owner.task, &task);
	pr_info("    %s by pid %d, tgid %d (%s), size %u, %llu ms ago:\n",
		what, task.pid, task.tgid, task.comm, owner.size,
		div_u64(owner_age(owner.time), NSEC_PER_MSEC));
	count = stack_depot_fetch(owner.stack, &entries);
	stack_trace_print(entries, count, 6);
	owner_record_put(&owner);
}

void __slab_owner_print(const struct slab *slab, unsigned int index)
{
	const struct owner_record *freed;
	struct owner_slab_records *records;

	rcu_read_lock();
	records = owner_slab_records_of(READ_ONCE(slab->obj_exts));
	if (records && index < slab->objects) {
		print_owner("allocated", &records->record[index]);
		freed = owner_freed_records_of(slab);
		if (freed)
			print_owner("freed", &freed[index]);
	}
	rcu_read_unlock();
}
