// SPDX-License-Identifier: GPL-2.0
/*
 * Plant known page allocations: each chain allocates a known number of pages of a known
 * order. page_owner, ours and the original, must show exactly those.
 *
 * /sys/kernel/debug/owner_pages lists them, one line per chain: "FUNCTION ORDER
 * ALLOCATIONS".
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

static __printf(1, 2) void append_truth_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	told += vscnprintf(truth + told, sizeof(truth) - told, format, args);
	va_end(args);
}

struct planted_pages {
	struct page *page[64];
	unsigned int pages;
	unsigned int order;
};

static void keep_pages(struct planted_pages *plant, struct page *page)
{
	if (page)
		plant->page[plant->pages++] = page;
}

static void free_planted_pages(struct planted_pages *plant)
{
	while (plant->pages)
		__free_pages(plant->page[--plant->pages], plant->order);
}

static struct planted_pages single, zeroed, movable, ordered[4], split, second, compound;
static struct planted_pages in_softirq, in_hardirq, in_thread, deep;

static noinline void pages_single(void)
{
	while (single.pages < PLANTED)
		keep_pages(&single, alloc_page(GFP_KERNEL));
	append_truth_line("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_zeroed(void)
{
	while (zeroed.pages < PLANTED)
		keep_pages(&zeroed, virt_to_page(get_zeroed_page(GFP_KERNEL)));
	append_truth_line("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_movable(void)
{
	while (movable.pages < PLANTED)
		keep_pages(&movable, alloc_page(GFP_HIGHUSER_MOVABLE));
	append_truth_line("%s 0 %u\n", __func__, PLANTED);
}

static noinline void pages_ordered(void)
{
	unsigned int order;

	for (order = 0; order < ARRAY_SIZE(ordered); order++) {
		ordered[order].order = order;
		while (ordered[order].pages < 5)
			keep_pages(&ordered[order], alloc_pages(GFP_KERNEL, order));
		append_truth_line("%s %u 5\n", __func__, order);
	}
}

static noinline void pages_compound(void)
{
	compound.order = 2;
	while (compound.pages < 5)
		keep_pages(&compound, alloc_pages(GFP_KERNEL | __GFP_COMP, 2));
	append_truth_line("%s 2 5\n", __func__);
}

/* Split a page of order 3 and free three of the eight pages. */
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
			keep_pages(&split, page + i);
	append_truth_line("%s 0 5\n", __func__);
}

static void *exact;

static noinline void pages_exact(void)
{
	exact = alloc_pages_exact(5 * PAGE_SIZE, GFP_KERNEL);
	append_truth_line("%s 0 5\n", __func__);
}

static void *large;

static noinline void pages_large(void)
{
	large = kmalloc(16 * PAGE_SIZE, GFP_KERNEL);
	append_truth_line("%s 4 1\n", __func__);
}

static void *mapped;

static noinline void pages_vmalloc(void)
{
	mapped = vmalloc(6 * PAGE_SIZE);
	append_truth_line("%s 0 6\n", __func__);
}

/* pages_second() gets the pages that pages_first() has freed. */
static noinline void pages_first(void)
{
	while (second.pages < PLANTED)
		keep_pages(&second, alloc_page(GFP_KERNEL));
	free_planted_pages(&second);
}

static noinline void pages_second(void)
{
	while (second.pages < PLANTED)
		keep_pages(&second, alloc_page(GFP_KERNEL));
	append_truth_line("%s 0 %u\n", __func__, PLANTED);
}

/* A chain of more frames than page_owner keeps by default. */
static noinline void pages_deep(unsigned int deeper)
{
	if (deeper)
		pages_deep(deeper - 1);
	else
		while (deep.pages < PLANTED)
			keep_pages(&deep, alloc_page(GFP_KERNEL));
	/* Prevent a tail call, which would drop this frame. */
	barrier();
}

/* --- many chains --------------------------------------------------------------- */

static unsigned int chains;
module_param(chains, uint, 0400);
MODULE_PARM_DESC(chains, "number of call chains that allocate one page each and are not listed");

