/* SPDX-License-Identifier: GPL-2.0 */
/* The parsed command line. */
#ifndef OWNERTOP_OPTIONS_H
#define OWNERTOP_OPTIONS_H

#include "ask/times.h"
#include "ask/views.h"
#include "input/reader.h"
#include "model/measure.h"

/* Value of --by: what makes two frames equal. */
enum frame_key {
	BY_DEFAULT,		/* the default of the view */
	BY_FUNCTION,
	BY_SITE,		/* function and offset */
};

/* The levels of --warn and --check. */
enum check_level { LEVEL_WARN, LEVEL_CRITICAL, NR_CHECK_LEVELS };

/* A limit, as "bytes > 5G". */
struct check {
	const char *text;	/* NULL: the option was not used */
	enum owner_sort figure;	/* bytes, held, waste or objects */
	struct owner_sentence limit;	/* compares the figure in place of the field size */
};

struct options {
	const struct view *view;
	enum output_format format;
	struct record_selection select;
	enum measure sort;	/* the figure of percentages and widths */
	unsigned char order[OWNER_SORTS];	/* keys to sort by, enum owner_sort */
	u32 nr_order;
	bool sort_given;
	u32 top;		/* groups to show; 0: all */
	enum frame_key by;
	enum colour_when colour;
	bool oneline;		/* a line for each group, with --depth, too */
	bool unfold;		/* a line for each frame */
	bool fit_screen;	/* show as many groups as the terminal has room for */
	bool ages;		/* ask the kernel for ages, which takes it long */
	u64 now;		/* time stamp to count ages from; 0: the newest record's */
	double least_percent;	/* share of the total that a line of a tree has at least */
	bool callees;
	bool callers;
	struct dump_times times;
	struct input_options input;
	const char *vmcore;	/* a memory dump, one of the inputs, or NULL */
	const char *vmlinux;	/* kernel with DWARF, or NULL */
	const char *modules;	/* directory of modules with DWARF, or NULL */
	const char **binaries;	/* programs with names of user frames */
	u32 nr_binaries;
	u32 binaries_cap;
	const char *kallsyms;	/* copy of /proc/kallsyms, or NULL */
	char *snapshot_kallsyms;	/* kallsyms of the last snapshot that is read, or NULL */
	const char *output;	/* file for the output, or NULL: standard output */
	struct check checks[NR_CHECK_LEVELS];
	bool check_groups;	/* compare each group with the limits, not the total */
	bool print_skip_list;
	bool print_kinds;
	bool print_help;
	const char *old;	/* the older dump, or NULL */
	u32 updates;		/* updates of live mode until it ends; 0: no limit */
	u32 interval_ms;	/* time between updates; 0: read once */
	bool live;		/* no input is named: read this machine */
	char * const *inputs;
	const char **input_list;	/* the list that inputs points into */
	int nr_inputs;
};

/* Is one measure (bytes, held or objects) the only sort key? */
bool options_order_is_measure(const struct options *o);
/*
 * Must the newest record be known before the expression is evaluated? Then inputs are read twice.
 */
bool options_need_newest_record(const struct options *o);
void options_free(struct options *o);

#endif
