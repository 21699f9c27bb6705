// SPDX-License-Identifier: GPL-2.0
/*
 * The groups of a query.
 *
 * The memory of the groups and their table is bounded. When they need more, the last half of
 * the groups is folded into one sum, query->other. If more objects of a folded group are found, a
 * new group is made, which lacks what was folded: totals are exact, and the answer says that groups
 * were folded.
 *
 * The memory is charged to the cgroup of the task that reads the answer by hand: __GFP_ACCOUNT
 * would give objects of the caches for untracked memory the extensions that these caches are there
 * to do without.
 */

#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "../../slab.h"
#include "../totals.h"
#include "query.h"

static unsigned int encode_name(u64 *key, const char *name, unsigned int max_length)
{
	unsigned int length = strnlen(name, max_length);
	unsigned int words = length / sizeof(u64) + 1;

	memset(key, 0, words * sizeof(u64));
	memcpy(key, name, length);
	return words;
}

/* Two call sites in a function have one value. A function without a name has one by frame. */
static noinline_for_stack u64 hash_function(unsigned long frame)
{
	char text[KSYM_SYMBOL_LEN];
	u32 length;

	if (!owner_query_print_function(frame, text))
		return frame;
	length = strlen(text);
	return (u64)jhash(text, length, 0) << 32 | jhash(text, length, 1);
}

static unsigned int encode_stack(u64 *key, struct owner_query *query,
				 const struct owner_group_field *by)
{
	struct owner_query_chain *chain = owner_query_object_chain(query);
	unsigned int i, first, frames = owner_query_select_frames(chain, by, &first);
	unsigned long frame;

	if (owner_query_keyed_by_handle(&query->sentence)) {
		*key = query->object.owner.stack;
		return 1;
	}
	key[0] = frames;
	for (i = 0; i < frames; i++) {
		frame = stack_depot_frame(chain->handle, first + i);
		key[1 + i] = by->functions ? hash_function(frame) : frame;
	}
	return 1 + frames;
}

static unsigned int encode_user(u64 *key, const struct owner_query *query,
				const struct owner_group_field *by)
{
	unsigned int count = owner_user_fetch(owner_query_object_task(query), key + 1);

	key[0] = by->frames ? min(count, by->frames) : count;
	return 1 + key[0];
}

static noinline_for_stack unsigned int encode_syscall(u64 *key, struct owner_query *query)
{
	char name[KSYM_SYMBOL_LEN];

	owner_query_chain_syscall(owner_query_object_chain(query), name);
	return encode_name(key, name, OWNER_QUERY_NAME_MAX);
}

/* Write one field of the object that was found last to @key. Returns how many words. */
static unsigned int encode_field(u64 *key, struct owner_query *query,
				 const struct owner_group_field *by)
{
	bool absent = by->field < OWNER_FIELDS && query->fields.absent_fields & BIT(by->field);
	char name[MODULE_NAME_LEN];

	switch (by->field) {
	case OWNER_FIELD_STACK:
		return encode_stack(key, query, by);
	case OWNER_FIELD_USER:
		return encode_user(key, query, by);
	case OWNER_FIELD_FUNC:
		*key = owner_query_chain_function(owner_query_object_chain(query));
		return 1;
	case OWNER_FIELD_MODULE:
		owner_query_chain_module(owner_query_object_chain(query), name, sizeof(name));
		return encode_name(key, name, sizeof(name));
	case OWNER_FIELD_SYSCALL:
		return encode_syscall(key, query);
	case OWNER_FIELD_CACHE:
	case OWNER_FIELD_COMM:
		return encode_name(key, absent ? "" : query->fields.value[by->field].word,
				   OWNER_QUERY_NAME_MAX);
	case OWNER_FIELD_CGROUP:
		return encode_name(key, query->cgroup, OWNER_CGROUP_MAX);
	case OWNER_FIELD_TASK_CGROUP:
		*key = query->task.cgroup;
		return 1;
	default:
		*key = absent ? OWNER_QUERY_ABSENT :
				owner_lang_find_bucket(by, query->fields.value[by->field].number);
		return 1;
	}
}

