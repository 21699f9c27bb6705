// SPDX-License-Identifier: GPL-2.0
/* Find the inputs of a command line, and refuse a word that names no file, view or sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/inputs.h"
#include "ask/option_list.h"
#include "ask/usage.h"
#include "base/alloc.h"

/* Refuse a word that is no file, and tell the views if it may be meant as one. */
static noreturn void refuse_unknown_word(const char *word, bool may_be_view)
{
	unsigned int i;

	for (i = 0; i < NR_OPTIONS && may_be_view; i++) {
		if (strcmp(word, option_list[i].name))
			continue;
		fprintf(stderr, "ownertop: '%s' is an option: write --%s\n", word, word);
		usage_exit_with_hint();
	}
	if (view_find_by_name(word))
		usage_refuse_option(word, "a view comes before the files");
	fprintf(stderr, "ownertop: '%s' is no file", word);
	if (may_be_view && !strpbrk(word, "./")) {
		fputs(", no sentence, and none of the views ", stderr);
		for (i = 0; i < nr_views; i++)
			fprintf(stderr, "%s, ", views[i].name);
		fputs("page_owner_sort, record", stderr);
	}
	putc('\n', stderr);
	usage_exit_with_hint();
}

void inputs_refuse_missing(const struct options *o, bool view_is_named)
{
	int i;

	if (o->old && strcmp(o->old, "-") && access(o->old, F_OK))
		refuse_unknown_word(o->old, false);
	for (i = 0; i < o->nr_inputs; i++)
		if (strcmp(o->inputs[i], "-") && access(o->inputs[i], F_OK))
			refuse_unknown_word(o->inputs[i], !i && !view_is_named);
}

/*
 * Is standard input a pipe or a file? Then it is read, even if the command line does not name it. A
 * terminal or /dev/null is not.
 */
static bool is_input_on_stdin(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/* Make the dump of --vmcore the last input. */
static void add_vmcore_to_inputs(struct options *o)
{
	const char **inputs;
	int i;

	if (!o->vmcore)
		return;
	if (!o->vmlinux)
		usage_refuse_value("--vmcore", o->vmcore,
				   "needs --vmlinux FILE, its kernel with debug information");
	inputs = xcalloc(o->nr_inputs + 1, sizeof(*inputs));
	for (i = 0; i < o->nr_inputs; i++)
		inputs[i] = o->inputs[i];
	inputs[o->nr_inputs++] = o->vmcore;
	o->inputs = (char * const *)inputs;
}

void inputs_add_unnamed(struct options *o)
{
	static char * const standard_input[] = { "-" };

	add_vmcore_to_inputs(o);
	if (o->nr_inputs || o->interval_ms || !is_input_on_stdin())
		return;
	o->inputs = standard_input;
	o->nr_inputs = 1;
}
