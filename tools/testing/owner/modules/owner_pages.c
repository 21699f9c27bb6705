// SPDX-License-Identifier: GPL-2.0
/*
 * Planted pages: known allocations of known orders from known call chains, for
 * page_owner to show exactly, ours and the one that the kernel comes with.
 *
 * What is planted is said in /sys/kernel/debug/owner_pages, a line for each chain:
 * "FUNCTION ORDER ALLOCATIONS".
 */

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define PLANTED		37

static char truth[2048];
static size_t told;
static struct dentry *truth_file;

static __printf(1, 2) void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	told += vscnprintf(truth + told, sizeof(truth) - told, format, args);
	va_end(args);
}

struct plant {
	struct page *page[64];
	unsigned int pages;
	unsigned int order;
};

static void keep(struct plant *plant, struct page *page)
{
	if (page)
		plant->page[plant->pages++] = page;
}

static void uproot(struct plant *plant)
{
	while (plant->pages)
		__free_pages(plant->page[--plant->pages], plant->order);
}

static struct plant single, zeroed, movable, ordered[4], split, second, compound;
static struct plant in_softirq, in_hardirq, in_thread, deep;

static noinline void pages_single(void)
{
	while (single.pages < PLANTED)
		keep(&single, alloc_page(GFP_KERNEL));
	tell("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_zeroed(void)
{
	while (zeroed.pages < PLANTED)
		keep(&zeroed, virt_to_page(get_zeroed_page(GFP_KERNEL)));
	tell("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_movable(void)
{
	while (movable.pages < PLANTED)
		keep(&movable, alloc_page(GFP_HIGHUSER_MOVABLE));
	tell("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_ordered(void)
{
	unsigned int order;

	for (order = 0; order < ARRAY_SIZE(ordered); order++) {
		ordered[order].order = order;
		while (ordered[order].pages < 5)
			keep(&ordered[order], alloc_pages(GFP_KERNEL, order));
		tell("%s %u 5\n", __func__, order);
	}
}

static noinline void pages_compound(void)
{
	compound.order = 2;
	while (compound.pages < 5)
		keep(&compound, alloc_pages(GFP_KERNEL | __GFP_COMP, 2));
	tell("%s 2 5\n", __func__);
}

/* Three of eight are freed. */
static noinline void pages_split(void)
{
	struct page *page = alloc_pages(GFP_KERNEL, 3);
	unsigned int i;

	if (!page)
		return;
	split_page(page, 3);
	for (i = 0; i < 8; i++)
		if (i < 3)
			__free_page(page + i);
		else
			keep(&split, page + i);
	tell("%s 0 5\n", __func__);
}

static void *exact;

static noinline void pages_exact(void)
{
	exact = alloc_pages_exact(5 * PAGE_SIZE, GFP_KERNEL);
	tell("%s 0 5\n", __func__);
}

static void *large;

static noinline void pages_large(void)
{
	large = kmalloc(16 * PAGE_SIZE, GFP_KERNEL);
	tell("%s 4 1\n", __func__);
}

static void *mapped;

static noinline void pages_vmalloc(void)
{
	mapped = vmalloc(6 * PAGE_SIZE);
	tell("%s 0 6\n", __func__);
}

/* Freed by one, allocated again by another. */
static noinline void pages_first(void)
{
	while (second.pages < PLANTED)
		keep(&second, alloc_page(GFP_KERNEL));
	uproot(&second);
}

static noinline void pages_second(void)
{
	while (second.pages < PLANTED)
		keep(&second, alloc_page(GFP_KERNEL));
	tell("%s 0 %u\n", __func__, PLANTED);
}

/* More frames than are kept. */
static noinline void pages_deep(unsigned int deeper)
{
	if (deeper)
		pages_deep(deeper - 1);
	else
		while (deep.pages < PLANTED)
			keep(&deep, alloc_page(GFP_KERNEL));
	/* Not a tail call: a frame of its own. */
	barrier();
}

/* --- many chains --------------------------------------------------------------- */

static unsigned int chains;
module_param(chains, uint, 0400);
MODULE_PARM_DESC(chains, "plant a page from each of so many call chains, and say nothing of them");

static struct page **many;
static unsigned int planted;

static noinline void pages_one_of_many(void)
{
	many[planted] = alloc_page(GFP_KERNEL);
	if (many[planted])
		planted++;
}

static void go_on(unsigned int path);

static noinline void go_left(unsigned int path)
{
	go_on(path / 2);
	barrier();
}

static noinline void go_right(unsigned int path)
{
	go_on(path / 2);
	barrier();
}

/* Each path has a chain of its own. */
static void go_on(unsigned int path)
{
	if (path == 1)
		pages_one_of_many();
	else if (path & 1)
		go_right(path);
	else
		go_left(path);
}

static noinline void pages_many(void)
{
	unsigned int i;

	many = kvcalloc(chains, sizeof(*many), GFP_KERNEL);
	for (i = 0; many && i < chains; i++)
		go_on(BIT(16) + i);
}

/* --- other contexts ----------------------------------------------------------- */

static noinline void pages_softirq(struct tasklet_struct *unused)
{
	while (in_softirq.pages < PLANTED)
		keep(&in_softirq, alloc_page(GFP_ATOMIC));
}

static DECLARE_TASKLET(pages_tasklet, pages_softirq);

static noinline void pages_hardirq(struct irq_work *unused)
{
	while (in_hardirq.pages < PLANTED)
		keep(&in_hardirq, alloc_page(GFP_ATOMIC));
}

/* The task goes, its name stays with what it allocated. */
static noinline int pages_thread(void *done)
{
	while (in_thread.pages < PLANTED)
		keep(&in_thread, alloc_page(GFP_KERNEL));
	kthread_complete_and_exit(done, 0);
}

static void plant_elsewhere(void)
{
	struct irq_work hard = IRQ_WORK_INIT(pages_hardirq);
	DECLARE_COMPLETION_ONSTACK(done);

	tasklet_schedule(&pages_tasklet);
	tasklet_kill(&pages_tasklet);
	tell("pages_softirq 0 %u\n", PLANTED);
	irq_work_queue(&hard);
	irq_work_sync(&hard);
	tell("pages_hardirq 0 %u\n", PLANTED);
	if (!IS_ERR(kthread_run(pages_thread, &done, "pages planter")))
		wait_for_completion(&done);
	tell("pages_thread 0 %u\n", PLANTED);
}

/* --- the module ------------------------------------------------------------- */

static int truth_show(struct seq_file *m, void *v)
{
	seq_puts(m, truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(truth);

static int __init pages_init(void)
{
	pages_single();
	pages_zeroed();
	pages_movable();
	pages_ordered();
	pages_compound();
	pages_split();
	pages_exact();
	pages_large();
	pages_vmalloc();
	pages_first();
	pages_second();
	pages_deep(40);
	tell("pages_deep 0 %u\n", PLANTED);
	plant_elsewhere();
	if (chains)
		pages_many();
	truth_file = debugfs_create_file("owner_pages", 0400, NULL, NULL, &truth_fops);
	return 0;
}
module_init(pages_init);

static void __exit pages_exit(void)
{
	unsigned int order;

	debugfs_remove(truth_file);
	uproot(&single);
	uproot(&zeroed);
	uproot(&movable);
	for (order = 0; order < ARRAY_SIZE(ordered); order++)
		uproot(&ordered[order]);
	uproot(&compound);
	uproot(&split);
	if (exact)
		free_pages_exact(exact, 5 * PAGE_SIZE);
	kfree(large);
	vfree(mapped);
	uproot(&second);
	uproot(&deep);
	while (planted)
		__free_page(many[--planted]);
	kvfree(many);
	uproot(&in_softirq);
	uproot(&in_hardirq);
	uproot(&in_thread);
}
module_exit(pages_exit);

MODULE_DESCRIPTION("Pages with known owners");
MODULE_LICENSE("GPL");
