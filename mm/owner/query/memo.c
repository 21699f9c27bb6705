// SPDX-License-Identifier: GPL-2.0
/*
 * Prepares the walk's memo for a sentence.
 *
 * Comparisons of other fields than the time have one outcome for all records that are
 * equal but for their time. Comparisons of age and ts cut all ages into spans: within a
 * span their outcomes are the same for all records. The expression is evaluated once for
 * each span, and the memo counts all further records that are equal.
 */

#include <linux/string.h>

#include "../record.h"
#include "../slab/memo.h"
#include "query.h"

#define TIME_FIELDS	(BIT(OWNER_FIELD_AGE) | BIT(OWNER_FIELD_TS))
#define TIMELESS_FIELDS	(~(unsigned int)TIME_FIELDS)

/* Begin a span at this age, in ticks, unless one begins there. False if there are too many. */
static bool split_age_span(struct owner_walk_memo *memo, u64 age)
{
	unsigned int i = memo->nr_spans;

	if (!age || age > OWNER_TICKS_MAX)
		return true;
	while (i && memo->span_ends[i - 1] > age)
		i--;
	if (i && memo->span_ends[i - 1] == age)
		return true;
	if (memo->nr_spans == OWNER_MEMO_SPANS_MAX)
		return false;
	memmove(&memo->span_ends[i + 1], &memo->span_ends[i],
		(memo->nr_spans - i) * sizeof(memo->span_ends[0]));
	memo->span_ends[i] = age;
	memo->nr_spans++;
	return true;
}

static u64 round_up_to_ticks(u64 ns)
{
	return ns / OWNER_TICK_NS + !!(ns % OWNER_TICK_NS);
}

/* Split at the first age that is within the range of @value, and at the first beyond. */
static bool split_at_value(struct owner_walk_memo *memo, enum owner_field field,
			   const union owner_value *value)
{
	u64 now = owner_record_time_to_ns(memo->now);

	if (field == OWNER_FIELD_AGE)
		return split_age_span(memo, round_up_to_ticks(value->low)) &&
		       split_age_span(memo, value->high / OWNER_TICK_NS + 1);
	/* The greater ts is, the smaller is the age. */
	return (value->high >= now || split_age_span(memo, round_up_to_ticks(now - value->high))) &&
	       (value->low > now || split_age_span(memo, (now - value->low) / OWNER_TICK_NS + 1));
}

static bool split_spans(struct owner_walk_memo *memo, const struct owner_sentence *s)
{
	const struct owner_comparison *c = s->comparisons;
	unsigned int i;

	for (; c < s->comparisons + s->nr_comparisons; c++)
		for (i = 0; BIT(c->field) & TIME_FIELDS && i < c->nr_values; i++)
			if (!split_at_value(memo, c->field, &s->values[c->first_value + i]))
				return false;
	return true;
}

/* Records that are equal but for their time can be of different groups. */
static bool groups_by_time(const struct owner_sentence *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field < OWNER_FIELDS && BIT(s->group_by[i].field) & TIME_FIELDS)
			return true;
	return false;
}

/* A bit for each span in which the expression holds for records equal to the last one. */
static u64 find_matching_spans(struct owner_query *query)
{
	const struct owner_walk_memo *memo = query->cursor.memo;
	u64 now = owner_record_time_to_ns(memo->now), spans = 0;
	struct owner_field_values fields = {};
	unsigned int i, outcomes;

	outcomes = owner_lang_compare_fields(&query->sentence, &query->fields, TIMELESS_FIELDS);
	for (i = 0; i < memo->nr_spans; i++) {
		u64 age = i ? memo->span_ends[i - 1] * OWNER_TICK_NS : 0;

		fields.value[OWNER_FIELD_AGE].number = age;
		fields.value[OWNER_FIELD_TS].number = now - age;
		if (owner_lang_matches_outcomes(&query->sentence, &fields, TIMELESS_FIELDS,
						outcomes))
			spans |= BIT_ULL(i);
	}
	return spans;
}

/**
 * owner_query_add_to_memo() - treat records that are equal to the last one in the same way
 * @query: has found an object, and its field values
 * @group: the group to which it was added, NULL if the expression does not hold for it
 */
void owner_query_add_to_memo(struct owner_query *query, struct owner_query_group *group)
{
	if (query->cursor.memo && query->cursor.ops == &owner_slab_source)
		owner_memo_add(query->cursor.memo, &query->object, find_matching_spans(query),
			       group ? &group->sum : NULL);
}

/**
 * owner_query_begin_memo() - give the query's walk a memo, if one can help
 * @query: prepared, before its cursor begins
 *
 * The memo needs memory, and it cannot know cgroups, addresses and slabs, because records do not
 * tell which cgroup an object is charged to, nor where it is, nor groups by time. Without a memo
 * the walk finds every object. Counters of chains need no memo.
 */
void owner_query_begin_memo(struct owner_query *query)
{
	struct owner_walk_memo *memo = NULL;

	if (!query->cursor.cgroup && query->cursor.ops == &owner_slab_source &&
	    !(query->sentence.fields_used & BIT(OWNER_FIELD_ADDRESS)) &&
	    !owner_lang_sorts_by(&query->sentence, OWNER_SORT_SLABS) &&
	    !groups_by_time(&query->sentence))
		memo = owner_memo_alloc(query->now);
	if (memo && !split_spans(memo, &query->sentence)) {
		owner_memo_free(memo);
		memo = NULL;
	}
	query->cursor.memo = memo;
}

/**
 * owner_query_end_memo() - free the memo
 * @query: its cursor still holds the locks, or has ended
 */
void owner_query_end_memo(struct owner_query *query)
{
	owner_memo_free(query->cursor.memo);
	query->cursor.memo = NULL;
}
