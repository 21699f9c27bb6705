// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate 1,000 objects and drop the only pointers to them; keep 1,000 others by pointers
 * of all kinds. A search for unreferenced objects must report exactly the first thousand.
 *
 * /sys/kernel/debug/owner_unreferenced lists the first thousand in the form of
 * owner_truth: the cache, the function that allocated, objects and bytes.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

/* Objects that each function drops or keeps. */
#define DROP_LIST	300
#define DROP_RING	200
#define DROP_SINGLE	200
#define DROP_OWN_CACHE	150
#define DROP_PAIRS	75
#define KEEP_TAGGED	150
#define KEEP_INTERIOR	150
#define KEEP_XARRAY	150
#define KEEP_LIST	150
#define KEEP_PERCPU	50
#define KEEP_VMALLOC	150
#define KEEP_BY_OBJECT	129
#define KEEP_LEFTOVER	10
#define OWN_SIZE	120

struct listed {
	char before[20];
	struct list_head list;
	char after[40];
};

struct ringed {
	char before[100];
	struct ringed *next;
	struct ringed *previous;
	char after[68];
};

struct pair {
	long serial;
	void *buffer;
};

/* SLUB has the pointer to the next free object where the pointer is. */
struct in_middle {
	char before[56];
	struct in_middle *next;
	char after[56];
};

struct percpu_area {
	void *object[KEEP_PERCPU];
};

struct holder {
	void *object[KEEP_BY_OBJECT];
};

static bool stale;
module_param(stale, bool, 0400);
MODULE_PARM_DESC(stale, "leave copies of dropped pointers on a stack and in free pages");

static struct kmem_cache *own_cache;
static struct dentry *truth_file;

static void *allocate(size_t size)
{
	return kzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
}

/* --- objects to which nothing points, or only each other ----------------------- */

/* Free blocks with pointers to an object. Single pages are on a CPU's list then. */
static void leave_in_free_pages(void *object, unsigned int blocks, unsigned int order)
{
	LIST_HEAD(pages);
	struct page *page, *next;

	while (blocks--) {
		page = alloc_pages(GFP_KERNEL, order);
		if (!page)
			break;
		memset64(page_address(page), (u64)object, PAGE_SIZE / sizeof(u64));
		list_add(&page->lru, &pages);
	}
	list_for_each_entry_safe(page, next, &pages, lru)
		__free_pages(page, order);
}

static noinline void leave_on_stack(void *object)
{
	void *copies[150];

	memset64((u64 *)copies, (u64)object, ARRAY_SIZE(copies));
	barrier_data(copies);
}

static void *passed;

/* A task that sleeps with copies of a pointer below its stack pointer. */
static int sleep_above_copies(void *unused)
{
	leave_on_stack(xchg(&passed, NULL));
	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		schedule();
	}
	return 0;
}

static void leave_copies(void *object)
{
	struct task_struct *sleeper;

	if (!stale)
		return;
	leave_in_free_pages(object, 2, 8);
	leave_in_free_pages(object, 100, 0);
	/* An argument would be a pointer that leads to the object: a thread keeps it. */
	passed = object;
	sleeper = kthread_run(sleep_above_copies, NULL, "sleeper");
	if (IS_ERR(sleeper))
		pr_err("owner_unreferenced: no task sleeps: %pe\n", sleeper);
}

/* The list's head is in one of the objects. */
static noinline void truth_drop_list(void)
{
	struct listed *first = allocate(sizeof(*first));
	unsigned int i;

	INIT_LIST_HEAD(&first->list);
	for (i = 1; i < DROP_LIST; i++) {
		struct listed *entry = allocate(sizeof(*entry));

		list_add(&entry->list, &first->list);
	}
	leave_copies(first);
}

static noinline void truth_drop_ring(void)
{
	struct ringed *first = allocate(sizeof(*first)), *last = first;
	unsigned int i;

	for (i = 1; i < DROP_RING; i++) {
		last->next = allocate(sizeof(*last));
		last->next->previous = last;
		last = last->next;
	}
	last->next = first;
	first->previous = last;
}

static noinline void truth_drop_single(void)
{
	unsigned int i;

	for (i = 0; i < DROP_SINGLE; i++)
		allocate(40);
}

static noinline void truth_drop_own_cache(void)
{
	unsigned int i;

	for (i = 0; i < DROP_OWN_CACHE; i++)
		kmem_cache_zalloc(own_cache, GFP_KERNEL | __GFP_NOFAIL);
}

static noinline void truth_drop_pairs(void)
{
	unsigned int i;

	for (i = 0; i < DROP_PAIRS; i++) {
		struct pair *pair = allocate(sizeof(*pair));

		pair->buffer = allocate(1000);
	}
}

/*
 * --- objects that something points to -------------------------------------------
 *
 * Nothing reads the variables. WRITE_ONCE() keeps the compiler from leaving out the stores.
 */

static unsigned long tagged[KEEP_TAGGED];
static void *interior[KEEP_INTERIOR];
static LIST_HEAD(list);
static DEFINE_XARRAY(array);
static void **in_vmalloc;
static struct holder *holder;
static struct in_middle *leftover[KEEP_LEFTOVER];
static struct percpu_area __percpu *dynamic_area;
static DEFINE_PER_CPU(struct percpu_area, static_area);

static noinline void truth_keep_tagged(void)
{
	unsigned int i;

	for (i = 0; i < KEEP_TAGGED; i++)
		WRITE_ONCE(tagged[i], (unsigned long)allocate(40) | (1 + i % 7));
}

