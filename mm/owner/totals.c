// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that all call chains hold, from the depot's counters.
 *
 * A CPU counts in its CPU cache first. To look each chain up in the CPU cache of each CPU would
 * take as many lookups as CPUs times chains, in cache lines that these CPUs write. Therefore all
 * chains are listed first, and each CPU cache is read from its start to its end.
 *
 * Meanwhile CPUs allocate, free, and move counts to the depot. Therefore everything is read twice:
 * the depot and then the CPUs, and again in the reverse order. A count that moves in between is
 * missing in one of the sums, or is counted twice in the other. If both sums of a chain are equal,
 * they are taken for what it held. Each other chain is read by itself, several times if two reads
 * differ.
 *
 * An object that is freed meanwhile, and one that is allocated through another chain in its place,
 * may both be counted.
 */

#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>
#include <linux/string.h>

#include "record.h"
#include "totals.h"
#include "walk.h"

/**
 * owner_rank_chain() - put a chain among those that hold most
 * @ranking: the chains that hold most
 * @chain: left out if @ranking is full of larger ones
 */
void owner_rank_chain(struct owner_ranking *ranking, const struct owner_ranked_chain *chain)
{
	unsigned int i = ranking->count;

	while (i && ranking->row[i - 1].bytes < chain->bytes)
		i--;
	if (i == ranking->max)
		return;
	if (ranking->count < ranking->max)
		ranking->count++;
	memmove(&ranking->row[i + 1], &ranking->row[i],
		(ranking->count - 1 - i) * sizeof(*chain));
	ranking->row[i] = *chain;
}

/* Room for chains that are stored while chains are listed. */
#define ROOM_FOR_MORE	256

/* List all chains that have counters, each with a reference, and read the counters. */
static int list_chains(struct owner_chain_totals *totals)
{
	struct owner_chain_total *more, *total;
	depot_stack_handle_t stack;
	unsigned int room = 0;
	u64 pos = 0;

	while ((stack = stack_depot_next_counted(&pos)) != 0) {
		if (totals->count == room) {
			room = max(2UL * room, stack_depot_count_evictable() + ROOM_FOR_MORE);
			more = owner_kvmalloc_untracked(array_size(room, sizeof(*more)),
							OWNER_READER_GFP);
			if (!more || fatal_signal_pending(current)) {
				stack_depot_put(stack);
				kvfree(more);
				return more ? -EINTR : -ENOMEM;
			}
			if (totals->count)
				memcpy(more, totals->total, totals->count * sizeof(*more));
			kvfree(totals->total);
			totals->total = more;
		}
		total = &totals->total[totals->count++];
		*total = (struct owner_chain_total){ .stack = stack };
		stack_depot_counters(stack, total->first);
	}
	return 0;
}

/**
 * struct chain_index - leads from the handle of a chain to its total
 * @totals: the chains
 * @bits: the index has 2^@bits places
 * @place: a hash table: each chain's number, from 1 on, is in the place of its handle's hash, or in
 *	one behind it; 0: this place is unused
 */
struct chain_index {
	const struct owner_chain_totals *totals;
	unsigned int bits;
	u32 *place;
};

/* The place of a chain, or the unused one in which it belongs. */
static u32 *find_place(const struct chain_index *index, depot_stack_handle_t stack)
{
	unsigned int i = hash_32(stack, index->bits);

	while (index->place[i] && index->totals->total[index->place[i] - 1].stack != stack)
		i = (i + 1) & (BIT(index->bits) - 1);
	return &index->place[i];
}

static int make_index(struct chain_index *index, const struct owner_chain_totals *totals)
{
	unsigned int i;

	index->totals = totals;
	index->bits = ilog2(totals->count | 1) + 2;
	index->place = owner_kvmalloc_untracked(BIT(index->bits) * sizeof(*index->place),
						OWNER_READER_GFP | __GFP_ZERO);
	if (!index->place)
		return -ENOMEM;
	for (i = 0; i < totals->count; i++) {
		*find_place(index, totals->total[i].stack) = i + 1;
		cond_resched();
	}
	return 0;
}

/* Return: NULL if the chain was stored after the chains had been listed. */
static struct owner_chain_total *find_total(const struct chain_index *index,
					    depot_stack_handle_t stack)
{
	u32 number = *find_place(index, stack);

	return number ? &index->totals->total[number - 1] : NULL;
}

static void add_cpus(const struct chain_index *index, bool again)
{
	s32 counters[STACK_DEPOT_COUNTERS];
	struct owner_chain_total *total;
	depot_stack_handle_t stack;
	unsigned int cpu, place, i;
	bool moving;
	long *sum;

	for_each_possible_cpu(cpu) {
		place = 0;
		while ((stack = stack_depot_next_on_cpu(cpu, &place, counters, &moving)) != 0) {
			total = find_total(index, stack);
			if (!total)
				continue;
			sum = again ? total->second : total->first;
			for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
				sum[i] += counters[i];
			total->moving |= moving;
		}
		cond_resched();
	}
}

