// SPDX-License-Identifier: GPL-2.0
/*
 * Write folded stacks: "caller;function value", the input format of flame graph programs. With
 * two dumps a line has two values, as in the output of difffolded.pl.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/tree.h"
#include "output/writer.h"

/* Print a name in which separators and control characters are replaced. */
static void print_name(struct text_slice name, FILE *out)
{
	size_t i;

	for (i = 0; i < name.len; i++) {
		char c = name.s[i];

		if (c == ';')
			c = ':';
		else if ((unsigned char)c < ' ' || c == 0x7f)
			c = ' ';
		putc(c, out);
	}
}

static void print_folded_path(const struct tree *t, u32 node, u32 *path, FILE *out)
{
	u32 n = 0;

	for (; node != TREE_ROOT; node = t->nodes[node].parent)
		path[n++] = node;
	while (n--) {
		print_name(tree_get_name(t, path[n]), out);
		putc(n ? ';' : ' ', out);
	}
}

/* Report damage as a frame of size 0, because folded stacks have no comments. */
static void print_incomplete(const struct answer *a, bool diff, FILE *out)
{
	fputs("[incomplete: ", out);
	print_name((struct text_slice){ a->health.first, strlen(a->health.first) }, out);
	fputs(diff ? "] 0 0\n" : "] 0\n", out);
}

void write_folded(const struct answer *a, const struct output_options *o, FILE *out)
{
	enum measure measure = a->view.measure;
	struct tree t;
	u32 *path, node;

	tree_build(&t, a);
	path = xmalloc(t.n * sizeof(*path));
	for (node = TREE_ROOT; node != TREE_NONE; node = tree_next_node(&t, node)) {
		u64 old = measure_get_value(&t.nodes[node].old_flat, measure);
		u64 now = measure_get_value(&t.nodes[node].flat, measure);

		if (node == TREE_ROOT || (!old && !now))
			continue;
		print_folded_path(&t, node, path, out);
		if (o->old)
			fprintf(out, "%llu ", old);
		fprintf(out, "%llu\n", now);
	}
	if (!health_is_complete(&a->health))
		print_incomplete(a, o->old, out);
	free(path);
	tree_free(&t);
}
