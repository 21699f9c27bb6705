/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups merged by the beginnings of their paths. A path has the fields of a
 * group as its levels, in the order they are grouped by; a call chain has one
 * level for each function, the outermost caller first.
 */
#ifndef OWNERTOP_TREE_H
#define OWNERTOP_TREE_H

#include "model/answer.h"

#define TREE_ROOT 0
#define TREE_NONE U32_MAX

struct node {
	u32 name;		/* index into tree.names */
	u32 parent;
	u32 child;		/* the first; TREE_NONE: it has none */
	u32 next;		/* the next child of its parent */
	u32 depth;
	struct sum flat;	/* allocated here */
	struct sum cum;		/* and below */
	struct sum old_flat;	/* the same in the older of two dumps */
	struct sum old_cum;
};

struct tree {
	const struct model *m;
	bool callees;		/* paths begin at the allocation */
	struct strings names;
	u32 *functions;		/* names, by number of the model's frame */
	struct node *nodes;	/* a parent stands before its children */
	u32 n;
	u32 cap;
	struct index index;
	u32 *path;		/* of the group at hand */
	u32 path_len;
	u32 path_cap;
};

void tree_init(struct tree *t, const struct model *m, bool callees);
void tree_add(struct tree *t, const struct group *g, const struct sum *sum,
	      const struct sum *old);
/* When all is added: puts children in order, the largest first. */
void tree_finish(struct tree *t, enum measure sort);
/* All of that, for what was read. */
void tree_of_answer(struct tree *t, const struct answer *a);
/* The numbers of all nodes, the largest first and parents before children of their size. */
u32 *tree_by_size(const struct tree *t, enum measure sort);
void tree_free(struct tree *t);

struct text tree_name(const struct tree *t, u32 node);
/* Walks from the root, children after their parents; TREE_NONE: that was all. */
u32 tree_next(const struct tree *t, u32 node);

#endif
