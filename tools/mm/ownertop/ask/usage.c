// SPDX-License-Identifier: GPL-2.0
/* Print the help text and messages about a wrong command line; parse numbers of options. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/option_list.h"
#include "ask/usage.h"
#include "base/exit_status.h"
#include "base/version.h"

#define LINE_MAX_LEN 100

static const char help_head[] =
"Usage: ownertop [VIEW] [SENTENCE] [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, a pipe, or else asks the kernel of this machine.\n"
"SENTENCE: as for owner/query, as 'group=stack.4,comm top=20 if age > 1h'\n"
"Views: table, explain, functions, tree, diff OLD NEW, trend FILE..., flame,\n"
"  folded, pprof, prom, page_owner_sort (like it); record DIR: dumps\n";

static const char help_tail[] =
"Example: ownertop flame --older 1h dump.txt > flame.html\n"
"Exit status: 0 all was read, 1 input was damaged or not read, 2 failed.\n";

/*
 * Returns the separator of two options in one line of --help: ", ", or "; " if their subjects
 * differ.
 */
static const char *choose_separator(const struct option_info *previous,
				    const struct option_info *option)
{
	if (!previous)
		return "  ";
	return previous->group == option->group ? ", " : "; ";
}

static int append_option_to_help_line(char *line, int len, const struct option_info *previous,
				      const struct option_info *option)
{
	len += sprintf(line + len, "%s", choose_separator(previous, option));
	if (option->letter)
		len += sprintf(line + len, "-%c, ", option->letter);
	len += sprintf(line + len, "--%s", option->name);
	if (option->argument == required_argument)
		len += sprintf(line + len, " %s", option->form);
	else if (option->argument == optional_argument)
		len += sprintf(line + len, "[=%s]", option->form);
	return len;
}

static void print_options(void)
{
	const struct option_info *previous = NULL;
	char line[LINE_MAX_LEN];
	int i, len = 0;

	for (i = 0; i < NR_OPTIONS; i++) {
		const struct option_info *option = &option_list[i];

		len = append_option_to_help_line(line, len, previous, option);
		previous = option;
		if (!option->help)
			continue;
		printf("%-*s%s\n", option->help_column, line, option->help);
		previous = NULL;
		len = 0;
	}
}

void usage_print_help(void)
{
	fputs(help_head, stdout);
	print_options();
	fputs(help_tail, stdout);
	exit(STATUS_COMPLETE);
}

void usage_print_version(void)
{
	puts("ownertop " OWNERTOP_VERSION);
	exit(STATUS_COMPLETE);
}

void usage_exit_with_hint(void)
{
	fputs("Try 'ownertop --help'.\n", stderr);
	exit(STATUS_FAILED);
}

void usage_refuse_value(const char *option, const char *value, const char *reason)
{
	fprintf(stderr, "ownertop: %s: '%s' %s\n", option, value, reason);
	usage_exit_with_hint();
}

void usage_refuse_option(const char *option, const char *message)
{
	fprintf(stderr, "ownertop: %s: %s\n", option, message);
	usage_exit_with_hint();
}

u32 usage_parse_count(const char *option, const char *text)
{
	char *end;
	u64 v = strtoull(text, &end, 10);	/* ULLONG_MAX if too large: refused below */

	if (*text < '0' || *text > '9' || *end)
		usage_refuse_value(option, text, "is not a number");
	if (v >= U32_MAX)
		usage_refuse_value(option, text, "is too large a number");
	return v;
}

double usage_parse_percent(const char *option, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (*text < '0' || *text > '9' || (strcmp(end, "") && strcmp(end, "%")))
		usage_refuse_value(option, text, "is not a number of percent");
	if (!(v <= 100))
		usage_refuse_value(option, text, "is more than all");
	return v;
}
