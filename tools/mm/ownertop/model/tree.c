// SPDX-License-Identifier: GPL-2.0
/* Build a tree of groups: groups with the same first fields or callers share a branch. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/tree.h"

struct tree_node_key {
	u32 parent;
	u32 name;
};

static bool node_has_key(const void *owner, u32 id, const void *key)
{
	const struct tree *t = owner;
	const struct tree_node_key *k = key;

	return t->nodes[id].parent == k->parent && t->nodes[id].name == k->name;
}

static u32 add_node(struct tree *t, u32 parent, u32 name)
{
	t->nodes = grow_array(t->nodes, t->n, &t->cap, sizeof(*t->nodes));
	t->nodes[t->n] = (struct tree_node){
		.name = name,
		.parent = parent,
		.child = TREE_NONE,
		.next = TREE_NONE,
		.depth = t->n ? t->nodes[parent].depth + 1 : 0,
	};
	return t->n++;
}

static u32 find_or_add_child(struct tree *t, u32 parent, u32 name)
{
	struct tree_node_key key = { parent, name };
	u64 hash = XXH3_64bits(&key, sizeof(key));
	u32 id = hash_index_find(&t->index, hash, node_has_key, t, &key);

	if (id == HASH_INDEX_NONE) {
		id = add_node(t, parent, name);
		hash_index_add(&t->index, hash, id);
	}
	return id;
}

static void append_function_to_path(struct tree *t, u32 name)
{
	t->path = grow_array(t->path, t->path_len, &t->path_cap, sizeof(*t->path));
	t->path[t->path_len++] = name;
}

static void init_empty_tree(struct tree *t, const struct model *m, bool callees)
{
	static const struct text_slice total = { "total", 5 };

	*t = (struct tree){ .m = m, .callees = callees };
	add_node(t, TREE_NONE, strings_intern(&t->names, total));
	t->of_frames = stacks_intern_functions_of_frames(&m->stacks, &t->names);
	t->user_from = t->names.n;
	t->of_user_frames = user_chains_intern_functions_of_frames(&m->user, &t->names);
	t->user_to = t->names.n;
}

static void add_user_chain_to_path(struct tree *t, const struct group *g)
{
	const struct chain *chain = model_get_chain(t->m, g, OWNER_FIELD_USER);
	u32 i = chain->n;

	while (i--)
		append_function_to_path(t, t->of_user_frames[chain->frames[i]]);
}

static void add_chain_to_path(struct tree *t, const struct group *g)
{
	const struct chain *chain = model_get_chain(t->m, g, OWNER_FIELD_STACK);
	static const struct text_slice none = { "(no call chain)", 15 };
	u32 i = chain->n;

	while (i--)
		append_function_to_path(t, t->of_frames[chain->frames[i]]);
	if (!chain->n)
		append_function_to_path(t, strings_intern(&t->names, none));
}

static void make_group_path(struct tree *t, const struct group *g)
{
	const struct group_list *by = &t->m->select->group;
	char number[16 + HUMAN_LEN], value[HUMAN_LEN];
	struct text_slice name;
	unsigned int i;

	t->path_len = 0;
	for (i = 0; i < by->n; i++) {
		enum owner_field f = by->v[i].field;

		if (f == OWNER_FIELD_STACK) {
			if (field_is_listed(by, OWNER_FIELD_USER))
				add_user_chain_to_path(t, g);
			add_chain_to_path(t, g);
		} else if (f == OWNER_FIELD_USER) {
			if (!field_is_listed(by, OWNER_FIELD_STACK))
				add_user_chain_to_path(t, g);
		} else if (!model_field_is_known(t->m, g, f)) {
			continue;
		} else if (field_is_number(f)) {
			name.s = number;
			name.len = snprintf(number, sizeof(number), "%s %s", field_name(f),
					    model_format_number(value, t->m, g, f));
			append_function_to_path(t, strings_intern(&t->names, name));
		} else {
			name = model_get_name(t->m, g, f);
			if (name.len)
				append_function_to_path(t, strings_intern(&t->names, name));
		}
	}
}

/*
 * Add a group to the nodes on its path. No sum can overflow: the model has checked their total.
 */
static void add_group_to_tree(struct tree *t, const struct group *g, const struct sum *sum,
			      const struct sum *old)
{
	u32 node = TREE_ROOT, allocates = TREE_ROOT, i;

	make_group_path(t, g);
	for (i = 0; ; i++) {
		sum_add(&t->nodes[node].cum, sum);
		sum_add(&t->nodes[node].old_cum, old);
		if (i == t->path_len)
			break;
		node = find_or_add_child(t, node, t->path[t->callees ? t->path_len - 1 - i : i]);
		if (!t->callees || !i)
			allocates = node;
	}
	sum_add(&t->nodes[allocates].flat, sum);
	sum_add(&t->nodes[allocates].old_flat, old);
}

struct sort_context {
	const struct tree *t;
	enum measure measure;
};

static int compare_node_sizes(const void *a, const void *b, void *arg)
{
	const struct sort_context *order = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b;
	const struct tree_node *na = &order->t->nodes[ia], *nb = &order->t->nodes[ib];
	u64 va = measure_get_value(&na->cum, order->measure);
	u64 vb = measure_get_value(&nb->cum, order->measure);

	if (va != vb)
		return va < vb ? 1 : -1;
	return ia < ib ? -1 : 1;
}

u32 *tree_sort_nodes_by_size(const struct tree *t, enum measure measure)
{
	struct sort_context order = { t, measure };
	u32 *ids = xmalloc(t->n * sizeof(*ids));
	u32 i;

	for (i = 0; i < t->n; i++)
		ids[i] = i;
	qsort_r(ids, t->n, sizeof(*ids), compare_node_sizes, &order);
	return ids;
}

/*
 * Sort the children of each node by size. The smallest node is linked first, because each one
 * is linked in front of its siblings.
 */
static void sort_children(struct tree *t, enum measure measure)
{
	u32 *ids = tree_sort_nodes_by_size(t, measure);
	u32 i;

	for (i = t->n; i--;) {
		struct tree_node *node = &t->nodes[ids[i]];

		if (ids[i] == TREE_ROOT)
			continue;
		node->next = t->nodes[node->parent].child;
		t->nodes[node->parent].child = ids[i];
	}
	free(ids);
}

void tree_build(struct tree *t, const struct answer *a)
{
	const struct dumps *d = &a->dumps;
	u32 i;

	init_empty_tree(t, &a->model, a->view.callees);
	for (i = 0; i < a->model.groups.n; i++) {
		struct group g = model_get_group(&a->model, i);
		struct sum old = { 0 }, sum = g.sum;

		if (d->n) {
			old = dumps_find_group_sum(&d->v[0], i);
			sum = dumps_find_group_sum(&d->v[1], i);
		}
		add_group_to_tree(t, &g, &sum, &old);
	}
	sort_children(t, a->view.measure);
}

struct text_slice tree_get_name(const struct tree *t, u32 node)
{
	return t->names.v[t->nodes[node].name];
}

u32 tree_next_node(const struct tree *t, u32 node)
{
	if (t->nodes[node].child != TREE_NONE)
		return t->nodes[node].child;
	while (node != TREE_ROOT && t->nodes[node].next == TREE_NONE)
		node = t->nodes[node].parent;
	return node == TREE_ROOT ? TREE_NONE : t->nodes[node].next;
}

void tree_free(struct tree *t)
{
	strings_free(&t->names);
	free(t->nodes);
	hash_index_free(&t->index);
	free(t->path);
	free(t->of_frames);
	free(t->of_user_frames);
}
