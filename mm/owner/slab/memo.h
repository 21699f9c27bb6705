/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memo of a walk: a hash table of records that the walk has judged. Later records
 * that are equal but for their time are only counted.
 */
#ifndef _MM_OWNER_WALK_MEMO_H
#define _MM_OWNER_WALK_MEMO_H

#include <linux/types.h>

#include "../sum.h"
#include "walk.h"

#define OWNER_MEMO_BITS		12
#define OWNER_MEMO_SPANS_MAX	64
#define OWNER_MEMO_ALL_SPANS	U64_MAX

/**
 * struct owner_memo_key - what equal records have in common
 * @handle_pair: chain and task, 0 if the entry is empty
 * @size_and_rate: size and sampling rate
 * @nid: memory node
 * @cache: cache of the object
 */
struct owner_memo_key {
	u64 handle_pair;
	u32 size_and_rate;
	int nid;
	const struct kmem_cache *cache;
};

/**
 * struct owner_memo_entry - a record that was judged
 * @key: the record; the entry holds references to its handles
 * @counted_spans: a bit for each span of ages in which equal records are counted here
 * @undecided_spans: a bit for each span in which the walk has to find equal records,
 *	because it does not know yet to which sum they belong
 * @sum: the sum to which @count is added when the entry is flushed
 * @count: how many records have been counted here
 * @oldest: the greatest age of a record that was counted here, in ticks
 * @youngest: the smallest age
 *
 * In spans that have neither bit, equal records are skipped.
 */
struct owner_memo_entry {
	struct owner_memo_key key;
	u64 counted_spans;
	u64 undecided_spans;
	struct owner_sum *sum;
	unsigned int count;
	u32 oldest;
	u32 youngest;
};

/**
 * struct owner_walk_memo - a hash table of judged records, for one walk
 * @now: the time from which ages are measured
 * @nr_spans: spans of ages, in each of which all equal records get the same verdict
 * @span_ends: in ticks: the first age beyond each span, in ascending order
 * @entries: one for each hash; a record that is added evicts the one before
 */
struct owner_walk_memo {
	u32 now;
	unsigned int nr_spans;
	u32 span_ends[OWNER_MEMO_SPANS_MAX];
	struct owner_memo_entry entries[1 << OWNER_MEMO_BITS];
};

struct owner_walk_memo *owner_memo_alloc(u32 now);
void owner_memo_free(struct owner_walk_memo *memo);
unsigned int owner_memo_count_known_records(struct owner_walk_memo *memo,
					    const struct owner_slab_snapshot *snap,
					    unsigned int index);
void owner_memo_add(struct owner_walk_memo *memo, const struct owner_object *object, u64 spans,
		    struct owner_sum *sum);
void owner_memo_flush(struct owner_walk_memo *memo);

#endif /* _MM_OWNER_WALK_MEMO_H */
