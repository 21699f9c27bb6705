// SPDX-License-Identifier: GPL-2.0
/*
 * Sum up a piece of an input in a model of its own, and add that to the model of the records
 * before it. Names and chains of the part are interned again in their order, so that they and
 * the groups get the numbers that one thread would have given them.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/model.h"

struct model_part {
	struct model m;		/* first, because sink.arg is taken for a model */
	struct histograms histograms;
	bool slabs_listed_before;	/* sources.slabs_listed before the first record */
};

/*
 * Maps the numbers of names and call chains that a part has interned to the numbers that these have
 * in the model.
 */
struct part_map {
	struct stacks_map stacks;
	struct user_chains_map user;
	u32 *words;
	u32 *numbers;
};

/*
 * Is almost each record a group or a chain of its own? Then a part would hold nearly as much
 * memory as its records will take in the model, at the same time.
 */
static bool has_few_records_per_group(const struct model *m)
{
	u64 n = m->groups.n > m->stacks.chains.n ? m->groups.n : m->stacks.chains.n;

	return n >= PART_GROUPS_MAX && n > m->counted.records / 4 * 3;
}

struct record_sink *model_begin_part(void *arg)
{
	const struct model *m = arg;
	struct model_part *part;

	/* Lookups of names have caches that only one thread may use. */
	if (m->select->names || has_few_records_per_group(m))
		return NULL;
	part = xcalloc(1, sizeof(*part));
	model_init(&part->m, m->select);
	part->m.sink.arg = part;
	part->m.sink.now = m->sink.now;
	if (m->histograms)
		part->m.histograms = &part->histograms;
	part->slabs_listed_before = m->sources.slabs_listed || m->sink.summary.slabs_listed;
	part->m.sources.slabs_listed = part->slabs_listed_before;
	return &part->m.sink;
}

static u32 map_key_value(const struct part_map *map, enum owner_field field, u32 value)
{
	switch (field) {
	case OWNER_FIELD_USER:
		return map->user.chains[value];
	case OWNER_FIELD_BINARY:
		return map->user.files[value];
	case OWNER_FIELD_UFUNC:
		return map->user.funcs[value];
	case OWNER_FIELD_STACK:
		return map->stacks.chains[value];
	case OWNER_FIELD_FUNC:
	case OWNER_FIELD_SYSCALL:
		return map->stacks.funcs[value];
	case OWNER_FIELD_MODULE:
		return map->stacks.modules[value];
	case OWNER_FIELD_KIND:
		return value;
	case OWNER_FIELD_CACHE:
	case OWNER_FIELD_COMM:
	case OWNER_FIELD_CGROUP:
	case OWNER_FIELD_GFP:
		return map->words[value];
	default:
		return map->numbers[value];
	}
}

static void add_group_of_part(struct model *m, const struct model *part, u32 i,
			      const struct part_map *map)
{
	const struct group_list *by = &m->select->group;
	struct group g = model_get_group(part, i);
	u32 nr_groups = m->groups.n, id;
	unsigned int word;

	for (word = 0; word < by->n; word++)
		g.key[word] = map_key_value(map, by->v[word].field, g.key[word]);
	if (m->select->by_handle)
		g.key[word] = map->numbers[g.key[word]];
	id = model_find_or_add_group(m, g.key);
	model_add_to_group(m, id, &g.sum, g.oldest, g.newest, id == nr_groups);
}

static void add_groups_of_part(struct model *m, const struct model *part)
{
	struct part_map map;
	u32 i;

	stacks_intern_all(&m->stacks, &part->stacks, &map.stacks);
	user_chains_intern_all(&m->user, &part->user, &map.user);
	map.words = strings_intern_all(&m->words, &part->words);
	map.numbers = strings_intern_all(&m->numbers, &part->numbers);
	for (i = 0; i < part->groups.n; i++)
		add_group_of_part(m, part, i, &map);
	stacks_map_free(&map.stacks);
	user_chains_map_free(&map.user);
	free(map.words);
	free(map.numbers);
}

static void add_summary(struct input_summary *to, const struct input_summary *from)
{
	to->coverage_known |= from->coverage_known;
	to->tracked += from->tracked;
	to->untracked += from->untracked;
}

bool model_add_part(void *arg, const struct record_sink *sink)
{
	const struct model_part *part = sink->arg;
	const struct model *more = &part->m;
	struct model *m = arg;

	/* The sum of estimates depends on the order of addition: variances are rounded. */
	if (sum_is_estimate(&more->counted) || sum_overflows(&m->counted, &more->counted))
		return false;
	if (!sources_add_part(&m->sources, &more->sources, part->slabs_listed_before))
		return false;
	add_groups_of_part(m, more);
	sum_add(&m->total, &more->total);
	sum_add(&m->counted, &more->counted);
	sum_add(&m->filtered, &more->filtered);
	sum_add(&m->undecided, &more->undecided);
	m->with_user += more->with_user;
	m->unknown_fields |= more->unknown_fields;
	update_newest_time(&m->newest, more->newest);
	if (m->histograms)
		histograms_add_all(m->histograms, &part->histograms);
	add_summary(&m->sink.summary, &sink->summary);
	return true;
}

void model_free_part(struct record_sink *sink)
{
	struct model_part *part = sink->arg;

	model_free(&part->m);
	free(part);
	alloc_return_free_memory();
}
