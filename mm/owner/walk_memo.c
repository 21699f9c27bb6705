// SPDX-License-Identifier: GPL-2.0
/*
 * Records like one that has been looked at.
 *
 * A million objects have some thousands of owners. What is known of a record, but
 * for its time, is known of all records that are the same: to what they are added,
 * and at which ages. So a walk compares the records of a slab with those first,
 * counts them, and only those that are new go the long way. A table with one place
 * for each hash remembers them, and holds references, so that a handle stays what
 * it was.
 *
 * A table belongs to one walk. What it has counted is added up when it forgets,
 * which it must before sums are looked at, and before caches come and go.
 */

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "../slab.h"
#include "walk_memo.h"

/**
 * owner_memo_alloc - a table that knows nothing yet
 * @now: the time from which ages are counted
 *
 * Return: the table, for walk->known; NULL, with which all go the long way.
 */
struct owner_walk_memo *owner_memo_alloc(u32 now)
{
	struct owner_walk_memo *known = kvzalloc(sizeof(*known), GFP_KERNEL);

	if (!known)
		return NULL;
	known->now = now;
	known->nr_spans = 1;
	known->ends[0] = OWNER_TICKS_MAX + 1;
	return known;
}

static __always_inline struct memo_key key_of(const struct owner_record *owner, int nid,
					       const struct kmem_cache *cache)
{
	return (struct memo_key){
		.handle_pair = owner->handle_pair,
		.size_and_rate = owner->size_and_rate,
		.nid = nid,
		.cache = cache,
	};
}

static __always_inline struct memo_entry *place_of(struct owner_walk_memo *known,
						     const struct memo_key *key)
{
	u64 hashed = key->handle_pair ^ (unsigned long)key->cache ^ (u64)key->size_and_rate << 24;

	return known->records + hash_64(hashed, MEMO_BITS);
}

static __always_inline bool is_same(const struct memo_key *a, const struct memo_key *b)
{
	return a->handle_pair == b->handle_pair && a->size_and_rate == b->size_and_rate &&
	       a->cache == b->cache && a->nid == b->nid;
}

/* Beyond the first span of ages. */
static __always_inline u64 later_span(const struct owner_walk_memo *known, u32 *age)
{
	unsigned int i;

	for (i = 1; i < known->nr_spans; i++)
		if (*age < known->ends[i])
			return BIT_ULL(i);
	/* Newer than now: see owner_ticks_since(). */
	*age = 0;
	return BIT_ULL(0);
}

/**
 * owner_memo_count - count the records of a slab that are the same as known ones
 * @known: a table
 * @slab: as it was seen since RCU was read-locked
 * @index: of the record to begin with
 *
 * Return: the index of the first that is not, or the number of objects that @slab has
 *	room for.
 */
unsigned int owner_memo_count(struct owner_walk_memo *known, const struct owner_slab_view *slab,
			      unsigned int index)
{
	const struct owner_record *first = slab->records->record;
	const struct owner_record *record = first + index, *end = first + slab->objects;
	const struct kmem_cache *cache = slab->cache;
	u32 now = known->now, first_span = known->ends[0];
	int nid = slab_nid(slab->slab);

	/* Some 40 instructions for each: the rest of what a query takes is little beside it. */
	for (; record < end; record++) {
		struct memo_entry *same;
		struct owner_record owner;
		struct memo_key key;
		u64 span = BIT_ULL(0);
		u32 age;

		if (!owner_record_read(record, &owner))
			break;
		if (!owner.handle_pair)
			continue;
		key = key_of(&owner, nid, cache);
		same = place_of(known, &key);
		if (!is_same(&same->key, &key))
			break;
		age = now - owner.time;
		if (unlikely(age >= first_span))
			span = later_span(known, &age);
		if (!(same->counted & span)) {
			if (same->unknown & span)
				break;
			continue;
		}
		same->count++;
		if (unlikely(age > same->oldest))
			same->oldest = age;
		if (unlikely(age < same->youngest))
			same->youngest = age;
	}
	return record - first;
}

static void add_up(const struct memo_entry *record)
{
	struct owner_sum *sum = record->sum;
	struct owner_record owner = { .size_and_rate = record->key.size_and_rate };

	if (!record->count)
		return;
	sum->oldest = max(sum->oldest, record->oldest * OWNER_TICK_NS);
	sum->youngest = min(sum->youngest, record->youngest * OWNER_TICK_NS);
	owner_estimate_add(&sum->estimate, record->count, owner.rate, owner.size,
			   record->key.cache->size);
}

static void forget(struct memo_entry *record)
{
	struct owner_record owner = { .handle_pair = record->key.handle_pair };

	if (!owner.handle_pair)
		return;
	add_up(record);
	owner_record_put(&owner);
	record->key.handle_pair = 0;
}

/**
 * owner_memo_remember - treat slab objects like this one from now on
 * @known: the table of the walk that has found it, or NULL
 * @object: the object
 * @spans: of ages in which such are counted
 * @sum: to which this one has been added, and those will be; NULL if it has not
 */
void owner_memo_remember(struct owner_walk_memo *known, const struct owner_object *object, u64 spans,
			 struct owner_sum *sum)
{
	struct owner_record owner = object->owner;
	struct memo_entry *record;
	struct memo_key key;

	/* Where nothing is known of the task any more there will be no others. */
	if (!known || !owner.task || !owner_record_get(&owner))
		return;
	key = key_of(&owner, object->nid, object->slab_cache);
	record = place_of(known, &key);
	forget(record);
	*record = (struct memo_entry){
		.key = key,
		.counted = sum ? spans : 0,
		.unknown = sum ? 0 : spans,
		.sum = sum,
		.youngest = U32_MAX,
	};
}

/* Add up what was counted, and begin anew. */
void owner_memo_flush(struct owner_walk_memo *known)
{
	unsigned int i;

	for (i = 0; known && i < ARRAY_SIZE(known->records); i++)
		forget(&known->records[i]);
}

/* Before the walk ends. */
void owner_memo_free(struct owner_walk_memo *known)
{
	owner_memo_flush(known);
	kvfree(known);
}
