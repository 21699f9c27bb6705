// SPDX-License-Identifier: GPL-2.0
/* Cells of CSV as RFC 4180 has it. */
#include "output/csv.h"

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

static void print_field(const struct model *m, const struct group *g, enum owner_field by,
			FILE *out)
{
	if (by == OWNER_FIELD_STACK)
		print_chain(m, model_chain(m, g), out);
	else if (!model_known(m, g, by))
		return;
	else if (field_is_number(by))
		fprintf(out, "%lld", model_number(m, g, by));
	else
		print_quoted(model_name(m, g, by), out);
}

void csv_field_names(const struct model *m, FILE *out)
{
	const struct group_list *by = &m->select->group;
	unsigned int i;

	for (i = 0; i < by->n; i++)
		fprintf(out, ",%s", field_name(by->v[i].field));
	fputs("\r\n", out);
}

void csv_fields(const struct model *m, const struct group *g, FILE *out)
{
	const struct group_list *by = &m->select->group;
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		putc(',', out);
		if (g)
			print_field(m, g, by->v[i].field, out);
	}
	fputs("\r\n", out);
}

void csv_estimate_names(const struct model *m, const char *prefix, FILE *out)
{
	if (m->sampled)
		fprintf(out, ",%srecords,%sobjects_error,%sbytes_error", prefix, prefix, prefix);
}

void csv_estimate(const struct model *m, const struct sum *sum, FILE *out)
{
	if (!m->sampled)
		return;
	if (sum)
		fprintf(out, ",%llu,%llu,%llu", sum->records, sum_objects_error(sum),
			sum_bytes_error(sum));
	else
		fputs(",,,", out);
}
