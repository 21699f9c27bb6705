// SPDX-License-Identifier: GPL-2.0
/*
 * What a query's walk is to know of records (known.h): the comparisons of an
 * expression are made once for all that are the same, but for those of the time,
 * and those once for each span of ages in which they have the same outcomes.
 */

#include <linux/mm.h>

#include "query.h"

#define TIMES	(BIT(OWNER_FIELD_AGE) | BIT(OWNER_FIELD_TS))
#define LASTING	(~(unsigned int)TIMES)

/* Let a span begin at this age, in ticks, where none does. */
static bool cut(struct owner_walk_memo *known, u64 age)
{
	unsigned int i = known->nr_spans;

	if (!age || age > OWNER_TICKS_MAX)
		return true;
	while (i && known->ends[i - 1] > age)
		i--;
	if (i && known->ends[i - 1] == age)
		return true;
	if (known->nr_spans == MEMO_SPANS_MAX)
		return false;
	memmove(&known->ends[i + 1], &known->ends[i],
		(known->nr_spans - i) * sizeof(known->ends[0]));
	known->ends[i] = age;
	known->nr_spans++;
	return true;
}

/* In ticks, rounded up. */
static u64 ticks_to(u64 ns)
{
	return ns / OWNER_TICK_NS + !!(ns % OWNER_TICK_NS);
}

/* Cut where an age begins and ceases to be within a comparison's value. */
static bool cut_at(struct owner_walk_memo *known, enum owner_field field,
		   const union owner_value *value)
{
	u64 now = owner_timestamp(known->now);

	if (field == OWNER_FIELD_AGE)
		return cut(known, ticks_to(value->low)) &&
		       cut(known, value->high / OWNER_TICK_NS + 1);
	/* The later it was, the younger it is. */
	return (value->high >= now || cut(known, ticks_to(now - value->high))) &&
	       (value->low > now || cut(known, (now - value->low) / OWNER_TICK_NS + 1));
}

static bool cut_spans(struct owner_walk_memo *known, const struct owner_sentence *s)
{
	const struct owner_comparison *c = s->comparisons;
	unsigned int i;

	for (; c < s->comparisons + s->nr_comparisons; c++)
		for (i = 0; BIT(c->field) & TIMES && i < c->nr_values; i++)
			if (!cut_at(known, c->field, &s->values[c->first_value + i]))
				return false;
	return true;
}

/* In which spans does it hold for objects like the one that was found last? */
static u64 spans_of(struct owner_query *query)
{
	const struct owner_walk_memo *known = query->walk.known;
	u64 now = owner_timestamp(known->now), spans = 0;
	struct owner_field_values fields = {};
	unsigned int i, outcomes;

	outcomes = owner_lang_compare_fields(&query->sentence, &query->fields, LASTING);
	for (i = 0; i < known->nr_spans; i++) {
		u64 age = i ? known->ends[i - 1] * OWNER_TICK_NS : 0;

		fields.value[OWNER_FIELD_AGE].number = age;
		fields.value[OWNER_FIELD_TS].number = now - age;
		if (owner_lang_matches_outcomes(&query->sentence, &fields, LASTING, outcomes))
			spans |= BIT_ULL(i);
	}
	return spans;
}

/**
 * owner_query_remember - treat objects like the one that was found last as this one
 * @query: a query that has found it, and knows it
 * @group: to which it belongs, NULL if the expression does not hold for it now
 */
void owner_query_remember(struct owner_query *query, struct query_group *group)
{
	if (query->walk.known && query->kind == OWNER_SOURCE_SLAB)
		owner_memo_remember(query->walk.known, &query->object, spans_of(query),
				    group ? &group->sum : NULL);
}

/*
 * From now on; without memory, or with too many spans, all go the long way. So they do
 * if it is asked to whom they are charged, which their records do not say.
 */
void owner_query_begin_memo(struct owner_query *query)
{
	struct owner_walk_memo *known = query->walk.cgroup ? NULL : owner_memo_alloc(query->now);

	if (known && !cut_spans(known, &query->sentence)) {
		owner_memo_free(known);
		known = NULL;
	}
	query->walk.known = known;
}

void owner_query_end_memo(struct owner_query *query)
{
	owner_memo_free(query->walk.known);
	query->walk.known = NULL;
}
