// SPDX-License-Identifier: GPL-2.0
/* Show as many groups as the terminal has room for. */
#include <stdlib.h>

#include "base/alloc.h"
#include "ui/fit.h"

/* Least number of groups that are shown, also on a terminal with fewer lines. */
#define GROUPS_MIN 3

/* Returns the number of lines of the view. */
static size_t count_lines(const struct answer *a, const struct options *o,
			  const struct output_options *output)
{
	size_t len, lines = 0, i;
	char *text;
	FILE *out = xopen_memstream(&text, &len);

	o->view->write[o->format](a, output, out);
	fclose(out);
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	free(text);
	return lines;
}

void fit_groups_to_screen(struct answer *a, const struct options *o,
			  const struct output_options *output)
{
	size_t rows = output->term.rows, lines;

	if (!o->fit_screen || !rows)
		return;
	/* The last line of the screen is for the prompt of the shell. */
	rows--;
	a->view.top = rows;
	lines = count_lines(a, o, output);
	if (lines <= rows)
		return;
	/* Each group is a line. If a row for the rest is added, there are some lines more. */
	a->view.top = rows > lines - rows + GROUPS_MIN ? rows - (lines - rows) : GROUPS_MIN;
	while (a->view.top > GROUPS_MIN && count_lines(a, o, output) > rows)
		a->view.top--;
}
