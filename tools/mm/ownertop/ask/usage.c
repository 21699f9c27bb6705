// SPDX-License-Identifier: GPL-2.0
/* Print the help text and messages about a wrong command line; parse numbers of options. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/option_list.h"
#include "ask/usage.h"
#include "ask/views.h"
#include "base/exit_status.h"
#include "base/version.h"

static const char help_head[] =
"Usage: ownertop [VIEW] [SENTENCE] [options] [FILE...]\n"
"Adds up the records of page_owner and slab_owner by the call chain that owns\n"
"them. Reads FILEs, a pipe, or else asks the kernel of this machine.\n"
"SENTENCE: as for owner/query, as 'group=stack.4,comm top=20 if age > 1h'\n"
"\nViews:\n"
"  table                   which call chains hold most? (the default)\n"
"  explain                 which owners hold the memory, in words?\n"
"  functions               which functions allocate most, alone and with callees?\n"
"  tree                    from where do the allocations come?\n"
"  flame, folded, pprof    all chains, for a browser or another program\n"
"  diff OLD NEW            which chains grew between two dumps?\n"
"  trend FILE...           which chains grow steadily in a series of dumps?\n"
"  prom                    how much do the largest owners hold, for Prometheus?\n"
"  page_owner_sort         as the program of that name\n"
"  record DIR              write dumps of this machine\n";

static const char help_tail[] =
"\nExample: ownertop flame --older 1h dump.txt > flame.html\n"
"Exit status: 0 all was read, 1 input was damaged or not read, 2 failed.\n";

/* The column in which the text of an option begins, unless its name is too long. */
#define HELP_COLUMN 26

static const char * const headings[] = {
	[GROUP_GROUPS] = "Groups",
	[GROUP_RECORDS] = "Which records count",
	[GROUP_CHAINS] = "Functions of call chains",
	[GROUP_VIEW] = "Options of some views",
	[GROUP_INPUT] = "Input",
	[GROUP_OUTPUT] = "Output",
	[GROUP_PROGRAM] = "This program",
};

static void print_option(const struct option_info *option, FILE *out)
{
	char name[80];
	int len;

	if (option->letter)
		len = sprintf(name, "  -%c, --%s", option->letter, option->name);
	else
		len = sprintf(name, "      --%s", option->name);
	if (option->argument == required_argument)
		sprintf(name + len, " %s", option->form);
	else if (option->argument == optional_argument)
		sprintf(name + len, "[=%s]", option->form);
	fprintf(out, "%-*s %s\n", HELP_COLUMN - 1, name, option->help);
}

static void print_options(FILE *out)
{
	int i;

	for (i = 0; i < NR_OPTIONS; i++) {
		if (!i || option_list[i].group != option_list[i - 1].group)
			fprintf(out, "\n%s:\n", headings[option_list[i].group]);
		print_option(&option_list[i], out);
	}
}

void usage_print_help(FILE *out)
{
	fputs(help_head, out);
	print_options(out);
	fputs(help_tail, out);
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

void usage_refuse_unknown_option(const char *option)
{
	const char *names[NR_OPTIONS];
	char name[32];
	int i, nearest, field = 0;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(option + 2, "="), option + 2);
	while (field < OWNER_FIELDS && strcmp(name, field_name(field)))
		field++;
	for (i = 0; i < NR_OPTIONS; i++)
		names[i] = option_list[i].name;
	nearest = owner_lang_nearest_name(name, strlen(name), names, NR_OPTIONS);
	if (field < OWNER_FIELDS)
		fprintf(stderr, "For a condition, write a sentence: 'if %s == VALUE'\n", name);
	else if (view_find_by_name(name))
		fprintf(stderr, "'%s' is a view: ownertop %s\n", name, name);
	else if (nearest >= 0)
		fprintf(stderr, "Did you mean '--%s'?\n", names[nearest]);
	usage_exit_with_hint();
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