static u64 get_sort_value(const struct owner_query_group *group, enum owner_sort sort)
{
	const struct owner_sum *sum = &group->sum;

	switch (sort) {
	case OWNER_SORT_HELD:
		return sum->estimate.held;
	case OWNER_SORT_WASTE:
		return sum->estimate.held - sum->estimate.bytes;
	case OWNER_SORT_OBJECTS:
		return sum->estimate.objects;
	case OWNER_SORT_OLDEST:
		return sum->oldest;
	case OWNER_SORT_SLABS:
		return *owner_query_group_slabs(group);
	default:
		return sum->estimate.bytes;
	}
}

/* Does the group hold as much as min= asks for? */
static bool holds_enough(const struct owner_query_group *group, const struct owner_sentence *s)
{
	return !s->min_held || (s64)group->sum.estimate.held >= (s64)s->min_held;
}

/* With each=, all groups that have the same value of this field follow their first one. */
static int compare_groups(const void *a, const void *b, const void *of_query)
{
	const struct owner_query_group *x = *(const struct owner_query_group **)a;
	const struct owner_query_group *y = *(const struct owner_query_group **)b;
	const struct owner_query *query = of_query;
	const struct owner_sentence *s = &query->sentence;
	unsigned int i;
	bool enough;

	/* There can be a million groups. A task that is killed needs no order. */
	cond_resched();
	if (fatal_signal_pending(current))
		return 0;
	if (query->has_leads && x->shown != y->shown)
		return x->shown ? -1 : 1;
	if (query->has_leads && x->lead != y->lead) {
		x = x->lead;
		y = y->lead;
	}
	enough = holds_enough(x, s);
	if (enough != holds_enough(y, s))
		return enough ? -1 : 1;
	for (i = 0; i < max(s->nr_sort_by, 1U); i++) {
		enum owner_sort sort = s->nr_sort_by ? s->sort_by[i] : OWNER_SORT_HELD;
		s64 left = get_sort_value(x, sort);
		s64 right = get_sort_value(y, sort);

		if (left != right)
			return left < right ? 1 : -1;
	}
	return memcmp(x->key, y->key, min(x->words, y->words) * sizeof(u64));
}

/* Find the value of the field of each= in the key of a group. */
static const u64 *find_each_value(const struct owner_query_group *group,
				  const struct owner_sentence *s, unsigned int *words)
{
	const struct owner_group_field *by = s->group_by;
	const u64 *key = group->key;

	for (; by->field != s->each; by++)
		key += owner_query_count_key_words(s, by, key);
	*words = owner_query_count_key_words(s, by, key);
	return key;
}

/* Compare the values of the field of each=. */
static int compare_each(const struct owner_query_group *x, const struct owner_query_group *y,
			const struct owner_query *query)
{
	unsigned int x_words, y_words;
	const u64 *x_key = find_each_value(x, &query->sentence, &x_words);
	const u64 *y_key = find_each_value(y, &query->sentence, &y_words);

	if (x_words != y_words)
		return x_words < y_words ? -1 : 1;
	return memcmp(x_key, y_key, x_words * sizeof(u64));
}

static int compare_each_first(const void *a, const void *b, const void *query)
{
	return compare_each(*(const struct owner_query_group **)a,
			    *(const struct owner_query_group **)b, query) ?:
	       compare_groups(a, b, query);
}

/* Choose the first top= groups of each value of the field of each=. */
static void choose_groups_of_each(struct owner_query *query)
{
	struct owner_query_group *lead = NULL, *group;
	unsigned int i, rank = 0;

	sort_r(query->groups, query->nr_groups, sizeof(*query->groups), compare_each_first, NULL,
	       query);
	for (i = 0; i < query->nr_groups; i++) {
		group = query->groups[i];
		if (!lead || compare_each(lead, group, query)) {
			lead = group;
			rank = 0;
		}
		group->lead = lead;
		group->shown = rank++ < query->sentence.top &&
			       holds_enough(group, &query->sentence);
		cond_resched();
	}
	query->has_leads = true;
}

#define NO_FREE_MEMORY	"the machine had no free memory"

/* May the query use @size more bytes? */
static bool has_memory(const struct owner_query *query, size_t size)
{
	return query->memory + size <= query->memory_bound;
}

