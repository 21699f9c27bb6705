// SPDX-License-Identifier: GPL-2.0
/* Sort the groups of a table, and sum up the groups that the view does not show. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/report.h"

/*
 * Returns the value of a group by which @sort sorts: the largest is first. A group without a
 * time is last.
 */
static u64 get_sort_value(const struct model *m, u32 group, enum owner_sort sort)
{
	struct sum sum = sum_load(&m->groups, group);

	switch (sort) {
	case OWNER_SORT_HELD:
		return sum.held;
	case OWNER_SORT_WASTE:
		return sum_get_waste(&sum);
	case OWNER_SORT_OBJECTS:
		return sum.objects;
	case OWNER_SORT_OLDEST:
		return TS_UNKNOWN - model_get_oldest(m, group);
	case OWNER_SORT_YOUNGEST:
		return model_get_newest(m, group) + 1;
	default:
		return sum.bytes;
	}
}

static bool holds_enough(const struct model *m, const struct view_options *view, u32 group)
{
	return sum_load(&m->groups, group).held >= view->min_held;
}

struct sort_context {
	const struct model *m;
	const struct view_options *view;
};

static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct sort_context *order = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b, i;
	bool enough = holds_enough(order->m, order->view, ia);

	if (enough != holds_enough(order->m, order->view, ib))
		return enough ? -1 : 1;
	for (i = 0; i < order->view->nr_order; i++) {
		u64 va = get_sort_value(order->m, ia, order->view->order[i]);
		u64 vb = get_sort_value(order->m, ib, order->view->order[i]);

		if (va != vb)
			return va < vb ? 1 : -1;
	}
	/*
	 * Groups that are equal keep the order of the input, so that the output does not depend
	 * on qsort_r().
	 */
	return ia < ib ? -1 : 1;
}

void report_init(struct report *r, const struct answer *a)
{
	struct sort_context order = { &a->model, &a->view };
	u32 n = a->model.groups.n, i;

	*r = (struct report){
		.model = &a->model,
		.measure = a->view.measure,
		.n = n,
	};
	r->order = xmalloc(n * sizeof(*r->order));
	for (i = 0; i < n; i++)
		r->order[i] = i;
	qsort_r(r->order, n, sizeof(*r->order), compare_groups, &order);

	r->shown = a->view.top && a->view.top < n ? a->view.top : n;
	while (r->shown && !holds_enough(r->model, &a->view, r->order[r->shown - 1]))
		r->shown--;
	for (i = r->shown; i < n; i++) {
		struct sum sum = sum_load(&a->model.groups, r->order[i]);

		sum_add(&r->not_shown, &sum);
	}
}

struct group report_get_group(const struct report *r, u32 rank)
{
	return model_get_group(r->model, r->order[rank]);
}

void report_free(struct report *r)
{
	free(r->order);
}
