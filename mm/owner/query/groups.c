// SPDX-License-Identifier: GPL-2.0
/*
 * The groups of a query.
 *
 * Memory is bounded: the table has room for half as many groups again as groups=
 * allows. When it is full, the smallest groups are folded into one sum, query->other. If
 * more objects of a folded group are found, a new group is made, which lacks what was
 * folded: totals are exact, and the answer says that groups were folded.
 */

#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "../walk_memo.h"
#include "query.h"

/* Groups are not tracked, so that a query does not find its own memory. */
#define QUERY_GFP	(GFP_KERNEL | __GFP_NO_OBJ_EXT)

static unsigned int encode_name(u64 *key, const char *name, unsigned int max_length)
{
	unsigned int length = strnlen(name, max_length);
	unsigned int words = length / sizeof(u64) + 1;

	memset(key, 0, words * sizeof(u64));
	memcpy(key, name, length);
	return words;
}

static unsigned int encode_stack(u64 *key, struct owner_query *query,
				 const struct owner_group_field *by)
{
	struct owner_query_chain *chain = owner_query_object_chain(query);
	unsigned int i, first = by->full ? 0 : chain->first;
	unsigned int frames = chain->count - first;

	if (owner_query_keyed_by_handle(&query->sentence)) {
		*key = query->object.owner.stack;
		return 1;
	}
	frames = min(frames, by->frames ?: OWNER_FRAMES_MAX);
	key[0] = frames;
	for (i = 0; i < frames; i++)
		key[1 + i] = stack_depot_frame(chain->handle, first + i);
	return 1 + frames;
}

/* Write one field of the object that was found last to @key. Returns how many words. */
static unsigned int encode_field(u64 *key, struct owner_query *query,
				 const struct owner_group_field *by)
{
	bool absent = by->field < OWNER_FIELDS && query->fields.absent_fields & BIT(by->field);
	char name[OWNER_QUERY_NAME_MAX + 1];

	switch (by->field) {
	case OWNER_FIELD_STACK:
		return encode_stack(key, query, by);
	case OWNER_FIELD_FUNC:
		*key = owner_query_chain_function(owner_query_object_chain(query));
		return 1;
	case OWNER_FIELD_MODULE:
		owner_query_chain_module(owner_query_object_chain(query), name, sizeof(name));
		return encode_name(key, name, OWNER_QUERY_NAME_MAX);
	case OWNER_FIELD_CACHE:
	case OWNER_FIELD_COMM:
		return encode_name(key, absent ? "" : query->fields.value[by->field].word,
				   OWNER_QUERY_NAME_MAX);
	case OWNER_FIELD_CGROUP:
		return encode_name(key, query->cgroup, OWNER_CGROUP_MAX);
	default:
		*key = absent ? OWNER_QUERY_ABSENT : query->fields.value[by->field].number;
		return 1;
	}
}

static u64 get_sum_sort_value(const struct owner_sum *sum, enum owner_sort sort)
{
	switch (sort) {
	case OWNER_SORT_HELD:
		return sum->estimate.held;
	case OWNER_SORT_WASTE:
		return sum->estimate.held - sum->estimate.bytes;
	case OWNER_SORT_OBJECTS:
		return sum->estimate.objects;
	case OWNER_SORT_OLDEST:
		return sum->oldest;
	case OWNER_SORT_YOUNGEST:
		return U64_MAX - sum->youngest;
	default:
		return sum->estimate.bytes;
	}
}

static int compare_groups(const void *a, const void *b, const void *sentence)
{
	const struct owner_query_group *x = *(const struct owner_query_group **)a;
	const struct owner_query_group *y = *(const struct owner_query_group **)b;
	const struct owner_sentence *s = sentence;
	unsigned int i;

	/* There can be a million groups. */
	cond_resched();
	for (i = 0; i < max(s->nr_sort_by, 1U); i++) {
		enum owner_sort sort = s->nr_sort_by ? s->sort_by[i] : OWNER_SORT_BYTES;
		u64 left = get_sum_sort_value(&x->sum, sort);
		u64 right = get_sum_sort_value(&y->sum, sort);

		if (left != right)
			return left < right ? 1 : -1;
	}
	return memcmp(x->key, y->key, min(x->words, y->words) * sizeof(u64));
}

