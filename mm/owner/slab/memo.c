// SPDX-License-Identifier: GPL-2.0
/*
 * The memo of a walk: a hash table of records that the walk has judged.
 *
 * A million objects have a few thousand owners. Whether a query counts a record, and
 * in which sum, is the same for all records that are equal but for their time; the age
 * decides in spans. Therefore a walk looks up each record in a hash table first. Equal
 * records are counted in their entry, and only new ones are found and judged. An entry holds
 * references to its handles, so that they cannot be reused for another chain.
 *
 * A table belongs to one walk. The counts reach their sums when the table is flushed. It
 * must be flushed before anybody reads the sums, and before slab_mutex is dropped,
 * because the key has the address of a cache.
 */

#include <linux/hash.h>
#include <linux/slab.h>

#include "../../slab.h"
#include "../record.h"
#include "memo.h"

/**
 * owner_memo_alloc() - allocate an empty table with one span of all ages
 * @now: the time from which ages are measured
 *
 * Return: the table, for the @memo of a cursor; NULL without memory, with which the
 *	walk finds every object.
 */
struct owner_walk_memo *owner_memo_alloc(u32 now)
{
	struct owner_walk_memo *memo = kvzalloc(sizeof(*memo), GFP_KERNEL | __GFP_NOWARN);

	if (!memo)
		return NULL;
	memo->now = now;
	memo->nr_spans = 1;
	memo->span_ends[0] = OWNER_TICKS_MAX + 1;
	return memo;
}

static __always_inline struct owner_memo_key make_memo_key(const struct owner_record *owner,
							   int nid,
							   const struct kmem_cache *cache)
{
	return (struct owner_memo_key){
		.handle_pair = owner->handle_pair,
		.size_and_rate = owner->size_and_rate,
		.nid = nid,
		.cache = cache,
	};
}

/* Returns the only entry that can have this key. It may have another key with this hash. */
static __always_inline struct owner_memo_entry *find_memo_entry(struct owner_walk_memo *memo,
								const struct owner_memo_key *key)
{
	u64 word = key->handle_pair ^ (unsigned long)key->cache ^ (u64)key->size_and_rate << 24;

	return memo->entries + hash_64(word, OWNER_MEMO_BITS);
}

static __always_inline bool is_same_key(const struct owner_memo_key *a,
					const struct owner_memo_key *b)
{
	return a->handle_pair == b->handle_pair && a->size_and_rate == b->size_and_rate &&
	       a->cache == b->cache && a->nid == b->nid;
}

/* The bit of an age that is beyond the first span. */
static __always_inline u64 find_age_span_bit(const struct owner_walk_memo *memo, u32 *age)
{
	unsigned int i;

	for (i = 1; i < memo->nr_spans; i++)
		if (*age < memo->span_ends[i])
			return BIT_ULL(i);
	/* The record is newer than memo->now: see owner_ticks_since(). */
	*age = 0;
	return BIT_ULL(0);
}

/**
 * owner_memo_count_known_records() - count the next records of a slab that are in the table
 * @memo: the table
 * @snap: a snapshot of the slab, taken since RCU was read-locked
 * @index: of the record to begin with
 *
 * Return: the index of the first record that the walk has to judge, or the number of
 *	objects that the slab has room for.
 */
unsigned int owner_memo_count_known_records(struct owner_walk_memo *memo,
					    const struct owner_slab_snapshot *snap,
					    unsigned int index)
{
	const struct owner_record *first = snap->records->record;
	const struct owner_record *record = first + index, *end = first + snap->objects;
	const struct kmem_cache *cache = snap->cache;
	u32 now = memo->now, first_span = memo->span_ends[0];
	int nid = slab_nid(snap->slab);

	/* About 40 instructions per record, which is most of the cost of a query. */
	for (; record < end; record++) {
		struct owner_memo_entry *entry;
		struct owner_record owner;
		struct owner_memo_key key;
		u64 span = BIT_ULL(0);
		u32 age;

		if (!owner_record_read(record, &owner))
			break;
		if (!owner.handle_pair)
			continue;
		key = make_memo_key(&owner, nid, cache);
		entry = find_memo_entry(memo, &key);
		if (!is_same_key(&entry->key, &key))
			break;
		age = now - owner.time;
		if (unlikely(age >= first_span))
			span = find_age_span_bit(memo, &age);
		if (!(entry->counted_spans & span)) {
			if (entry->undecided_spans & span)
				break;
			continue;
		}
		entry->count++;
		if (unlikely(age > entry->oldest))
			entry->oldest = age;
		if (unlikely(age < entry->youngest))
			entry->youngest = age;
	}
	return record - first;
}

static void add_entry_count_to_sum(const struct owner_memo_entry *entry)
{
	struct owner_sum *sum = entry->sum;
	struct owner_record owner = { .size_and_rate = entry->key.size_and_rate };

	if (!entry->count)
		return;
	sum->oldest = max(sum->oldest, entry->oldest * OWNER_TICK_NS);
	sum->youngest = min(sum->youngest, entry->youngest * OWNER_TICK_NS);
	owner_estimate_add(&sum->estimate, entry->count, owner_record_rate(&owner),
			   owner_record_requested(&owner),
			   entry->key.cache->size);
}

/* Add the entry's count to its sum, drop its references and empty it. */
static void flush_memo_entry(struct owner_memo_entry *entry)
{
	struct owner_record owner = { .handle_pair = entry->key.handle_pair };

	if (!owner.handle_pair)
		return;
	add_entry_count_to_sum(entry);
	owner_record_put_refs(&owner);
	entry->key.handle_pair = 0;
}

/**
 * owner_memo_add() - treat records that are equal to this one in the same way
 * @memo: the table of the walk that has found it, or NULL
 * @object: a slab object
 * @spans: a bit for each span of ages in which equal records are counted
 * @sum: the sum to which this record was added and the others will be added; NULL if it
 *	was not added to any
 */
void owner_memo_add(struct owner_walk_memo *memo, const struct owner_object *object, u64 spans,
		    struct owner_sum *sum)
{
	struct owner_record owner = object->owner;
	struct owner_memo_entry *entry;
	struct owner_memo_key key;

	/* The depot has lost the task: there will be no equal records. */
	if (!memo || !owner.task || !owner_record_get_refs(&owner))
		return;
	key = make_memo_key(&owner, object->nid, object->slab_cache);
	entry = find_memo_entry(memo, &key);
	flush_memo_entry(entry);
	*entry = (struct owner_memo_entry){
		.key = key,
		.counted_spans = sum ? spans : 0,
		.undecided_spans = sum ? 0 : spans,
		.sum = sum,
		.youngest = U32_MAX,
	};
}

/**
 * owner_memo_flush() - add all counts to their sums and empty the table
 * @memo: the table or NULL
 *
 * Context: slab_mutex has been held since the first record was added, unless the table
 *	is empty.
 */
void owner_memo_flush(struct owner_walk_memo *memo)
{
	unsigned int i;

	for (i = 0; memo && i < ARRAY_SIZE(memo->entries); i++)
		flush_memo_entry(&memo->entries[i]);
}

/**
 * owner_memo_free() - flush and free a table
 * @memo: the table or NULL
 *
 * Context: as owner_memo_flush().
 */
void owner_memo_free(struct owner_walk_memo *memo)
{
	owner_memo_flush(memo);
	kvfree(memo);
}
