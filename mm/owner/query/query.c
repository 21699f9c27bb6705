// SPDX-License-Identifier: GPL-2.0
/*
 * What is held, as a sentence asks: which sentences are answered, and the objects
 * that an expression holds for. A query belongs to one reader, who keeps others
 * from using it meanwhile.
 */

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "query.h"
#include "../rules/rules.h"

/* --- Names of a module's functions are good while it stays ------------------- */

static atomic_t generation;

#ifdef CONFIG_MODULES

static int module_came_or_went(struct notifier_block *block, unsigned long state, void *module)
{
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING)
		atomic_inc(&generation);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_came_or_went };

void __init owner_query_init(void)
{
	register_module_notifier(&module_notifier);
}

#else

void __init owner_query_init(void)
{
}

#endif

/* Another number than before: a module came or went meanwhile. */
unsigned int owner_query_generation(void)
{
	return atomic_read(&generation);
}

/* --- Sentences that cannot be answered ---------------------------------------- */

/* What a query reads. */
static unsigned int sources_of(const struct owner_query *query)
{
	return query->sentence.sources ?: query->sources;
}

/* What its sentence compares or groups by: a bit for each field. */
static unsigned int fields_of(const struct owner_sentence *s)
{
	unsigned int i, mask = s->fields_used;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field < OWNER_FIELDS)
			mask |= BIT(s->group_by[i].field);
	return mask;
}

static const char *field_refusal(const struct owner_query *query, unsigned int mask)
{
	if (mask & BIT(OWNER_FIELD_CGROUP) && !owner_cgroups_on())
		return OWNER_CGROUPS_OFF;
	if (mask & BIT(OWNER_FIELD_GFP) && sources_of(query) != BIT(OWNER_SOURCE_PAGE))
		return "'gfp' is kept of pages only: say source=page";
	return NULL;
}

/* Who compares with a kind that is not read would get no answer. */
static bool compares_with_pages(const struct owner_sentence *s)
{
	const struct owner_comparison *c = s->comparisons;
	unsigned int i;

	for (; c < s->comparisons + s->nr_comparisons; c++)
		for (i = 0; c->field == OWNER_FIELD_KIND && i < c->nr_values; i++)
			if (c->operator != OWNER_NE &&
			    s->values[c->first_value + i].low == OWNER_SOURCE_PAGE)
				return true;
	return false;
}

/* What the language has no objection to. */
static const char *refusal(const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field == OWNER_FIELD_STACK && s->group_by[i].frames &&
		    owner_query_by_handle(s))
			return "a handle is that of a whole chain: group=stack, without a number";
	if (sources_of(query) & BIT(OWNER_SOURCE_PAGE)) {
		if (!owner_pages_tracked())
			return "page_owner is off: for pages boot with page_owner=on";
	} else if (compares_with_pages(s)) {
		return "pages are not read here unless asked for: say source=page";
	}
	return field_refusal(query, fields_of(s));
}

/**
 * owner_query_parse - understand what is asked
 * @query: its sentence is set
 * @text: one sentence, or none: then all objects one by one
 * @length: of @text
 * @said: where what is wrong is said, to be freed
 *
 * Return: 0, -EINVAL if something is said, -ENOMEM.
 */
int owner_query_parse(struct owner_query *query, const char *text, size_t length, char **said)
{
	struct owner_lang_text left = { text, length };
	const char *sentence = "", *more;
	struct owner_lang_error error = {};
	const char *refused = NULL;
	size_t size;

	length = 0;
	owner_lang_next_sentence(&left, &sentence, &length);
	if (owner_lang_parse(&query->sentence, OWNER_QUERY, sentence, length, &error)) {
		error.length = length;
		refused = refusal(query);
		if (!refused && owner_lang_next_sentence(&left, &more, &size)) {
			refused = "one sentence is answered at a time: here another begins";
			sentence = more;
			length = size;
			error.length = size;
		}
		if (!refused)
			return 0;
		strscpy(error.message, refused);
	}
	size = owner_lang_render_error(&error, sentence, length, NULL, 0) + 1;
	*said = kmalloc(size, GFP_KERNEL);
	if (!*said)
		return -ENOMEM;
	owner_lang_render_error(&error, sentence, length, *said, size);
	return -EINVAL;
}

/* --- What is known of an object ------------------------------------------------ */

/**
 * owner_query_chain_of - the call chain of the object that was found last
 * @query: a query that has found one
 */
