// SPDX-License-Identifier: GPL-2.0
/*
 * The table as the kernel answers a query: a row for each group, and always one
 * each for what is not shown, what is in other, and the total.
 */
#include "model/report.h"
#include "output/tsv.h"
#include "output/writer.h"

static void print_tally(const struct model *m, const char *row, const struct tally *t, FILE *out)
{
	fprintf(out, "%s\t%llu\t%llu\t%llu\t%llu\t%lld\t", row, t->groups, t->sum.objects,
		t->sum.bytes, t->sum.held, (s64)(t->sum.held - t->sum.bytes));
	if (t->groups) {
		tsv_age(m, t->oldest, out);
		putc('\t', out);
		tsv_age(m, t->newest, out);
	} else {
		fputs("0\t0", out);
	}
	fprintf(out, "\t%llu\t%llu\t%llu", t->sum.records, sum_objects_error(&t->sum),
		sum_bytes_error(&t->sum));
}

static void print_frames(const struct model *m, const struct group *g, FILE *out)
{
	const struct chain *chain = model_chain(m, g);
	u32 i;

	for (i = 0; i < chain->n; i++)
		fprintf(out, "%s%s", i ? ";" : "", model_frame(m, chain, i).s);
	if (!chain->n)
		putc('-', out);
}

static void print_stack(const struct model *m, const struct group *g, FILE *out)
{
	enum owner_mode mode = m->select->sentence.mode;

	if (mode != OWNER_MODE_HANDLE)
		print_frames(m, g, out);
	if (mode == OWNER_MODE_STACK)
		return;
	if (mode == OWNER_MODE_STACK_HANDLE)
		putc('\t', out);
	if (model_handle(m, g) == HANDLE_UNKNOWN)
		putc('-', out);
	else
		fprintf(out, "%llu", model_handle(m, g));
}

static void print_name(const struct model *m, const struct group *g, enum owner_field field,
		       FILE *out)
{
	struct text name = model_name(m, g, field);

	/* What is in no cache or no module is told so elsewhere by a name. */
	if ((field == OWNER_FIELD_CACHE && !strcmp(name.s, PERCPU_NAME)) ||
	    (field == OWNER_FIELD_MODULE && name.s == m->stacks.modules.v[0].s))
		name.len = 0;
	if (field == OWNER_FIELD_FUNC)	/* as it is printed */
		fputs(name.len ? name.s : "-", out);
	else
		tsv_name(name, out);
}

static void print_group(const struct model *m, const struct group *g, FILE *out)
{
	const struct group_list *by = &m->select->group;
	struct tally t = { 1, g->sum, true, g->oldest, g->newest };
	unsigned int i;

	print_tally(m, "group", &t, out);
	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;

		putc('\t', out);
		if (field == OWNER_FIELD_STACK)
			print_stack(m, g, out);
		else if (!field_is_number(field))
			print_name(m, g, field, out);
		else if (model_known(m, g, field))
			fprintf(out, "%lld", model_number(m, g, field));
		else
			putc('-', out);
	}
	putc('\n', out);
}

static void print_head(const struct model *m, FILE *out)
{
	const struct group_list *by = &m->select->group;
	unsigned int i;

	fputs("row\tgroups\tobjects\tbytes\theld\twaste\toldest_ns\tyoungest_ns", out);
	fputs("\trecords\tobjects_error\tbytes_error", out);
	for (i = 0; i < by->n; i++)
		fprintf(out, "\t%s", by->v[i].field == OWNER_FIELD_STACK ?
			tsv_stack_columns(m->select->sentence.mode) : field_name(by->v[i].field));
	putc('\n', out);
}

/* Where the key would stand. */
static void print_other(const struct model *m, const char *row, const struct tally *t, FILE *out)
{
	unsigned int i, columns = m->select->group.n;

	columns += m->select->by_handle && m->select->sentence.mode == OWNER_MODE_STACK_HANDLE;
	print_tally(m, row, t, out);
	for (i = 0; i < columns; i++)
		fputs("\t-", out);
	putc('\n', out);
}

static struct tally add_up(const struct report *r, u32 from, u32 to)
{
	struct tally t = TALLY_NONE;
	u32 i;

	for (i = from; i < to; i++) {
		struct group g = report_group(r, i);

		tally_add(&t, &g.sum, 1, g.oldest, g.newest);
	}
	return t;
}

void write_tsv(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	struct tally not_shown, other, total;
	struct report r;
	u32 i;

	report_init(&r, a);
	tsv_sentence(o->sentence, out);
	print_head(m, out);
	for (i = 0; i < r.shown; i++) {
		struct group g = report_group(&r, i);

		print_group(m, &g, out);
	}
	not_shown = add_up(&r, r.shown, r.kept);
	other = add_up(&r, r.kept, m->groups.n);
	total = add_up(&r, 0, m->groups.n);
	print_other(m, "not_shown", &not_shown, out);
	print_other(m, "other", &other, out);
	print_other(m, "total", &total, out);
	tsv_notes(a, out);
	report_free(&r);
}
