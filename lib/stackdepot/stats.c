// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of evictable records, printed in the stack depot's debugfs file.
 */

#include <linux/export.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "evict.h"

static const char * const refusal_names[] = {
	[DEPOT_REFUSED_NMI]	= "refused_nmi",
	[DEPOT_REFUSED_BOUND]	= "refused_bound",
	[DEPOT_REFUSED_GRACE]	= "refused_grace",
	[DEPOT_REFUSED_NOMEM]	= "refused_nomem",
	[DEPOT_REFUSED_NOINIT]	= "refused_noinit",
	[DEPOT_REFUSED_DATA]	= "refused_data",
};

static_assert(ARRAY_SIZE(refusal_names) == DEPOT_NR_REFUSALS);

/* A consistent copy of the statistics. */
struct depot_stats {
	struct depot_class class[DEPOT_NR_CLASSES];
	unsigned long in_use, nr_free, allocs, evictions, slots_reused, pools_recut, locked_saves;
	size_t data_bytes;
	unsigned int idle_pools;
};

static void depot_read_stats(struct evictable_depot *depot, struct depot_stats *stats)
{
	unsigned long irqflags;

	memset(stats, 0, sizeof(*stats));

	stack_depot_lock(&depot->lock, &irqflags);
	memcpy(stats->class, depot->class, sizeof(depot->class));
	stats->allocs = depot->allocs;
	stats->evictions = depot->evictions;
	stats->slots_reused = depot->slots_reused;
	stats->pools_recut = depot->pools_recut;
	stats->locked_saves = depot->locked_saves;
	stats->data_bytes = depot->data_bytes;
	stats->idle_pools = depot->nr_idle;
	stack_depot_unlock(&depot->lock, irqflags);

	for (unsigned int c = 0; c < DEPOT_NR_CLASSES; c++) {
		stats->in_use += stats->class[c].in_use;
		stats->nr_free += stats->class[c].nr_free;
	}
}

unsigned long stack_depot_count_evictable(void)
{
	unsigned long sum = 0;

	for (unsigned int c = 0; c < DEPOT_NR_CLASSES; c++) {
		/* Without the lock: the sum is an estimate. */
		sum += data_race(stack_depot_evictable.class[c].in_use);
	}
	return sum;
}
EXPORT_SYMBOL_GPL(stack_depot_count_evictable);

/* Print the lines that the file had before there were size classes. */
void stack_depot_show_evictable(struct seq_file *seq)
{
	struct depot_stats stats;

	depot_read_stats(&stack_depot_evictable, &stats);
	seq_printf(seq, "refcounted_allocations: %lu\n", stats.allocs);
	seq_printf(seq, "refcounted_frees: %lu\n", stats.evictions);
	seq_printf(seq, "refcounted_in_use: %lu\n", stats.in_use);
	seq_printf(seq, "freelist_size: %lu\n", stats.nr_free);
}

void stack_depot_show_classes(struct seq_file *seq)
{
	unsigned int last = stack_depot_size_class(CONFIG_STACKDEPOT_MAX_FRAMES, HASH_COUNTED);
	struct depot_stats stats;

	depot_read_stats(&stack_depot_evictable, &stats);
	for (unsigned int c = 0; c <= last; c++) {
		const struct depot_class *class = &stats.class[c];
		unsigned long records = class->pools * stack_depot_records_per_pool(c);
		size_t size = stack_depot_record_bytes(c);

		seq_printf(seq, "class_%zu_in_use: %lu\n", size, class->in_use);
		seq_printf(seq, "class_%zu_free: %lu\n", size, records - class->in_use);
		seq_printf(seq, "class_%zu_bytes: %zu\n", size, class->pools * POOL_BYTES);
	}
	seq_printf(seq, "classless_bytes: %zu\n", stats.idle_pools * POOL_BYTES);
	seq_printf(seq, "data_bytes: %zu\n", stats.data_bytes);
	seq_printf(seq, "evictions: %lu\n", stats.evictions);
	seq_printf(seq, "slots_reused: %lu\n", stats.slots_reused);
	seq_printf(seq, "pools_recut: %lu\n", stats.pools_recut);
	seq_printf(seq, "locked_saves: %lu\n", stats.locked_saves);
	for (unsigned int i = 0; i < DEPOT_NR_REFUSALS; i++)
		seq_printf(seq, "%s: %lu\n", refusal_names[i],
			   stack_depot_count_refusals(&stack_depot_evictable, i));
	stack_depot_show_running(seq);
}
