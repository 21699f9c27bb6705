/* SPDX-License-Identifier: GPL-2.0 */
/* Sums over records: how many objects, how many bytes, and the ages of the oldest and youngest. */
#ifndef _MM_OWNER_SUM_H
#define _MM_OWNER_SUM_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "sample.h"

/**
 * struct owner_sum - a sum over records
 * @groups: how many groups of a query's result were added
 * @estimate: objects and bytes, including those that samples stand for
 * @oldest: age of the oldest record, in ns
 * @youngest: age of the youngest record, in ns
 * @ageless: counters were added, which have no ages: @oldest and @youngest are invalid
 */
struct owner_sum {
	u64 groups;
	struct owner_estimate estimate;
	u64 oldest;
	u64 youngest;
	bool ageless;
};

/**
 * owner_sum_add() - add one record to a sum
 * @sum: the sum
 * @rate: the record's sampling rate
 * @size: bytes that were asked for
 * @held: bytes that the object takes
 * @age: the record's age, in ns
 */
static inline void owner_sum_add(struct owner_sum *sum, unsigned int rate, size_t size,
				 size_t held, u64 age)
{
	sum->youngest = sum->estimate.records ? min(sum->youngest, age) : age;
	sum->oldest = max(sum->oldest, age);
	owner_estimate_add(&sum->estimate, 1, rate, size, held);
}

/**
 * owner_sum_join() - add one sum to another
 * @sum: the sum that grows
 * @more: the sum that is added
 */
static inline void owner_sum_join(struct owner_sum *sum, const struct owner_sum *more)
{
	sum->youngest = sum->estimate.records ? min(sum->youngest, more->youngest) : more->youngest;
	sum->oldest = max(sum->oldest, more->oldest);
	sum->ageless |= more->ageless;
	sum->groups += more->groups;
	owner_estimate_join(&sum->estimate, &more->estimate);
}

#endif /* _MM_OWNER_SUM_H */
