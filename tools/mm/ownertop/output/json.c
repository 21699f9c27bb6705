// SPDX-License-Identifier: GPL-2.0
/* JSON, with every figure exact; ownertop.8 describes it. */
#include "output/json.h"
#include "base/utf8.h"

/* Grows when a reader would have to change. */
#define JSON_SCHEMA_VERSION 1

void json_string(struct text t, FILE *out)
{
	putc('"', out);
	while (t.len) {
		unsigned char c = t.s[0];
		size_t len = utf8_char(t);

		if (!len || c < ' ' || c == 0x7f || c == '<')
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			fwrite(t.s, 1, len, out);
		t.s += len ? len : 1;
		t.len -= len ? len : 1;
	}
	putc('"', out);
}

static void print_chain(const struct model *m, const struct chain *chain, FILE *out)
{
	u32 i;

	putc('[', out);
	for (i = 0; i < chain->n; i++) {
		if (i)
			fputs(", ", out);
		json_string(model_frame(m, chain, i), out);
	}
	putc(']', out);
}

static void print_field(const struct model *m, const struct group *g, enum owner_field by,
			FILE *out)
{
	fprintf(out, ", \"%s\": ", field_name(by));
	if (by == OWNER_FIELD_STACK)
		print_chain(m, model_chain(m, g), out);
	else if (!model_known(m, g, by))
		fputs("null", out);
	else if (field_is_number(by))
		fprintf(out, "%lld", model_number(m, g, by));
	else
		json_string(model_name(m, g, by), out);
}

void json_sum(const struct sum *sum, FILE *out)
{
	fprintf(out, "\"objects\": %llu, \"bytes\": %llu, \"held\": %llu",
		sum->objects, sum->bytes, sum->held);
	if (sum_is_estimate(sum))
		fprintf(out, ", \"records\": %llu, \"objects_error\": %llu, \"bytes_error\": %llu",
			sum->records, sum_objects_error(sum), sum_bytes_error(sum));
}

void json_named_sum(const char *name, const struct sum *sum, FILE *out)
{
	fprintf(out, "  \"%s\": {", name);
	json_sum(sum, out);
	fputs("},\n", out);
}

void json_group_begin(u32 i, FILE *out)
{
	fprintf(out, "%s\n    {\"rank\": %u, ", i ? "," : "", i + 1);
}

void json_group_end(const struct model *m, u32 group, FILE *out)
{
	const struct group_list *by = &m->select->group;
	struct group g = model_group(m, group);
	unsigned int i;

	for (i = 0; i < by->n; i++)
		print_field(m, &g, by->v[i].field, out);
	putc('}', out);
}

void json_end(u32 n, FILE *out)
{
	fputs(n ? "\n  ]\n}\n" : "]\n}\n", out);
}

static void print_order(const struct view_options *v, FILE *out)
{
	u32 i;

	fputs("  \"order_by\": [", out);
	for (i = 0; i < v->nr_order; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", owner_sort_names[v->order[i]]);
	fputs("],\n", out);
}

static void print_sources(const struct sources *s, FILE *out)
{
	const char *overlaps[SOURCES_OVERLAPS];
	unsigned int i;

	sources_find_overlaps(s, overlaps);
	if (*overlaps) {
		fputs("  \"overlaps\": [", out);
		for (i = 0; overlaps[i]; i++)
			fprintf(out, "%s\"%s\"", i ? ", " : "", overlaps[i]);
		fputs("],\n", out);
	}
	if (s->backing.objects)
		fprintf(out, "  \"set_aside\": {\"objects\": %llu, \"bytes\": %llu},\n",
			s->backing.objects, s->backing.bytes);
	if (s->unsized)
		fprintf(out, "  \"unknown_size\": %llu,\n", s->unsized);
	if (s->inaccurate)
		fprintf(out, "  \"inaccurate\": %llu,\n", s->inaccurate);
}

void json_begin(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;
	const struct group_list *by = &m->select->group;
	unsigned int i;

	fprintf(out, "{\n  \"schema\": \"ownertop\",\n  \"version\": %d,\n",
		JSON_SCHEMA_VERSION);
	fprintf(out, "  \"view\": \"%s\",\n", o->view);
	fprintf(out, "  \"complete\": %s,\n  \"damaged\": %llu,\n  \"unread_inputs\": %u,\n",
		health_complete(&a->health) ? "true" : "false", a->health.damaged,
		a->health.unread);
	fprintf(out, "  \"depth\": %u,\n  \"sort\": \"%s\",\n  \"group_by\": [",
		m->select->chains.depth, measure_name(a->view.measure));
	for (i = 0; i < by->n; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", field_name(by->v[i].field));
	fputs("],\n", out);
	if (a->view.nr_order != 1 || !measure_is_sort_key(a->view.order[0]))
		print_order(&a->view, out);
	fprintf(out, "  \"newest_ns\": %llu,\n", m->newest);
	if (m->sink.summary.coverage_known)
		fprintf(out, "  \"tracked\": %llu,\n  \"untracked\": %llu,\n",
			m->sink.summary.tracked, m->sink.summary.untracked);
	print_sources(&m->sources, out);
	if (m->sink.summary.idle_handles)
		fprintf(out, "  \"idle_handles\": %u,\n", m->sink.summary.idle_handles);
	json_named_sum("filtered_out", &m->filtered, out);
	if (m->undecided.objects)
		json_named_sum("undecided", &m->undecided, out);
}
