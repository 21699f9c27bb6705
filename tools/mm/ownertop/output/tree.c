// SPDX-License-Identifier: GPL-2.0
/* Write the view "tree". Small nodes are left out; a note says how many and how large. */
#include <stdlib.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "output/figure.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/terminal.h"
#include "model/tree.h"
#include "output/writer.h"

/* Least width that the indentation of a node leaves to its name. */
#define LEAST_NAME_WIDTH 24

struct pruned_tree {
	struct tree tree;
	enum measure measure;
	bool *keep;		/* by node number: is the node kept? */
	u32 *kept_children;	/* by node number: number of children that are kept */
	u32 dropped;
	struct sum dropped_flat;
};

/*
 * Keep only the @top largest nodes of the tree. A parent is at least as large as its children,
 * so it is kept with them.
 */
static void keep_largest_nodes(struct pruned_tree *p, u32 top)
{
	u32 *ids = tree_sort_nodes_by_size(&p->tree, p->measure);
	u32 i;

	for (i = top; i < p->tree.n; i++)
		p->keep[ids[i]] = false;
	free(ids);
}

static void prune_tree(struct pruned_tree *p, const struct answer *a, double least_percent)
{
	u32 top = a->view.top;
	struct tree *t = &p->tree;
	double least;
	u32 i;

	p->measure = a->view.measure;
	tree_build(t, a);
	p->keep = xmalloc(t->n * sizeof(*p->keep));
	least = measure_get_value(&t->nodes[TREE_ROOT].cum, p->measure) * least_percent / 100;
	for (i = 0; i < t->n; i++)
		p->keep[i] = measure_get_value(&t->nodes[i].cum, p->measure) >= least;
	/* Keep one node more than --top says: the root, which is the total. */
	if (top && top < t->n - 1)
		keep_largest_nodes(p, top + 1);
	p->kept_children = xcalloc(t->n, sizeof(*p->kept_children));
	for (i = 0; i < t->n; i++) {
		if (p->keep[i] && i != TREE_ROOT)
			p->kept_children[t->nodes[i].parent]++;
		if (p->keep[i])
			continue;
		p->dropped++;
		sum_add(&p->dropped_flat, &t->nodes[i].flat);
	}
}

static void pruned_tree_free(struct pruned_tree *p)
{
	tree_free(&p->tree);
	free(p->keep);
	free(p->kept_children);
}

/* Returns the next node that is kept. Nodes below one that is dropped are dropped as well. */
static u32 find_next_kept_node(const struct pruned_tree *p, u32 node)
{
	do
		node = tree_next_node(&p->tree, node);
	while (node != TREE_NONE && !p->keep[node]);
	return node;
}

struct tree_printer {
	const struct pruned_tree *p;
	struct terminal term;
	FILE *out;
	u64 total;
	u64 running;		/* sum of flat of the lines printed so far */
	u32 *level;		/* level of indentation, by node number */
	bool errors;		/* show errors because something was sampled */
	bool shares;		/* there is room for the shares of FLAT */
	bool flat;		/* there is room for FLAT and OBJECTS */
};

/* Print what the function of a node itself allocated, with its share and the running total. */
static void print_flat_figures(struct tree_printer *l, u64 flat)
{
	char v[HUMAN_LEN], percent[HUMAN_LEN], running[HUMAN_LEN];

	if (!flat) {
		fprintf(l->out, "%*s ", l->shares ? 21 : 7, "");
		return;
	}
	fprintf(l->out, "%7s ", figure_to_text(v, flat, l->p->measure));
	if (l->shares)
		fprintf(l->out, "%6s %6s ", human_format_percent(percent, flat, l->total),
			human_format_percent(running, l->running, l->total));
}

/*
 * Print the figures of a node. @differs: they differ from the figures of the parent, which are
 * else not repeated.
 */
static void print_figures(struct tree_printer *l, const struct tree_node *node, bool differs)
{
	enum measure measure = l->p->measure;
	u64 cum = measure_get_value(&node->cum, measure);
	u64 flat = measure_get_value(&node->flat, measure);
	char v[HUMAN_LEN], percent[HUMAN_LEN];

	if (differs)
		fprintf(l->out, "%7s %6s ", figure_to_text(v, cum, measure),
			human_format_percent(percent, cum, l->total));
	else
		fprintf(l->out, "%14s ", "");
	l->running += flat;
	if (!l->flat)
		return;
	print_flat_figures(l, flat);
	if (!differs)
		fprintf(l->out, "%8s  ", "");
	else if (measure == MEASURE_OBJECTS)
		fprintf(l->out, "%8s  ", human_format_bytes(v, node->cum.held));
	else
		fprintf(l->out, "%8llu  ", node->cum.objects);
	if (l->errors)
		fprintf(l->out, "%9s  ",
			differs ? figure_error_to_text(v, &node->cum, measure) : "");
}

#define FIGURES_WIDTH 15	/* of the columns that are always printed */
#define SHARES_WIDTH 14
#define FLAT_WIDTH 18
#define ERROR_WIDTH 11

static u32 get_figures_width(const struct tree_printer *l)
{
	return FIGURES_WIDTH + (l->flat ? FLAT_WIDTH : 0) + (l->shares ? SHARES_WIDTH : 0) +
	       (l->flat && l->errors ? ERROR_WIDTH : 0);
}

/* Leave out figures that would leave no room for names on a narrow terminal. */
static void choose_figures(struct tree_printer *l)
{
	l->flat = true;
	l->shares = true;
	if (!l->term.width)
		return;
	l->shares = get_figures_width(l) + LEAST_NAME_WIDTH <= l->term.width;
	l->flat = l->shares || get_figures_width(l) + LEAST_NAME_WIDTH <= l->term.width;
}

