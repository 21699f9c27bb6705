// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: what groups hold now, less what they held when "mark" was written.
 *
 * A mark is the answer to a query that is kept: its groups have whole call chains, or the fields
 * that the sentence "mark group=" names. Growth adds up what is found now, and then the mark's
 * groups with their signs reversed. The sum of a group that holds as much as before is 0.
 *
 * A difference is stored as two's complement in the unsigned members of &struct owner_estimate.
 */

#include <linux/string.h>

#include "../totals.h"
#include "query.h"

static struct owner_estimate reverse_sign(const struct owner_estimate *e)
{
	u64 objects = -((e->objects << OWNER_WEIGHT_SHIFT) + e->fraction);

	return (struct owner_estimate){
		.records = -e->records,
		.objects = (s64)objects >> OWNER_WEIGHT_SHIFT,
		.fraction = objects & GENMASK(OWNER_WEIGHT_SHIFT - 1, 0),
		.bytes = -e->bytes,
		.held = -e->held,
	};
}

static int next_marked_group(struct owner_cursor *cursor, struct owner_object *object)
{
	const struct owner_query *mark = container_of(cursor, struct owner_query, cursor)->mark;
	int error = owner_cursor_yield(cursor);

	if (error)
		return error;
	if (cursor->pos == mark->nr_groups)
		return 0;
	cursor->found_pos = cursor->pos++;
	*object = (struct owner_object){
		.owner.stack = mark->groups[cursor->found_pos]->stack,
		.counted = reverse_sign(&mark->groups[cursor->found_pos]->sum.estimate),
	};
	return 1;
}

/* Finds the groups of the mark, with their signs reversed. The cursor is a query's. */
const struct owner_source_ops owner_query_mark_source = {
	.next	= next_marked_group,
};

/**
 * owner_query_fill_marked_values() - fill the field values of a group of the mark
 * @query: has found the group by owner_query_mark_source
 */
void owner_query_fill_marked_values(struct owner_query *query)
{
	const struct owner_query *mark = query->mark;
	const u64 *key = mark->groups[query->cursor.found_pos]->key;
	struct owner_field_values *fields = &query->fields;
	unsigned int i;

	*query->cgroup = '\0';
	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	for (i = 0; i < mark->sentence.nr_group_by; i++) {
		const struct owner_group_field *by = &mark->sentence.group_by[i];
		enum owner_field field = by->field;

		if (field == OWNER_FIELD_CGROUP) {
			strscpy(query->cgroup, (const char *)key, OWNER_CGROUP_MAX);
		} else if (field == OWNER_FIELD_TASK_CGROUP) {
			query->task.cgroup = *key;
			fields->absent_fields |= *key ? 0 : BIT(field);
		} else if (field == OWNER_FIELD_CACHE || field == OWNER_FIELD_COMM) {
			fields->value[field].word = (const char *)key;
			fields->absent_fields |= *(const char *)key ? 0 : BIT(field);
		} else if (field != OWNER_FIELD_STACK) {
			fields->value[field].number = *key;
			fields->absent_fields |= *key == OWNER_QUERY_ABSENT ? BIT(field) : 0;
		}
		key += owner_query_count_key_words(&mark->sentence, by, key);
	}
}