/* Note why there was no memory for more groups at first. Without waiting, it is tried again. */
static void note_shortage(struct owner_query *query, const char *reason, gfp_t flags)
{
	if (query->short_of || !gfpflags_allow_blocking(flags))
		return;
	query->short_of = reason;
	query->short_at = query->nr_groups;
}

/* Memory of its cgroup that a query leaves free, or page faults there meet the OOM killer. */
#define LEFT_FREE	SZ_512K
/* A query that has taken so many more bytes looks whether LEFT_FREE is still free. */
#define BYTES_TO_LOOK	SZ_64K

/* Count @size bytes for the query. False if they are too many for its cgroup. */
static bool charge_memory(struct owner_query *query, size_t size, gfp_t flags)
{
	/* If less is free, a charge for a moment makes the cgroup reclaim what it can. */
	bool look = query->memory / BYTES_TO_LOOK != (query->memory + size) / BYTES_TO_LOOK;
	size_t left = look && !owner_objcg_has_room(query->objcg, size + LEFT_FREE) ? LEFT_FREE : 0;

	if (owner_objcg_charge(query->objcg, flags, size + left)) {
		note_shortage(query, "the memory cgroup of the reader was nearly full", flags);
		return false;
	}
	if (left)
		owner_objcg_uncharge(query->objcg, left);
	query->memory += size;
	return true;
}

static void uncharge_memory(struct owner_query *query, size_t size)
{
	query->memory -= size;
	owner_objcg_uncharge(query->objcg, size);
}

static size_t group_size(const struct owner_query *query, unsigned int words)
{
	words += owner_lang_sorts_by(&query->sentence, OWNER_SORT_SLABS) ? 2 : 0;
	return kmalloc_size_roundup(struct_size_t(struct owner_query_group, key, words));
}

/* Free a group, which the caller removes from the table. */
static void free_group(struct owner_query *query, struct owner_query_group *group)
{
	uncharge_memory(query, group_size(query, group->words));
	stack_depot_put(group->stack);
	stack_depot_put(group->task);
	kfree(group);
}

/*
 * Choose a group in a part of the table by chance. Move groups that precede it in the answer before
 * it, and the others behind it. Return: the place of the chosen group.
 */
static unsigned int partition_groups(struct owner_query *query, unsigned int start,
				     unsigned int end)
{
	unsigned int i, place = start + get_random_u32_below(end - start);
	struct owner_query_group **groups = query->groups;

	swap(groups[place], groups[end - 1]);
	place = start;
	for (i = start; i < end - 1; i++) {
		if (compare_groups(&groups[i], &groups[end - 1], query) < 0) {
			swap(groups[i], groups[place]);
			place++;
		}
	}
	swap(groups[place], groups[end - 1]);
	return place;
}

/* Move the first groups of the answer, in any order, to the start of the table. */
static void select_groups(struct owner_query *query, unsigned int wanted)
{
	unsigned int start = 0, end = query->nr_groups, place;

	while (start < wanted && wanted < end && !fatal_signal_pending(current)) {
		place = partition_groups(query, start, end);
		if (place < wanted)
			start = place + 1;
		else
			end = place;
	}
}

/*
 * Fold the half of the groups that is last in the order of the answer. Sums of growth are not known
 * before all objects and the mark are added up: it has no order yet.
 *
 * Return: 0, -ENOMEM if there is nothing to fold, -EINTR if the task is killed.
 */