static void print_head(const struct tree_printer *l, bool callees)
{
	static const char * const heads[NR_MEASURES] = {
		[MEASURE_BYTES] = "BYTES",
		[MEASURE_HELD] = "HELD",
		[MEASURE_OBJECTS] = "OBJECTS",
	};

	fprintf(l->out, "%s%7s %6s ", l->term.colour ? "\033[1m" : "", heads[l->p->measure], "%");
	if (l->flat)
		fprintf(l->out, "%7s ", "FLAT");
	if (l->shares)
		fprintf(l->out, "%6s %6s ", "%", "SUM%");
	if (l->flat)
		fprintf(l->out, "%8s  ", l->p->measure == MEASURE_OBJECTS ? "HELD" : "OBJECTS");
	if (l->flat && l->errors)
		fprintf(l->out, "%9s  ", figure_error_head(l->p->measure));
	fprintf(l->out, "%s%s\n", callees ? "FUNCTION, CALLED BY" : "FUNCTION, CALLING",
		l->term.colour ? "\033[0m" : "");
}

/*
 * Print a node of the tree. A node without siblings has the indentation of its parent, so that
 * a chain is a column. Nodes with siblings are indented and begin with a dash.
 */
static void print_node(struct tree_printer *l, u32 id)
{
	const struct tree *t = &l->p->tree;
	const struct tree_node *node = &t->nodes[id];
	bool root = id == TREE_ROOT;
	bool branch = !root && l->p->kept_children[node->parent] > 1;
	bool differs = root || branch ||
		    !sum_equals(&node->cum, &t->nodes[node->parent].cum);
	u32 before = get_figures_width(l), indent;
	char *name;

	l->level[id] = root ? 0 : l->level[node->parent] + branch;
	indent = 2 * l->level[id];
	if (l->term.width && before + indent + LEAST_NAME_WIDTH > l->term.width)
		indent = l->term.width > before + LEAST_NAME_WIDTH ?
			 l->term.width - before - LEAST_NAME_WIDTH : 2 * branch;

	print_figures(l, node, differs);
	fprintf(l->out, "%*s", (int)indent, branch ? "- " : "");
	name = human_escape_name(tree_get_name(t, id));
	frame_print_fitted((struct text_slice){ name, strlen(name) }, l->term.width,
			   before + indent, l->out);
	free(name);
}

static void print_dropped(const struct pruned_tree *p, const struct answer *a, double least_percent,
			  FILE *out)
{
	u64 total = measure_get_value(&p->tree.nodes[TREE_ROOT].cum, p->measure);
	u64 v = measure_get_value(&p->dropped_flat, p->measure);
	char buf[HUMAN_LEN], percent[HUMAN_LEN];

	if (!p->dropped)
		return;
	fprintf(out, "dropped %u nodes, %s (%s), %llu objects: each under %g%%", p->dropped,
		human_format_bytes(buf, p->dropped_flat.held),
		human_format_percent(percent, v, total), p->dropped_flat.objects, least_percent);
	if (a->view.top)
		fprintf(out, ", or not of the %u largest", a->view.top);
	fprintf(out, "; --min 0%s shows all\n", a->view.top ? " --top 0" : "");
}

void write_tree(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct pruned_tree p = { 0 };
	struct tree_printer l = {
		.p = &p,
		.out = out,
		.term = o->term,
		.errors = a->model.sampled,
	};
	struct folded_text folded;
	FILE *notes;
	u32 node;

	prune_tree(&p, a, o->least_percent);
	l.total = measure_get_value(&p.tree.nodes[TREE_ROOT].cum, p.measure);
	l.level = xmalloc(p.tree.n * sizeof(*l.level));
	choose_figures(&l);
	print_head(&l, a->view.callees);
	for (node = TREE_ROOT; node != TREE_NONE; node = find_next_kept_node(&p, node))
		print_node(&l, node);
	notes = fold_begin(&folded);
	print_dropped(&p, a, o->least_percent, notes);
	notes_print_all(a, l.term, notes);
	fold_end(&folded, l.term, out);
	free(l.level);
	pruned_tree_free(&p);
}

static struct json_object *json_from_node(const struct tree *t, u32 id)
{
	const struct tree_node *node = &t->nodes[id];
	struct json_object *object = json_new_object();

	json_add_member(object, "id", json_new_count(id));
	if (id != TREE_ROOT)
		json_add_member(object, "parent", json_new_count(node->parent));
	json_add_member(object, "name", json_from_text(tree_get_name(t, id)));
	json_add_member(object, "cum", json_from_sum(&node->cum));
	json_add_member(object, "flat", json_from_sum(&node->flat));
	return object;
}

void write_tree_json(const struct answer *a, const struct output_options *o, FILE *out)
{
	struct pruned_tree p = { 0 };
	u32 id;

	prune_tree(&p, a, o->least_percent);
	json_begin_document(a, o, out);
	json_print_member("callees", json_object_new_boolean(a->view.callees), out);
	json_print_member("min_percent", json_from_real(o->least_percent, "%g"), out);
	json_print_member("total", json_from_sum(&a->model.total), out);
	json_print_member("dropped_nodes", json_new_count(p.dropped), out);
	json_print_member("dropped", json_from_sum(&p.dropped_flat), out);
	json_begin_list("nodes", out);
	for (id = TREE_ROOT; id != TREE_NONE; id = find_next_kept_node(&p, id))
		json_print_item(json_from_node(&p.tree, id), id == TREE_ROOT, out);
	json_end_document(true, out);
	pruned_tree_free(&p);
}
