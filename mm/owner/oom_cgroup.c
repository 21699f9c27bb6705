// SPDX-License-Identifier: GPL-2.0
/*
 * The call chains that hold most slab memory of a memory cgroup, in the kernel's report that the
 * cgroup is out of memory.
 *
 * The counters of chains do not know cgroups, so this walks all slabs. The caller holds oom_lock
 * and may sleep, but its task can hold any mutex: the walk takes no lock, allocates nothing, and
 * ends after WALK_MS. It reads slabs under RCU, one at a time. Its caller limits the rate only if
 * it kills a task, and other cgroups wait for oom_lock: at most one walk in REPORT_INTERVAL.
 */

#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/slab_owner.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../slab.h"
#include "cgroup.h"
#include "oom.h"
#include "record.h"
#include "sample.h"
#include "totals.h"
#include "walk_slab.h"

#define WALK_MS		100
#define REPORT_INTERVAL	(5 * HZ)

struct group_walk {
	struct mem_cgroup *memcg;
	struct owner_oom_table table;
};

/**
 * owner_oom_count() - count an object of a chain
 * @table: the table
 * @stack: handle of the chain, without a reference
 * @bytes: bytes that the object occupies
 *
 * A chain that finds its set full takes bytes off the smallest row until it can replace it. The
 * table misses no chain that holds a large part, and no chain has too many bytes. Objects are
 * not taken off a row.
 */
void owner_oom_count(struct owner_oom_table *table, depot_stack_handle_t stack, u64 bytes)
{
	struct owner_oom_row *set = table->row[hash_32(stack, ilog2(OWNER_OOM_SETS))];
	struct owner_oom_row *least = set, *row;

	for (row = set; row < set + OWNER_OOM_WAYS; row++) {
		if (row->stack == stack) {
			row->objects++;
			row->bytes += bytes;
			return;
		}
		if (row->bytes < least->bytes)
			least = row;
	}
	if (least->bytes > bytes)
		least->bytes -= bytes;
	else
		*least = (struct owner_oom_row){ .stack = stack, .objects = 1, .bytes = bytes };
}

/* Count the objects of a slab that are charged to the cgroup, or to one below. RCU is locked. */
static void count_slab(const struct owner_slab_snapshot *snap, void *arg)
{
	struct group_walk *walk = arg;
	struct owner_record owner;
	struct obj_cgroup *objcg;
	unsigned int held, i;
	u64 weight;

	/* Nothing keeps the cache from being destroyed, unless the slab is unchanged after this. */
	if (get_kernel_nofault(held, &snap->cache->size))
		return;
	for (i = 0; i < snap->objects; i++) {
		objcg = owner_objcg_of(owner_obj_exts_of(snap->slab), i);
		if (!objcg || !owner_record_read(&snap->records->record[i], &owner) ||
		    !owner.stack)
			continue;
		if (!owner_slab_is_unchanged(snap))
			return;
		if (!owner_objcg_is_below(objcg, walk->memcg))
			continue;
		weight = owner_sample_weight(owner_record_rate(&owner),
					     owner_record_requested(&owner));
		owner_oom_count(&walk->table, owner.stack,
				mul_u64_u64_shr(weight, held, OWNER_WEIGHT_SHIFT));
	}
}

/**
 * owner_show_memcg() - print the call chains that hold most slab memory of a memory cgroup
 * @memcg: the cgroup, which is out of memory
 *
 * Print at most ten. Print nothing if none holds 1% of the cgroup's memory, or with
 * slab_owner=oom=off.
 *
 * Context: process context, may sleep. oom_lock is held, which protects the static variables.
 */
void owner_show_memcg(struct mem_cgroup *memcg)
{
	u64 memory = (u64)page_counter_read(&memcg->memory) << PAGE_SHIFT;
	bool exact = owner_counters_are_exact();
	/* Without messages about reports that are left out. */
	static struct ratelimit_state limit =
		RATELIMIT_STATE_INIT_FLAGS(limit, REPORT_INTERVAL, 1, RATELIMIT_MSG_ON_RELEASE);
	static struct group_walk walk;
	static struct owner_oom_top top;
	struct owner_oom_row *row;
	unsigned long end;
	unsigned int i;

	if (!static_key_enabled(&slab_owner_key) || !owner_oom_report || !__ratelimit(&limit))
		return;
	memset(&walk, 0, sizeof(walk));
	walk.memcg = memcg;
	end = owner_slab_visit(count_slab, &walk, jiffies + msecs_to_jiffies(WALK_MS));
	memset(&top, 0, sizeof(top));
	top.max = OWNER_OOM_ROWS;
	for (i = 0; i < sizeof(walk.table) / sizeof(*row); i++) {
		row = &walk.table.row[0][0] + i;
		if (row->bytes && row->bytes >= div_u64(memory, OWNER_OOM_SHARE))
			owner_oom_rank(&top, row);
	}
	if (!owner_oom_begin())
		return;
	owner_oom_print(&top, memory, "slab_owner", exact ? "slab memory of this cgroup" :
			"slab memory of this cgroup, samples weighted",
			exact ? "objects" : "records");
	if (end < max_pfn)
		pr_warn("slab_owner: only the first %lu%% of page frames were searched in %u ms\n",
			(unsigned long)div64_ul(100ULL * end, max_pfn), WALK_MS);
	owner_oom_end();
}
