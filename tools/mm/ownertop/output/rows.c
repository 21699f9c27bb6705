// SPDX-License-Identifier: GPL-2.0
/*
 * Write rows as an aligned table, with libsmartcols. Call chains are too long for a column, so
 * they are printed between the lines that the library has formatted. The library needs 0.5 KiB
 * for each row, so it gets at most ROWS_AT_ONCE rows at a time. If there are more, a first pass
 * over all rows finds the widths, and a second one prints.
 */
#include <ctype.h>
#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "output/figure.h"
#include "output/rows.h"

/* Indentation of call chains: below the second column of the table. */
#define CHAIN_INDENT 7

#define ROWS_AT_ONCE 1024

/* Width of a terminal from which columns have two spaces between them, not one. */
#define WIDE 80

/* Least width of a call chain at the end of a row. */
#define CHAIN_WIDTH_MIN 16

/* Check the result of a call to libsmartcols that can only fail for lack of memory. */
static void check_smartcols(int rc)
{
	if (rc)
		exit_out_of_memory();
}

/* Is a column aligned right? Only columns of fields that are names are aligned left. */
static bool is_right_aligned(const struct column *c)
{
	return c->name[FORMAT_TEXT] || field_is_number(c->arg);
}

static void add_table_column(struct aligned_rows *t, u32 i)
{
	int flags = is_right_aligned(&t->columns->v[i]) ? SCOLS_FL_RIGHT : SCOLS_FL_TRUNC;
	int width = t->widths[i];
	char *head, *p;

	/*
	 * Pad the head of the column: libsmartcols makes a column at least as wide as its head.
	 */
	if (asprintf(&head, "%*s", flags == SCOLS_FL_RIGHT ? width : -width,
		     t->columns->name[i]) < 0)
		exit_out_of_memory();
	for (p = head; *p; p++)
		*p = toupper((unsigned char)*p);
	check_smartcols(!scols_table_new_column(t->tb, head, 0, flags));
	free(head);
}

static const char *get_separator(const struct aligned_rows *t)
{
	return t->one_line && t->term.width && t->term.width < WIDE ? " " : "  ";
}

/* Returns the width that the columns before a call chain may have. */
static size_t get_columns_width(const struct aligned_rows *t)
{
	const size_t chain = CHAIN_WIDTH_MIN + strlen(get_separator(t));

	return t->one_line && t->term.width > chain ? t->term.width - chain : t->term.width;
}

static void make_smartcols_table(struct aligned_rows *t)
{
	u32 i;

	t->tb = scols_new_table();
	check_smartcols(!t->tb);
	check_smartcols(scols_table_enable_colors(t->tb, t->term.colour));
	check_smartcols(scols_table_set_termforce(t->tb, t->term.width ? SCOLS_TERMFORCE_ALWAYS :
								      SCOLS_TERMFORCE_NEVER));
	check_smartcols(scols_table_set_column_separator(t->tb, get_separator(t)));
	if (t->term.width)
		check_smartcols(scols_table_set_termwidth(t->tb, get_columns_width(t)));
	for (i = 0; i < t->columns->n; i++)
		add_table_column(t, i);
}

bool rows_are_lines(const struct model *m, const struct output_options *o)
{
	return !o->unfold &&
	       (field_is_listed(&m->select->group, OWNER_FIELD_STACK) ||
		field_is_listed(&m->select->group, OWNER_FIELD_USER));
}

void rows_begin_table(struct aligned_rows *t, const struct model *m,
		      const struct column_list *columns, const struct output_options *o,
		      FILE *out)
{
	*t = (struct aligned_rows){
		.m = m,
		.columns = columns,
		.out = out,
		.term = o->term,
		.one_line = rows_are_lines(m, o),
	};
	/*
	 * libsmartcols needs LC_CTYPE to know how wide characters are. It is set only here
	 * because it slows down matching, and because other formats must not depend on it.
	 */
	setlocale(LC_CTYPE, "");
	make_smartcols_table(t);
}

/* Print the frames of a chain of a group, one in each line, if groups have chains of @field. */
static void print_chain(const struct aligned_rows *t, u32 id, enum owner_field field)
{
	const char *head = field == OWNER_FIELD_USER ? "user " : "";
	const struct chain *chain;
	struct group g;
	u32 i;

	if (id == ROW_NO_GROUP || !field_is_listed(&t->m->select->group, field) ||
	    !model_shows_field(t->m, field))
		return;
	g = model_get_group(t->m, id);
	chain = model_get_chain(t->m, &g, field);
	for (i = 0; i < chain->n; i++) {
		fprintf(t->out, "%*s%s", CHAIN_INDENT, "", head);
		frame_print_fitted(model_get_frame(t->m, field, chain, i), t->term.width,
				   CHAIN_INDENT + strlen(head), t->out);
	}
	if (!chain->n)
		fprintf(t->out, "%*s(no %s chain)\n", CHAIN_INDENT, "", *head ? "user" : "call");
}

