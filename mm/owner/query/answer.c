// SPDX-License-Identifier: GPL-2.0
/* Sums up the groups of a query. */

#include <linux/slab.h>

#include "query.h"

static int add_objects(struct owner_query *query)
{
	struct owner_query_group *group;
	struct owner_sum sum;
	int found;

	while ((found = owner_query_find_next_match(query)) > 0) {
		group = owner_query_find_group(query);
		if (!group)
			return -ENOMEM;
		sum = owner_query_object_sum(query);
		owner_sum_join(&group->sum, &sum);
		owner_query_add_to_memo(query, group);
	}
	return found;
}

/**
 * owner_query_sum_groups() - find all objects of a query and sum them up by group
 * @query: its sentence has groups; free the result by owner_query_reset(), after an
 *	error, too
 *
 * Return: 0, -ENOMEM, -ERESTARTSYS after a signal.
 */
int owner_query_sum_groups(struct owner_query *query)
{
	int error = owner_query_prepare(query) ?: owner_query_alloc_groups(query);
	unsigned int i;

	if (error)
		return error;
	if (!owner_query_use_counters(query))
		owner_query_begin_memo(query);
	owner_cursor_begin(&query->cursor);
	error = add_objects(query);
	owner_cursor_end(&query->cursor);
	owner_query_end_memo(query);
	if (error)
		return error;
	owner_query_sort_groups(query);
	query->total = query->other;
	for (i = 0; i < query->nr_groups; i++)
		owner_sum_join(&query->total, &query->groups[i]->sum);
	return 0;
}

/**
 * owner_query_reset() - free the answer of a query
 * @query: keeps its sentence
 */
void owner_query_reset(struct owner_query *query)
{
	owner_query_free_groups(query);
	if (query->chains)
		owner_query_put_chains(query->chains);
	kvfree(query->chains);
	query->chains = NULL;
	query->total = (struct owner_sum){};
}
