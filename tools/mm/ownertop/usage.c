// SPDX-License-Identifier: GPL-2.0
/* The help, and values on the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_status.h"
#include "usage.h"

#define NS_PER_SECOND 1000000000ULL

static const char help[] =
"Usage: ownertop [VIEW] [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, '-' for a pipe, or /sys/kernel/debug/slab_owner.\n"
"Views: table, tree, records, diff OLD NEW, trend FILE FILE..., flame, folded,\n"
"  pprof, page_owner_sort (with the options of that program)\n"
"  -d, --depth N          frames in a group, after the allocator's own; 0: all\n"
"  -g, --group LIST       of stack,cache,comm,pid,tgid,module,kind,age\n"
"  -s, --sort KEY         bytes asked for, held by the allocator, or objects\n"
"  -n, --top N            groups, or lines of a tree, to show; 0: all\n"
"  --cache GLOB, --comm GLOB, --pid N[,N], --older AGE     only such records\n"
"  --focus GLOB, --ignore GLOB     only chains with, without such a function\n"
"  --hide GLOB, --skip FILE, --no-skip, --skip-list     functions to leave out\n"
"  --callees, --min PERCENT        tree: allocations first; what to leave out\n"
"  --diff OLD             flame, folded: what grew since that dump\n"
"  --time records|mtime|T,T...     trend: when the dumps were taken\n"
"  --page-size N          bytes in a page where the dump was made (as here)\n"
"  --vmlinux FILE, --modules DIR   file:line and inlined functions from these\n"
"  --live[=SECS]          read and show again and again; keys sort, pause, quit\n"
"  --json, --csv; --help  write for programs; print this\n"
"Examples: ownertop       the slab objects of this machine\n"
"  ownertop --cache 'kmalloc-*' -d 8 dump.txt\n"
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

u64 usage_number(const char *option, const char *text, u64 max, char stop,
		 const char **end)
{
	char *after;
	u64 v;

	v = strtoull(text, &after, 10);	/* saturates, so above max */
	if (*text < '0' || *text > '9' || (*after && *after != stop))
		usage_fail(option, text, "is not a number");
	if (v > max)
		usage_fail(option, text, "is too large a number");
	*end = after;
	return v;
}

u32 usage_count(const char *option, const char *text)
{
	const char *end;

	return usage_number(option, text, U32_MAX - 1, '\0', &end);
}

u64 usage_duration(const char *option, const char *text, char stop, const char **end)
{
	static const struct {
		char unit;
		u64 seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	unsigned int i;
	char *after;
	u64 v;

	v = strtoull(text, &after, 10);
	if (*text >= '0' && *text <= '9' && *after && (!after[1] || after[1] == stop)) {
		for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
			if (units[i].unit != *after)
				continue;
			if (__builtin_mul_overflow(v, units[i].seconds * NS_PER_SECOND, &v))
				usage_fail(option, text, "is too long a time");
			*end = after + 1;
			return v;
		}
	}
	usage_fail(option, text, "is not a time such as 90s, 30m, 2h or 1d");
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
