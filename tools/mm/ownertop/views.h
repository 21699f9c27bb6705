/* SPDX-License-Identifier: GPL-2.0 */
/* What can be made of the records: each view by its name. */
#ifndef OWNERTOP_VIEWS_H
#define OWNERTOP_VIEWS_H

#include <stdio.h>

#include "health.h"
#include "model.h"

struct options;

/* What was read. */
struct answer {
	const struct options *options;
	struct model model;
	struct health health;
};

/* Reads @paths for the view of @o; answer_free() is next. */
void answer_read(struct answer *a, const struct options *o, char * const *paths, int n);
void answer_free(struct answer *a);

enum format {
	FORMAT_TEXT,		/* for people; or the view's own */
	FORMAT_JSON,
	FORMAT_CSV,
	NR_FORMATS
};

/* Options that not every view has a use for. */
enum {
	TAKES_TOP = 1 << 0,
	TAKES_LIVE = 1 << 1,
};

typedef void (*view_writer)(const struct answer *a, FILE *out);

struct view {
	const char *name;
	struct field_list group;	/* these are defaults */
	u32 depth;
	u32 top;
	unsigned int takes;
	view_writer write[NR_FORMATS];
};

/* The first one is the default. */
extern const struct view views[];
extern const unsigned int nr_views;

/* NULL if there is no such view. */
const struct view *view_find(const char *name);

#endif
