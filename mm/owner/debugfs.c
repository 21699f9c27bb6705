// SPDX-License-Identifier: GPL-2.0
/*
 * The files a person reads:
 *
 * /sys/kernel/debug/slab_owner		a record for each object that has an owner
 * /sys/kernel/debug/owner/stats	what is tracked, what was not, and why
 * /sys/kernel/debug/owner/caches	each cache's objects, tracked or not
 * /sys/kernel/debug/owner/control	the rules: which allocations get owners
 */

#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "owner.h"
#include "page.h"
#include "rules/rules.h"

/*
 * A position in the file is a position in the walk: the page frame in the upper
 * bits, one more than the index of the object just shown in the lower. Past the
 * last slab it is one in the walk of per-CPU areas, told by its highest bit.
 */
#define INDEX_BITS	16
#define INDEX_MASK	GENMASK(INDEX_BITS - 1, 0)
#define AREA_BIT	BIT_ULL(62)

struct slab_reader {
	struct owner_cursor walk;
	struct owner_object object;
};

static void *slab_owner_step(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;
	struct owner_cursor *walk = &reader->walk;
	int found = *pos & AREA_BIT ? 0 : owner_cursor_next(walk, &reader->object);

	if (found > 0) {
		*pos = (loff_t)reader->object.pfn << INDEX_BITS | reader->object.index;
		return reader;
	}
	/* A signal is not the end of the file. */
	if (found < 0)
		return ERR_PTR(found);
	if (!owner_percpu_next(walk, &reader->object))
		return NULL;
	/* Where to look next is one more, as seq_file will make it. */
	*pos = AREA_BIT | (walk->place - 1);
	return reader;
}

static void *slab_owner_start(struct seq_file *m, loff_t *pos)
{
	struct slab_reader *reader = m->private;

	owner_cursor_begin(&reader->walk);
	reader->walk.pfn = *pos >> INDEX_BITS;
	reader->walk.index = *pos & INDEX_MASK;
	reader->walk.place = *pos & AREA_BIT ? *pos & ~AREA_BIT : 0;
	return slab_owner_step(m, pos);
}

static void *slab_owner_next(struct seq_file *m, void *v, loff_t *pos)
{
	/* seq_file wants a position past this object even if there is no other. */
	++*pos;
	return slab_owner_step(m, pos);
}

static void slab_owner_stop(struct seq_file *m, void *v)
{
	struct slab_reader *reader = m->private;

	owner_cursor_end(&reader->walk);
}

/* One record in page_owner's grammar, so that its tools read it as well. */
static int slab_owner_show(struct seq_file *m, void *v)
{
	struct slab_reader *reader = v;
	unsigned long *entries;
	unsigned int count, i;

	owner_show_object(m, &reader->object);
	count = stack_depot_fetch(reader->object.owner.stack, &entries);
	for (i = 0; i < count; i++)
		seq_printf(m, " %pS\n", (void *)entries[i]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations slab_owner_sops = {
	.start	= slab_owner_start,
	.next	= slab_owner_next,
	.stop	= slab_owner_stop,
	.show	= slab_owner_show,
};

static int slab_owner_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &slab_owner_sops, sizeof(struct slab_reader));
}

