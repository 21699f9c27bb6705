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
	case OWNER_SORT_OLDEST:
		return TS_UNKNOWN - model_get_oldest(m, group);
	default:
		return sum_get_figure(&sum, sort);
	}
}

static bool holds_enough(const struct model *m, const struct view_options *view, u32 group)
{
	return sum_load(&m->groups, group).held >= view->min_held;
}

struct sort_context {
	const struct model *m;
	const struct view_options *view;
	u32 *lead;		/* by group: the first group with the same value of each= */
	bool *chosen;		/* by group: is it among the first of its value? */
};

/* With each=, all groups that have the same value of this key follow their first one. */
static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct sort_context *order = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b, i;
	bool enough;

	if (order->chosen && order->chosen[ia] != order->chosen[ib])
		return order->chosen[ia] ? -1 : 1;
	if (order->lead && order->lead[ia] != order->lead[ib]) {
		ia = order->lead[ia];
		ib = order->lead[ib];
	}
	enough = holds_enough(order->m, order->view, ia);
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

static u32 get_each(const struct sort_context *order, u32 group)
{
	return packed_get(&order->m->groups, group, GROUP_KEY + order->view->each - 1);
}

static int compare_each_first(const void *a, const void *b, void *arg)
{
	u32 each_a = get_each(arg, *(const u32 *)a), each_b = get_each(arg, *(const u32 *)b);

	return each_a != each_b ? (each_a < each_b ? -1 : 1) : compare_groups(a, b, arg);
}

/*
 * Move the first groups of each value of the key of each= to the front, in order. Returns how many
 * there are.
 */
static u32 choose_groups_of_each(struct sort_context *order, u32 *groups, u32 n)
{
	u32 *lead = xmalloc(n * sizeof(*lead)), first = 0, rank = 0, shown = 0, i;
	bool *chosen = xcalloc(n, sizeof(*chosen));

	qsort_r(groups, n, sizeof(*groups), compare_each_first, order);
	for (i = 0; i < n; i++) {
		if (!i || get_each(order, first) != get_each(order, groups[i])) {
			first = groups[i];
			rank = 0;
		}
		lead[groups[i]] = first;
		chosen[groups[i]] = rank++ < order->view->top &&
				    holds_enough(order->m, order->view, groups[i]);
		shown += chosen[groups[i]];
	}
	order->lead = lead;
	order->chosen = chosen;
	return shown;
}

void report_init(struct report *r, const struct answer *a)
{
	struct sort_context order = { &a->model, &a->view, NULL, NULL };
	u32 n = a->model.groups.n, i;

	*r = (struct report){
		.model = &a->model,
		.measure = a->view.measure,
		.n = n,
	};
	r->order = xmalloc(n * sizeof(*r->order));
	for (i = 0; i < n; i++)
		r->order[i] = i;
	r->shown = a->view.top && a->view.top < n ? a->view.top : n;
	if (a->view.each)
		r->shown = choose_groups_of_each(&order, r->order, n);
	qsort_r(r->order, n, sizeof(*r->order), compare_groups, &order);
	free(order.lead);
	free(order.chosen);
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
