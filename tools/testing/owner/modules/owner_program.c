// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate objects when a program asks: user_chains.c writes to
 * /sys/kernel/debug/owner_program.
 *
 *   N		allocate N objects in write()
 *   flush N	allocate them when the file is closed
 *   work N	allocate them in a kernel thread, and wait for it
 *   timer N	allocate them in a timer, and wait for it
 *   free	free all objects
 *   free N	free the newest N objects
 *   keep N	free all but each Nth object, so that slabs are nearly empty
 *   where	print the address of the newest object
 *
 * A page fault in a mapping of the file allocates one, too.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "compat.h"

struct program_object {
	struct list_head list;
	char rest[80];
};

static struct kmem_cache *cache;
static LIST_HEAD(objects);
static DEFINE_SPINLOCK(objects_lock);
static struct dentry *file;

static noinline void allocate_objects(unsigned int count, gfp_t flags)
{
	unsigned long irqflags;

	while (count--) {
		struct program_object *object = kmem_cache_alloc(cache, flags);

		if (!object)
			break;
		spin_lock_irqsave(&objects_lock, irqflags);
		list_add(&object->list, &objects);
		spin_unlock_irqrestore(&objects_lock, irqflags);
	}
}

static struct program_object *take_newest_object(void)
{
	struct program_object *object;

	spin_lock_irq(&objects_lock);
	object = list_first_entry_or_null(&objects, struct program_object, list);
	if (object)
		list_del(&object->list);
	spin_unlock_irq(&objects_lock);
	return object;
}

static void free_newest_objects(unsigned int count)
{
	struct program_object *object;

	while (count-- && (object = take_newest_object()))
		kmem_cache_free(cache, object);
}

static void keep_each_object(unsigned int nth)
{
	struct program_object *object, *next;
	unsigned int i = 0;

	spin_lock_irq(&objects_lock);
	list_for_each_entry_safe(object, next, &objects, list) {
		if (i++ % nth == 0)
			continue;
		list_del(&object->list);
		kmem_cache_free(cache, object);
	}
	spin_unlock_irq(&objects_lock);
}

static void print_address_of_newest(void)
{
	struct program_object *object;

	spin_lock_irq(&objects_lock);
	object = list_first_entry_or_null(&objects, struct program_object, list);
	spin_unlock_irq(&objects_lock);
	pr_info("program: %#lx\n", (unsigned long)object);
}

struct later {
	struct work_struct work;
	struct timer_list timer;
	struct completion done;
	unsigned int count;
};

static void allocate_in_work(struct work_struct *work)
{
	struct later *later = container_of(work, struct later, work);

	allocate_objects(later->count, GFP_KERNEL);
	complete(&later->done);
}

static void allocate_in_timer(struct timer_list *timer)
{
	struct later *later = timer_container_of(later, timer, timer);

	allocate_objects(later->count, GFP_ATOMIC);
	complete(&later->done);
}

static void allocate_later(unsigned int count, bool in_timer)
{
	struct later later = { .count = count };

	init_completion(&later.done);
	INIT_WORK_ONSTACK(&later.work, allocate_in_work);
	timer_setup_on_stack(&later.timer, allocate_in_timer, 0);
	if (in_timer)
		mod_timer(&later.timer, jiffies + 1);
	else
		schedule_work(&later.work);
	wait_for_completion(&later.done);
	timer_delete_sync(&later.timer);
	timer_destroy_on_stack(&later.timer);
	cancel_work_sync(&later.work);
	destroy_work_on_stack(&later.work);
}

static ssize_t program_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	unsigned int count;
	char text[32] = {};

	if (size >= sizeof(text) || copy_from_user(text, buf, size))
		return -EFAULT;
	if (sscanf(text, "flush %u", &count) == 1)
		file->private_data = (void *)(unsigned long)count;
	else if (sscanf(text, "work %u", &count) == 1)
		allocate_later(count, false);
	else if (sscanf(text, "timer %u", &count) == 1)
		allocate_later(count, true);
	else if (!kstrtouint(text, 10, &count))
		allocate_objects(count, GFP_KERNEL);
	else if (sscanf(text, "free %u", &count) == 1)
		free_newest_objects(count);
	else if (!strncmp(text, "free", 4))
		free_newest_objects(UINT_MAX);
	else if (sscanf(text, "keep %u", &count) == 1 && count)
		keep_each_object(count);
	else if (!strncmp(text, "where", 5))
		print_address_of_newest();
	else
		return -EINVAL;
	return size;
}

static int program_flush(struct file *file, fl_owner_t id)
{
	allocate_objects((unsigned long)file->private_data, GFP_KERNEL);
	file->private_data = NULL;
	return 0;
}

static vm_fault_t program_fault(struct vm_fault *vmf)
{
	vmf->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!vmf->page)
		return VM_FAULT_OOM;
	allocate_objects(1, GFP_KERNEL);
	return 0;
}

static const struct vm_operations_struct program_vm_ops = {
	.fault	= program_fault,
};

static int program_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &program_vm_ops;
	return 0;
}

static const struct file_operations program_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= program_write,
	.mmap	= program_mmap,
	.flush	= program_flush,
};

static int __init program_init(void)
{
	cache = kmem_cache_create("owner_program", sizeof(struct program_object), 0,
				  SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	/* "unsafe": debugfs would not pass flush and mmap on. */
	file = debugfs_create_file_unsafe("owner_program", 0200, NULL, NULL, &program_fops);
	return 0;
}
module_init(program_init);

static void __exit program_exit(void)
{
	debugfs_remove(file);
	free_newest_objects(UINT_MAX);
	kmem_cache_destroy(cache);
}
module_exit(program_exit);

MODULE_DESCRIPTION("Allocate objects when a program asks");
MODULE_LICENSE("GPL");
