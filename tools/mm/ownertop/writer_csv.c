// SPDX-License-Identifier: GPL-2.0
/*
 * CSV as RFC 4180 has it. The first column says what a row is, so that totals
 * and what is missing can stand in the same file as the groups.
 */

#include "known.h"
#include "writer.h"

static void print_quoted(struct text t, FILE *out)
{
	size_t i;

	putc('"', out);
	for (i = 0; i < t.len; i++) {
		if (t.s[i] == '"')
			putc('"', out);
		putc(t.s[i], out);
	}
	putc('"', out);
}

static void print_chain(const struct model *m, const struct chain *chain, FILE *out)
{
	u32 i;

	putc('"', out);
	for (i = 0; i < chain->n; i++) {
		if (i)
			putc(';', out);
		fputs(model_frame(m, chain, i).s, out);
	}
	putc('"', out);
}

static void print_field(const struct model *m, const struct group *g, enum field by,
			FILE *out)
{
	switch (by) {
	case FIELD_STACK:
		print_chain(m, &m->stacks.chains[g->key.chain], out);
		break;
	case FIELD_PID:
		print_pid(g->key.pid, "", out);
		break;
	case FIELD_TGID:
		print_pid(g->key.tgid, "", out);
		break;
	default:
		print_quoted(model_name(m, g, by), out);
		break;
	}
}

static void print_group(const struct report *r, u32 rank, FILE *out)
{
	const struct group *g = report_group(r, rank);
	const struct field_list *by = &r->model->view->group;
	unsigned int i;

	fprintf(out, "group,%u,%llu,%llu,%llu,", rank + 1, g->sum.objects,
		g->sum.bytes, g->sum.held);
	print_ts(g->oldest, "", out);
	putc(',', out);
	print_ts(g->newest, "", out);
	for (i = 0; i < by->n; i++) {
		putc(',', out);
		print_field(r->model, g, by->v[i], out);
	}
	fputs("\r\n", out);
}

/* A row that is no group: the columns behind the sums stay empty. */
static void print_other(const struct report *r, const char *row, const char *sums, FILE *out)
{
	unsigned int i;

	fprintf(out, "%s,,%s,,", row, sums);
	for (i = 0; i < r->model->view->group.n; i++)
		putc(',', out);
	fputs("\r\n", out);
}

static void print_sum(const struct report *r, const char *row, const struct sum *sum,
		      FILE *out)
{
	char text[80];

	snprintf(text, sizeof(text), "%llu,%llu,%llu",
		 sum->objects, sum->bytes, sum->held);
	print_other(r, row, text, out);
}

void write_csv(const struct report *r, FILE *out)
{
	const struct model *m = r->model;
	const struct field_list *by = &m->view->group;
	const struct sources *from = &m->sources;
	char text[60];
	u32 i;

	fputs("row,rank,objects,bytes,held,oldest_ns,newest_ns", out);
	for (i = 0; i < by->n; i++)
		fprintf(out, ",%s", field_name(by->v[i]));
	fputs("\r\n", out);

	for (i = 0; i < r->shown; i++)
		print_group(r, i, out);
	if (r->shown < m->nr_groups)
		print_sum(r, "not_shown", &r->not_shown, out);
	print_sum(r, "total", &m->total, out);
	if (m->filtered.objects)
		print_sum(r, "filtered_out", &m->filtered, out);
	if (m->coverage_known) {
		snprintf(text, sizeof(text), "%llu,,", m->untracked);
		print_other(r, "untracked", text, out);
	}
	if (from->backing.objects) {
		snprintf(text, sizeof(text), "%llu,%llu,", from->backing.objects,
			 from->backing.bytes);
		print_other(r, "set_aside", text, out);
	}
	if (from->unsized) {
		snprintf(text, sizeof(text), "%llu,,", from->unsized);
		print_other(r, "unknown_size", text, out);
	}
	if (sources_overlap(from))
		print_other(r, "overlap", ",,", out);
	if (!health_complete(r->health))
		print_other(r, "incomplete", ",,", out);
}
