/* SPDX-License-Identifier: GPL-2.0 */
/* What can be made of the records: each view by its name. */
#ifndef OWNERTOP_VIEWS_H
#define OWNERTOP_VIEWS_H

#include <stdio.h>

#include "model/dumps.h"
#include "input/health.h"

struct options;

/* What was read. */
struct answer {
	const struct options *options;
	struct model model;
	struct dumps dumps;	/* if the view takes several; else all is in model */
	u64 *dump_ns;		/* when each was taken, from the first on, if in series */
	struct health health;
	struct selection asked;	/* what is left to select after the kernel did */
};

/*
 * Reads @paths as the view of @o takes them. Returns false after a message if
 * there is nothing to show. Either way, answer_free() is next.
 */
bool answer_read(struct answer *a, const struct options *o, char * const *paths, int n);
void answer_free(struct answer *a);

/* The parts of it, for who takes the records as they are read. */
void answer_begin(struct answer *a, const struct options *o);
/* All of @paths are one dump. */
void answer_read_dump(struct answer *a, char * const *paths, int n);

enum format {
	FORMAT_TEXT,		/* for people; or the view's own */
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_TSV,		/* as the kernel answers */
	NR_FORMATS
};

/* Options that not every view has a use for. */
enum {
	TAKES_TOP = 1 << 0,
	TAKES_DIFF = 1 << 1,
	TAKES_MIN = 1 << 2,
	TAKES_CALLEES = 1 << 3,
	TAKES_TIME = 1 << 4,
	TAKES_LIVE = 1 << 5,
	TAKES_ORDER = 1 << 6,	/* by more than one of bytes, held and objects */
	TAKES_GROUPS = 1 << 7,
	TAKES_MODE = 1 << 8,
};

typedef void (*view_writer)(const struct answer *a, FILE *out);

struct view {
	const char *name;
	struct group_list group;	/* these are defaults */
	struct group_list redrawn;	/* of this machine, again and again */
	u32 depth;
	u32 top;
	double least_percent;
	bool ages;		/* it shows them */
	unsigned int takes;
	bool pair;		/* the first input is the older of two dumps */
	bool series;		/* each input is a dump of its own */
	bool no_terminal;	/* its text is for a file */
	view_writer write[NR_FORMATS];
};

/* The first one is the default. */
extern const struct view views[];
extern const unsigned int nr_views;

/* NULL if there is no such view. */
const struct view *view_find(const char *name);
/* The one that may have been meant, or NULL. */
const struct view *view_nearest(const char *name);

#endif
