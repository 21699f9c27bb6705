// SPDX-License-Identifier: GPL-2.0
/* Fit a line to each group over many dumps: its slope is the growth per hour. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/slope.h"

#define NS_PER_HOUR 3600e9

struct sum trend_get_group_sum(const struct trend *t, u32 group, u32 dump)
{
	const struct dump *d = &t->a->dumps.v[dump];

	if (group == TREND_NOT_SHOWN)
		return t->not_shown[dump];
	return group == TREND_TOTAL ? d->total : dumps_find_group_sum(d, group);
}

struct slope trend_compute_slope(const struct trend *t, u32 group, enum measure measure)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
	struct slope s = { 0 };
	u32 n = t->a->dumps.n, i;
	u64 before = 0;

	for (i = 0; i < n; i++) {
		struct sum sum = trend_get_group_sum(t, group, i);
		u64 y = measure_get_value(&sum, measure);

		mean_x += t->a->dump_ns[i] / NS_PER_HOUR / n;
		mean_y += (double)y / n;
		s.up += i && y > before;
		s.down += i && y < before;
		before = y;
	}
	for (i = 0; i < n; i++) {
		struct sum sum = trend_get_group_sum(t, group, i);
		double dx = t->a->dump_ns[i] / NS_PER_HOUR - mean_x;
		double dy = measure_get_value(&sum, measure) - mean_y;

		xx += dx * dx;
		xy += dx * dy;
		yy += dy * dy;
	}
	s.per_hour = xy / xx;	/* xx > 0: no two dumps have the same time */
	s.r2_known = n > 2 && yy > 0;
	if (s.r2_known)
		s.r2 = xy * xy / (xx * yy);
	return s;
}

static bool group_changes_between_dumps(const struct trend *t, u32 group)
{
	struct sum first = trend_get_group_sum(t, group, 0);
	u32 i;

	for (i = 1; i < t->a->dumps.n; i++) {
		struct sum sum = trend_get_group_sum(t, group, i);

		if (!sum_equals(&sum, &first))
			return true;
	}
	return false;
}

static int compare_sort_keys(const void *a, const void *b, void *arg)
{
	const struct trend *t = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b;
	double va = t->sort_keys[ia], vb = t->sort_keys[ib];

	if (va != vb)
		return va < vb ? 1 : -1;
	return ia < ib ? -1 : 1;
}

static void add_up_not_shown(struct trend *t)
{
	u32 i, dump;

	free(t->not_shown);
	t->not_shown = xcalloc(t->a->dumps.n, sizeof(*t->not_shown));
	for (i = t->shown; i < t->n; i++) {
		for (dump = 0; dump < t->a->dumps.n; dump++) {
			struct sum sum = trend_get_group_sum(t, t->order[i], dump);

			sum_add(&t->not_shown[dump], &sum);
		}
	}
}

void trend_init(struct trend *t, const struct answer *a)
{
	u32 top = a->view.top;
	u32 groups = a->model.groups.n, i;

	*t = (struct trend){ .a = a };
	t->sort_keys = xmalloc(groups * sizeof(*t->sort_keys));
	t->order = xmalloc(groups * sizeof(*t->order));
	for (i = 0; i < groups; i++) {
		t->sort_keys[i] = trend_compute_slope(t, i, a->view.measure).per_hour;
		if (group_changes_between_dumps(t, i))
			t->order[t->n++] = i;
		else
			t->order[groups - ++t->unchanged] = i;
	}
	qsort_r(t->order, t->n, sizeof(*t->order), compare_sort_keys, t);
	t->shown = top && top < t->n ? top : t->n;
	add_up_not_shown(t);
}

void trend_show_largest(struct trend *t)
{
	u32 groups = t->a->model.groups.n, more = groups - t->shown, top = t->a->view.top, i;

	for (i = 0; i < groups; i++) {
		struct sum sum = trend_get_group_sum(t, i, t->a->dumps.n - 1);

		t->sort_keys[i] = measure_get_value(&sum, t->a->view.measure);
	}
	qsort_r(t->order + t->shown, more, sizeof(*t->order), compare_sort_keys, t);
	t->n = groups;
	t->shown += top && top < more ? top : more;
	add_up_not_shown(t);
}

void trend_free(struct trend *t)
{
	free(t->sort_keys);
	free(t->order);
	free(t->not_shown);
}
