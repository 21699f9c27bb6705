// SPDX-License-Identifier: GPL-2.0
/* Sums up the groups of a query. */

#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "query.h"

/* Count the slab of an object once: the walk finds all objects of a slab before the next one. */
static void count_slab(u64 *slabs, u64 *last_slab, u64 pfn)
{
	*slabs += *last_slab != pfn;
	*last_slab = pfn;
}

static void add_object_to_group(struct owner_query *query, struct owner_query_group *group)
{
	struct owner_sum sum = owner_query_object_sum(query);

	owner_sum_join(&group->sum, &sum);
	if (query->object.kind != OWNER_KIND_SLAB ||
	    !owner_lang_sorts_by(&query->sentence, OWNER_SORT_SLABS))
		return;
	count_slab(&group->key[group->words], &group->key[group->words + 1], query->object.pfn);
	count_slab(&query->slabs, &query->last_slab, query->object.pfn);
}

/*
 * Add the object that was found last to its group, under the cursor's locks. False if there is no
 * group yet, nor memory for one without waiting.
 */
static bool add_object(struct owner_query *query)
{
	struct owner_query_group *group = owner_query_find_group(query) ?:
					  owner_query_make_group(query, OWNER_LOCKED_GFP);

	if (!group)
		return false;
	add_object_to_group(query, group);
	owner_query_add_to_memo(query, group);
	return true;
}

/* Add an object for which add_object() had no memory. The cursor has ended. */
static int add_object_unlocked(struct owner_query *query)
{
	struct owner_query_group *group;
	int error;

	while (!(group = owner_query_make_group(query, OWNER_READER_GFP))) {
		error = owner_query_make_do(query);
		if (error)
			return error;
	}
	add_object_to_group(query, group);
	return 0;
}

/*
 * Add objects while there is room for another group, or until @found_all. Also ends after an object
 * for whose group there was no memory under the cursor's locks. Its key and all that it adds to a
 * sum have been copied, so that only its chain and its task need a reference.
 */
static int fill_table(struct owner_query *query, bool *found_all)
{
	depot_stack_handle_t stack = 0, task = 0;
	int found = 1, error = 0;
	bool added = true;

	owner_query_begin_memo(query);
	owner_cursor_begin(&query->cursor);
	while (added && found > 0 && owner_query_has_room(query)) {
		found = owner_query_find_next_match(query);
		if (found > 0)
			added = add_object(query);
	}
	if (!added && stack_depot_get(query->object.owner.stack))
		stack = query->object.owner.stack;
	if (!added && stack_depot_get(owner_query_object_task(query)))
		task = owner_query_object_task(query);
	owner_cursor_end(&query->cursor);
	owner_query_end_memo(query);
	if (!added)
		error = add_object_unlocked(query);
	stack_depot_put(stack);
	stack_depot_put(task);
	*found_all = !found;
	return error ?: min(found, 0);
}

/**
 * owner_query_sum_groups() - find all objects of a query and sum them up by group
 * @query: its sentence has groups; free the result by owner_query_reset(), after an
 *	error, too
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed, -ERESTARTSYS after another signal:
 *	the next call continues where this one was interrupted.
 */
int owner_query_sum_groups(struct owner_query *query)
{
	int error = 0;
	bool found_all = false;
	unsigned int i;

	if (!query->chains)
		error = owner_query_prepare(query) ?: owner_query_use_counters(query);
	while (!error && !found_all) {
		error = owner_query_make_room(query);
		if (!error)
			error = fill_table(query, &found_all);
		/* If memory is short, no round lasts until the cursor looks for a signal. */
		if (!error && !found_all && owner_cursor_has_signal(&query->cursor))
			error = -ERESTARTSYS;
	}
	if (error)
		return error;
	/* The counters have references to all chains. From now on only the groups are needed. */
	owner_free_chain_totals(&query->counted);
	if (query->sentence.since_mark)
		owner_query_drop_unchanged(query);
	if (query->sentence.command != OWNER_MARK)
		owner_query_sort_groups(query);
	query->total = query->other;
	for (i = 0; i < query->nr_groups; i++) {
		owner_sum_join(&query->total, &query->groups[i]->sum);
		cond_resched();
	}
	return 0;
}

/* Free what is known about call chains: no object is looked for and no group is printed. */
static void forget_chains(struct owner_query *query)
{
	if (query->chains)
		owner_query_put_chains(query->chains);
	kvfree(query->chains);
	query->chains = NULL;
}

/**
 * owner_query_reset() - free the answer of a query
 * @query: keeps its sentence
 */
void owner_query_reset(struct owner_query *query)
{
	owner_query_free_groups(query);
	owner_free_chain_totals(&query->counted);
	forget_chains(query);
	owner_objcg_put(query->objcg);
	query->objcg = NULL;
	query->total = (struct owner_sum){};
	query->short_of = NULL;
}

static void free_mark(struct owner_query *mark)
{
	owner_query_reset(mark);
	kvfree(mark);
}

/**
 * owner_query_free_mark() - forget what was remembered
 * @query: may have no mark
 */
void owner_query_free_mark(struct owner_query *query)
{
	if (query->mark)
		free_mark(query->mark);
	query->mark = NULL;
}

/**
 * owner_query_set_mark() - remember what groups hold, for since=mark
 * @query: has the sentence "mark"; an earlier mark is replaced
 *
 * Return: 0, -ENOMEM with the reason in @query, -EINTR if the task is killed: the earlier mark is
 *	kept.
 */
int owner_query_set_mark(struct owner_query *query)
{
	struct owner_query *mark = owner_kvmalloc_untracked(sizeof(*mark),
							    OWNER_READER_GFP | __GFP_ZERO);
	struct owner_sentence *s;
	int error;

	if (!mark)
		return -ENOMEM;
	mark->memory_max = query->memory_max;
	mark->sentence = query->sentence;
	s = &mark->sentence;
	/* The key has the chain's handle. */
	s->mode = OWNER_MODE_HANDLE;
	if (!s->nr_group_by)
		s->group_by[s->nr_group_by++].field = OWNER_FIELD_STACK;
	error = owner_query_sum_groups(mark);
	if (error) {
		query->short_of = mark->short_of;
		query->short_at = mark->short_at;
		free_mark(mark);
		return error;
	}
	owner_query_free_mark(query);
	forget_chains(mark);
	owner_query_trim_table(mark);
	query->mark = mark;
	return 0;
}