static void free_group(struct owner_query_group *group)
{
	stack_depot_put(group->stack);
	kfree(group);
}

/**
 * owner_query_sort_groups() - sort the groups, and fold those beyond groups=
 * @query: has found all its objects, or as many groups as the table has room for
 */
void owner_query_sort_groups(struct owner_query *query)
{
	/* Complete the sums, and drop the memo's pointers to groups that are freed here. */
	owner_memo_flush(query->cursor.memo);
	sort_r(query->groups, query->nr_groups, sizeof(*query->groups), compare_groups, NULL,
	       &query->sentence);
	while (query->nr_groups > query->sentence.max_groups) {
		struct owner_query_group *group = query->groups[--query->nr_groups];

		owner_sum_join(&query->other, &group->sum);
		hlist_del(&group->node);
		free_group(group);
	}
}

/* Size of the table. It has more room than groups= asks for, so that sorting is rare. */
static unsigned int max_table_groups(const struct owner_query *query)
{
	unsigned int kept = query->sentence.max_groups;

	return kept + max(kept / 2, 64U);
}

static struct owner_query_group *make_group(struct owner_query *query, unsigned int words, u32 hash)
{
	struct owner_query_group *group;

	if (query->nr_groups == max_table_groups(query))
		owner_query_sort_groups(query);
	group = kzalloc(struct_size(group, key, words), QUERY_GFP);
	if (!group)
		return NULL;
	group->sum.groups = 1;
	group->hash = hash;
	group->words = words;
	memcpy(group->key, query->key, words * sizeof(u64));
	if (stack_depot_get(query->object.owner.stack))
		group->stack = query->object.owner.stack;
	query->groups[query->nr_groups++] = group;
	hlist_add_head(&group->node, &query->buckets[hash >> (32 - query->bucket_bits)]);
	return group;
}

/**
 * owner_query_find_group() - find or make the group of the object that was found last
 * @query: has found an object
 *
 * Return: the group, NULL without memory.
 */
struct owner_query_group *owner_query_find_group(struct owner_query *query)
{
	unsigned int i, words = 0;
	struct owner_query_group *group;
	u32 hash;

	for (i = 0; i < query->sentence.nr_group_by; i++)
		words += encode_field(query->key + words, query, &query->sentence.group_by[i]);
	hash = jhash2((u32 *)query->key, words * 2, 0);
	hlist_for_each_entry(group, &query->buckets[hash >> (32 - query->bucket_bits)], node)
		if (group->hash == hash && group->words == words &&
		    !memcmp(group->key, query->key, words * sizeof(u64)))
			return group;
	return make_group(query, words, hash);
}

/**
 * owner_query_alloc_groups() - allocate an empty table of groups
 * @query: has its sentence
 *
 * Return: 0, -ENOMEM. Free the table by owner_query_free_groups() in both cases.
 */
int owner_query_alloc_groups(struct owner_query *query)
{
	unsigned int room = max_table_groups(query);

	query->bucket_bits = ilog2(roundup_pow_of_two(room));
	query->buckets = kvcalloc(1 << query->bucket_bits, sizeof(*query->buckets), GFP_KERNEL);
	query->groups = kvcalloc(room, sizeof(*query->groups), GFP_KERNEL);
	return query->buckets && query->groups ? 0 : -ENOMEM;
}

/**
 * owner_query_count_shown_groups() - how many groups does the answer show?
 * @query: all groups are summed up
 */
unsigned int owner_query_count_shown_groups(const struct owner_query *query)
{
	unsigned int top = query->sentence.top;

	return top ? min(top, query->nr_groups) : query->nr_groups;
}

/**
 * owner_query_free_groups() - free the groups and their table
 * @query: the query
 */
void owner_query_free_groups(struct owner_query *query)
{
	while (query->nr_groups)
		free_group(query->groups[--query->nr_groups]);
	kvfree(query->groups);
	kvfree(query->buckets);
	query->groups = NULL;
	query->buckets = NULL;
	query->other = (struct owner_sum){};
}
