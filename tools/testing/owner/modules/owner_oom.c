// SPDX-License-Identifier: GPL-2.0
/*
 * A module that leaks until memory ends.
 *
 * Loading it leaks records until the OOM killer is called, or until an allocation fails, and
 * then fails: the records are freed, so that the guest can go on.
 */

#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

static bool atomic;
module_param(atomic, bool, 0400);
MODULE_PARM_DESC(atomic, "allocate with interrupts disabled");

#define RECORD_SIZE	1024
#define BATCH		1000

struct record {
	struct record *next;
	char content[RECORD_SIZE - sizeof(struct record *)];
};

static struct record *records;
static bool memory_ended;

/* The OOM killer reports and kills only if nobody has freed memory: free none yet. */
static int note_end_of_memory(struct notifier_block *block, unsigned long unused, void *freed)
{
	WRITE_ONCE(memory_ended, true);
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = { .notifier_call = note_end_of_memory };

static noinline bool oom_leak_record(gfp_t flags)
{
	struct record *record = kmalloc(sizeof(*record), flags);

	if (!record)
		return false;
	record->next = records;
	records = record;
	return true;
}

static noinline bool oom_leak_batch(gfp_t flags)
{
	unsigned int i;
	bool leaked = true;

	for (i = 0; i < BATCH && leaked && (atomic || !READ_ONCE(memory_ended)); i++)
		leaked = oom_leak_record(flags);
	return leaked;
}

/* Interrupts are enabled in between, so that RCU does not stall. */
static noinline bool oom_leak_atomically(void)
{
	unsigned long flags;
	bool leaked;

	local_irq_save(flags);
	leaked = oom_leak_batch(GFP_ATOMIC);
	local_irq_restore(flags);
	return leaked;
}

static int __init oom_init(void)
{
	unsigned long leaked = 0;
	struct record *record;

	register_oom_notifier(&oom_notifier);
	/* Other tasks may call the OOM killer before an atomic allocation fails. */
	while (atomic ? oom_leak_atomically() :
	       !memory_ended && !fatal_signal_pending(current) && oom_leak_batch(GFP_KERNEL))
		cond_resched();
	unregister_oom_notifier(&oom_notifier);
	while (records) {
		record = records;
		records = record->next;
		kfree(record);
		leaked++;
	}
	pr_info("owner_oom: %lu records of %zu bytes leaked\n", leaked, sizeof(*record));
	return -ENOMEM;
}
module_init(oom_init);

MODULE_DESCRIPTION("A leak that ends all memory");
MODULE_LICENSE("GPL");
