// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the memory that an object takes, and allocate from many call chains and tasks.
 *
 * Print the bytes per object to the kernel's log in the format of owner_bench.c. The
 * memory of the chains can be read from the stack depot's statistics.
 */

#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define OBJECT_SIZE	64

static unsigned int objects;
module_param(objects, uint, 0400);
MODULE_PARM_DESC(objects, "number of objects to allocate from one call chain");

static unsigned int chains;
module_param(chains, uint, 0400);
MODULE_PARM_DESC(chains, "number of call chains that allocate one object each");

static unsigned int tasks;
module_param(tasks, uint, 0400);
MODULE_PARM_DESC(tasks, "number of tasks that allocate one object each and exit");

static unsigned int frames = 7;
module_param(frames, uint, 0400);
MODULE_PARM_DESC(frames, "frames of a chain that differ: there are 4^frames chains (default: 7)");

struct held_object {
	struct held_object *next;
	char rest[OBJECT_SIZE - sizeof(struct held_object *)];
};

static struct held_object *held;

static noinline bool hold_one(void)
{
	struct held_object *object = kmalloc(sizeof(*object), GFP_KERNEL);

	if (!object)
		return false;
	object->next = held;
	held = object;
	return true;
}

static noinline bool alloc_object_through_chain(unsigned int chain, unsigned int frame)
{
	bool done;

	if (!frame)
		return hold_one();
	switch (chain & 3) {
	case 0:
		done = alloc_object_through_chain(chain >> 2, frame - 1);
		barrier();
		break;
	case 1:
		done = alloc_object_through_chain(chain >> 2, frame - 1);
		barrier_data(&done);
		break;
	case 2:
		done = alloc_object_through_chain(chain >> 2, frame - 1);
		OPTIMIZER_HIDE_VAR(done);
		break;
	default:
		done = alloc_object_through_chain(chain >> 2, frame - 1);
		asm volatile("" : "+m" (done));
		break;
	}
	return done;
}

static DECLARE_COMPLETION(task_has_run);

static int hold_one_and_exit(void *held_one)
{
	*(bool *)held_one = hold_one();
	complete(&task_has_run);
	return 0;
}

/* @number makes the name of the task unique, as its pid is not. */
static bool hold_one_by_task(unsigned int number)
{
	bool held_one;

	if (IS_ERR(kthread_run(hold_one_and_exit, &held_one, "task %u", number)))
		return false;
	wait_for_completion(&task_has_run);
	return held_one;
}

static unsigned long read_free_bytes(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return info.freeram * PAGE_SIZE;
}

static void free_all_held_objects(void)
{
	struct held_object *object;

	while ((object = held)) {
		held = object->next;
		kfree(object);
	}
}

static int memory_init(void)
{
	unsigned long before = read_free_bytes(), taken;
	unsigned int i;

	for (i = 0; i < objects; i++) {
		if (!hold_one())
			goto no_memory;
		cond_resched();
	}
	if (objects) {
		taken = (before - read_free_bytes()) * 100 / objects;
		pr_info("owner_bench: bytes-of-object-64 0 %lu.%02lu %lu.%02lu\n",
			taken / 100, taken % 100, taken / 100, taken % 100);
	}
	for (i = 0; i < tasks; i++) {
		if (!hold_one_by_task(i))
			goto no_memory;
	}
	for (i = 0; i < chains; i++) {
		if (!alloc_object_through_chain(i, frames))
			goto no_memory;
		cond_resched();
	}
	return 0;

no_memory:
	free_all_held_objects();
	return -ENOMEM;
}
module_init(memory_init);

static void __exit memory_exit(void)
{
	free_all_held_objects();
}
module_exit(memory_exit);

MODULE_DESCRIPTION("Measure the memory of objects and call chains");
MODULE_LICENSE("GPL");
