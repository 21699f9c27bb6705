// SPDX-License-Identifier: GPL-2.0
/* Write rows and comments as the kernel writes them when a query asks for TSV. */
#include "output/notes.h"
#include "output/tsv.h"

void tsv_print_sentence(const struct owner_sentence *s, FILE *out)
{
	char printed[OWNER_SENTENCE_MAX + 1];

	owner_lang_print(s, printed, sizeof(printed));
	fprintf(out, "# %s\n", printed);
}

/*
 * Print a name in TSV. Separators and control characters are escaped in octal; commas as
 * well, because the language splits lists of names at commas.
 */
static void print_name(struct text_slice name, FILE *out)
{
	size_t i;

	if (!name.len)
		putc('-', out);
	for (i = 0; i < name.len; i++) {
		unsigned char c = name.s[i];

		if (c < ' ' || c == 0x7f || strchr(" \\,", c))
			fprintf(out, "\\%03o", c);
		else
			putc(c, out);
	}
}

static void print_frames(const struct cell *cell, FILE *out)
{
	u32 i;

	for (i = 0; i < cell->chain->n; i++)
		fprintf(out, "%s%s", i ? ";" : "", cell->frames->v[cell->chain->frames[i]].s);
}

static void print_tsv_cell(const struct cell *cell, FILE *out)
{
	if (cell->type == CELL_NAME)
		print_name(cell->name, out);
	else if (cell->type == CELL_CHAIN && cell->chain->n)
		print_frames(cell, out);
	else
		putc('-', out);
}

static const struct line_format tsv = { '\t', "\n", print_tsv_cell };

void tsv_print_head(const struct column_list *list, FILE *out)
{
	columns_print_head(list, &tsv, out);
}

void tsv_print_row(const struct column_list *list, const struct view_row *row, FILE *out)
{
	columns_print_row(list, &tsv, row, out);
}

static void print_comment(void *arg, const char *line)
{
	FILE *out = arg;

	fprintf(out, "# %s\n", line);
}

void tsv_print_notes(const struct answer *a, FILE *out)
{
	notes_print_lines(a, NOTES_LEFT_OUT, print_comment, out);
}
