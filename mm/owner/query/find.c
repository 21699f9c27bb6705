// SPDX-License-Identifier: GPL-2.0
/* Finds the objects of a query, one source after the other. */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../capture.h"
#include "../record.h"
#include "../slab/records.h"
#include "../totals.h"
#include "query.h"

static void add_source(struct owner_query *query, const struct owner_source_ops *ops)
{
	query->ops[query->nr_ops++] = ops;
}

/**
 * owner_query_set_now() - measure ages from now on
 * @query: the query
 */
void owner_query_set_now(struct owner_query *query)
{
	query->now = owner_record_time_now();
	query->now_ns = local_clock();
}

/* Find the comparisons of some types whose value can be one that no object has. */
static u32 find_comparisons(const struct owner_sentence *s, unsigned int types)
{
	u32 found = 0;
	unsigned int i;

	for (i = 0; i < s->nr_comparisons; i++) {
		const struct owner_comparison *c = &s->comparisons[i];

		if (c->operator != OWNER_NE && !c->excludes &&
		    types & BIT(owner_field_types[c->field]))
			found |= BIT(i);
	}
	return found;
}

/*
 * Note which comparisons hold for the object, also if the expression does not need them. The chain
 * is compared only if the expression has looked it up.
 */
static void note_matches(struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	unsigned int i, fields = 0;

	for (i = 0; i < s->nr_comparisons; i++)
		if (query->unmatched & BIT(i))
			fields |= BIT(s->comparisons[i].field);
	if (!query->chain)
		fields &= ~OWNER_CHAIN_FIELDS;
	for (i = 0; i < s->nr_comparisons; i++)
		if (fields & BIT(s->comparisons[i].field))
			query->compared |= BIT(i);
	query->unmatched &= ~owner_lang_compare_fields(s, &query->fields, fields);
}

/* Is the cgroup compared or shown? */
static bool shows_cgroups(const struct owner_sentence *s)
{
	if (!s->nr_group_by && s->format == OWNER_FORMAT_TSV)
		return owner_cgroups_on();
	return owner_query_fields(s) & BIT(OWNER_FIELD_CGROUP);
}

/**
 * owner_query_rewind() - let the cursor find the first object next
 * @query: has its sentence
 */
void owner_query_rewind(struct owner_query *query)
{
	unsigned int kinds = owner_lang_asked_kinds(&query->sentence);

	query->nr_ops = 0;
	query->current_ops = 0;
	if (kinds & BIT(OWNER_KIND_SLAB))
		add_source(query, &owner_slab_source);
	if (IS_ENABLED(CONFIG_PAGE_OWNER) && kinds & BIT(OWNER_KIND_PAGE))
		add_source(query, &owner_page_source);
	if (kinds & BIT(OWNER_KIND_PERCPU))
		add_source(query, &owner_percpu_source);
	if (query->sentence.since_mark)
		add_source(query, &owner_query_mark_source);
	query->cursor = (struct owner_cursor){
		.ops = query->ops[0],
		.until_killed = query->sentence.command == OWNER_MARK,
	};
	*query->cgroup = '\0';
	*query->task_cgroup = '\0';
	query->task_cgroup_number = 0;
	if (shows_cgroups(&query->sentence))
		query->cursor.cgroup = query->cgroup;
	query->total = (struct owner_sum){};
	query->slabs = 0;
	query->last_slab = 0;
	/* An address can be that of no object at all. */
	query->compared = find_comparisons(&query->sentence, BIT(OWNER_TYPE_ADDRESS));
	query->unmatched = query->compared |
			   find_comparisons(&query->sentence,
					    BIT(OWNER_TYPE_WORD) | BIT(OWNER_TYPE_WORDS));
	owner_query_collect_addresses(query);
}

/**
 * owner_query_prepare() - prepare to find objects from the first on
 * @query: has its sentence; undone by owner_query_reset()
 *
 * Return: 0, -ENOMEM.
 */
int owner_query_prepare(struct owner_query *query)
{
	owner_query_rewind(query);
	owner_query_set_now(query);
	query->generation = owner_query_generation();
	query->objcg = owner_objcg_get();
	query->memory_bound = query->memory_max ?:
			      min((u64)totalram_pages() << PAGE_SHIFT >> 4, (u64)SZ_256M);
	query->chains = owner_kvmalloc_untracked(sizeof(*query->chains) << OWNER_QUERY_CHAIN_BITS,
						 OWNER_READER_GFP | __GFP_ZERO);
	return query->chains ? 0 : -ENOMEM;
}

/* Growth is counted if its mark was: the two ways to add up need not agree on each moment. */
static bool can_use_counters(const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;

	if (!(owner_lang_asked_kinds(s) & BIT(OWNER_KIND_SLAB)))
		return false;
	if (s->since_mark)
		s = &query->mark->sentence;
	return !(owner_query_fields(s) & ~OWNER_CHAIN_FIELDS) &&
	       !owner_query_sorts_by_objects(s) &&
	       (owner_query_is_growth(s) || !owner_read_samples());
}

/**
 * owner_query_use_counters() - find call chains in place of slab objects, if that suffices
 * @query: prepared; its sentence has groups
 *
 * The depot's counters are faster than a walk over memory. They do not suffice if the sentence
 * asks for fields in which objects of a chain differ or for ages, or if there are samples: the
 * answer has the standard error, which takes the size of each sample. Growth has none.
 *
 * Return: 0, -ENOMEM, -EINTR if the task is killed.
 */
int owner_query_use_counters(struct owner_query *query)
{
	if (!can_use_counters(query))
		return 0;
	query->ops[0] = &owner_chain_source;
	query->cursor.ops = query->ops[0];
	query->cursor.chains = &query->counted;
	return owner_collect_chains(&query->counted, OWNER_KIND_SLAB, NULL);
}

/* Find the next object of the current source near one of the required addresses. */
static int find_object_at_addresses(struct owner_query *query)
{
	struct owner_cursor *cursor = &query->cursor;
	int found = query->next_address ? owner_cursor_next(cursor, &query->object) : 0;

	while (!found && query->next_address < query->nr_addresses) {
		u64 address = query->addresses[query->next_address++];

		query->no_object = cursor->ops->seek(cursor, address);
		found = owner_cursor_next(cursor, &query->object);
	}
	return found;
}

static int find_object_in_source(struct owner_query *query)
{
	if (query->nr_addresses && query->cursor.ops->seek)
		return find_object_at_addresses(query);
	return owner_cursor_next(&query->cursor, &query->object);
}

/* Find the next object, in the current source or in one after it. */
static int find_object_in_sources(struct owner_query *query)
{
	int found = find_object_in_source(query);

	while (!found && query->current_ops + 1 < query->nr_ops) {
		owner_cursor_set_source(&query->cursor, query->ops[++query->current_ops]);
		query->next_address = 0;
		found = find_object_in_source(query);
	}
	return found;
}

/**
 * owner_query_find_next_match() - find the next object that the expression holds for
 * @query: between owner_cursor_begin() and owner_cursor_end() of its cursor
 *
 * Return: 1 if there is one: @object of the query, with its field values; 0 if there is
 *	none; -ERESTARTSYS after a signal.
 */
int owner_query_find_next_match(struct owner_query *query)
{
	bool matches;
	int found;

	while ((found = find_object_in_sources(query)) > 0) {
		if (!owner_query_has_address(query))
			continue;
		owner_query_fill_values(query);
		matches = owner_lang_matches(&query->sentence, &query->fields);
		if (query->unmatched)
			note_matches(query);
		if (matches)
			break;
		owner_query_add_to_memo(query, NULL);
	}
	return found;
}
