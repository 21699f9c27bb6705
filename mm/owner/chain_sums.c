// SPDX-License-Identifier: GPL-2.0
/*
 * What all call chains hold, read CPU by CPU.
 *
 * A CPU counts in its CPU cache first. To look each chain up in the CPU cache of each CPU takes
 * CPUs times chains, from cache lines that these CPUs write. A reader of all chains goes through
 * each CPU cache from its start to its end, and adds up in a table.
 *
 * Meanwhile CPUs allocate, free, and move counts to the depot. Therefore all is read twice: the
 * depot and then the CPUs, and again in the reverse order. A count that moves in between is missing
 * in one of the sums, or is twice in the other. If both sums of a chain are equal, they are what it
 * held. Each other chain is read by itself, until two reads agree.
 */

#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_refs.h>
#include <linux/string.h>

#include "totals.h"
#include "walk.h"

struct chain_sum {
	depot_stack_handle_t stack;	/* 0: this place is unused */
	long first[STACK_DEPOT_COUNTERS];
	long second[STACK_DEPOT_COUNTERS];
};

/**
 * struct owner_chain_sums - what call chains held when they were read
 * @bits: the table has 2^@bits places
 * @sum: a hash table: each chain is in the place of its hash, or in one behind it
 */
struct owner_chain_sums {
	unsigned int bits;
	struct chain_sum sum[];
};

/* The place of a chain, or the unused one in which it belongs. */
static struct chain_sum *find_sum(struct owner_chain_sums *sums, depot_stack_handle_t stack)
{
	unsigned int i = hash_32(stack, sums->bits);

	while (sums->sum[i].stack && sums->sum[i].stack != stack)
		i = (i + 1) & (BIT(sums->bits) - 1);
	return &sums->sum[i];
}

/* Read the depot's counters of the next chain. Return: 0 if there is none. */
static depot_stack_handle_t next_depot_counters(u64 *pos, long *counters)
{
	depot_stack_handle_t stack;

	cond_resched();
	rcu_read_lock_sched();
	do {
		stack = stack_depot_peek_counted(pos);
	} while (stack && !stack_depot_counters(stack, counters));
	rcu_read_unlock_sched();
	return stack;
}

static unsigned long count_chains(void)
{
	long counters[STACK_DEPOT_COUNTERS];
	unsigned long count = 0;
	u64 pos = 0;

	while (next_depot_counters(&pos, counters))
		count++;
	return count;
}

/* Chains that are stored meanwhile, and have no room, are read by themselves. */
static void add_depot(struct owner_chain_sums *sums)
{
	unsigned long room = BIT(sums->bits) / 8 * 7;
	long counters[STACK_DEPOT_COUNTERS];
	depot_stack_handle_t stack;
	struct chain_sum *sum;
	u64 pos = 0;

	while (room-- && (stack = next_depot_counters(&pos, counters)) != 0) {
		sum = find_sum(sums, stack);
		sum->stack = stack;
		memcpy(sum->first, counters, sizeof(counters));
	}
}

static void add_depot_again(struct owner_chain_sums *sums)
{
	long counters[STACK_DEPOT_COUNTERS];
	unsigned int i, j;

	for (i = 0; i < BIT(sums->bits); i++) {
		struct chain_sum *sum = &sums->sum[i];

		cond_resched();
		/* A chain that was freed is never asked for. */
		if (!sum->stack || !stack_depot_counters(sum->stack, counters))
			continue;
		for (j = 0; j < STACK_DEPOT_COUNTERS; j++)
			sum->second[j] += counters[j];
	}
}

static void add_cpus(struct owner_chain_sums *sums, bool again)
{
	s32 counters[STACK_DEPOT_COUNTERS];
	depot_stack_handle_t stack;
	unsigned int cpu, place, i;
	struct chain_sum *sum;
	long *total;

	for_each_possible_cpu(cpu) {
		place = 0;
		while ((stack = stack_depot_next_on_cpu(cpu, &place, counters)) != 0) {
			sum = find_sum(sums, stack);
			total = again ? sum->second : sum->first;
			for (i = 0; sum->stack && i < STACK_DEPOT_COUNTERS; i++)
				total[i] += counters[i];
		}
		cond_resched();
	}
}

/**
 * owner_chain_sums_alloc() - read the counters of all chains
 *
 * Context: may sleep.
 *
 * Return: the sums, for a cursor over chains; free them by kvfree(). NULL without memory: the
 *	cursor then reads each chain by itself.
 */
struct owner_chain_sums *owner_chain_sums_alloc(void)
{
	unsigned int bits = ilog2(count_chains() * 5 / 4 + 64) + 1;
	struct owner_chain_sums *sums;

	sums = kvzalloc(struct_size(sums, sum, BIT(bits)), OWNER_READER_GFP);
	if (!sums)
		return NULL;
	sums->bits = bits;
	add_depot(sums);
	add_cpus(sums, false);
	add_cpus(sums, true);
	add_depot_again(sums);
	return sums;
}

/**
 * owner_chain_sums_read() - read what a chain held
 * @sums: the sums, or NULL
 * @stack: the chain
 * @counters: set to what it held
 *
 * Return: false if that is not known: read the chain's counters.
 */
bool owner_chain_sums_read(struct owner_chain_sums *sums, depot_stack_handle_t stack,
			   long counters[STACK_DEPOT_COUNTERS])
{
	struct chain_sum *sum = sums ? find_sum(sums, stack) : NULL;

	if (!sum || !sum->stack || memcmp(sum->first, sum->second, sizeof(sum->first)))
		return false;
	memcpy(counters, sum->first, sizeof(sum->first));
	return true;
}
