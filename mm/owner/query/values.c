// SPDX-License-Identifier: GPL-2.0
/* The field values of the object that a query has found last. */

#include <linux/minmax.h>
#include <linux/string.h>

#include "../record.h"
#include "../rules/rules.h"
#include "../task.h"
#include "query.h"

/**
 * owner_query_object_chain() - look up the call chain of the object that was found last
 * @query: has found an object
 *
 * Return: the chain, valid until the next object is found.
 */
struct owner_query_chain *owner_query_object_chain(struct owner_query *query)
{
	if (!query->chain)
		query->chain = owner_query_get_chain(query->chains, query->object.owner.stack);
	return query->chain;
}

/**
 * owner_query_object_task() - find the task or the context of the object that was found last
 * @query: has found an object
 *
 * Return: the handle, 0 if the object has none.
 */
depot_stack_handle_t owner_query_object_task(const struct owner_query *query)
{
	/* Pages have the task in struct page_owner. */
	return query->object.kind == OWNER_KIND_PAGE ? 0 : query->object.owner.task;
}

/**
 * owner_query_task_cgroup() - get the cgroup of the task of the object that was found last
 * @query: has found an object
 *
 * Return: its path, empty if the task has no cgroup or is not known. It is looked up again only
 *	if the last object was of a task of another cgroup.
 */
const char *owner_query_task_cgroup(struct owner_query *query)
{
	if (query->task_cgroup_number != query->task.cgroup) {
		query->task_cgroup_number = query->task.cgroup;
		owner_cgroup_path(query->task.cgroup, query->task_cgroup);
	}
	return query->task_cgroup;
}

static bool any_word_matches(const struct owner_field_values *fields,
			     const struct owner_sentence *s, const struct owner_comparison *c)
{
	struct owner_query *query = container_of(fields, struct owner_query, fields);
	gfp_t gfp_mask = query->object.pages.owner.gfp_mask;

	if (c->field == OWNER_FIELD_GFP)
		return owner_gfp_matches(s, c, (__force unsigned long)gfp_mask);
	if (c->field == OWNER_FIELD_ADDRESS)
		return owner_query_address_matches(query, c);
	if (c->field == OWNER_FIELD_TASK_CGROUP)
		return owner_lang_word_matches(s, c, owner_query_task_cgroup(query));
	if (c->field == OWNER_FIELD_BINARY)
		return owner_query_user_matches(owner_query_object_task(query), s, c);
	return owner_query_chain_matches(owner_query_object_chain(query), s, c);
}

static void fill_task_values(struct owner_query *query, bool has_task)
{
	struct owner_field_values *fields = &query->fields;

	if (!has_task)
		query->task.cgroup = 0;
	if (!query->task.cgroup)
		fields->absent_fields |= BIT(OWNER_FIELD_TASK_CGROUP);
	if (has_task) {
		fields->value[OWNER_FIELD_PID].number = query->task.pid;
		fields->value[OWNER_FIELD_TGID].number = query->task.tgid;
		fields->value[OWNER_FIELD_COMM].word = query->task.comm;
	} else {
		fields->absent_fields |= BIT(OWNER_FIELD_PID) | BIT(OWNER_FIELD_TGID) |
					 BIT(OWNER_FIELD_COMM);
	}
}

/* Fill the values that the record of a slab object or a per-CPU area has. */
static void fill_record_values(struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_field_values *fields = &query->fields;

	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	fields->value[OWNER_FIELD_AGE].number =
		owner_ticks_since(object->owner.time, query->now) * OWNER_TICK_NS;
	fields->value[OWNER_FIELD_TS].number = owner_record_time_to_ns(object->owner.time);
	if (object->kind == OWNER_KIND_PERCPU) {
		fields->absent_fields |= BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_NID);
		/* The cgroup that an area is charged to is not looked up. */
		*query->cgroup = '\0';
	}
	fill_task_values(query, owner_task_fetch(object->owner.task, &query->task));
}

static void fill_page_values(struct owner_query *query)
{
	const struct owner_pages *pages = &query->object.pages;
	const struct page_owner *owner = &pages->owner;
	struct owner_field_values *fields = &query->fields;

	fields->absent_fields = pages->cache ? 0 : BIT(OWNER_FIELD_CACHE);
	fields->value[OWNER_FIELD_ORDER].number = owner->order;
	fields->value[OWNER_FIELD_GFP].number = (__force unsigned int)owner->gfp_mask;
	fields->value[OWNER_FIELD_TS].number = owner->ts_nsec;
	/* The pages may have been allocated since, or by a CPU whose clock is ahead. */
	fields->value[OWNER_FIELD_AGE].number = query->now_ns - min(query->now_ns, owner->ts_nsec);
	if (query->cursor.cgroup)
		owner_cgroup_of_page(pages->page, query->cursor.cgroup);
	query->task.pid = owner->pid;
	query->task.tgid = owner->tgid;
	memcpy(query->task.comm, owner->comm, TASK_COMM_LEN);
	/* struct page_owner does not keep it. */
	query->task.cgroup = 0;
	fill_task_values(query, true);
}

/**
 * owner_query_fill_values() - fill the field values of the object that was found last
 * @query: @object is the object; @fields is filled
 */
void owner_query_fill_values(struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_field_values *fields = &query->fields;

	query->chain = NULL;
	fields->any_word_matches = any_word_matches;
	fields->value[OWNER_FIELD_KIND].number = object->kind;
	fields->value[OWNER_FIELD_SIZE].number = object->size;
	fields->value[OWNER_FIELD_HELD].number = object->held;
	fields->value[OWNER_FIELD_HANDLE].number = object->owner.stack;
	fields->value[OWNER_FIELD_CACHE].word = object->cache;
	fields->value[OWNER_FIELD_NID].number = object->nid;
	fields->value[OWNER_FIELD_CGROUP].word = query->cgroup;
	if (query->cursor.ops == &owner_query_mark_source)
		owner_query_fill_marked_values(query);
	else if (object->kind == OWNER_KIND_PAGE)
		fill_page_values(query);
	else
		fill_record_values(query);
	if (!*query->cgroup)
		fields->absent_fields |= BIT(OWNER_FIELD_CGROUP);
}

/**
 * owner_query_object_sum() - sum up the object that was found last
 * @query: has found an object, or a call chain or a group of the mark in place of objects
 *
 * Return: the sum, to be added to that of a group.
 */
struct owner_sum owner_query_object_sum(const struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_sum sum = {};

	if (query->cursor.ops == &owner_chain_source ||
	    query->cursor.ops == &owner_query_mark_source) {
		sum.estimate = object->counted;
		sum.ageless = true;
		return sum;
	}
	owner_sum_add(&sum, owner_record_rate(&object->owner), object->size, object->held,
		      query->fields.value[OWNER_FIELD_AGE].number);
	return sum;
}
