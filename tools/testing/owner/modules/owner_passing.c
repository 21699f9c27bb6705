// SPDX-License-Identifier: GPL-2.0
/* A module that is loaded and unloaded again and again while tests run. */

#include <linux/module.h>
#include <linux/slab.h>

#define OBJECTS	10
#define SIZE	77

static void *objects[OBJECTS];

static noinline void *passing_alloc(void)
{
	void *object = kmalloc(SIZE, GFP_KERNEL);

	/* Prevent a tail call, which would drop this frame from the chain. */
	barrier();
	return object;
}

static void __exit passing_exit(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		kfree(objects[i]);
}
module_exit(passing_exit);

static int __init passing_init(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		objects[i] = passing_alloc();
	return 0;
}
module_init(passing_init);

MODULE_DESCRIPTION("Come and go while tests run");
MODULE_LICENSE("GPL");
