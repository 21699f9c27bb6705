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
	},
	[OPT_BY] = {
		.name = "by",
		.argument = required_argument, .form = "function|site",
		.group = GROUP_GROUPS, .values = VALUES_BY, .takes = TAKES_BY,
		.help_column = 38, .help = "frames that make a group, 0: all",
	},
	[OPT_VERBOSE] = {
		.letter = 'v', .name = "verbose",
		.group = GROUP_GROUPS,
	},
	[OPT_ONELINE] = {
		.name = "oneline",
		.group = GROUP_GROUPS,
	},
	[OPT_COLOR] = {
		.name = "color",
		.argument = required_argument, .form = "WHEN",
		.group = GROUP_OUTPUT, .values = VALUES_COLORS,
		.help_column = 43, .help = "a line for each frame, group; auto...",
	},
	[OPT_GROUP] = {
		.letter = 'g', .name = "group",
		.argument = required_argument, .form = "LIST",
		.group = GROUP_GROUPS, .values = VALUES_FIELDS,
		.help_column = 25, .help = "of stack,cache,comm,pid,user,binary,age.1h,...",
	},
	[OPT_SORT] = {
		.letter = 's', .name = "sort",
		.argument = required_argument, .form = "LIST",
		.group = GROUP_GROUPS, .values = VALUES_SORTS,
		.help_column = 25,
		.help = "bytes asked for, held, waste, objects, oldest, youngest",
	},
	[OPT_TOP] = {
		.letter = 'n', .name = "top",
		.argument = required_argument, .form = "N",
		.group = GROUP_GROUPS, .values = VALUES_OTHER, .takes = TAKES_TOP,
		.help_column = 25, .help = "groups, or lines of a tree, to show; 0: all",
	},
	[OPT_CACHE] = {
		.name = "cache",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_CACHES,
	},
	[OPT_COMM] = {
		.name = "comm",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
	},
	[OPT_MODULE] = {
		.name = "module",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
	},
	[OPT_FUNC] = {
		.name = "func",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help_column = 63, .help = "only of these",
	},
	[OPT_IGNORE] = {
		.name = "ignore",
		.argument = required_argument, .form = "NAMES",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
	},
	[OPT_PID] = {
		.name = "pid",
		.argument = required_argument, .form = "N,...",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
	},
	[OPT_TGID] = {
		.name = "tgid",
		.argument = required_argument, .form = "N,...",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
	},
	[OPT_OLDER] = {
		.name = "older",
		.argument = required_argument, .form = "AGE",
		.group = GROUP_RECORDS, .values = VALUES_OTHER,
		.help_column = 59, .help = "not func; of these",
	},
	[OPT_HIDE] = {
		.name = "hide",
		.argument = required_argument, .form = "GLOB",
		.group = GROUP_CHAINS, .values = VALUES_OTHER,
	},
	[OPT_SKIP] = {
		.name = "skip",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_CHAINS, .values = VALUES_FILES,
	},
	[OPT_NO_SKIP] = {
		.name = "no-skip",
		.group = GROUP_CHAINS,
	},
	[OPT_SKIP_LIST] = {
		.name = "skip-list",
		.group = GROUP_CHAINS,
		.help_column = 55, .help = "functions to leave out",
	},
	[OPT_CALLEES] = {
		.name = "callees",
		.group = GROUP_VIEW, .takes = TAKES_CALLEES,
	},
	[OPT_CALLERS] = {
		.name = "callers",
		.group = GROUP_VIEW, .takes = TAKES_CALLERS,
	},
	[OPT_MIN] = {
		.name = "min",
		.argument = required_argument, .form = "PERCENT",
		.group = GROUP_VIEW, .values = VALUES_OTHER, .takes = TAKES_MIN,
		.help_column = 39, .help = "trees and functions: what to show",
	},
	[OPT_DIFF] = {
		.name = "diff",
		.argument = required_argument, .form = "OLD",
		.group = GROUP_VIEW, .values = VALUES_FILES, .takes = TAKES_DIFF,
	},
	[OPT_TIME] = {
		.name = "time",
		.argument = required_argument, .form = "records|mtime|T,T...",
		.group = GROUP_VIEW, .values = VALUES_TIMES, .takes = TAKES_TIME,
		.help_column = 43, .help = "flame: what grew; trend: when taken",
	},
	[OPT_NOW] = {
		.name = "now",
		.argument = required_argument, .form = "TIME",
		.group = GROUP_INPUT, .values = VALUES_OTHER,
	},
	[OPT_PAGE_SIZE] = {
		.name = "page-size",
		.argument = required_argument, .form = "N",
		.group = GROUP_INPUT, .values = VALUES_PAGE_SIZES,
	},
	[OPT_SUM] = {
		.name = "sum",
		.group = GROUP_INPUT,
		.help_column = 36, .help = "26h after boot; bytes; several machines",
	},
	[OPT_VMCORE] = {
		.name = "vmcore",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
	},
	[OPT_VMLINUX] = {
		.name = "vmlinux",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
	},
	[OPT_MODULES] = {
		.name = "modules",
		.argument = required_argument, .form = "DIR",
		.group = GROUP_INPUT, .values = VALUES_FILES,
		.help_column = 48, .help = "dump of memory, its names",
	},
	[OPT_KALLSYMS] = {
		.name = "kallsyms",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
	},
	[OPT_BINARY] = {
		.name = "binary",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_INPUT, .values = VALUES_FILES,
	},
	[OPT_KINDS] = {
		.name = "kinds",
		.group = GROUP_INPUT,
		.help_column = 43, .help = "names of frames; slab,percpu,page",
	},
	[OPT_LIVE] = {
		.name = "live",
		.argument = optional_argument, .form = "SECS",
		.group = GROUP_OUTPUT, .takes = TAKES_LIVE,
	},
	[OPT_COUNT] = {
		.letter = 'c', .name = "count",
		.argument = required_argument, .form = "N",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_LIVE,
		.help_column = 34, .help = "show again and again, N times; ? for keys",
	},
	[OPT_JSON] = {
		.name = "json",
		.group = GROUP_OUTPUT,
	},
	[OPT_CSV] = {
		.name = "csv",
		.group = GROUP_OUTPUT,
	},
	[OPT_OUTPUT] = {
		.letter = 'o', .name = "output",
		.argument = required_argument, .form = "FILE",
		.group = GROUP_OUTPUT, .values = VALUES_FILES,
		.help_column = 36, .help = "write for programs; to this file",
	},
	[OPT_CHECK] = {
		.name = "check",
		.argument = required_argument, .form = "LIMIT",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_CHECK,
	},
	[OPT_WARN] = {
		.name = "warn",
		.argument = required_argument, .form = "LIMIT",
		.group = GROUP_OUTPUT, .values = VALUES_OTHER, .takes = TAKES_CHECK,
	},
	[OPT_HELP] = {
		.letter = 'h', .name = "help",
		.group = GROUP_PROGRAM,
	},
	[OPT_VERSION] = {
		.name = "version",
		.group = GROUP_PROGRAM,
		.help_column = 60, .help = "monitor 'bytes > 5G'",
	},
};
