// SPDX-License-Identifier: GPL-2.0
/*
 * libsmartcols lays out the rows. Chains are too long for a column, so the laid
 * out rows are taken line by line and each chain is written after its row. As it
 * takes half a KiB for each row, of many rows it gets a part at a time, and the
 * widths that all need, which is found by doing it twice.
 */
#include <ctype.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "base/human.h"
#include "output/rows.h"

/* Below the second column: ranks stand alone at the left. */
#define CHAIN_INDENT 7

#define ROWS_AT_ONCE 1024

/* For calls to libsmartcols that fail only for want of memory. */
static void must(int rc)
{
	if (rc)
		out_of_memory();
}

/* A column is at least as wide as its head. */
static void add_column(struct rows *t, const char *name, int flags)
{
	int width = t->widths[t->nr_columns++];
	char *head;

	if (asprintf(&head, "%*s", flags & SCOLS_FL_RIGHT ? width : -width, name) < 0)
		out_of_memory();
	must(!scols_table_new_column(t->tb, head, 0, flags));
	free(head);
}

static bool any_cache(const struct model *m, const u32 *order, u32 shown)
{
	u32 i;

	for (i = 0; i < shown; i++) {
		struct group g = model_group(m, order[i]);

		if (model_name(m, &g, OWNER_FIELD_CACHE).len)
			return true;
	}
	return false;
}

static void choose_fields(struct rows *t, const u32 *order, u32 shown)
{
	const struct group_list *by = &t->m->select->group;
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		if (by->v[i].field == OWNER_FIELD_STACK)
			continue;
		if (by->v[i].field == OWNER_FIELD_CACHE && !any_cache(t->m, order, shown))
			continue;
		t->fields.v[t->fields.n++] = by->v[i];
	}
}

static void add_field_columns(struct rows *t)
{
	char head[16];
	unsigned int i;

	for (i = 0; i < t->fields.n; i++) {
		enum owner_field f = t->fields.v[i].field;
		u32 c;

		for (c = 0; !c || head[c - 1]; c++)
			head[c] = toupper((unsigned char)field_name(f)[c]);
		add_column(t, head, field_is_number(f) ? SCOLS_FL_RIGHT : SCOLS_FL_TRUNC);
	}
}

static void make_table(struct rows *t)
{
	const char * const *figure;

	t->nr_columns = 0;
	t->tb = scols_new_table();
	must(!t->tb);
	must(scols_table_enable_colors(t->tb, t->term.colour));
	must(scols_table_set_termforce(t->tb, t->term.width ? SCOLS_TERMFORCE_ALWAYS :
							      SCOLS_TERMFORCE_NEVER));
	must(scols_table_set_column_separator(t->tb, "  "));
	if (t->term.width)
		must(scols_table_set_termwidth(t->tb, t->term.width));
	add_column(t, "#", SCOLS_FL_RIGHT);
	for (figure = t->figures; *figure; figure++)
		add_column(t, *figure, SCOLS_FL_RIGHT);
	add_field_columns(t);
}

void rows_begin(struct rows *t, const struct model *m, const u32 *order, u32 shown,
		const char * const *figures, struct terminal term, FILE *out)
{
	*t = (struct rows){ .m = m, .out = out, .term = term, .figures = figures };
	/*
	 * How wide characters are. Not earlier and no more of the locale than
	 * that: it slows down matching, and programs read the other formats.
	 */
	setlocale(LC_CTYPE, "");
	choose_fields(t, order, shown);
	make_table(t);
}

static void print_chain(const struct rows *t, u32 group)
{
	const struct chain *chain;
	struct group g;
	u32 i;

	if (group == ROWS_OTHER || !field_listed(&t->m->select->group, OWNER_FIELD_STACK))
		return;
	g = model_group(t->m, group);
	chain = model_chain(t->m, &g);
	for (i = 0; i < chain->n; i++) {
		fprintf(t->out, "%*s", CHAIN_INDENT, "");
		frame_print_fitted(model_frame(t->m, chain, i), t->term.width,
				   CHAIN_INDENT, t->out);
	}
	if (!chain->n)
		fprintf(t->out, "%*s(no call chain)\n", CHAIN_INDENT, "");
}

/* The library pads the last column; nobody sees it, but it wraps and diffs. */
static size_t without_padding(const char *line, size_t len)
{
	while (len && line[len - 1] == ' ')
		len--;
	return len;
}

static void print_lines(struct rows *t, const char *line)
{
	u32 n = !!scols_table_is_noheadings(t->tb);	/* the first is the head */
	size_t len;

	for (; *line; line += len + (line[len] == '\n'), n++) {
		len = strcspn(line, "\n");
		fprintf(t->out, "%.*s\n", (int)without_padding(line, len), line);
		if (n)
			print_chain(t, t->groups[n - 1]);
	}
	must(scols_table_enable_noheadings(t->tb, 1));
}

static void take_widths(struct rows *t)
{
	u32 i;

	for (i = 0; i < t->nr_columns; i++) {
		size_t width = scols_column_get_width(scols_table_get_column(t->tb, i));

		if (t->widths[i] < width)
			t->widths[i] = width;
	}
}

/* Prints the rows at hand, or only measures them, and forgets them. */
static void lay_out(struct rows *t)
{
	char *text;

	must(scols_print_table_to_string(t->tb, &text));
	if (t->measuring)
		take_widths(t);
	else
		print_lines(t, text);
	free(text);
	scols_table_remove_lines(t->tb);
	t->n = 0;
}

static void add_row(struct rows *t, const char *name, u32 group)
{
	if (t->n == ROWS_AT_ONCE) {
		t->measuring = !t->measured;
		lay_out(t);
	}
	t->row = scols_table_new_line(t->tb, NULL);
	must(!t->row);
	t->column = 0;
	if (group != ROWS_OTHER && t->term.colour)
		must(scols_line_set_color(t->row, "bold"));
	t->groups = grow(t->groups, t->n, &t->cap, sizeof(*t->groups));
	t->groups[t->n++] = group;
	rows_cell(t, name);
}

void rows_add(struct rows *t, u32 rank, u32 group)
{
	char name[HUMAN_LEN];

	snprintf(name, sizeof(name), "%u", rank);
	add_row(t, name, group);
}

void rows_add_other(struct rows *t, const char *name)
{
	add_row(t, name, ROWS_OTHER);
}

void rows_cell(struct rows *t, const char *data)
{
	must(scols_line_set_data(t->row, t->column++, data));
}

void rows_number(struct rows *t, s64 v)
{
	char buf[HUMAN_LEN];

	snprintf(buf, sizeof(buf), "%lld", v);
	rows_cell(t, buf);
}

void rows_fields(struct rows *t)
{
	u32 group = t->groups[t->n - 1], i;
	char buf[HUMAN_LEN];
	struct group g;

	if (group == ROWS_OTHER)
		return;
	g = model_group(t->m, group);
	for (i = 0; i < t->fields.n; i++) {
		enum owner_field f = t->fields.v[i].field;

		if (f == OWNER_FIELD_AGE)
			rows_cell(t, human_age(buf, model_age(t->m, g.oldest)));
		else if (!model_known(t->m, &g, f))
			rows_cell(t, "-");
		else if (field_is_number(f))
			rows_number(t, model_number(t->m, &g, f));
		else
			rows_cell(t, model_name(t->m, &g, f).s);
	}
}

bool rows_again(struct rows *t)
{
	lay_out(t);
	scols_unref_table(t->tb);
	if (t->measuring) {
		t->measuring = false;
		t->measured = true;
		make_table(t);
		return true;
	}
	free(t->groups);
	return false;
}
