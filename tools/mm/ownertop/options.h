/* SPDX-License-Identifier: GPL-2.0 */
/* The command line. */
#ifndef OWNERTOP_OPTIONS_H
#define OWNERTOP_OPTIONS_H

#include "model.h"
#include "report.h"

enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_CSV,
};

struct options {
	struct view view;
	enum sort_by sort;
	enum format format;
	u32 top;		/* 0: all */
	u64 page_size;
	const char *vmlinux;	/* and a directory of modules; NULL: no names from there */
	const char *modules;
	s64 *pids;
	u32 pids_cap;
	bool print_skip_list;
	u32 interval_ms;	/* between readings; 0: read once */
	char * const *inputs;
	int nr_inputs;
};

/* Ends the program with a message if the command line makes no sense. */
void options_parse(struct options *o, int argc, char *argv[]);
void options_free(struct options *o);

#endif
