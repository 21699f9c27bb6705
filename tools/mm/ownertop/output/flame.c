// SPDX-License-Identifier: GPL-2.0
/* Write a flame graph, as a page of HTML. */
#include <stdlib.h>

#include "base/alloc.h"
#include "output/json.h"
#include "output/page.h"
#include "model/tree.h"
#include "output/writer.h"

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

/*
 * Print the nodes of the tree. A node is some numbers in one array, not an object, so that a
 * page with 10,000s of nodes loads fast.
 */
static void print_nodes(const struct tree *t, bool diff, FILE *out)
{
	u32 node;

	fputs("\"nodes\":[", out);
	for (node = TREE_ROOT; node != TREE_NONE; node = tree_next_node(t, node)) {
		const struct tree_node *n = &t->nodes[node];

		fprintf(out, "%s%u,%u", node == TREE_ROOT ? "" : ",\n", n->depth, n->name);
		print_sum(&n->cum, out);
		if (diff)
			print_sum(&n->old_cum, out);
	}
	putc(']', out);
}

/* Print the names of the input files, because the page may be read without the command line. */
static void print_inputs(const struct output_options *o, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *stream = xopen_memstream(&text, &len);
	int i;

	if (!o->nr_inputs)
		fputs("this machine", stream);
	for (i = 0; i < o->nr_inputs; i++)
		fprintf(stream, "%s%s", i ? ", " : "", o->inputs[i]);
	if (o->old)
		fprintf(stream, ", compared with %s", o->old);
	fclose(stream);
	fputs("\"source\":", out);
	json_print_text((struct text_slice){ text, len }, out);
	free(text);
}

void write_flame(const struct answer *a, const struct output_options *o, FILE *out)
{
	bool has_held = a->model.total.held != a->model.total.bytes;
	enum measure by = a->view.measure;
	struct tree t;

	tree_build(&t, a);
	if (by == MEASURE_HELD && !has_held)
		by = MEASURE_BYTES;
	page_begin(a, out);
	fprintf(out, "\"diff\":%s,\"held\":%s,\"sort\":\"%s\",\n",
		o->old ? "true" : "false", has_held ? "true" : "false", measure_name(by));
	print_inputs(o, out);
	fprintf(out, ",\n\"user\":[%u,%u],\n", t.user_from, t.user_to);
	print_names(&t, out);
	fputs(",\n", out);
	print_nodes(&t, o->old, out);
	page_end(_binary_flame_html_start, _binary_flame_html_end, out);
	tree_free(&t);
}
