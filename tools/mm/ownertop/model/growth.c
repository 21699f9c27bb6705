// SPDX-License-Identifier: GPL-2.0
/* Find and sort the groups that differ between two dumps. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/growth.h"

struct dump_sums growth_find_group_sums(const struct growth *g, u32 group)
{
	const struct dump *dumps = g->a->dumps.v;

	return (struct dump_sums){ {
		dumps_find_group_sum(&dumps[0], group),
		dumps_find_group_sum(&dumps[1], group),
	} };
}

static struct change growth_get_measure_change(const struct dump_sums *p, enum measure measure)
{
	return change_between(measure_get_value(&p->sums[0], measure),
			      measure_get_value(&p->sums[1], measure));
}

static int compare_growth(const void *a, const void *b, void *arg)
{
	const struct growth *g = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b;
	struct dump_sums pa = growth_find_group_sums(g, ia), pb = growth_find_group_sums(g, ib);
	enum measure measure = g->a->view.measure;
	int order = change_compare(growth_get_measure_change(&pa, measure),
				   growth_get_measure_change(&pb, measure));

	if (order)
		return order;
	return ia < ib ? -1 : 1;
}

void growth_init(struct growth *g, const struct answer *a)
{
	u32 top = a->view.top, i;

	*g = (struct growth){
		.a = a,
		.order = xmalloc(a->model.groups.n * sizeof(*g->order)),
		.total = { { a->dumps.v[0].total, a->dumps.v[1].total } },
	};
	for (i = 0; i < a->model.groups.n; i++) {
		struct dump_sums p = growth_find_group_sums(g, i);

		if (sum_equals(&p.sums[0], &p.sums[1])) {
			g->unchanged++;
			continue;
		}
		g->appeared += !p.sums[0].objects;
		g->gone += !p.sums[1].objects;
		g->order[g->n++] = i;
	}
	qsort_r(g->order, g->n, sizeof(*g->order), compare_growth, g);
	g->shown = top && top < g->n ? top : g->n;
	for (i = g->shown; i < g->n; i++) {
		struct dump_sums p = growth_find_group_sums(g, g->order[i]);

		sum_add(&g->not_shown.sums[0], &p.sums[0]);
		sum_add(&g->not_shown.sums[1], &p.sums[1]);
	}
}

void growth_free(struct growth *g)
{
	free(g->order);
}
