// SPDX-License-Identifier: GPL-2.0
/*
 * Record the stacks of allocations on the first CPU, so that a program can replay their walks.
 *
 * A kprobe at the entry of __slab_owner_alloc() copies the stack as the walk is about to find it.
 * The return addresses on it stay as they are. Opening /sys/kernel/debug/owner_record ends the
 * recording: it has the struct record_header, the steps, and the captures.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/stackdepot_capture.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "owner_record.h"

static unsigned int captures = 20000;
module_param(captures, uint, 0400);
MODULE_PARM_DESC(captures, "number of captures");

#define RECORDED_MAX	SZ_256M
#define STEPS_BYTES	(STACK_DEPOT_STEPS * sizeof(u64))
/* A capture has words of two stacks at most. */
#define CAPTURE_MAX	(sizeof(struct record_capture) + 2 * THREAD_SIZE)

static struct record_header *recorded;
static size_t recorded_bytes;
static struct dentry *record_file;

/* Functions and data of the kernel that modules cannot link to. */
static unsigned long (*find_symbol)(const char *name);
static typeof(stack_trace_save_regs) *save_regs;
static u64 **steps;

static void append_words(unsigned long from, unsigned long stack)
{
	unsigned long bytes = stack + THREAD_SIZE - from;

	memcpy((void *)recorded + recorded_bytes, (void *)from, bytes);
	recorded_bytes += bytes;
}

static void append_capture(struct pt_regs *regs, unsigned long stack)
{
	struct record_capture *capture = (void *)recorded + recorded_bytes;
	unsigned long task_stack = (unsigned long)task_stack_page(current);

	*capture = (struct record_capture){
		.slot = regs->sp,
		.stack = stack,
		.task_stack = task_stack,
	};
	/* The last word of the interrupts' stack is the SP of the task that was interrupted. */
	if (stack != task_stack)
		capture->task_words = *(unsigned long *)(stack + THREAD_SIZE - sizeof(long));
	capture->count = save_regs(regs, capture->frames, RECORD_FRAMES, 0);
	capture->count = filter_irq_stacks(capture->frames, capture->count);
	recorded_bytes += sizeof(*capture);
	append_words(regs->sp - sizeof(long), stack);
	/* __slab_owner_alloc() is going to save BP below its return address. */
	*(unsigned long *)(capture + 1) = regs->bp;
	if (capture->task_words)
		append_words(capture->task_words, task_stack);
	recorded->captures++;
}

static int record_alloc(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long stack, flags;

	if (smp_processor_id() || recorded->captures == captures ||
	    recorded_bytes + CAPTURE_MAX > RECORDED_MAX)
		return 0;
	local_irq_save(flags);
	stack = stack_depot_find_stack(regs->sp);
	if (stack)
		append_capture(regs, stack);
	else
		recorded->other_stacks++;
	local_irq_restore(flags);
	return 0;
}

static struct kprobe probe = {
	.symbol_name = "__slab_owner_alloc",
	.pre_handler = record_alloc,
};

static int record_open(struct inode *inode, struct file *file)
{
	disable_kprobe(&probe);
	recorded->missed = probe.nmissed;
	memcpy(recorded + 1, *steps, STEPS_BYTES);
	return 0;
}

static ssize_t record_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	return simple_read_from_buffer(to, size, offset, recorded, recorded_bytes);
}

static const struct file_operations record_fops = {
	.owner	= THIS_MODULE,
	.open	= record_open,
	.read	= record_read,
	.llseek	= default_llseek,
};

/* A kprobe finds the function by which the kernel finds its other symbols. */
static int find_symbols(void)
{
	struct kprobe finder = { .symbol_name = "kallsyms_lookup_name" };
	int error = register_kprobe(&finder);

	if (error)
		return error;
	find_symbol = (void *)finder.addr;
	unregister_kprobe(&finder);
	save_regs = (void *)find_symbol("stack_trace_save_regs");
	steps = (void *)find_symbol("stack_depot_steps");
	return save_regs && steps && *steps ? 0 : -ENOENT;
}

static int __init record_init(void)
{
	int error = find_symbols();

	if (error)
		return error;
	recorded = vzalloc(RECORDED_MAX);
	if (!recorded)
		return -ENOMEM;
	recorded_bytes = sizeof(*recorded) + STEPS_BYTES;
	record_file = debugfs_create_file("owner_record", 0400, NULL, NULL, &record_fops);
	/* Last: the steps of this function will have been forgotten when the file is read. */
	error = register_kprobe(&probe);
	if (error) {
		debugfs_remove(record_file);
		vfree(recorded);
	}
	return error;
}
module_init(record_init);

static void __exit record_exit(void)
{
	debugfs_remove(record_file);
	unregister_kprobe(&probe);
	vfree(recorded);
}
module_exit(record_exit);

MODULE_DESCRIPTION("Record the stacks of allocations");
MODULE_LICENSE("GPL");