static void print_chains(const struct aligned_rows *t, u32 id)
{
	print_chain(t, id, OWNER_FIELD_STACK);
	print_chain(t, id, OWNER_FIELD_USER);
}

/*
 * Returns the length of a line without the padding of its last column, which would wrap on a
 * narrow terminal.
 */
static size_t trim_padding(const char *line, size_t len)
{
	while (len && line[len - 1] == ' ')
		len--;
	return len;
}

/* Returns the number of columns of a text, in which escape sequences of colours have none. */
static size_t count_text_columns(const char *s, size_t len)
{
	mbstate_t state = { 0 };
	size_t columns = 0;

	while (len) {
		wchar_t c;
		size_t n = mbrtowc(&c, s, len, &state);

		if (*s == '\033') {
			n = strcspn(s, "m") + 1;
		} else if (n == 0 || n > len) {
			memset(&state, 0, sizeof(state));
			n = 1;
			columns++;
		} else {
			columns += wcwidth(c) > 0 ? wcwidth(c) : 0;
		}
		s += n;
		len -= n;
	}
	return columns;
}

/* Print @text, or as much of it as @room has place for. */
static void print_cut(const char *text, size_t room, FILE *out)
{
	if (strlen(text) <= room)
		fputs(text, out);
	else
		fprintf(out, "%.*s..", (int)(room > 2 ? room - 2 : 0), text);
}

/*
 * Print the functions of the chains of a group in one line, without offsets. A module is named
 * at its first function only.
 */
static void print_chains_in_line(const struct aligned_rows *t, const struct group *g, size_t room)
{
	char *text;
	size_t len;
	FILE *line = xopen_memstream(&text, &len);

	print_joined_chains(t->m, g, line);
	fclose(line);
	print_cut(text, room, t->out);
	free(text);
}

/* Print what is behind the columns of a row: the call chain, or the name of the row. */
static void print_end_of_row(const struct aligned_rows *t, const struct row_owner *owner,
			     size_t room)
{
	struct group g;

	if (!owner) {
		print_cut("CALL CHAIN", room, t->out);
	} else if (owner->id == ROW_NO_GROUP) {
		print_cut(owner->name, room, t->out);
	} else {
		g = model_get_group(t->m, owner->id);
		print_chains_in_line(t, &g, room);
	}
}

/* Make room for the columns of the lines in @text before the call chains. */
static void widen_lines(struct aligned_rows *t, const char *text)
{
	size_t len, columns;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		columns = count_text_columns(text, trim_padding(text, len));
		if (columns > t->line_width)
			t->line_width = columns;
	}
}

static void print_row_with_chain(const struct aligned_rows *t, const char *line, size_t len,
				 const struct row_owner *owner)
{
	const char *separator = get_separator(t);
	size_t used = count_text_columns(line, len), end = t->line_width + strlen(separator);
	size_t room = 0;

	fprintf(t->out, "%.*s%*s%s", (int)len, line, (int)(t->line_width - used), "", separator);
	if (!t->term.width)
		room = SIZE_MAX;
	else if (t->term.width > end)
		room = t->term.width - end;
	print_end_of_row(t, owner, room);
}

static void print_formatted_lines(struct aligned_rows *t, const char *line)
{
	u32 n = !!scols_table_is_noheadings(t->tb);	/* number of the row; the head is 0 */
	size_t len;

	for (; *line; line += len + (line[len] == '\n'), n++) {
		bool bold = !n && t->term.colour;
		size_t shown;

		len = strcspn(line, "\n");
		shown = trim_padding(line, len);
		fputs(bold ? "\033[1m" : "", t->out);
		if (t->one_line)
			print_row_with_chain(t, line, shown, n ? &t->owners[n - 1] : NULL);
		else
			fprintf(t->out, "%.*s", (int)shown, line);
		fputs(bold ? "\033[0m\n" : "\n", t->out);
		if (n && !t->one_line)
			print_chains(t, t->owners[n - 1].id);
	}
	check_smartcols(scols_table_enable_noheadings(t->tb, 1));
}

