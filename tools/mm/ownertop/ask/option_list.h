/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line's options, in the order of --help. This is the only list of them:
 * options.c parses by it and prints --help from it, and generate.c makes the manual and
 * the bash completion from it.
 *
 * The includer defines
 *	OPTION(id, letter, name, argument, form, values, takes, group)
 *	OPTION_HELP(column, text)
 *
 * id		OPT_##id is the option's number
 * letter	the short option, or 0
 * argument	no_argument, required_argument or optional_argument of getopt_long()
 * form		how --help and the manual write the argument
 * values	VALUES_##values: what the shell completes the argument with
 * takes	the bit in struct view of a view that has a use for the option; 0: every view has
 * group	GROUP_##group: what the option is about
 *
 * OPTION_HELP() ends a line of --help: @text, in @column, explains the options since the
 * line before.
 */
OPTION(DEPTH, 'd', "depth", required_argument, "N", OTHER, 0, GROUPS)
OPTION_HELP(25, "frames in a group, after the allocator's own; 0: all")
OPTION(GROUP, 'g', "group", required_argument, "LIST", FIELDS, 0, GROUPS)
OPTION_HELP(25, "of stack,cache,comm,pid,module,kind,... and age")
OPTION(SORT, 's', "sort", required_argument, "LIST", SORTS, 0, GROUPS)
OPTION_HELP(25, "bytes asked for, held, waste, objects, oldest, youngest")
OPTION(TOP, 'n', "top", required_argument, "N", OTHER, TAKES_TOP, GROUPS)
OPTION_HELP(25, "groups, or lines of a tree, to show; 0: all")

OPTION(CACHE, 0, "cache", required_argument, "GLOB", CACHES, 0, RECORDS)
OPTION(COMM, 0, "comm", required_argument, "GLOB", OTHER, 0, RECORDS)
OPTION(PID, 0, "pid", required_argument, "N[,N]", OTHER, 0, RECORDS)
OPTION(OLDER, 0, "older", required_argument, "AGE", OTHER, 0, RECORDS)
OPTION_HELP(58, "only such records")
OPTION(FOCUS, 0, "focus", required_argument, "GLOB", OTHER, 0, RECORDS)
OPTION(IGNORE, 0, "ignore", required_argument, "GLOB", OTHER, 0, RECORDS)
OPTION_HELP(34, "only chains with, without such a function")

OPTION(HIDE, 0, "hide", required_argument, "GLOB", OTHER, 0, CHAINS)
OPTION(SKIP, 0, "skip", required_argument, "FILE", FILES, 0, CHAINS)
OPTION(NO_SKIP, 0, "no-skip", no_argument, NULL, NONE, 0, CHAINS)
OPTION(SKIP_LIST, 0, "skip-list", no_argument, NULL, NONE, 0, CHAINS)
OPTION_HELP(55, "functions to leave out")

OPTION(CALLEES, 0, "callees", no_argument, NULL, NONE, TAKES_CALLEES, VIEW)
OPTION(MIN, 0, "min", required_argument, "PERCENT", OTHER, TAKES_MIN, VIEW)
OPTION_HELP(34, "tree: allocations first; what to leave out")
OPTION(DIFF, 0, "diff", required_argument, "OLD", FILES, TAKES_DIFF, VIEW)
OPTION_HELP(25, "flame, folded: what grew since that dump")
OPTION(TIME, 0, "time", required_argument, "records|mtime|T,T...", TIMES, TAKES_TIME, VIEW)
OPTION_HELP(34, "trend: when the dumps were taken")

OPTION(NOW, 0, "now", required_argument, "TIME", OTHER, 0, INPUT)
OPTION(PAGE_SIZE, 0, "page-size", required_argument, "N", PAGE_SIZES, 0, INPUT)
OPTION_HELP(34, "of the dump: 26h after boot; bytes in a page")
OPTION(VMLINUX, 0, "vmlinux", required_argument, "FILE", FILES, 0, INPUT)
OPTION(MODULES, 0, "modules", required_argument, "DIR", FILES, 0, INPUT)
OPTION(KALLSYMS, 0, "kallsyms", required_argument, "FILE", FILES, 0, INPUT)
OPTION_HELP(52, "names and lines from these")

OPTION(LIVE, 0, "live", optional_argument, "SECS", NONE, TAKES_LIVE, OUTPUT)
OPTION_HELP(25, "show chains again and again; ages with -s oldest")
OPTION(JSON, 0, "json", no_argument, NULL, NONE, 0, OUTPUT)
OPTION(CSV, 0, "csv", no_argument, NULL, NONE, 0, OUTPUT)
OPTION(HELP, 'h', "help", no_argument, NULL, NONE, 0, PROGRAM)
OPTION_HELP(25, "write for programs; print this")