static struct page **many;
static unsigned int planted;

static noinline void pages_one_of_many(void)
{
	many[planted] = alloc_page(GFP_KERNEL);
	if (many[planted])
		planted++;
}

static void allocate_along_path(unsigned int path);

static noinline void allocate_along_left_path(unsigned int path)
{
	allocate_along_path(path / 2);
	barrier();
}

static noinline void allocate_along_right_path(unsigned int path)
{
	allocate_along_path(path / 2);
	barrier();
}

/* Each value of @path gives another call chain. */
static void allocate_along_path(unsigned int path)
{
	if (path == 1)
		pages_one_of_many();
	else if (path & 1)
		allocate_along_right_path(path);
	else
		allocate_along_left_path(path);
}

static noinline void pages_many(void)
{
	unsigned int i;

	many = kvcalloc(chains, sizeof(*many), GFP_KERNEL);
	for (i = 0; many && i < chains; i++)
		allocate_along_path(BIT(16) + i);
}

/* --- other contexts ----------------------------------------------------------- */

static noinline void pages_softirq(struct tasklet_struct *unused)
{
	while (in_softirq.pages < PLANTED)
		keep_pages(&in_softirq, alloc_page(GFP_ATOMIC));
}

static DECLARE_TASKLET(pages_tasklet, pages_softirq);

static noinline void pages_hardirq(struct irq_work *unused)
{
	while (in_hardirq.pages < PLANTED)
		keep_pages(&in_hardirq, alloc_page(GFP_ATOMIC));
}

/* The thread exits, and its pages keep its name. */
static noinline int pages_thread(void *done)
{
	while (in_thread.pages < PLANTED)
		keep_pages(&in_thread, alloc_page(GFP_KERNEL));
	kthread_complete_and_exit(done, 0);
}

static void plant_in_other_contexts(void)
{
	struct irq_work hard = IRQ_WORK_INIT(pages_hardirq);
	DECLARE_COMPLETION_ONSTACK(done);

	tasklet_schedule(&pages_tasklet);
	tasklet_kill(&pages_tasklet);
	append_truth_line("pages_softirq 0 %u\n", PLANTED);
	irq_work_queue(&hard);
	irq_work_sync(&hard);
	append_truth_line("pages_hardirq 0 %u\n", PLANTED);
	if (!IS_ERR(kthread_run(pages_thread, &done, "pages planter")))
		wait_for_completion(&done);
	append_truth_line("pages_thread 0 %u\n", PLANTED);
}

/* --- the module ------------------------------------------------------------- */

static int truth_show(struct seq_file *m, void *v)
{
	seq_puts(m, truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(truth);

/*
 * Not __init: a module that is loaded later would give the frame the name of its own function.
 * Not pages_*: a slab page that debugfs_create_file() allocates is not a planted page.
 */
static int plant_all(void)
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
	append_truth_line("pages_deep 0 %u\n", PLANTED);
	plant_in_other_contexts();
	if (chains)
		pages_many();
	truth_file = debugfs_create_file("owner_pages", 0400, NULL, NULL, &truth_fops);
	return 0;
}
module_init(plant_all);

static void __exit pages_exit(void)
{
	unsigned int order;

	debugfs_remove(truth_file);
	free_planted_pages(&single);
	free_planted_pages(&zeroed);
	free_planted_pages(&movable);
	for (order = 0; order < ARRAY_SIZE(ordered); order++)
		free_planted_pages(&ordered[order]);
	free_planted_pages(&compound);
	free_planted_pages(&split);
	if (exact)
		free_pages_exact(exact, 5 * PAGE_SIZE);
	kfree(large);
	vfree(mapped);
	free_planted_pages(&second);
	free_planted_pages(&deep);
	while (planted)
		__free_page(many[--planted]);
	kvfree(many);
	free_planted_pages(&in_softirq);
	free_planted_pages(&in_hardirq);
	free_planted_pages(&in_thread);
}
module_exit(pages_exit);

MODULE_DESCRIPTION("Plant pages with known owners");
MODULE_LICENSE("GPL");