static void widen_minimum_widths(struct aligned_rows *t)
{
	u32 i;

	for (i = 0; i < t->columns->n; i++) {
		size_t width = scols_column_get_width(scols_table_get_column(t->tb, i));

		if (t->widths[i] < width)
			t->widths[i] = width;
	}
}

/* Measure or print the rows in the table of libsmartcols, and remove them from it. */
static void flush_rows(struct aligned_rows *t)
{
	char *text;

	check_smartcols(scols_print_table_to_string(t->tb, &text));
	if (t->one_line)
		widen_lines(t, text);
	if (t->measuring)
		widen_minimum_widths(t);
	else
		print_formatted_lines(t, text);
	free(text);
	scols_table_remove_lines(t->tb);
	t->n = 0;
}

static const char *format_per_hour(char buf[HUMAN_LEN], const struct cell *cell)
{
	struct change c = { llround(fabs(cell->real)), cell->real < 0 };

	/* Print a small slope with a decimal: one object in two hours is +0.5. */
	if (cell->measure == MEASURE_OBJECTS && fabs(cell->real) < 10) {
		snprintf(buf, HUMAN_LEN, "%+.1f", cell->real);
		return buf;
	}
	return figure_change_to_text(buf, c, cell->measure);
}

/*
 * Round R2 down, so that only a straight line is shown as 1.00. The addend makes up for
 * floating point, which can compute 0.75 as 0.7499...9.
 */
static const char *format_fraction(char buf[HUMAN_LEN], double v)
{
	snprintf(buf, HUMAN_LEN, "%.2f", floor(v * 100 + 0.000001) / 100);
	return buf;
}

/* Returns a cell as text for people, or NULL if it is empty. */
static const char *format_cell(char buf[HUMAN_LEN], const struct cell *cell)
{
	switch (cell->type) {
	case CELL_UNKNOWN:
		return "-";
	case CELL_BYTES:
		return human_format_bytes(buf, cell->number);
	case CELL_AGE:
		return human_format_age(buf, cell->number);
	case CELL_COUNT:
		snprintf(buf, HUMAN_LEN, "%llu", cell->number);
		return buf;
	case CELL_NUMBER:
		if (cell->by)
			return field_format_number(cell->by, cell->integer, buf, HUMAN_LEN);
		snprintf(buf, HUMAN_LEN, "%lld", cell->integer);
		return buf;
	case CELL_SHARE:
		return human_format_percent(buf, cell->part, cell->total);
	case CELL_TIMES:
		snprintf(buf, HUMAN_LEN, "%llu/%llu", cell->part, cell->total);
		return buf;
	case CELL_CHANGE:
		return figure_change_to_text(buf, cell->change, cell->measure);
	case CELL_PER_HOUR:
		return format_per_hour(buf, cell);
	case CELL_FRACTION:
		return format_fraction(buf, cell->real);
	case CELL_WORD:
	case CELL_NAME:
		return cell->name.s;
	default:
		return NULL;
	}
}

void rows_add_row(struct aligned_rows *t, const struct view_row *row)
{
	struct libscols_line *line;
	char buf[HUMAN_LEN];
	const char *text;
	u32 i;

	if (t->n == ROWS_AT_ONCE) {
		t->measuring = !t->measured;
		flush_rows(t);
	}
	line = scols_table_new_line(t->tb, NULL);
	check_smartcols(!line);
	if (row->id != ROW_NO_GROUP && t->term.colour && !t->one_line)
		check_smartcols(scols_line_set_color(line, "bold"));
	t->owners = grow_array(t->owners, t->n, &t->cap, sizeof(*t->owners));
	t->owners[t->n++] = (struct row_owner){ row->id, row->name };
	for (i = 0; i < t->columns->n; i++) {
		const struct column *c = &t->columns->v[i];
		struct cell cell = c->get(row, c->arg);

		text = format_cell(buf, &cell);
		if (text)
			check_smartcols(scols_line_set_data(line, i, text));
		if (cell.type == CELL_CHANGE && cell.change.by && t->term.colour)
			check_smartcols(scols_cell_set_color(scols_line_get_cell(line, i),
							     cell.change.shrunk ? "green" : "red"));
	}
}

bool rows_end_table(struct aligned_rows *t)
{
	flush_rows(t);
	scols_unref_table(t->tb);
	if (t->measuring) {
		t->measuring = false;
		t->measured = true;
		make_smartcols_table(t);
		return true;
	}
	free(t->owners);
	return false;
}
