// SPDX-License-Identifier: GPL-2.0
/* Puts the groups in order and adds up those that are left out. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/report.h"

/* The largest comes first; of times, what has none comes last. */
static u64 rank_by(const struct model *m, u32 group, enum owner_sort sort)
{
	struct sum sum = sum_get(&m->groups, group);

	switch (sort) {
	case OWNER_SORT_HELD:
		return sum.held;
	case OWNER_SORT_WASTE:
		return sum.held > sum.bytes ? sum.held - sum.bytes : 0;
	case OWNER_SORT_OBJECTS:
		return sum.objects;
	case OWNER_SORT_OLDEST:
		return TS_UNKNOWN - model_oldest(m, group);
	case OWNER_SORT_YOUNGEST:
		return model_newest(m, group) + 1;
	default:
		return sum.bytes;
	}
}

struct order {
	const struct model *m;
	const struct view_options *view;
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b, i;

	for (i = 0; i < order->view->nr_order; i++) {
		u64 va = rank_by(order->m, ia, order->view->order[i]);
		u64 vb = rank_by(order->m, ib, order->view->order[i]);

		if (va != vb)
			return va < vb ? 1 : -1;
	}
	/* As they came in the input, so that equal runs give equal output. */
	return ia < ib ? -1 : 1;
}

static u32 at_most(u32 n, u32 most)
{
	return most && most < n ? most : n;
}

void report_init(struct report *r, const struct answer *a)
{
	struct order order = { &a->model, &a->view };
	u32 n = a->model.groups.n, i;

	*r = (struct report){
		.model = &a->model,
		.measure = a->view.measure,
	};
	r->order = xmalloc(n * sizeof(*r->order));
	for (i = 0; i < n; i++)
		r->order[i] = i;
	qsort_r(r->order, n, sizeof(*r->order), compare, &order);

	r->kept = at_most(n, a->view.groups);
	r->shown = at_most(r->kept, a->view.top);
	for (i = r->shown; i < n; i++) {
		struct sum sum = sum_get(&a->model.groups, r->order[i]);

		sum_add(i < r->kept ? &r->not_shown : &r->other, &sum);
	}
}

struct group report_group(const struct report *r, u32 rank)
{
	return model_group(r->model, r->order[rank]);
}

void report_free(struct report *r)
{
	free(r->order);
}
