// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a query, added up by what they have in common.
 *
 * Memory is bounded: while adding up there are at most half as many groups again
 * as groups= allows, and when there are that many, the smallest go into other. A
 * group that went and comes again starts anew, so that its sum is then short of
 * what went before: totals are exact, and the answer says that groups went.
 */

#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "../capture.h"
#include "query.h"

/* What a query takes for its groups has no owner, and so is not in its answer. */
#define QUERY_GFP	(GFP_KERNEL | __GFP_NO_OBJ_EXT)

/* What the object that was found last adds. */
struct owner_sum owner_query_object_sum(const struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_sum sum = {};

	if (query->counted && query->kind == OWNER_SOURCE_SLAB) {
		sum.estimate = query->holds;
		sum.ageless = true;
		return sum;
	}
	owner_sum_add(&sum, object->owner.rate, object->size, object->slab_size,
		      query->fields.value[OWNER_FIELD_AGE].number);
	return sum;
}

void owner_query_add(struct owner_sum *sum, const struct owner_sum *more)
{
	sum->youngest = sum->estimate.records ? min(sum->youngest, more->youngest) : more->youngest;
	sum->oldest = max(sum->oldest, more->oldest);
	sum->ageless |= more->ageless;
	sum->groups += more->groups;
	owner_estimate_join(&sum->estimate, &more->estimate);
}

static unsigned int put_name(u64 *key, const char *name, unsigned int most)
{
	unsigned int length = strnlen(name, most);
	unsigned int words = length / sizeof(u64) + 1;

	memset(key, 0, words * sizeof(u64));
	memcpy(key, name, length);
	return words;
}

static unsigned int put_stack(u64 *key, struct owner_query *query, const struct owner_group_field *by)
{
	struct query_chain *chain = owner_query_chain_of(query);
	unsigned int i, first = by->full ? 0 : chain->first;
	unsigned int frames = chain->count - first;

	if (owner_query_by_handle(&query->sentence)) {
		*key = query->object.owner.stack;
		return 1;
	}
	frames = min(frames, by->frames ?: OWNER_FRAMES_MAX);
	key[0] = frames;
	for (i = 0; i < frames; i++)
		key[1 + i] = chain->frames[first + i];
	return 1 + frames;
}

static unsigned int put_field(u64 *key, struct owner_query *query, const struct owner_group_field *by)
{
	bool absent = by->field < OWNER_FIELDS && query->fields.absent_fields & BIT(by->field);
	char name[QUERY_NAME_MAX + 1];

	switch (by->field) {
	case OWNER_FIELD_STACK:
		return put_stack(key, query, by);
	case OWNER_FIELD_FUNC:
		*key = owner_query_function(owner_query_chain_of(query));
		return 1;
	case OWNER_FIELD_MODULE:
		owner_query_module(owner_query_chain_of(query), name, sizeof(name));
		return put_name(key, name, QUERY_NAME_MAX);
	case OWNER_FIELD_CACHE:
	case OWNER_FIELD_COMM:
		return put_name(key, absent ? "" : query->fields.value[by->field].word,
				QUERY_NAME_MAX);
	case OWNER_FIELD_CGROUP:
		return put_name(key, query->cgroup, OWNER_CGROUP_MAX);
	default:
		*key = absent ? QUERY_ABSENT : query->fields.value[by->field].number;
		return 1;
	}
}

static u64 rank_by(const struct owner_sum *sum, enum owner_sort sort)
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

static int compare(const void *a, const void *b, const void *sentence)
{
	const struct query_group *x = *(const struct query_group **)a;
	const struct query_group *y = *(const struct query_group **)b;
	const struct owner_sentence *s = sentence;
	unsigned int i;

	/* There can be a million. */
	cond_resched();
	for (i = 0; i < max(s->nr_sort_by, 1U); i++) {
		enum owner_sort sort = s->nr_sort_by ? s->sort_by[i] : OWNER_SORT_BYTES;
		u64 left = rank_by(&x->sum, sort), right = rank_by(&y->sum, sort);

		if (left != right)
			return left < right ? 1 : -1;
	}
	return memcmp(x->key, y->key, min(x->words, y->words) * sizeof(u64));
}

static void free_group(struct query_group *group)
{
	stack_depot_put(group->stack);
	kfree(group);
}

/* Put the groups into order, and those beyond what is kept into other. */
static void sort_and_fold(struct owner_query *query)
{
	/* Sums are complete then, and can go. */
	owner_memo_flush(query->walk.known);
	sort_r(query->groups, query->nr_groups, sizeof(*query->groups), compare, NULL,
	       &query->sentence);
	while (query->nr_groups > query->sentence.max_groups) {
		struct query_group *group = query->groups[--query->nr_groups];

		owner_query_add(&query->other, &group->sum);
		hlist_del(&group->node);
		free_group(group);
	}
}

/* Sorting is worth it only for some at a time. */
static unsigned int most_groups(const struct owner_query *query)
{
	unsigned int kept = query->sentence.max_groups;

	return kept + max(kept / 2, 64U);
}

static struct query_group *make_group(struct owner_query *query, unsigned int words, u32 hash)
{
	struct query_group *group;

	if (query->nr_groups == most_groups(query))
		sort_and_fold(query);
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

/* The group of the object that was found last. */
static struct query_group *group_of(struct owner_query *query)
{
	unsigned int i, words = 0;
	struct query_group *group;
	u32 hash;

	for (i = 0; i < query->sentence.nr_group_by; i++)
		words += put_field(query->key + words, query, &query->sentence.group_by[i]);
	hash = jhash2((u32 *)query->key, words * 2, 0);
	hlist_for_each_entry(group, &query->buckets[hash >> (32 - query->bucket_bits)], node)
		if (group->hash == hash && group->words == words &&
		    !memcmp(group->key, query->key, words * sizeof(u64)))
			return group;
	return make_group(query, words, hash);
}

static int add_up_objects(struct owner_query *query)
{
	struct query_group *group;
	struct owner_sum sum;
	int found;

	while ((found = owner_query_next(query)) > 0) {
		group = group_of(query);
		if (!group)
			return -ENOMEM;
		sum = owner_query_object_sum(query);
		owner_query_add(&group->sum, &sum);
		owner_query_remember(query, group);
	}
	return found;
}

/**
 * owner_query_add_up - add up what the sentence asks for, group by group
 * @query: a query whose sentence has groups
 *
 * What it takes is freed by owner_query_free(), also after an error.
 *
 * Return: 0, -ENOMEM or, after a signal, -ERESTARTSYS.
 */
int owner_query_add_up(struct owner_query *query)
{
	int error = owner_query_prepare(query);
	unsigned int i;

	if (error)
		return error;
	query->bucket_bits = ilog2(roundup_pow_of_two(most_groups(query)));
	query->buckets = kvcalloc(1 << query->bucket_bits, sizeof(*query->buckets), GFP_KERNEL);
	query->groups = kvcalloc(most_groups(query), sizeof(*query->groups), GFP_KERNEL);
	if (!query->buckets || !query->groups)
		return -ENOMEM;
	query->counted = owner_query_counts_suffice(query);
	if (query->counted)
		owner_counters_flush();
	else
		owner_query_begin_memo(query);
	owner_cursor_begin(&query->walk);
	error = add_up_objects(query);
	owner_query_end_memo(query);
	owner_cursor_end(&query->walk);
	if (error)
		return error;
	sort_and_fold(query);
	query->total = query->other;
	for (i = 0; i < query->nr_groups; i++)
		owner_query_add(&query->total, &query->groups[i]->sum);
	return 0;
}

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
