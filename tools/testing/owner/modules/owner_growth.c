// SPDX-License-Identifier: GPL-2.0
/*
 * Plant known numbers of objects that change between moments.
 *
 * Write the number of a moment to /sys/kernel/debug/owner_growth to plant its objects;
 * no object is planted before. Read the planted objects from there, in the format of
 * owner_truth.ko. Each allocating function allocates in one source line, so that
 * /proc/allocinfo has a known content, too.
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#define MOMENTS		3
#define MOST		200
#define OWN_SIZE	104

struct planted_objects {
	const char *cache;
	/* This module's functions in the chain, the allocating one first. */
	const char *chain;
	/* Allocates one more object and returns its size in *size. */
	void *(*alloc)(size_t *size);
	/* Number of objects at each moment. */
	unsigned int wanted[MOMENTS];
	/* Allocate all objects anew at each moment. */
	bool renewed;

	size_t size;
	unsigned int objects;
	void *object[MOST];
};

static struct kmem_cache *own_cache;
static struct dentry *held_file;
/* Protects plants and moment. */
static DEFINE_MUTEX(lock);
static unsigned int moment;

/* Prevent a tail call, which would drop the caller's frame from the chain. */
#define RETURN_AFTER_CALL()	barrier()

static noinline __noclone void *truth_shared(size_t size)
{
	void *object = kmalloc(size, GFP_KERNEL);

	RETURN_AFTER_CALL();
	return object;
}

static noinline void *truth_growing(size_t *size)
{
	void *object;

	*size = 200;
	object = truth_shared(*size);
	RETURN_AFTER_CALL();
	return object;
}

static noinline void *truth_shrinking(size_t *size)
{
	void *object;

	*size = 195;
	object = truth_shared(*size);
	RETURN_AFTER_CALL();
	return object;
}

static noinline void *truth_coming(size_t *size)
{
	void *object;

	*size = OWN_SIZE;
	object = kmem_cache_alloc(own_cache, GFP_KERNEL);
	RETURN_AFTER_CALL();
	return object;
}

static noinline void *truth_going(size_t *size)
{
	void *object;

	*size = OWN_SIZE;
	object = kmem_cache_alloc(own_cache, GFP_KERNEL | __GFP_ZERO);
	RETURN_AFTER_CALL();
	return object;
}

static noinline void *truth_swinging(size_t *size)
{
	void *object;

	*size = 60;
	object = kmalloc(*size, GFP_KERNEL);
	RETURN_AFTER_CALL();
	return object;
}

/* The number of objects stays, their size grows. */
static noinline void *truth_swelling(size_t *size)
{
	void *object;

	*size = 100 + 8 * moment;
	object = kmalloc(*size, GFP_KERNEL);
	RETURN_AFTER_CALL();
	return object;
}

/* Number and size of the objects stay, but all objects are new. */
static noinline void *truth_changing(size_t *size)
{
	void *object;

	*size = 500;
	object = kmalloc(*size, GFP_KERNEL);
	RETURN_AFTER_CALL();
	return object;
}

static struct planted_objects plants[] = {
	{ "kmalloc-256", "truth_shared;truth_growing", truth_growing, { 40, 75, 131 } },
	{ "kmalloc-256", "truth_shared;truth_shrinking", truth_shrinking, { 90, 53, 17 } },
	{ "owner_growth", "truth_coming", truth_coming, { 0, 21, 64 } },
	{ "owner_growth", "truth_going", truth_going, { 33, 33, 0 } },
	{ "kmalloc-64", "truth_swinging", truth_swinging, { 10, 50, 10 } },
	{ "kmalloc-128", "truth_swelling", truth_swelling, { 30, 30, 30 }, true },
	{ "kmalloc-512", "truth_changing", truth_changing, { 25, 25, 25 }, true },
};

static void free_planted_objects(struct planted_objects *plant, unsigned int until)
{
	while (plant->objects > until)
		kfree(plant->object[--plant->objects]);
}

static void plant_objects(struct planted_objects *plant, unsigned int objects)
{
	free_planted_objects(plant, plant->renewed ? 0 : objects);
	while (plant->objects < objects) {
		void *object = plant->alloc(&plant->size);

		/* The file lists only objects that could be allocated. */
		if (!object)
			return;
		plant->object[plant->objects++] = object;
	}
}

static void plant_objects_of_moment(unsigned int chosen)
{
	unsigned int i;

	moment = chosen;
	for (i = 0; i < ARRAY_SIZE(plants); i++)
		plant_objects(&plants[i], plants[i].wanted[chosen]);
}

static ssize_t held_write(struct file *file, const char __user *user, size_t bytes, loff_t *pos)
{
	unsigned int chosen;
	int error = kstrtouint_from_user(user, bytes, 0, &chosen);

	if (error)
		return error;
	if (chosen >= MOMENTS)
		return -EINVAL;
	mutex_lock(&lock);
	plant_objects_of_moment(chosen);
	mutex_unlock(&lock);
	return bytes;
}

static int held_show(struct seq_file *m, void *v)
{
	struct planted_objects *plant;
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(plants); i++) {
		plant = &plants[i];
		if (plant->objects)
			seq_printf(m, "%s %s %u %zu\n", plant->cache, plant->chain, plant->objects,
				   plant->objects * plant->size);
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_STORE_ATTRIBUTE(held);

static int __init growth_init(void)
{
	own_cache = kmem_cache_create("owner_growth", OWN_SIZE, 0, SLAB_NO_MERGE, NULL);
	if (!own_cache)
		return -ENOMEM;
	held_file = debugfs_create_file("owner_growth", 0600, NULL, NULL, &held_fops);
	return 0;
}
module_init(growth_init);

static void __exit growth_exit(void)
{
	unsigned int i;

	debugfs_remove(held_file);
	for (i = 0; i < ARRAY_SIZE(plants); i++)
		free_planted_objects(&plants[i], 0);
	kmem_cache_destroy(own_cache);
}
module_exit(growth_exit);

MODULE_DESCRIPTION("Plant objects with known owners that change between moments");
MODULE_LICENSE("GPL");