/* Enough for most chains. */
#define READ_ATTEMPTS	4

/*
 * Read the counters of a chain until two reads in a row agree. One read looks at the CPUs one after
 * the other. If it is interrupted on the way, it sees objects that are allocated on a CPU that it
 * has not reached yet, and does not see that they are freed on one that it has passed: thousands
 * may be counted that never existed at the same time.
 */
static void read_counters(struct owner_chain_total *total)
{
	unsigned int attempts = 0;

	do {
		stack_depot_read_counters(total->stack, total->first);
		stack_depot_read_counters(total->stack, total->second);
	} while (memcmp(total->first, total->second, sizeof(total->first)) &&
		 ++attempts < READ_ATTEMPTS);
}

/*
 * Other CPUs may change the counters between two reads. Correct values that cannot be:
 * negative ones, or fewer held bytes than requested bytes.
 */
static struct owner_estimate estimate_objects(const long *counters)
{
	u64 objects = max(counters[OWNER_OBJECTS], 0L);
	long bytes = max(counters[OWNER_BYTES], 0L);

	return (struct owner_estimate){
		.records = objects >> OWNER_WEIGHT_SHIFT,
		.objects = objects >> OWNER_WEIGHT_SHIFT,
		.fraction = objects & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0),
		.bytes = bytes,
		.held = max(counters[OWNER_HELD], bytes),
	};
}

static struct owner_estimate estimate_pages(const long *counters)
{
	u64 pages = max(counters[OWNER_PAGES], 0L);

	return (struct owner_estimate){
		.records = pages,
		.objects = pages,
		.bytes = pages << PAGE_SHIFT,
		.held = pages << PAGE_SHIFT,
	};
}

/* Read the depot again, and replace the counters of each chain by an estimate of what they mean. */
static void make_estimates(struct owner_chain_totals *totals, bool pages)
{
	struct owner_chain_total *total = totals->total;
	long counters[STACK_DEPOT_COUNTERS];
	bool differ;
	unsigned int i;

	for (; total < totals->total + totals->count; total++) {
		stack_depot_counters(total->stack, counters);
		differ = total->moving;
		for (i = 0; i < STACK_DEPOT_COUNTERS; i++)
			differ |= total->first[i] != total->second[i] + counters[i];
		if (differ)
			read_counters(total);
		total->estimate = pages ? estimate_pages(total->first) :
					  estimate_objects(total->first);
		cond_resched();
	}
}

static int add_objects(const struct chain_index *index, const struct owner_source_ops *ops)
{
	struct owner_cursor cursor = { .ops = ops, .until_killed = true };
	struct owner_chain_total *total;
	struct owner_object object;
	int error;

	owner_cursor_begin(&cursor);
	while ((error = owner_cursor_next(&cursor, &object)) > 0) {
		total = find_total(index, object.owner.stack);
		if (total)
			owner_estimate_add(&total->estimate, 1, owner_record_rate(&object.owner),
					   object.size, object.held);
	}
	owner_cursor_end(&cursor);
	return error;
}

/* Leave out chains that hold nothing. */
static void drop_empty_chains(struct owner_chain_totals *totals)
{
	unsigned int i, used = 0;

	for (i = 0; i < totals->count; i++) {
		if (!totals->total[i].estimate.records)
			stack_depot_put(totals->total[i].stack);
		else if (used++ < i)
			totals->total[used - 1] = totals->total[i];
		cond_resched();
	}
	totals->count = used;
}

/**
 * owner_collect_chains() - find what each call chain holds
 * @totals: zeroed; free them by owner_free_chain_totals(), after an error, too
 * @kind: OWNER_KIND_SLAB or OWNER_KIND_PAGE, of which chains have counters
 * @uncounted: a source of objects to add, of which chains have no counters: &owner_percpu_source;
 *	or NULL
 *
 * Context: may sleep.
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed.
 */
int owner_collect_chains(struct owner_chain_totals *totals, enum owner_kind kind,
			 const struct owner_source_ops *uncounted)
{
	struct chain_index index = {};
	int error;

	error = list_chains(totals) ?: make_index(&index, totals);
	if (error)
		return error;
	add_cpus(&index, false);
	add_cpus(&index, true);
	make_estimates(totals, kind == OWNER_KIND_PAGE);
	if (IS_ENABLED(CONFIG_SLAB_OWNER) && uncounted)
		error = add_objects(&index, uncounted);
	kvfree(index.place);
	drop_empty_chains(totals);
	return error;
}

/**
 * owner_free_chain_totals() - free totals, and drop their references
 * @totals: the totals
 */
void owner_free_chain_totals(struct owner_chain_totals *totals)
{
	while (totals->count) {
		stack_depot_put(totals->total[--totals->count].stack);
		cond_resched();
	}
	kvfree(totals->total);
	*totals = (struct owner_chain_totals){};
}
