// SPDX-License-Identifier: GPL-2.0
/* Keep the sums of each group in several dumps. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/dumps.h"

void dumps_append_from_model(struct dumps *dumps, struct model *m, const char *path)
{
	struct dump d = {
		.path = path,
		.newest = m->newest,
		.total = m->total,
		.known = m->known,
		.filtered = m->filtered,
		.undecided = m->undecided,
		.unknown_fields = m->unknown_fields,
		.sources = m->sources,
		.summary = m->sink.summary,
	};
	struct sum sum, none = { 0 };
	u32 i;

	packed_init(&d.sums, SUM_COLUMNS);
	for (i = 0; i < m->groups.n; i++) {
		sum = sum_load(&m->groups, i);
		sum_store(&d.sums, packed_add_row(&d.sums), &sum);
		sum_store(&m->groups, i, &none);
	}
	m->total = (struct sum){ 0 };
	m->counted = (struct sum){ 0 };
	m->known = (struct sum){ 0 };
	m->filtered = (struct sum){ 0 };
	m->undecided = (struct sum){ 0 };
	m->unknown_fields = 0;
	m->sources = (struct sources){ .only_pages = m->sources.only_pages };
	m->newest = 0;
	m->sink.summary = (struct input_summary){ 0 };
	dumps->v = grow_array(dumps->v, dumps->n, &dumps->cap, sizeof(*dumps->v));
	dumps->v[dumps->n++] = d;
}

void dumps_restore_last(const struct dumps *dumps, struct model *m)
{
	const struct dump *last = &dumps->v[dumps->n - 1];

	m->newest = last->newest;
	m->total = last->total;
	m->known = last->known;
	m->filtered = last->filtered;
	m->undecided = last->undecided;
	m->unknown_fields = last->unknown_fields;
	m->sources = last->sources;
	m->sink.summary = last->summary;
}

struct sum dumps_find_group_sum(const struct dump *dump, u32 group)
{
	return group < dump->sums.n ? sum_load(&dump->sums, group) : (struct sum){ 0 };
}

void dumps_free(struct dumps *dumps)
{
	while (dumps->n)
		packed_free(&dumps->v[--dumps->n].sums);
	free(dumps->v);
}

struct change change_between(u64 before, u64 after)
{
	if (after >= before)
		return (struct change){ after - before, false };
	return (struct change){ before - after, true };
}

int change_compare(struct change a, struct change b)
{
	if (a.shrunk != b.shrunk)
		return a.shrunk ? 1 : -1;
	if (a.by == b.by)
		return 0;
	return (a.by > b.by) == a.shrunk ? 1 : -1;
}

const char *change_get_sign(struct change c)
{
	if (!c.by)
		return "";
	return c.shrunk ? "-" : "+";
}
