// SPDX-License-Identifier: GPL-2.0
/* The help text, the messages about a wrong command line, and the parsing of numbers. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/usage.h"
#include "base/exit_status.h"

#define LINE_MAX_LEN 100

static const char help_head[] =
"Usage: ownertop [VIEW] [SENTENCE] [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, '-' for a pipe, or asks the kernel of this machine.\n"
"SENTENCE: as for owner/query, as 'group=stack.4,comm top=20 if age > 1h'\n"
"Views: table, tree, records, diff OLD NEW, trend FILE FILE..., flame, folded,\n"
"  pprof, page_owner_sort (with the options of that program)\n";

static const char help_tail[] =
"Examples: ownertop -d 8 --cache 'kmalloc-*'    objects of this machine\n"
"  ownertop diff monday.txt friday.txt\n"
"  ownertop flame --older 1h dump.txt > flame.html\n"
"Exit status: 0 all was read, 1 input was damaged or not read, 2 failed.\n";

enum option_group {
	GROUP_GROUPS, GROUP_RECORDS, GROUP_CHAINS, GROUP_VIEW, GROUP_INPUT, GROUP_OUTPUT,
	GROUP_PROGRAM,
};

/* An option, or the end of a line of help: text that starts in a column. */
struct help_part {
	enum option_group group;
	char letter;
	const char *name;	/* NULL: end of a line */
	int argument;
	const char *form;
	int column;
	const char *text;
};

static const struct help_part help_parts[] = {
#define OPTION(id, key, long_name, has_arg, arg_form, values, takes, about) \
	{ GROUP_##about, key, long_name, has_arg, arg_form, 0, NULL },
#define OPTION_HELP(start, line) { .column = start, .text = line },
#include "ask/option_list.h"
#undef OPTION
#undef OPTION_HELP
};

/* Options of one line are separated by ", ", or by "; " if they are about different things. */
static const char *separator(const struct help_part *previous, const struct help_part *part)
{
	if (!previous)
		return "  ";
	return previous->group == part->group ? ", " : "; ";
}

static int append_option(char *line, int len, const struct help_part *previous,
			 const struct help_part *part)
{
	len += sprintf(line + len, "%s", separator(previous, part));
	if (part->letter && !previous)
		len += sprintf(line + len, "-%c, ", part->letter);
	len += sprintf(line + len, "--%s", part->name);
	if (part->argument == required_argument)
		len += sprintf(line + len, " %s", part->form);
	else if (part->argument == optional_argument)
		len += sprintf(line + len, "[=%s]", part->form);
	return len;
}

static void print_options(void)
{
	const struct help_part *previous = NULL;
	char line[LINE_MAX_LEN];
	int len = 0;
	size_t i;

	for (i = 0; i < sizeof(help_parts) / sizeof(*help_parts); i++) {
		const struct help_part *part = &help_parts[i];

		if (part->name) {
			len = append_option(line, len, previous, part);
			previous = part;
		} else {
			printf("%-*s%s\n", part->column, line, part->text);
			previous = NULL;
			len = 0;
		}
	}
}

void usage_help(void)
{
	fputs(help_head, stdout);
	print_options();
	fputs(help_tail, stdout);
	exit(STATUS_COMPLETE);
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
	u64 v = strtoull(text, &end, 10);	/* ULLONG_MAX if it does not fit: refused below */

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
