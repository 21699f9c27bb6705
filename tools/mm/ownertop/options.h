/* SPDX-License-Identifier: GPL-2.0 */
/* The command line. */
#ifndef OWNERTOP_OPTIONS_H
#define OWNERTOP_OPTIONS_H

#include "report.h"
#include "times.h"
#include "views.h"

struct options {
	const struct view *view;
	enum format format;
	struct selection select;
	enum sort_by sort;
	u32 top;		/* 0: all */
	double least_percent;
	bool callees;
	struct times times;
	u64 page_size;
	const char *vmlinux;	/* and a directory of modules; NULL: no names from there */
	const char *modules;
	bool print_skip_list;
	const char *old;	/* dump to compare with, or NULL */
	u32 interval_ms;	/* between readings; 0: read once */
	char * const *inputs;
	int nr_inputs;

	s64 *pids;
	u32 pids_cap;
};

/* Ends the program with a message if the command line makes no sense. */
void options_parse(struct options *o, int argc, char *argv[]);
void options_free(struct options *o);

#endif
