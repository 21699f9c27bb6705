/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A prefix tree of groups. The path of a group has one level for each of its fields, in
 * the order of group=. A call chain has one level for each function, the outermost caller
 * first. The user chain is before the call chain, as its functions called the kernel.
 */
#ifndef OWNERTOP_TREE_H
#define OWNERTOP_TREE_H

#include "model/answer.h"

#define TREE_ROOT 0
#define TREE_NONE U32_MAX

struct tree_node {
	u32 name;		/* index into tree.names */
	u32 parent;
	u32 child;		/* first child, or TREE_NONE */
	u32 next;		/* next sibling, or TREE_NONE */
	u32 depth;
	struct sum flat;	/* sum of what this function itself allocated */
	struct sum cum;		/* sum of the node itself and of all descendants */
	struct sum old_flat;	/* flat and cum in the older of two dumps */
	struct sum old_cum;
};

struct tree {
	const struct model *m;
	bool callees;		/* a path begins at the function that allocates */
	struct strings names;
	u32 *of_frames;		/* index into names, by frame number of the model */
	u32 *of_user_frames;	/* index into names, by number of a user frame of the model */
	u32 user_from;		/* names from this one to user_to - 1 are of user frames */
	u32 user_to;
	struct tree_node *nodes;	/* a parent has a smaller number than its children */
	u32 n;
	u32 cap;
	struct hash_index index;
	u32 *path;		/* names on the path of the group that is being added */
	u32 path_len;
	u32 path_cap;
};

/* Build the tree of an answer, with the largest children first. */
void tree_build(struct tree *t, const struct answer *a);
/*
 * Returns an array of node numbers, the largest node first, a parent before a child of the same
 * size. The caller frees it.
 */
u32 *tree_sort_nodes_by_size(const struct tree *t, enum measure measure);
void tree_free(struct tree *t);

struct text_slice tree_get_name(const struct tree *t, u32 node);
/* Returns the node after @node in pre-order, or TREE_NONE. */
u32 tree_next_node(const struct tree *t, u32 node);

#endif
