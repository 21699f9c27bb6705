// SPDX-License-Identifier: GPL-2.0
/* The options of ownertop: names, arguments and help. */
#include <getopt.h>
#include <stddef.h>

#include "ask/option_list.h"

const struct option_info option_list[NR_OPTIONS] = {
	[OPT_DEPTH] = {
		.letter = 'd', .name = "depth",
		.argument = required_argument, .form = "N",
		.group = GROUP_GROUPS, .values = VALUES_OTHER,
		.help = "frames of a call chain that make a group; 0: all",
	},
	[OPT_BY] = {
		.name = "by",
		.argument = required_argument, .form = "function|site",
		.group = GROUP_GROUPS, .values = VALUES_BY, .takes = TAKES_BY,
		.help = "frames are equal by function, or by place in it",
	},
	[OPT_VERBOSE] = {
		.letter = 'v', .name = "verbose",
		.group = GROUP_GROUPS,
		.help = "a line for each frame, below the group",
	},
	[OPT_ONELINE] = {
		.name = "oneline",
		.group = GROUP_GROUPS,
		.help = "a line for each group, with a depth, too",
	},
	[OPT_GROUP] = {
		.letter = 'g', .name = "group",
		.argument = required_argument, .form = "LIST",
		.group = GROUP_GROUPS, .values = VALUES_FIELDS,
		.help = "of stack,cache,module,comm,pid,cgroup,kind,age.1h,...",
	},
	[OPT_SORT] = {
		.letter = 's', .name = "sort",
		.argument = required_argument, .form = "LIST",
		.group = GROUP_GROUPS, .values = VALUES_SORTS,
		.help = "by held, bytes, waste, objects or oldest",
	},
	[OPT_TOP] = {
		.letter = 'n', .name = "top",
		.argument = required_argument, .form = "N",
		.group = GROUP_GROUPS, .values = VALUES_OTHER, .takes = TAKES_TOP,
		.help = "groups, or lines of a tree, to show; 0: all",
	},
	[OPT_CACHE] = {
		.name = "cache",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_CACHES,
		.help = "only objects of these caches",
	},
	[OPT_COMM] = {
		.name = "comm",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only what tasks of these names allocated",
	},
	[OPT_MODULE] = {
		.name = "module",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only chains with a function of these modules",
	},
	[OPT_FUNC] = {
		.name = "func",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only chains with one of these functions",
	},
	[OPT_IGNORE] = {
		.name = "ignore",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only chains without these functions",
	},
	[OPT_PID] = {
		.name = "pid",
		.argument = required_argument, .form = "N,...",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only what these threads allocated",
	},
	[OPT_TGID] = {
		.name = "tgid",
		.argument = required_argument, .form = "N,...",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only what these processes allocated",
	},
	[OPT_OLDER] = {
		.name = "older",
		.argument = required_argument, .form = "AGE",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help = "only objects of this age, as 30m, or older",
	},
	[OPT_KERNEL] = {
		.name = "kernel",
		.group = GROUP_RECORDS,
		.help = "no pages of programs: movable ones, as page cache",
	},
	[OPT_KNOWN] = {
		.name = "known",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_RECORDS, .values = VALUES_FILES, .takes = TAKES_KNOWN,
		.help = "add up the owners that this file lists in one row",
	},
	[OPT_HIDE] = {
		.name = "hide",
		.argument = required_argument, .form = "GLOB",
		.group = GROUP_CHAINS, .values = VALUES_OTHER,
		.help = "leave such functions out of call chains",
	},
	[OPT_SKIP] = {
		.name = "skip",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_CHAINS, .values = VALUES_FILES,
		.help = "the functions of the allocator, instead of the list",
	},
	[OPT_NO_SKIP] = {
		.name = "no-skip",
		.group = GROUP_CHAINS,
		.help = "show the functions of the allocator, too",
	},
	[OPT_SKIP_LIST] = {
		.name = "skip-list",
		.group = GROUP_CHAINS,
		.help = "print the list of the functions of the allocator",
	},
	[OPT_CALLEES] = {
		.name = "callees",
		.group = GROUP_VIEW, .takes = TAKES_CALLEES,
		.help = "tree, flame: begin with the allocation",
	},
	[OPT_CALLERS] = {
		.name = "callers",
		.group = GROUP_VIEW, .takes = TAKES_CALLERS,
		.help = "functions: with those that call each",
	},
	[OPT_MIN] = {
		.name = "min",
		.argument = required_argument, .form = "PERCENT",
		.group = GROUP_VIEW, .values = VALUES_OTHER, .takes = TAKES_MIN,
		.help = "tree, functions: leave out what has less",
	},
	[OPT_SINCE] = {
		.name = "since",
		.argument = required_argument, .form = "OLD",
		.group = GROUP_VIEW, .values = VALUES_FILES, .takes = TAKES_SINCE,
		.help = "flame: colour by the growth since this dump",
	},
	[OPT_TIME] = {
		.name = "time",
		.argument = required_argument, .form = "mtime|T,T...",
		.group = GROUP_VIEW, .values = VALUES_TIMES, .takes = TAKES_TIME,
		.help = "trend: when the dumps were taken",
	},
	[OPT_NOW] = {
		.name = "now",
		.argument = required_argument, .form = "TIME",
		.group = GROUP_INPUT, .values = VALUES_OTHER,
		.help = "count ages from this time after boot, as 26h",
	},
	[OPT_PAGE_SIZE] = {
		.name = "page-size",
		.argument = required_argument, .form = "N",
		.group = GROUP_INPUT, .values = VALUES_PAGE_SIZES,
		.help = "bytes of a page of the machine that was dumped",
	},
	[OPT_SUM] = {
		.name = "sum",
		.group = GROUP_INPUT,
		.help = "add up dumps of several machines",
	},
	[OPT_VMCORE] = {
		.name = "vmcore",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help = "read a memory dump",
	},
	[OPT_VMLINUX] = {
		.name = "vmlinux",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help = "names and source lines of frames, from DWARF",
	},
	[OPT_MODULES] = {
		.name = "modules",
		.argument = required_argument, .form = "DIR",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help = "names and source lines in modules",
	},
	[OPT_KALLSYMS] = {
		.name = "kallsyms",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help = "names of frames that are addresses",
	},
	[OPT_BINARY] = {
		.name = "binary",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help = "names of the frames of programs",
	},
	[OPT_COLOR] = {
		.name = "color",
		.argument = required_argument, .form = "WHEN",
		.group = GROUP_OUTPUT, .values = VALUES_COLORS,
		.help = "auto, always or never",
	},
	[OPT_LIVE] = {
		.name = "live",
		.argument = optional_argument, .form = "SECS",
		.group = GROUP_OUTPUT, .takes = TAKES_LIVE,
		.help = "show again and again; ? shows the keys",
	},
	[OPT_COUNT] = {
		.letter = 'c', .name = "count",
		.argument = required_argument, .form = "N",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_LIVE,
		.help = "end after N times",
	},
	[OPT_JSON] = {
		.name = "json",
		.group = GROUP_OUTPUT,
		.help = "for programs, with exact figures",
	},
	[OPT_CSV] = {
		.name = "csv",
		.group = GROUP_OUTPUT,
		.help = "for programs, in rows",
	},
	[OPT_HTML] = {
		.name = "html",
		.group = GROUP_OUTPUT,
		.help = "trend: a page for a browser, with a chart",
	},
	[OPT_OUTPUT] = {
		.letter = 'o', .name = "output",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_OUTPUT, .values = VALUES_FILES,
		.help = "write to this file, which is complete or as before",
	},
	[OPT_CHECK] = {
		.name = "check",
		.argument = required_argument, .form = "LIMIT",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_CHECK,
		.help = "exit with 2 beyond a limit, as 'held > 5G'",
	},
	[OPT_WARN] = {
		.name = "warn",
		.argument = required_argument, .form = "LIMIT",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_CHECK,
		.help = "exit with 1 beyond a limit",
	},
	[OPT_KINDS] = {
		.name = "kinds",
		.group = GROUP_PROGRAM,
		.help = "show which kinds of records SENTENCE asks for",
	},
	[OPT_HELP] = {
		.letter = 'h', .name = "help",
		.group = GROUP_PROGRAM,
		.help = "show this",
	},
	[OPT_VERSION] = {
		.name = "version",
		.group = GROUP_PROGRAM,
		.help = "show the version",
	},
};
