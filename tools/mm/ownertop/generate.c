// SPDX-License-Identifier: GPL-2.0
/*
 * Make the manual or the bash completion from its template and from ask/option_list.h.
 * Runs on the machine that builds. Reads the template on standard input and writes the
 * result to standard output.
 *
 * In ownertop.8.in a line "@option NAME..." becomes the head of an item of a list. Each
 * option must have one. In ownertop.bash-completion.in, @options@ becomes the names of all
 * options, and @VALUES@ the case pattern of the options that have such arguments.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION_LINE "@option "

static const struct {
	char letter;
	const char *name;
	int argument;
	const char *form;
	const char *values;
} options[] = {
#define OPTION(id, letter, name, argument, form, values, takes, group) \
	{ letter, name, argument, form, #values },
#define OPTION_HELP(column, text)
#include "ask/option_list.h"
};

#define NR_OPTIONS (sizeof(options) / sizeof(*options))

static bool documented[NR_OPTIONS];

static void fail(const char *message, const char *name)
{
	fprintf(stderr, "generate: %s: '%s'\n", message, name);
	exit(1);
}

static size_t find_option(const char *name)
{
	size_t i;

	for (i = 0; i < NR_OPTIONS; i++)
		if (!strcmp(options[i].name, name))
			return i;
	fail("no such option in ask/option_list.h", name);
	return 0;
}

/* Print "d , -depth Ar N" in the macros of mdoc(7), after "Fl". */
static void print_macros(size_t i)
{
	if (options[i].letter)
		printf(" %c , ", options[i].letter);
	else
		putchar(' ');
	printf("-%s", options[i].name);
	if (options[i].argument == required_argument)
		printf(" Ar %s", options[i].form);
	else if (options[i].argument == optional_argument)
		printf(" Ns Op = Ns Ar %s", options[i].form);
}

static void print_item(char *names)
{
	const char *name = strtok(names, " \n"), *macro = ".It Fl";

	for (; name; name = strtok(NULL, " \n")) {
		size_t i = find_option(name);

		if (documented[i])
			fail("the manual has this option twice", name);
		documented[i] = true;
		fputs(macro, stdout);
		print_macros(i);
		macro = " , Fl";
	}
	putchar('\n');
}

static void print_names(void)
{
	size_t i;

	for (i = 0; i < NR_OPTIONS; i++)
		printf("%s--%s", i ? " " : "", options[i].name);
}

static void print_pattern(const char *values)
{
	const char *before = "";
	size_t i;

	for (i = 0; i < NR_OPTIONS; i++) {
		if (strcmp(options[i].values, values))
			continue;
		if (options[i].letter)
			printf("%s-%c", before, options[i].letter);
		printf("%s--%s", options[i].letter ? " | " : before, options[i].name);
		before = " | ";
	}
	if (!*before)
		fail("no option has such values", values);
}

/* Replace one "@word@" of a line, if it has one. */
static void print_line(char *line)
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
		print_names();
	else
		print_pattern(word);
	fputs(end, stdout);
}

int main(void)
{
	bool any = false;
	char line[1024];
	size_t i;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, OPTION_LINE, strlen(OPTION_LINE)))
			print_line(line);
		else
			print_item(line + strlen(OPTION_LINE));
	}
	for (i = 0; i < NR_OPTIONS; i++)
		any |= documented[i];
	for (i = 0; any && i < NR_OPTIONS; i++)
		if (!documented[i])
			fail("the manual lacks this option", options[i].name);
	return fflush(stdout) || ferror(stdout);
}
