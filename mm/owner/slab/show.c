// SPDX-License-Identifier: GPL-2.0
/* Print a slab object or a per-CPU area that a cursor has found. */

#include <linux/seq_file.h>

#include "../escape.h"
#include "../record.h"
#include "../task.h"
#include "../walk.h"
#include "show.h"

/**
 * owner_show_weight() - print how many objects a sampled object stands for, itself included
 * @m: the file
 * @object: the object
 */
void owner_show_weight(struct seq_file *m, const struct owner_object *object)
{
	unsigned int rate = owner_record_rate(&object->owner);
	u64 thousandths = owner_sample_weight(rate, object->size) * 1000;

	thousandths += 1 << (OWNER_WEIGHT_SHIFT - 1);
	thousandths >>= OWNER_WEIGHT_SHIFT;
	seq_printf(m, "%llu.%03llu", thousandths / 1000, thousandths % 1000);
}

/**
 * owner_show_object() - print an object up to its call chain, in page_owner's grammar
 * @m: the file
 * @object: a slab object or a per-CPU area, referenced by its cursor
 */
void owner_show_object(struct seq_file *m, const struct owner_object *object)
{
	const struct owner_record *owner = &object->owner;
	struct owner_task task = { .comm = "?" };
	char comm[OWNER_ESCAPED_COMM];

	owner_task_fetch(owner->task, &task);
	owner_escape_name(comm, sizeof(comm), task.comm, "");
	seq_printf(m, "%s allocated via order 0, size %zu, slab %zu, cache %s, ",
		   object->kind == OWNER_KIND_SLAB ? "Slab object" : "Per-CPU area",
		   object->size, object->held, object->cache);
	if (owner_record_rate(owner)) {
		seq_puts(m, "weight ");
		owner_show_weight(m, object);
		seq_puts(m, ", ");
	}
	seq_printf(m, "pid %d, tgid %d (%s), ts %llu ns\n", task.pid, task.tgid, comm,
		   owner_record_time_to_ns(owner->time));
	seq_printf(m, "PFN 0x%lx object %p index %u\n",
		   object->pfn, object->address, object->index);
}
