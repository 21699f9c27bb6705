// SPDX-License-Identifier: GPL-2.0
/* A flame graph: one page of HTML that needs nothing else. */
#include <stdlib.h>

#include "base/alloc.h"
#include "output/flame_page.h"
#include "output/json.h"
#include "output/notes.h"
#include "model/tree.h"
#include "output/writer.h"

/* Stands in the page for what is drawn. */
#define MARK "@DATA@"

static void print_names(const struct tree *t, FILE *out)
{
	u32 i;

	fputs("\"names\":[", out);
	for (i = 0; i < t->names.n; i++) {
		if (i)
			putc(',', out);
		json_print_text(t->names.v[i], out);
	}
	putc(']', out);
}

static void print_sum(const struct sum *sum, FILE *out)
{
	fprintf(out, ",%llu,%llu,%llu", sum->objects, sum->bytes, sum->held);
}

/* Each node is its depth, its name and its sums: tens of thousands must load fast. */
static void print_nodes(const struct tree *t, bool diff, FILE *out)
{
	u32 node;

	fputs("\"nodes\":[", out);
	for (node = TREE_ROOT; node != TREE_NONE; node = tree_next(t, node)) {
		const struct node *n = &t->nodes[node];

		fprintf(out, "%s%u,%u", node == TREE_ROOT ? "" : ",\n", n->depth, n->name);
		print_sum(&n->cum, out);
		if (diff)
			print_sum(&n->old_cum, out);
	}
	putc(']', out);
}

static void print_notes(const struct answer *a, FILE *out)
{
	char *text = NULL, *line, *rest;
	const char *comma = "";
	size_t len;
	FILE *notes = open_memstream(&text, &len);

	if (!notes)
		out_of_memory();
	notes_print(a, terminal_of(notes), notes);
	fclose(notes);
	fputs("\"notes\":[", out);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		fputs(comma, out);
		json_print_text((struct text){ line, strlen(line) }, out);
		comma = ",";
	}
	putc(']', out);
	free(text);
}

/* The files by name: a page is looked at long after its command line is gone. */
static void print_source(const struct output_options *o, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *source = open_memstream(&text, &len);
	int i;

	if (!source)
		out_of_memory();
	if (!o->nr_inputs)
		fputs("this machine", source);
	for (i = 0; i < o->nr_inputs; i++)
		fprintf(source, "%s%s", i ? ", " : "", o->inputs[i]);
	if (o->old)
		fprintf(source, ", compared with %s", o->old);
	fclose(source);
	fputs("\"source\":", out);
	json_print_text((struct text){ text, len }, out);
	free(text);
}

static void print_data(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct tree t;

	tree_of_answer(&t, a);
	fprintf(out, "{\"diff\":%s,\"held\":%s,\"complete\":%s,\"sort\":\"%s\",\n",
		o->old ? "true" : "false",
		a->model.total.held != a->model.total.bytes ? "true" : "false",
		health_complete(&a->health) ? "true" : "false", measure_name(a->view.measure));
	print_source(o, out);
	fputs(",\n", out);
	print_notes(a, out);
	fputs(",\n", out);
	print_names(&t, out);
	fputs(",\n", out);
	print_nodes(&t, o->old, out);
	putc('}', out);
	tree_free(&t);
}

void write_flame(const struct answer *a, const struct output_options *o, FILE *out)
{
	const char *start = _binary_flame_html_start, *end = _binary_flame_html_end;
	const char *mark = memmem(start, end - start, MARK, strlen(MARK));

	fwrite(start, 1, mark - start, out);
	print_data(a, o, out);
	fwrite(mark + strlen(MARK), 1, end - mark - strlen(MARK), out);
}