struct query_chain *owner_query_chain_of(struct owner_query *query)
{
	if (!query->chain)
		query->chain = owner_query_chain(query->chains, query->object.owner.stack);
	return query->chain;
}

static bool any_word_matches(const struct owner_field_values *fields, const struct owner_sentence *s,
			const struct owner_comparison *c)
{
	struct owner_query *query = container_of(fields, struct owner_query, fields);

	if (c->field == OWNER_FIELD_GFP)
		return owner_gfp_matches(s, c, (__force unsigned long)query->pages.owner.gfp_mask);
	return owner_query_chain_matches(owner_query_chain_of(query), s, c);
}

static void know_task(struct owner_query *query, bool known)
{
	struct owner_field_values *fields = &query->fields;

	if (known) {
		fields->value[OWNER_FIELD_PID].number = query->task.pid;
		fields->value[OWNER_FIELD_TGID].number = query->task.tgid;
		fields->value[OWNER_FIELD_COMM].word = query->task.comm;
	} else {
		fields->absent_fields |= BIT(OWNER_FIELD_PID) | BIT(OWNER_FIELD_TGID) |
				 BIT(OWNER_FIELD_COMM);
	}
}

/* What objects of a call chain have in common. */
#define FIELDS_OF_CHAIN		(BIT(OWNER_FIELD_FUNC) | BIT(OWNER_FIELD_MODULE) | \
				 BIT(OWNER_FIELD_KIND) | BIT(OWNER_FIELD_HANDLE))

/**
 * owner_query_counts_suffice - can groups be told by what call chains hold?
 * @query: a query that has its sentence
 *
 * Return: false if it asks for what differs among a chain's objects, their ages also,
 *	or for samples.
 */
bool owner_query_counts_suffice(const struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	unsigned int i;

	for (i = 0; i < s->nr_sort_by; i++)
		if (s->sort_by[i] == OWNER_SORT_OLDEST || s->sort_by[i] == OWNER_SORT_YOUNGEST)
			return false;
	return sources_of(query) & BIT(OWNER_SOURCE_SLAB) && !(fields_of(s) & ~FIELDS_OF_CHAIN) &&
	       owner_chains_count_all();
}

/* Slab objects and per-CPU areas. */
static void know_object(struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_field_values *fields = &query->fields;

	fields->absent_fields = BIT(OWNER_FIELD_ORDER);
	fields->value[OWNER_FIELD_AGE].number =
		owner_ticks_since(object->owner.time, query->now) * OWNER_TICK_NS;
	fields->value[OWNER_FIELD_TS].number = owner_timestamp(object->owner.time);
	if (query->kind == OWNER_SOURCE_PERCPU)
		fields->absent_fields |= BIT(OWNER_FIELD_CACHE) | BIT(OWNER_FIELD_NID);
	know_task(query, owner_task_fetch(object->owner.task, &query->task));
}

static void know_pages(struct owner_query *query)
{
	const struct page_owner *owner = &query->pages.owner;
	struct owner_field_values *fields = &query->fields;
	u64 now = local_clock();

	fields->absent_fields = query->pages.cache ? 0 : BIT(OWNER_FIELD_CACHE);
	fields->value[OWNER_FIELD_ORDER].number = owner->order;
	fields->value[OWNER_FIELD_GFP].number = (__force unsigned int)owner->gfp_mask;
	fields->value[OWNER_FIELD_TS].number = owner->ts_nsec;
	/* Clocks of two CPUs may differ by some: then it is new. */
	fields->value[OWNER_FIELD_AGE].number = now - min(now, owner->ts_nsec);
	if (query->walk.cgroup)
		owner_cgroup_of_page(query->pages.page, query->walk.cgroup);
	query->task.pid = owner->pid;
	query->task.tgid = owner->tgid;
	memcpy(query->task.comm, owner->comm, TASK_COMM_LEN);
	know_task(query, true);
}

static void know(struct owner_query *query)
{
	const struct owner_object *object = &query->object;
	struct owner_field_values *fields = &query->fields;

	fields->value[OWNER_FIELD_KIND].number = query->kind;
	fields->value[OWNER_FIELD_SIZE].number = object->size;
	fields->value[OWNER_FIELD_HELD].number = object->slab_size;
	fields->value[OWNER_FIELD_HANDLE].number = object->owner.stack;
	fields->value[OWNER_FIELD_CACHE].word = object->cache;
	fields->value[OWNER_FIELD_NID].number = object->nid;
	fields->value[OWNER_FIELD_CGROUP].word = query->cgroup;
	if (query->kind == OWNER_SOURCE_PAGE)
		know_pages(query);
	else
		know_object(query);
	if (!*query->cgroup)
		fields->absent_fields |= BIT(OWNER_FIELD_CGROUP);
}

