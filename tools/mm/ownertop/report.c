// SPDX-License-Identifier: GPL-2.0
/* Puts the groups in order and adds up those that are left out. */
#include <stdlib.h>

#include "alloc.h"
#include "options.h"

static const char * const names[NR_SORTS] = {
	[SORT_BYTES] = "bytes",
	[SORT_HELD] = "held",
	[SORT_OBJECTS] = "objects",
};

const char *sort_name(enum sort_by sort)
{
	return names[sort];
}

bool sort_parse(const char *name, enum sort_by *sort)
{
	unsigned int i;

	for (i = 0; i < NR_SORTS; i++) {
		if (!strcmp(name, names[i])) {
			*sort = i;
			return true;
		}
	}
	return false;
}

u64 sort_value(const struct sum *sum, enum sort_by sort)
{
	switch (sort) {
	case SORT_HELD:
		return sum->held;
	case SORT_OBJECTS:
		return sum->objects;
	default:
		return sum->bytes;
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct report *r = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b;
	u64 va = sort_value(&r->model->groups[ia].sum, r->sort);
	u64 vb = sort_value(&r->model->groups[ib].sum, r->sort);

	if (va != vb)
		return va < vb ? 1 : -1;
	/* As they came in the input, so that equal runs give equal output. */
	return ia < ib ? -1 : 1;
}

void report_init(struct report *r, const struct answer *a)
{
	u32 n = a->model.nr_groups, top = a->options->top, i;

	*r = (struct report){
		.model = &a->model,
		.health = &a->health,
		.sort = a->options->sort,
	};
	r->order = xmalloc(n * sizeof(*r->order));
	for (i = 0; i < n; i++)
		r->order[i] = i;
	qsort_r(r->order, n, sizeof(*r->order), compare, r);

	r->shown = top && top < n ? top : n;
	for (i = r->shown; i < n; i++)
		sum_add(&r->not_shown, &report_group(r, i)->sum);
}

const struct group *report_group(const struct report *r, u32 rank)
{
	return &r->model->groups[r->order[rank]];
}

void report_free(struct report *r)
{
	free(r->order);
}