static int fold_groups(struct owner_query *query)
{
	unsigned int kept = query->nr_groups / 2;

	if (!query->nr_groups || owner_query_is_growth(&query->sentence))
		return -ENOMEM;
	select_groups(query, kept);
	while (query->nr_groups > kept) {
		struct owner_query_group *group = query->groups[--query->nr_groups];

		owner_sum_join(&query->other, &group->sum);
		hlist_del(&group->node);
		free_group(query, group);
		cond_resched();
	}
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static unsigned int count_shown_groups(const struct owner_query *query)
{
	unsigned int i, shown = 0, top = query->sentence.top;

	if (!top || query->has_leads)
		top = UINT_MAX;
	for (i = 0; i < query->nr_groups && shown < top; i++) {
		shown += query->has_leads ? query->groups[i]->shown :
					    holds_enough(query->groups[i], &query->sentence);
		cond_resched();
	}
	return shown;
}

/**
 * owner_query_sort_groups() - sort the groups that are shown
 * @query: has found all its objects. Its cursor has ended: sorting can take long.
 */
void owner_query_sort_groups(struct owner_query *query)
{
	lockdep_assert_not_held(&slab_mutex);
	if (query->sentence.settings_given & BIT(OWNER_SET_EACH))
		choose_groups_of_each(query);
	query->nr_shown = count_shown_groups(query);
	select_groups(query, query->nr_shown);
	sort_r(query->groups, query->nr_shown, sizeof(*query->groups), compare_groups, NULL, query);
}

static void add_to_bucket(struct owner_query *query, struct owner_query_group *group)
{
	hlist_add_head(&group->node, &query->buckets[group->hash >> (32 - query->bucket_bits)]);
}

/* Bytes of a table with room for that many groups, without them. */
static size_t table_size(unsigned int room)
{
	return room * sizeof(struct owner_query_group *) +
	       roundup_pow_of_two(room) * sizeof(struct hlist_head);
}

/* Replace the table by one with room for that many groups. */
static int resize_table(struct owner_query *query, unsigned int room)
{
	unsigned int i, bits = ilog2(roundup_pow_of_two(room));
	struct owner_query_group **groups;
	struct hlist_head *buckets;

	if (!charge_memory(query, table_size(room), OWNER_READER_GFP))
		return -ENOMEM;
	groups = owner_kvmalloc_untracked(array_size(room, sizeof(*groups)), OWNER_READER_GFP);
	buckets = owner_kvmalloc_untracked(sizeof(*buckets) << bits, OWNER_READER_GFP | __GFP_ZERO);
	if (!groups || !buckets) {
		kvfree(groups);
		kvfree(buckets);
		uncharge_memory(query, table_size(room));
		note_shortage(query, NO_FREE_MEMORY, OWNER_READER_GFP);
		return -ENOMEM;
	}
	if (query->nr_groups)
		memcpy(groups, query->groups, query->nr_groups * sizeof(*groups));
	kvfree(query->groups);
	kvfree(query->buckets);
	if (query->room)
		uncharge_memory(query, table_size(query->room));
	query->groups = groups;
	query->buckets = buckets;
	query->bucket_bits = bits;
	query->room = room;
	for (i = 0; i < query->nr_groups; i++) {
		add_to_bucket(query, groups[i]);
		cond_resched();
	}
	return 0;
}

/* Groups that a table has room for at first. */
#define ROOM_AT_FIRST	512U

/* The largest group, for which a table with room has memory, too. */
#define GROUP_SIZE_MAX	SZ_4K

static_assert(struct_size_t(struct owner_query_group, key, OWNER_QUERY_KEY_WORDS) <=
	      GROUP_SIZE_MAX);

/**
 * owner_query_has_room() - is there room for another group, however large?
 * @query: the query
 */
bool owner_query_has_room(const struct owner_query *query)
{
	return query->nr_groups < query->room && has_memory(query, GROUP_SIZE_MAX);
}

/**
 * owner_query_make_room() - make sure that there is room for another group
 * @query: its cursor has not begun, or has ended: folding can take long, and the memo points to
 *	groups
 *
 * Return: 0, -ENOMEM with the reason in @query, -EINTR if the task is killed. Free the table by
 *	owner_query_free_groups() in all cases.
 */
int owner_query_make_room(struct owner_query *query)
{
	unsigned int room = max(2 * query->room, ROOM_AT_FIRST);

	lockdep_assert_not_held(&slab_mutex);
	if (owner_query_has_room(query))
		return 0;
	if (query->nr_groups < query->room || !has_memory(query, table_size(room)))
		note_shortage(query, "answers may take 1/16 of the memory, and 256 MiB at most",
			      OWNER_READER_GFP);
	else if (!resize_table(query, room))
		return 0;
	return fold_groups(query);
}

/**
 * owner_query_make_do() - make room when a group could not be allocated
 * @query: its cursor has ended
 *
 * The reader's memory cgroup or the machine has no more memory. A part of what the groups had is
 * left to others: what else the reader allocates must not invoke the OOM killer of its cgroup.
 *
 * Return: as owner_query_make_room().
 */
int owner_query_make_do(struct owner_query *query)
{
	query->memory_bound = query->memory - query->memory / 4;
	return fold_groups(query);
}

/**
 * owner_query_trim_table() - make the table as small as its groups allow
 * @query: has found all its objects
 */
void owner_query_trim_table(struct owner_query *query)
{
	const char *short_of = query->short_of;

	/* Without memory for a smaller table the larger one is kept, which is no shortage. */
	if (query->nr_groups < query->room && resize_table(query, max(query->nr_groups, 2U)))
		query->short_of = short_of;
}

/**
 * owner_query_find_group() - find the group of the object that was found last
 * @query: has found an object; gets its key
 *
 * Return: the group, NULL if there is none yet.
 */
struct owner_query_group *owner_query_find_group(struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	unsigned int i, words = 0;
	struct owner_query_group *group;
	u32 hash;

	for (i = 0; i < s->nr_group_by; i++)
		words += encode_field(query->key + words, query, &s->group_by[i]);
	hash = jhash2((u32 *)query->key, words * 2, 0);
	query->key_words = words;
	query->key_hash = hash;
	hlist_for_each_entry(group, &query->buckets[hash >> (32 - query->bucket_bits)], node)
		if (group->hash == hash && group->words == words &&
		    !memcmp(group->key, query->key, words * sizeof(u64)))
			return group;
	return NULL;
}

/**
 * owner_query_make_group() - make the group of the object that was found last
 * @query: owner_query_find_group() has found none, and there is room for another one
 * @flags: OWNER_LOCKED_GFP until the cursor ends; OWNER_READER_GFP after that, while the caller has
 *	references to the object's chain and task
 *
 * Return: the group, NULL without memory.
 */
struct owner_query_group *owner_query_make_group(struct owner_query *query, gfp_t flags)
{
	unsigned int words = query->key_words;
	struct owner_query_group *group;

	if (!charge_memory(query, group_size(query, words), flags))
		return NULL;
	group = owner_kmalloc_untracked(group_size(query, words), flags | __GFP_ZERO, NUMA_NO_NODE);
	if (!group) {
		uncharge_memory(query, group_size(query, words));
		note_shortage(query, NO_FREE_MEMORY, flags);
		return NULL;
	}
	group->sum.groups = 1;
	group->hash = query->key_hash;
	group->words = words;
	memcpy(group->key, query->key, words * sizeof(u64));
	if (stack_depot_get(query->object.owner.stack))
		group->stack = query->object.owner.stack;
	/* The words of a user chain in the key are valid as long as the depot has the chain. */
	if (stack_depot_get(owner_query_object_task(query)))
		group->task = owner_query_object_task(query);
	query->groups[query->nr_groups++] = group;
	add_to_bucket(query, group);
	return group;
}

/**
 * owner_query_free_groups() - free the groups and their table
 * @query: the query
 */
void owner_query_free_groups(struct owner_query *query)
{
	while (query->nr_groups) {
		free_group(query, query->groups[--query->nr_groups]);
		cond_resched();
	}
	kvfree(query->groups);
	kvfree(query->buckets);
	query->groups = NULL;
	query->buckets = NULL;
	if (query->room)
		uncharge_memory(query, table_size(query->room));
	query->room = 0;
	query->nr_shown = 0;
	query->has_leads = false;
	query->other = (struct owner_sum){};
}

static bool is_zero(const struct owner_estimate *e)
{
	return !(e->records | e->objects | e->fraction | e->bytes | e->held);
}

/**
 * owner_query_drop_unchanged() - drop the groups that hold as much as at the mark
 * @query: all objects and the mark are added up
 *
 * Errors and ages of a difference are not known.
 */
void owner_query_drop_unchanged(struct owner_query *query)
{
	unsigned int i, used = 0;

	for (i = 0; i < query->nr_groups; i++) {
		struct owner_query_group *group = query->groups[i];

		group->sum.ageless = true;
		group->sum.estimate.objects_variance = 0;
		group->sum.estimate.bytes_variance = 0;
		if (is_zero(&group->sum.estimate))
			free_group(query, group);
		else
			query->groups[used++] = group;
		cond_resched();
	}
	query->nr_groups = used;
}