/* From the first byte to the last. */
static noinline void truth_keep_interior(void)
{
	unsigned int i;

	for (i = 0; i < KEEP_INTERIOR; i++)
		WRITE_ONCE(interior[i], allocate(KEEP_INTERIOR) + i);
}

static noinline void truth_keep_list(void)
{
	unsigned int i;

	for (i = 0; i < KEEP_LIST; i++) {
		struct listed *entry = allocate(sizeof(*entry));

		list_add(&entry->list, &list);
	}
}

/* Some nodes of the array have one object, others are full. */
static noinline void truth_keep_xarray(void)
{
	unsigned long i;

	for (i = 0; i < KEEP_XARRAY; i++)
		xa_store(&array, i < KEEP_XARRAY / 2 ? i : i * 1000, allocate(200),
			 GFP_KERNEL | __GFP_NOFAIL);
}

static noinline void truth_keep_percpu(void)
{
	unsigned int i, last = cpumask_last(cpu_possible_mask);

	dynamic_area = alloc_percpu(struct percpu_area);
	for (i = 0; dynamic_area && i < KEEP_PERCPU; i++) {
		per_cpu_ptr(dynamic_area, last)->object[i] = allocate(40);
		per_cpu(static_area, last).object[i] = allocate(40);
	}
}

static noinline void truth_keep_vmalloc(void)
{
	void **pointer = vzalloc(KEEP_VMALLOC * sizeof(void *));
	unsigned int i;

	WRITE_ONCE(in_vmalloc, pointer);
	for (i = 0; pointer && i < KEEP_VMALLOC; i++)
		WRITE_ONCE(pointer[i], allocate(1000));
}

static noinline void truth_keep_by_object(void)
{
	struct holder *only = allocate(sizeof(*only));
	unsigned int i;

	WRITE_ONCE(holder, only);
	for (i = 0; i < KEEP_BY_OBJECT; i++)
		only->object[i] = kmem_cache_zalloc(own_cache, GFP_KERNEL | __GFP_NOFAIL);
}

/*
 * A pointer to the object that was free next, where SLUB had one: nobody can tell whether
 * the owner has set it. If the second object is in another slab, it is a plain pointer.
 */
static noinline void truth_keep_leftover(void)
{
	unsigned int i;

	for (i = 0; i < KEEP_LEFTOVER; i++) {
		leftover[i] = kmem_cache_zalloc(own_cache, GFP_KERNEL | __GFP_NOFAIL);
		WRITE_ONCE(leftover[i]->next,
			   kmem_cache_zalloc(own_cache, GFP_KERNEL | __GFP_NOFAIL));
	}
}

/* --- the module ------------------------------------------------------------------ */

static int truth_show(struct seq_file *m, void *v)
{
	/* The stack of the thread that planted the objects is freed after a grace period. */
	rcu_barrier();
	seq_printf(m, "kmalloc-96 truth_drop_list %u %zu\n", DROP_LIST,
		   DROP_LIST * sizeof(struct listed));
	seq_printf(m, "kmalloc-192 truth_drop_ring %u %zu\n", DROP_RING,
		   DROP_RING * sizeof(struct ringed));
	seq_printf(m, "kmalloc-64 truth_drop_single %u %u\n", DROP_SINGLE, DROP_SINGLE * 40);
	seq_printf(m, "owner_unref truth_drop_own_cache %u %u\n", DROP_OWN_CACHE,
		   DROP_OWN_CACHE * OWN_SIZE);
	seq_printf(m, "kmalloc-16 truth_drop_pairs %u %zu\n", DROP_PAIRS,
		   DROP_PAIRS * sizeof(struct pair));
	seq_printf(m, "kmalloc-1k truth_drop_pairs %u %u\n", DROP_PAIRS, DROP_PAIRS * 1000);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(truth);

/* A thread whose stack is freed when it exits, so that no copies of pointers are left. */
static int plant(void *done)
{
	truth_drop_ring();
	truth_drop_single();
	truth_drop_own_cache();
	truth_drop_pairs();
	truth_keep_tagged();
	truth_keep_interior();
	truth_keep_list();
	truth_keep_xarray();
	truth_keep_percpu();
	truth_keep_vmalloc();
	truth_keep_by_object();
	truth_keep_leftover();
	/* Last: objects that are allocated later would take the pages with its copies. */
	truth_drop_list();
	kthread_complete_and_exit(done, 0);
}

static int __init unreferenced_init(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *planter;

	BUILD_BUG_ON(DROP_LIST + DROP_RING + DROP_SINGLE + DROP_OWN_CACHE + 2 * DROP_PAIRS != 1000);
	/* truth_keep_by_object() keeps the object with the pointers, too. */
	BUILD_BUG_ON(KEEP_TAGGED + KEEP_INTERIOR + KEEP_XARRAY + KEEP_LIST + 2 * KEEP_PERCPU +
		     KEEP_VMALLOC + KEEP_BY_OBJECT + 1 + 2 * KEEP_LEFTOVER != 1000);
	BUILD_BUG_ON(sizeof(struct in_middle) != OWN_SIZE);
	own_cache = kmem_cache_create("owner_unref", OWN_SIZE, 0, SLAB_NO_MERGE, NULL);
	if (!own_cache)
		return -ENOMEM;
	planter = kthread_run(plant, &done, "planter");
	if (IS_ERR(planter)) {
		kmem_cache_destroy(own_cache);
		return PTR_ERR(planter);
	}
	wait_for_completion(&done);
	truth_file = debugfs_create_file("owner_unreferenced", 0400, NULL, NULL, &truth_fops);
	return 0;
}
module_init(unreferenced_init);

MODULE_DESCRIPTION("Drop the only pointers to 1,000 objects");
MODULE_LICENSE("GPL");
