// SPDX-License-Identifier: GPL-2.0
/*
 * Exercise a rare path of the allocator, chosen by the parameter corner:
 *
 * dump		call mem_dump_obj() on an object before and after it is freed
 * busy		destroy a cache that still has objects
 * charge	allocate until the memory cgroup refuses the charge
 * leave	keep objects allocated when the module is unloaded
 * kfence	allocate an object from KFENCE, free it at unload
 * init		allocate in init text before the module is live, and again before the text is freed
 */

#include <linux/async.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *corner = "";
module_param(corner, charp, 0400);
MODULE_PARM_DESC(corner, "dump, busy, charge, leave, kfence or init");

#define SIZE	500
#define OBJECTS	3
/* This is less than 120 s, after which the kernel reports a task as hung. */
#define CORNER_TIMEOUT	(100 * HZ)

static noinline void *corner_alloc(struct kmem_cache *cache, gfp_t flags)
{
	void *object = cache ? kmem_cache_alloc(cache, flags) : kmalloc(SIZE, flags);

	barrier();
	return object;
}

static noinline void corner_free(void *object)
{
	kfree(object);
	barrier();
}

static void dump_object(void)
{
	void *object = corner_alloc(NULL, GFP_KERNEL), *keeps_the_slab;

	keeps_the_slab = corner_alloc(NULL, GFP_KERNEL);
	pr_info("corner: live:");
	mem_dump_obj(object);
	corner_free(object);
	pr_info("corner: freed:");
	mem_dump_obj(object);
	pr_info("corner: end\n");
	kfree(keeps_the_slab);
}

static void destroy_busy_cache(void)
{
	struct kmem_cache *cache = kmem_cache_create("corner_busy", SIZE, 0, SLAB_NO_MERGE, NULL);
	unsigned int i;

	for (i = 0; cache && i < OBJECTS; i++)
		corner_alloc(cache, GFP_KERNEL);
	kmem_cache_destroy(cache);
}

/* The objects that were charged before the first refusal are never freed. */
static void charge_cgroup_until_refused(void)
{
	struct kmem_cache *cache = kmem_cache_create("corner_charge", SIZE, 0,
						     SLAB_NO_MERGE | SLAB_ACCOUNT, NULL);
	unsigned int charged = 0, refused = 0;

	while (cache && refused < 100 && charged < 100000) {
		if (corner_alloc(cache, GFP_NOWAIT | __GFP_NOWARN))
			charged++;
		else
			refused++;
	}
	pr_info("corner: %u charged, %u refused\n", charged, refused);
}

static void leave_objects_allocated(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		corner_alloc(NULL, GFP_KERNEL);
}

static void *fenced;

/* KFENCE serves one allocation per sample interval, so try for a while. */
static void alloc_from_kfence(void)
{
	unsigned long until = jiffies + CORNER_TIMEOUT;

	while (time_before(jiffies, until)) {
		fenced = corner_alloc(NULL, GFP_KERNEL);
		if (is_kfence_address(fenced))
			break;
		kfree(fenced);
		fenced = NULL;
		cond_resched();
	}
	if (fenced)
		pr_info("corner: %#lx\n", page_to_pfn(virt_to_page(fenced)));
}

#define INIT_OBJECTS	10000

static DECLARE_COMPLETION(allocated_in_init);
static DECLARE_COMPLETION(is_live);

static int note_live_module(struct notifier_block *nb, unsigned long action, void *module)
{
	if (module == THIS_MODULE && action == MODULE_STATE_LIVE)
		complete(&is_live);
	return NOTIFY_DONE;
}

/* The depot forgets the init text before this notifier is called. */
static struct notifier_block last_notifier = {
	.notifier_call = note_live_module,
	.priority = INT_MIN,
};

static void __init alloc_in_init_text(void *data, async_cookie_t cookie)
{
	unsigned int i;

	for (i = 0; i < 2 * INIT_OBJECTS; i++) {
		if (i == INIT_OBJECTS) {
			complete(&allocated_in_init);
			if (!wait_for_completion_timeout(&is_live, CORNER_TIMEOUT))
				return;
		}
		corner_free(corner_alloc(NULL, GFP_KERNEL));
	}
}

/*
 * Init text is freed after functions that were scheduled here have ended. Without memory,
 * async_schedule() calls the function at once, and nothing is allocated after the module is live.
 */
static int __init schedule_in_init_text(void)
{
	int error = register_module_notifier(&last_notifier);

	if (error)
		return error;
	async_schedule(alloc_in_init_text, NULL);
	if (wait_for_completion_timeout(&allocated_in_init, CORNER_TIMEOUT))
		return 0;
	async_synchronize_full();
	unregister_module_notifier(&last_notifier);
	return -ETIMEDOUT;
}

static int __init corners_init(void)
{
	if (!strcmp(corner, "dump"))
		dump_object();
	else if (!strcmp(corner, "busy"))
		destroy_busy_cache();
	else if (!strcmp(corner, "charge"))
		charge_cgroup_until_refused();
	else if (!strcmp(corner, "leave"))
		leave_objects_allocated();
	else if (!strcmp(corner, "kfence"))
		alloc_from_kfence();
	else if (!strcmp(corner, "init"))
		return schedule_in_init_text();
	else
		return -EINVAL;
	return 0;
}
module_init(corners_init);

/* The corners busy, charge and leave leak their objects on purpose. */
static void __exit corners_exit(void)
{
	kfree(fenced);
	if (!strcmp(corner, "init"))
		unregister_module_notifier(&last_notifier);
}
module_exit(corners_exit);

MODULE_DESCRIPTION("Exercise rare paths of the slab allocator");
MODULE_LICENSE("GPL");
