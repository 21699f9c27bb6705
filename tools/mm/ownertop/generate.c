// SPDX-License-Identifier: GPL-2.0
/*
 * Make the manual or the bash completion from its template and from the list of options.
 * Runs on the machine that builds. Reads the template on standard input and writes the
 * result to standard output.
 *
 * In ownertop.8.in a line "@option NAME..." becomes the head of an item of a list. Each
 * option must have one. In ownertop.bash-completion.in, @options@ becomes the names of all
 * options, and @VALUES@ the case pattern of the options whose arguments have these
 * values.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/option_list.h"

#define OPTION_LINE "@option "

/* Names of enum option_values in the template of the completion. */
static const char * const values_names[] = {
	[VALUES_FILES] = "FILES",
	[VALUES_FIELDS] = "FIELDS",
	[VALUES_SORTS] = "SORTS",
	[VALUES_CACHES] = "CACHES",
	[VALUES_TIMES] = "TIMES",
	[VALUES_PAGE_SIZES] = "PAGE_SIZES",
	[VALUES_BY] = "BY",
	[VALUES_COLORS] = "COLORS",
	[VALUES_OTHER] = "OTHER",
};

static bool documented[NR_OPTIONS];

static void exit_with_error(const char *message, const char *name)
{
	fprintf(stderr, "generate: %s: '%s'\n", message, name);
	exit(1);
}

static int find_option_by_name(const char *name)
{
	int i;

	for (i = 0; i < NR_OPTIONS; i++)
		if (!strcmp(option_list[i].name, name))
			return i;
	exit_with_error("no such option in the list", name);
	return 0;
}

/*
 * Print the names and the argument of an option in the macros of mdoc(7), as "d , -depth Ar N".
 * The caller has printed "Fl".
 */
static void print_mdoc_option(int i)
{
	if (option_list[i].letter)
		printf(" %c , ", option_list[i].letter);
	else
		putchar(' ');
	printf("-%s", option_list[i].name);
	if (option_list[i].argument == required_argument)
		printf(" Ar %s", option_list[i].form);
	else if (option_list[i].argument == optional_argument)
		printf(" Ns Op = Ns Ar %s", option_list[i].form);
}

static void print_item_heads(char *names)
{
	const char *name = strtok(names, " "), *macro = ".It Fl";

	for (; name; name = strtok(NULL, " ")) {
		int i = find_option_by_name(name);

		if (documented[i])
			exit_with_error("the manual has this option twice", name);
		documented[i] = true;
		fputs(macro, stdout);
		print_mdoc_option(i);
		macro = " , Fl";
	}
	putchar('\n');
}

static void print_option_names(void)
{
	int i;

	for (i = 0; i < NR_OPTIONS; i++)
		printf("%s--%s", i ? " " : "", option_list[i].name);
}

static void print_case_pattern(const char *values)
{
	const char *before = "";
	int i;

	for (i = 0; i < NR_OPTIONS; i++) {
		if (strcmp(values_names[option_list[i].values], values))
			continue;
		if (option_list[i].letter)
			printf("%s-%c", before, option_list[i].letter);
		printf("%s--%s", option_list[i].letter ? " | " : before, option_list[i].name);
		before = " | ";
	}
	if (!*before)
		exit_with_error("no option has such values", values);
}

/* Print a line of the template with its "@word@", if it has one, replaced. */
static void print_template_line(char *line)
{
	char *word = strchr(line, '@'), *end = word ? strchr(word + 1, '@') : NULL;

	if (!end) {
		fputs(line, stdout);
		return;
	}
	*word++ = '\0';
	*end++ = '\0';
	fputs(line, stdout);
	if (!strcmp(word, "options"))
		print_option_names();
	else
		print_case_pattern(word);
	fputs(end, stdout);
}

int main(void)
{
	bool any = false;
	char line[1024];
	int i;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, OPTION_LINE, strlen(OPTION_LINE)))
			print_template_line(line);
		else
			print_item_heads(strtok(line + strlen(OPTION_LINE), "\n"));
	}
	for (i = 0; i < NR_OPTIONS; i++)
		any |= documented[i];
	for (i = 0; any && i < NR_OPTIONS; i++)
		if (!documented[i])
			exit_with_error("the manual lacks this option", option_list[i].name);
	return fflush(stdout) || ferror(stdout);
}
