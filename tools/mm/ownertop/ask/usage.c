// SPDX-License-Identifier: GPL-2.0
/* The help, and values on the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "ask/usage.h"

static const char help[] =
"Usage: ownertop [VIEW] [SENTENCE] [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, '-' for a pipe, or asks the kernel of this machine.\n"
"SENTENCE: as for owner/query, as 'group=stack.4,comm top=20 if age > 1h'\n"
"Views: table, tree, records, diff OLD NEW, trend FILE FILE..., flame, folded,\n"
"  pprof, page_owner_sort (with the options of that program)\n"
"  -d, --depth N          frames in a group, after the allocator's own; 0: all\n"
"  -g, --group LIST       of stack,cache,comm,pid,module,kind,... and age\n"
"  -s, --sort LIST        bytes asked for, held, waste, objects, oldest, youngest\n"
"  -n, --top N            groups, or lines of a tree, to show; 0: all\n"
"  --cache GLOB, --comm GLOB, --pid N[,N], --older AGE     only such records\n"
"  --focus GLOB, --ignore GLOB     only chains with, without such a function\n"
"  --hide GLOB, --skip FILE, --no-skip, --skip-list     functions to leave out\n"
"  --callees, --min PERCENT        tree: allocations first; what to leave out\n"
"  --diff OLD             flame, folded: what grew since that dump\n"
"  --time records|mtime|T,T...     trend: when the dumps were taken\n"
"  --now TIME, --page-size N       of the dump: 26h after boot; bytes in a page\n"
"  --vmlinux FILE, --modules DIR, --kallsyms FILE    names and lines from these\n"
"  --live[=SECS]          show chains again and again; ages with -s oldest\n"
"  --json, --csv; --help  write for programs; print this\n"
"Examples: ownertop -d 8 --cache 'kmalloc-*'    objects of this machine\n"
"  ownertop diff monday.txt friday.txt\n"
"  ownertop flame --older 1h dump.txt > flame.html\n"
"Exit status: 0 all was read, 1 input was damaged or not read, 2 failed.\n";

void usage_help(void)
{
	fputs(help, stdout);
	exit(STATUS_WHOLE);
}

void usage_hint(void)
{
	fputs("Try 'ownertop --help'.\n", stderr);
	exit(STATUS_FAILED);
}

void usage_fail(const char *option, const char *value, const char *reason)
{
	fprintf(stderr, "ownertop: %s: '%s' %s\n", option, value, reason);
	usage_hint();
}

void usage_refuse(const char *option, const char *message)
{
	fprintf(stderr, "ownertop: %s: %s\n", option, message);
	usage_hint();
}

u32 usage_count(const char *option, const char *text)
{
	char *end;
	u64 v = strtoull(text, &end, 10);	/* saturates, so above all */

	if (*text < '0' || *text > '9' || *end)
		usage_fail(option, text, "is not a number");
	if (v >= U32_MAX)
		usage_fail(option, text, "is too large a number");
	return v;
}

double usage_percent(const char *option, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (*text < '0' || *text > '9' || (strcmp(end, "") && strcmp(end, "%")))
		usage_fail(option, text, "is not a number of percent");
	if (!(v <= 100))
		usage_fail(option, text, "is more than all");
	return v;
}
