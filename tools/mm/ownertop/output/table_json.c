// SPDX-License-Identifier: GPL-2.0
/* The table, for programs. */
#include "output/json.h"
#include "ask/known.h"
#include "model/report.h"
#include "output/writer.h"

static void print_groups(const struct report *r, FILE *out)
{
	u32 rank;

	fputs("  \"groups\": [", out);
	for (rank = 0; rank < r->shown; rank++) {
		struct group g = report_group(r, rank);

		json_group_begin(rank, out);
		json_sum(&g.sum, out);
		fputs(", \"oldest_ns\": ", out);
		print_ts(g.oldest, "null", out);
		fputs(", \"newest_ns\": ", out);
		print_ts(g.newest, "null", out);
		json_group_end(r->model, r->order[rank], out);
	}
	json_end(r->shown, out);
}

void write_table_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct report r;

	report_init(&r, a);
	json_begin(a, o, out);
	json_named_sum("total", &m->total, out);
	fprintf(out, "  \"groups_not_shown\": %u,\n", r.kept - r.shown);
	json_named_sum("not_shown", &r.not_shown, out);
	if (r.kept < m->groups.n) {
		fprintf(out, "  \"groups_in_other\": %u,\n", m->groups.n - r.kept);
		json_named_sum("other", &r.other, out);
	}
	print_groups(&r, out);
	report_free(&r);
}
