/* SPDX-License-Identifier: GPL-2.0 */
/* The command line. */
#ifndef OWNERTOP_OPTIONS_H
#define OWNERTOP_OPTIONS_H

#include "model/measure.h"
#include "ask/times.h"
#include "ask/views.h"

struct options {
	const struct view *view;
	enum format format;
	struct selection select;
	enum measure sort;	/* what shares and widths are of */
	unsigned char order[OWNER_SORTS];	/* what groups are sorted by, in turn */
	u32 nr_order;
	u32 top;		/* 0: all */
	u32 groups;		/* so many are kept, the others are one; 0: all */
	bool one_by_one;	/* objects are shown, not groups */
	bool ages;		/* the kernel is asked for them, which may take it long */
	u64 now;		/* time stamp that ages are counted from; 0: the newest */
	double least_percent;
	bool callees;
	struct times times;
	u64 page_size;
	const char *vmlinux;	/* NULL: no names from there; so the next two */
	const char *modules;	/* a directory */
	const char *kallsyms;
	bool print_skip_list;
	const char *old;	/* dump to compare with, or NULL */
	u32 interval_ms;	/* between readings; 0: read once */
	bool live;		/* no input is named: it is this machine */
	char * const *inputs;
	int nr_inputs;
};

/* Ends the program with a message if the command line makes no sense. */
void options_parse(struct options *o, int argc, char *argv[]);
/* Are groups sorted by one of bytes, held and objects alone? */
bool options_order_is_measure(const struct options *o);
/* Do ages matter before all is read, so that all has to be read for the newest first? */
bool options_need_newest(const struct options *o);
void options_free(struct options *o);

#endif
