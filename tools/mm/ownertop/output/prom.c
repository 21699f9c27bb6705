// SPDX-License-Identifier: GPL-2.0
/*
 * Write the text format of Prometheus: the largest groups, the sum of the others and the total.
 * Each metric has at most a time series for each group that is shown.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/human.h"
#include "base/strings.h"
#include "base/version.h"
#include "model/report.h"
#include "output/column.h"
#include "output/writer.h"

static u64 get_bytes(const struct sum *sum)
{
	return sum->bytes;
}

static u64 get_held(const struct sum *sum)
{
	return sum->held;
}

static u64 get_objects(const struct sum *sum)
{
	return sum->objects;
}

/* A figure of a sum. Its metrics are ownertop_group_NAME, ownertop_rest_NAME and so on. */
struct prom_figure {
	const char *name;
	const char *help;
	u64 (*get)(const struct sum *sum);
};

static const struct prom_figure figures[] = {
	{ "requested_bytes", "Bytes that callers of the allocator requested", get_bytes },
	{ "held_bytes", "Bytes that the allocator took", get_held },
	{ "objects", "Allocations", get_objects },
};

#define NR_FIGURES (sizeof(figures) / sizeof(*figures))

/* The groups that have a time series of their own. */
struct prom_groups {
	struct strings labels;	/* of each group, as printed between braces */
	u32 *ids;		/* number of each group in the model */
	struct sum rest;
};

/* Print a value of a label, in quotes. Frees @value, which is valid UTF-8. */
static void print_label_value(char *value, FILE *out)
{
	const char *p;

	putc('"', out);
	for (p = value; *p; p++) {
		if (*p == '\\' || *p == '"')
			putc('\\', out);
		putc(*p, out);
	}
	putc('"', out);
	free(value);
}

static char *copy_field_value(const struct model *m, const struct group *g, enum owner_field field)
{
	char number[HUMAN_LEN], *text, *value;
	size_t len;
	FILE *out;

	if (!model_field_is_known(m, g, field))
		return xstrndup("", 0);
	if (!field_is_chain(field) && !field_is_number(field))
		return human_escape_name(model_get_name(m, g, field));
	out = xopen_memstream(&text, &len);
	if (field_is_chain(field))
		print_chain_field(m, g, field, out);
	else
		fputs(model_format_number(number, m, g, field), out);
	fclose(out);
	value = human_escape_name((struct text_slice){ text, len });
	free(text);
	return value;
}

/* Returns the labels of a group, to be freed. */
static char *make_labels(const struct model *m, const struct group *g)
{
	const struct group_list *by = &m->select->group;
	char *text;
	size_t len;
	FILE *out = xopen_memstream(&text, &len);
	u32 i;

	for (i = 0; i < by->n; i++) {
		fprintf(out, "%s%s=", i ? "," : "", field_name(by->v[i].field));
		print_label_value(copy_field_value(m, g, by->v[i].field), out);
	}
	fclose(out);
	return text;
}

/*
 * Choose the groups with time series of their own. Two names may be equal after control
 * characters in them were replaced, and Prometheus refuses a file with equal time series: add
 * the second group to the rest.
 */
static void choose_groups(struct prom_groups *groups, const struct report *r)
{
	u32 i;

	*groups = (struct prom_groups){ .rest = r->not_shown };
	groups->ids = xmalloc(r->shown * sizeof(*groups->ids));
	for (i = 0; i < r->shown; i++) {
		struct group g = report_get_group(r, i);
		char *labels = make_labels(r->model, &g);
		u32 n = groups->labels.n;

		if (strings_intern(&groups->labels,
				   (struct text_slice){ labels, strlen(labels) }) == n)
			groups->ids[n] = r->order[i];
		else
			sum_add(&groups->rest, &g.sum);
		free(labels);
	}
}

static void print_head(const char *part, const struct prom_figure *figure, const char *of,
		       FILE *out)
{
	fprintf(out, "# HELP ownertop_%s_%s %s, %s.\n", part, figure->name, figure->help, of);
	fprintf(out, "# TYPE ownertop_%s_%s gauge\n", part, figure->name);
}

static void print_figure(const struct prom_figure *figure, const struct prom_groups *groups,
			 const struct model *m, FILE *out)
{
	u32 i;

	print_head("group", figure, "of the largest groups", out);
	for (i = 0; i < groups->labels.n; i++) {
		struct sum sum = sum_load(&m->groups, groups->ids[i]);

		fprintf(out, "ownertop_group_%s{%s} %llu\n", figure->name, groups->labels.v[i].s,
			figure->get(&sum));
	}
	print_head("rest", figure, "of all other groups", out);
	fprintf(out, "ownertop_rest_%s %llu\n", figure->name, figure->get(&groups->rest));
	print_head("sum", figure, "of all groups", out);
	fprintf(out, "ownertop_sum_%s %llu\n", figure->name, figure->get(&m->total));
}

static void print_gauge(const char *name, const char *help, u64 value, FILE *out)
{
	fprintf(out, "# HELP ownertop_%s %s.\n# TYPE ownertop_%s gauge\nownertop_%s %llu\n", name,
		help, name, name, value);
}

void write_prom(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct input_summary *summary = &a->model.sink.summary;
	struct prom_groups groups;
	struct report r;
	u32 i;

	(void)o;
	report_init(&r, a);
	choose_groups(&groups, &r);
	for (i = 0; i < NR_FIGURES; i++)
		print_figure(&figures[i], &groups, &a->model, out);
	print_gauge("groups", "Number of groups", a->model.groups.n, out);
	print_gauge("complete", "1 if every record was read", health_is_complete(&a->health), out);
	if (summary->coverage_known)
		print_gauge("untracked_objects", "Slab objects without an owner",
			    summary->untracked, out);
	fputs("# HELP ownertop_build_info Version of ownertop.\n"
	      "# TYPE ownertop_build_info gauge\n"
	      "ownertop_build_info{version=\"" OWNERTOP_VERSION "\"} 1\n", out);
	strings_free(&groups.labels);
	free(groups.ids);
	report_free(&r);
}
