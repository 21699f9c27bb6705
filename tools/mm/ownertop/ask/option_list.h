/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of ownertop's options. parse.c parses the command line by it, usage.c prints --help
 * from it, and generate.c makes the manual and the bash completion from it.
 */
#ifndef OWNERTOP_OPTION_LIST_H
#define OWNERTOP_OPTION_LIST_H

/* All options of ownertop, in the order of --help. Conditions are as in enum condition. */
enum option_id {
	OPT_DEPTH, OPT_BY, OPT_VERBOSE, OPT_ONELINE, OPT_GROUP, OPT_SORT, OPT_TOP,
	OPT_CACHE, OPT_COMM, OPT_MODULE, OPT_FUNC, OPT_IGNORE, OPT_PID, OPT_TGID, OPT_OLDER,
	OPT_KERNEL, OPT_KNOWN,
	OPT_HIDE, OPT_SKIP, OPT_NO_SKIP, OPT_SKIP_LIST, OPT_CALLEES, OPT_CALLERS, OPT_MIN,
	OPT_SINCE, OPT_TIME, OPT_NOW,
	OPT_PAGE_SIZE, OPT_SUM, OPT_VMCORE, OPT_VMLINUX, OPT_MODULES, OPT_KALLSYMS, OPT_BINARY,
	OPT_COLOR, OPT_LIVE, OPT_COUNT, OPT_JSON, OPT_CSV, OPT_HTML, OPT_OUTPUT, OPT_CHECK,
	OPT_WARN, OPT_KINDS, OPT_HELP, OPT_VERSION,
	NR_OPTIONS
};

/*
 * One bit for each option or setting that only some views accept. A view without the bit
 * refuses the option.
 */
enum {
	TAKES_TOP = 1 << 0,
	TAKES_SINCE = 1 << 1,
	TAKES_MIN = 1 << 2,
	TAKES_CALLEES = 1 << 3,
	TAKES_TIME = 1 << 4,
	TAKES_LIVE = 1 << 5,
	TAKES_ORDER = 1 << 6,	/* sort= by several keys, or by a key that is no measure */
	TAKES_KNOWN = 1 << 7,
	TAKES_MODE = 1 << 8,
	TAKES_BY = 1 << 9,
	TAKES_CALLERS = 1 << 10,
	TAKES_CHECK = 1 << 11,
	TAKES_CHOICE = 1 << 12,	/* the settings min= and each=, which leave groups out */
};

/* The subject of an option. --help has a heading for each. */
enum option_group {
	GROUP_GROUPS, GROUP_RECORDS, GROUP_CHAINS, GROUP_VIEW, GROUP_INPUT, GROUP_OUTPUT,
	GROUP_PROGRAM,
};

/* How a shell completes the argument of an option. */
enum option_values {
	VALUES_FILES,		/* offer files; the value of options without an argument, too */
	VALUES_FIELDS, VALUES_SORTS, VALUES_CACHES, VALUES_TIMES, VALUES_PAGE_SIZES,
	VALUES_BY, VALUES_COLORS,
	VALUES_OTHER,		/* the shell offers nothing */
};

struct option_info {
	char letter;		/* letter of the short option, or 0 */
	const char *name;
	int argument;		/* no_argument and so on, of getopt_long() */
	const char *form;	/* form of the argument in --help and in the manual */
	enum option_group group;
	enum option_values values;
	unsigned int takes;	/* TAKES_ bit that a view needs; 0: all views accept the option */
	const char *help;	/* the text of --help */
};

extern const struct option_info option_list[NR_OPTIONS];

#endif