static const struct file_operations slab_owner_fops = {
	.owner		= THIS_MODULE,
	.open		= slab_owner_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static const char * const loss_names[] = {
	[OWNER_LOST_CONTEXT]	= "lost_nmi",
	[OWNER_LOST_EARLY]	= "lost_early",
	[OWNER_LOST_VECTOR]	= "lost_no_records",
	[OWNER_LOST_STACK]	= "lost_no_stack",
	[OWNER_LOST_TASK]	= "degraded_no_task",
	[OWNER_LOST_FRAMES]	= "degraded_shorter",
	[OWNER_LOST_CHAIN]	= "degraded_no_stack",
};

static_assert(ARRAY_SIZE(loss_names) == OWNER_LOSS_REASONS);

static int stats_show(struct seq_file *m, void *v)
{
	struct owner_unwind_counts unwind;
	struct owner_estimate holds;
	struct owner_cursor walk = {};
	u64 tracked = 0;
	unsigned int i;
	int error;

	/* So that the depot's own figures fit these. */
	owner_cpu_caches_flush();
	while ((error = owner_chains_next(&walk, OWNER_OBJECTS, &holds)) > 0)
		tracked += holds.records;
	owner_cursor_release(&walk);
	if (error)
		return error;
	seq_printf(m, "tracked: %llu\n", tracked);
	seq_printf(m, "percpu: %ld\n", atomic_long_read(&owner_percpu_areas));
	seq_printf(m, "slabs: %ld\n", atomic_long_read(&owner_nr_tracked_slabs));
	seq_printf(m, "bytes: %ld\n", atomic_long_read(&owner_records_bytes));
	for (i = 0; i < OWNER_LOSS_REASONS; i++)
		seq_printf(m, "%s: %ld\n", loss_names[i], atomic_long_read(&owner_losses[i]));
	seq_printf(m, "page_failures: %lu\n", owner_page_failures());
	owner_unwind_count(&unwind);
	seq_printf(m, "unwind_learned: %lu\n", unwind.learned);
	seq_printf(m, "unwind_slow: %lu\n", unwind.slow);
	seq_printf(m, "unwind_verified: %lu\n", unwind.verified);
	seq_printf(m, "unwind_different: %lu\n", unwind.different);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int caches_show(struct seq_file *m, void *v)
{
	struct owner_cache_total *total;
	struct xarray totals;
	unsigned long cache;
	int error;

	xa_init(&totals);
	error = owner_total_caches(&totals);
	if (error)
		goto out;
	seq_printf(m, "%-23s %10s %10s %10s %12s %12s\n", "# cache", "objects", "tracked",
		   "untracked", "requested", "held");
	xa_for_each(&totals, cache, total)
		seq_printf(m, "%-23s %10lu %10lu %10lu %12llu %12llu\n", total->name,
			   total->allocated, total->tracked, total->allocated - total->tracked,
			   total->requested, (u64)total->allocated * total->object_size);
	seq_puts(m, "# objects and held: all of the cache; requested: for the tracked ones\n");
	seq_puts(m, "# kmalloc beyond the largest cache and vmalloc are pages: see page_owner\n");
out:
	owner_free_caches(&totals);
	return error;
}
DEFINE_SHOW_ATTRIBUTE(caches);

/* --- The rules -------------------------------------------------------------- */

#define RULES_TEXT_MAX	SZ_64K

/* What was wrong with the last text that was written, under complaint_mutex. */
static char complaint[OWNER_ERROR_TEXT_SIZE];
static DEFINE_MUTEX(complaint_mutex);

/* All that is not a rule is a comment, so that it can be written back. */
static int control_show(struct seq_file *m, void *v)
{
	const char *line, *end;
	int error = owner_rules_show(m);

	mutex_lock(&complaint_mutex);
	for (line = complaint; *line; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		seq_printf(m, "# %.*s\n", (int)(end - line), line);
	}
	mutex_unlock(&complaint_mutex);
	return error;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

/* As owner_rules_write(), for what stands in user memory; complaint_mutex is held. */
static int write_rules(const char __user *buf, size_t count)
{
	char *text;
	int error;

	if (count > RULES_TEXT_MAX) {
		scnprintf(complaint, sizeof(complaint),
			  "at most %d bytes can be written at once, not %zu\n",
			  RULES_TEXT_MAX, count);
		return -EINVAL;
	}
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	error = owner_rules_write(text, count, complaint, sizeof(complaint));
	kfree(text);
	return error;
}

/* What is written at once takes effect at once, or not at all. */
static ssize_t control_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int error;

	mutex_lock(&complaint_mutex);
	complaint[0] = '\0';
	error = write_rules(buf, count);
	if (error == -EINVAL)
		pr_err("owner: control: %s", complaint);
	mutex_unlock(&complaint_mutex);
	return error ?: count;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.read		= seq_read,
	.write		= control_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init owner_debugfs_init(void)
{
	struct dentry *dir;

	if (!slab_owner_wanted() && !owner_pages_tracked())
		return 0;
	dir = debugfs_create_dir("owner", NULL);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("control", 0600, dir, NULL, &control_fops);
	owner_query_debugfs_init(dir);
	if (!slab_owner_wanted())
		return 0;
	debugfs_create_file("slab_owner", 0400, NULL, NULL, &slab_owner_fops);
	debugfs_create_file("caches", 0400, dir, NULL, &caches_fops);
	owner_stacks_debugfs_init();
	return 0;
}
late_initcall(owner_debugfs_init);
