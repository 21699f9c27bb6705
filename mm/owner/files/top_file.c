// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/owner/top: the call chains that hold most slab memory and most pages,
 * in tables of 80 columns. A person reads it without tools, also in lockdown mode.
 *
 * Opening the file collects the totals, so one open file shows one moment.
 */

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/string_helpers.h>

#include "../capture.h"
#include "../debugfs.h"
#include "../page/page.h"
#include "../slab/records.h"
#include "../totals.h"
#include "../walk.h"

#define ROWS_MAX	10

/* Columns of a line, and of a row before its call chain. */
#define LINE_WIDTH	80
#define CHAIN_COLUMN	30

/**
 * struct top_table - the chains that hold most of one kind of memory
 * @chains: how many hold something
 * @sum: of all chains
 * @top: the chains that hold most, each with a reference: an open file does not pin others
 */
struct top_table {
	unsigned int chains;
	struct owner_estimate sum;
	struct owner_ranking top;
};

struct top_reader {
	struct top_table slabs;
	struct top_table pages;
};

static void rank_chains(struct top_table *table, const struct owner_chain_totals *totals)
{
	unsigned int i;

	table->chains = totals->count;
	table->top.max = ROWS_MAX;
	for (i = 0; i < totals->count; i++) {
		const struct owner_chain_total *total = &totals->total[i];

		owner_estimate_join(&table->sum, &total->estimate);
		owner_rank_chain(&table->top, &(struct owner_ranked_chain){
			.stack = total->stack,
			.objects = total->estimate.objects,
			.bytes = total->estimate.held,
		});
		cond_resched();
	}
	for (i = 0; i < table->top.count; i++)
		if (!stack_depot_get(table->top.row[i].stack))
			table->top.row[i].stack = 0;
}

static int fill_table(struct top_table *table, enum owner_kind kind,
		      const struct owner_source_ops *uncounted)
{
	struct owner_chain_totals totals = {};
	int error = owner_collect_chains(&totals, kind, uncounted);

	if (!error)
		rank_chains(table, &totals);
	owner_free_chain_totals(&totals);
	return error;
}

static void drop_chains(struct top_table *table)
{
	while (table->top.count)
		stack_depot_put(table->top.row[--table->top.count].stack);
}

/* Print the functions of a chain, the caller first, wrapped at the end of the line. */
static void show_functions(struct seq_file *m, depot_stack_handle_t stack)
{
	unsigned int count = stack_depot_copy(stack, NULL, 0), column = CHAIN_COLUMN;
	unsigned int first = owner_first_shown_frame(stack, count), i;

	for (i = first; i < count; i++) {
		void *frame = (void *)stack_depot_frame(stack, i);
		unsigned int width = snprintf(NULL, 0, "%s%ps", i > first ? "< " : "", frame);

		if (i > first && column + 1 + width > LINE_WIDTH) {
			seq_printf(m, "\n%*s", CHAIN_COLUMN, "");
			column = CHAIN_COLUMN;
		} else if (i > first) {
			seq_putc(m, ' ');
			column++;
		}
		seq_printf(m, "%s%ps", i > first ? "< " : "", frame);
		column += width;
	}
	seq_putc(m, '\n');
}

static void show_table(struct seq_file *m, const struct top_table *table, const char *objects,
		       long samples)
{
	const struct owner_estimate *sum = &table->sum;
	unsigned int i, permille;
	char held[16];

	string_get_size(sum->held, 1, STRING_UNITS_2, held, sizeof(held));
	seq_printf(m, "%llu %s hold %s, from %u call chains", sum->objects, objects, held,
		   table->chains);
	if (samples)
		seq_printf(m, " (an estimate: %ld are sampled)", samples);
	seq_printf(m, "\n\n%10s %6s %10s  %s\n", "HELD", "SHARE", "OBJECTS", "ALLOCATED BY");
	for (i = 0; i < table->top.count; i++) {
		const struct owner_ranked_chain *chain = &table->top.row[i];

		string_get_size(chain->bytes, 1, STRING_UNITS_2, held, sizeof(held));
		permille = mul_u64_u64_div_u64(chain->bytes, 1000, max(sum->held, 1ULL));
		seq_printf(m, "%10s %3u.%u%% %10llu  ", held, permille / 10, permille % 10,
			   chain->objects);
		show_functions(m, chain->stack);
	}
	seq_putc(m, '\n');
}

static int show_top(struct seq_file *m, void *v)
{
	struct top_reader *reader = m->private;

	if (slab_owner_wanted())
		show_table(m, &reader->slabs, "slab objects and per-CPU areas",
			   owner_read_samples());
	else
		seq_puts(m, "slab objects are not tracked: boot with slab_owner=on\n\n");
	if (owner_pages_tracked())
		show_table(m, &reader->pages, "pages", 0);
	else
		seq_puts(m, "pages are not tracked: boot with page_owner=on\n");
	return 0;
}

static void free_reader(struct top_reader *reader)
{
	drop_chains(&reader->slabs);
	drop_chains(&reader->pages);
	kfree(reader);
}

static int open_top(struct inode *inode, struct file *file)
{
	struct top_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	int error = 0;

	if (!reader)
		return -ENOMEM;
	if (slab_owner_wanted())
		error = fill_table(&reader->slabs, OWNER_KIND_SLAB, &owner_percpu_source);
	if (!error && owner_pages_tracked())
		error = fill_table(&reader->pages, OWNER_KIND_PAGE, NULL);
	if (!error)
		error = single_open(file, show_top, reader);
	if (error)
		free_reader(reader);
	return error;
}

static int release_top(struct inode *inode, struct file *file)
{
	free_reader(((struct seq_file *)file->private_data)->private);
	return single_release(inode, file);
}

static const struct file_operations top_fops = {
	.owner		= THIS_MODULE,
	.open		= open_top,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= release_top,
};

static int __init top_file_init(void)
{
	if (owner_tracks_anything())
		owner_debugfs_add("top", 0400, &top_fops);
	return 0;
}
late_initcall(top_file_init);