/* --- Objects, one by one ------------------------------------------------------- */

static int find_pages(struct owner_query *query)
{
	const struct owner_pages *pages = &query->pages;
	int found = owner_pages_next(&query->walk, &query->pages);

	if (found <= 0)
		return found;
	query->object = (struct owner_object){
		.cache = pages->cache,
		.slab_size = PAGE_SIZE << pages->owner.order,
		.nid = page_to_nid(pages->page),
		.pfn = pages->pfn,
		.owner.stack = pages->owner.handle,
		.size = PAGE_SIZE << pages->owner.order,
	};
	return found;
}

static int find_chain(struct owner_query *query)
{
	int found = owner_cursor_rest(&query->walk);

	if (!found)
		found = owner_chains_next(&query->walk, OWNER_OBJECTS, &query->holds);
	if (found > 0)
		query->object = (struct owner_object){ .owner.stack = query->walk.held.stack };
	return found;
}

/* Where one kind of memory ends the next one begins. */
static int find_object(struct owner_query *query)
{
	unsigned int sources = sources_of(query);
	int found = 0;

	query->chain = NULL;
	if (query->kind == OWNER_SOURCE_SLAB) {
		if (sources & BIT(OWNER_SOURCE_SLAB))
			found = query->counted ? find_chain(query) :
						 owner_cursor_next(&query->walk, &query->object);
		if (found)
			return found;
		query->kind = OWNER_SOURCE_PAGE;
		query->walk.pfn = 0;
		/* From call chains to areas. */
		query->walk.place = 0;
	}
	if (query->kind == OWNER_SOURCE_PAGE) {
		if (sources & BIT(OWNER_SOURCE_PAGE))
			found = find_pages(query);
		if (found)
			return found;
		query->kind = OWNER_SOURCE_PERCPU;
		/* To whom areas are charged is not looked up. */
		*query->cgroup = '\0';
	}
	if (!(sources & BIT(OWNER_SOURCE_PERCPU)))
		return 0;
	return owner_cursor_rest(&query->walk) ?: owner_percpu_next(&query->walk, &query->object);
}

/**
 * owner_query_prepare - make ready to find objects from the first on
 * @query: a query that has its sentence
 *
 * Return: 0, -ENOMEM.
 */
int owner_query_prepare(struct owner_query *query)
{
	query->walk = (struct owner_cursor){};
	*query->cgroup = '\0';
	if (fields_of(&query->sentence) & BIT(OWNER_FIELD_CGROUP))
		query->walk.cgroup = query->cgroup;
	query->kind = OWNER_SOURCE_SLAB;
	query->counted = false;
	query->fields.any_word_matches = any_word_matches;
	query->generation = owner_query_generation();
	query->now = owner_now();
	query->chains = kvcalloc(1 << QUERY_CHAIN_BITS, sizeof(*query->chains), GFP_KERNEL);
	return query->chains ? 0 : -ENOMEM;
}

/**
 * owner_query_next - find the next object that the expression holds for
 * @query: between owner_cursor_begin() and owner_cursor_end() of its walk
 *
 * Return: 1 if there is one: query->object, with its fields; 0 if there is none;
 *	-ERESTARTSYS if a signal came.
 */
int owner_query_next(struct owner_query *query)
{
	int found;

	while ((found = find_object(query)) > 0) {
		know(query);
		if (owner_lang_matches(&query->sentence, &query->fields))
			break;
		owner_query_remember(query, NULL);
	}
	return found;
}

/* The object that was found last is found again, unless it has gone. */
void owner_query_step_back(struct owner_query *query)
{
	if (query->kind == OWNER_SOURCE_SLAB)
		query->walk.index = query->object.index;
	else if (query->kind == OWNER_SOURCE_PAGE)
		query->walk.pfn = query->object.pfn;
	else
		query->walk.place--;
}

/* Back to what it was before it was asked; the sentence stays. */
void owner_query_free(struct owner_query *query)
{
	owner_query_free_groups(query);
	if (query->chains)
		owner_query_put_chains(query->chains);
	kvfree(query->chains);
	query->chains = NULL;
	query->total = (struct owner_sum){};
}
