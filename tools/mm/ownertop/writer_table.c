// SPDX-License-Identifier: GPL-2.0
/*
 * For people: one row a group, its call chain below it, and at the end what the
 * rows leave out, so that the figures add up.
 *
 * libsmartcols lays out the rows. Chains are too long for a column, so the laid
 * out rows are taken line by line and each chain is written after its row.
 */
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>

#include "alloc.h"
#include "human.h"
#include "terminal.h"
#include "writer.h"

/* Below the second column: ranks stand alone at the left. */
#define CHAIN_INDENT 7
#define LEAST_FRAME_WIDTH 20

struct table {
	const struct report *r;
	FILE *out;
	struct terminal term;
	struct libscols_table *tb;
	struct libscols_line *row;
	size_t column;		/* the next cell to set in row */
	bool held;		/* show it: it differs from bytes */
	struct field_list fields;	/* that have a column */
};

/* For calls to libsmartcols that fail only for want of memory. */
static void must(int rc)
{
	if (rc)
		out_of_memory();
}

static void add_column(struct table *t, const char *name, int flags)
{
	must(!scols_table_new_column(t->tb, name, 0, flags));
}

static bool any_cache(const struct report *r)
{
	u32 i;

	for (i = 0; i < r->shown; i++)
		if (model_name(r->model, report_group(r, i), FIELD_CACHE).len)
			return true;
	return false;
}

static void choose_fields(struct table *t)
{
	const struct field_list *by = &t->r->model->view->group;
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		if (by->v[i] == FIELD_STACK)
			continue;
		if (by->v[i] == FIELD_CACHE && !any_cache(t->r))
			continue;
		t->fields.v[t->fields.n++] = by->v[i];
	}
}

static void add_columns(struct table *t)
{
	static const char * const heads[NR_FIELDS] = {
		[FIELD_CACHE] = "CACHE",
		[FIELD_COMM] = "COMM",
		[FIELD_PID] = "PID",
		[FIELD_TGID] = "TGID",
		[FIELD_MODULE] = "MODULE",
		[FIELD_KIND] = "KIND",
	};
	unsigned int i;

	add_column(t, "#", SCOLS_FL_RIGHT);
	add_column(t, "BYTES", SCOLS_FL_RIGHT);
	add_column(t, "%", SCOLS_FL_RIGHT);
	if (t->held)
		add_column(t, "HELD", SCOLS_FL_RIGHT);
	add_column(t, "OBJECTS", SCOLS_FL_RIGHT);
	add_column(t, "OLDEST", SCOLS_FL_RIGHT);
	for (i = 0; i < t->fields.n; i++) {
		enum field f = t->fields.v[i];
		bool number = f == FIELD_PID || f == FIELD_TGID;

		add_column(t, heads[f], number ? SCOLS_FL_RIGHT : SCOLS_FL_TRUNC);
	}
}

static void add_cell(struct table *t, const char *data)
{
	must(scols_line_set_data(t->row, t->column++, data));
}

static void add_number(struct table *t, s64 v)
{
	char buf[HUMAN_LEN];

	snprintf(buf, sizeof(buf), "%lld", v);
	add_cell(t, buf);
}

static void add_pid(struct table *t, s64 pid)
{
	if (pid == PID_UNKNOWN)
		add_cell(t, "-");
	else
		add_number(t, pid);
}

static void add_row(struct table *t, const char *rank, const struct sum *sum)
{
	const struct report *r = t->r;
	char buf[HUMAN_LEN];

	t->row = scols_table_new_line(t->tb, NULL);
	must(!t->row);
	t->column = 0;
	add_cell(t, rank);
	add_cell(t, human_bytes(buf, sum->bytes));
	add_cell(t, human_percent(buf, sort_value(sum, r->sort),
				  sort_value(&r->model->total, r->sort)));
	if (t->held)
		add_cell(t, human_bytes(buf, sum->held));
	add_number(t, sum->objects);
}

static void add_group(struct table *t, u32 rank)
{
	const struct group *g = report_group(t->r, rank);
	const struct model *m = t->r->model;
	char buf[HUMAN_LEN];
	unsigned int i;

	snprintf(buf, sizeof(buf), "%u", rank + 1);
	add_row(t, buf, &g->sum);
	add_cell(t, human_age(buf, model_age(m, g)));
	for (i = 0; i < t->fields.n; i++) {
		enum field f = t->fields.v[i];

		if (f == FIELD_PID)
			add_pid(t, g->key.pid);
		else if (f == FIELD_TGID)
			add_pid(t, g->key.tgid);
		else
			add_cell(t, model_name(m, g, f).s);
	}
	if (t->term.colour)
		must(scols_line_set_color(t->row, "bold"));
}

static void add_rows(struct table *t)
{
	u32 i;

	for (i = 0; i < t->r->shown; i++)
		add_group(t, i);
	if (t->r->shown < t->r->model->nr_groups)
		add_row(t, "rest", &t->r->not_shown);
	add_row(t, "total", &t->r->model->total);
}

/*
 * A frame that does not fit loses its offset first: the name and the module
 * say more.
 */
static void print_frame(const struct table *t, struct text f)
{
	size_t room = t->term.width > CHAIN_INDENT + LEAST_FRAME_WIDTH ?
		      t->term.width - CHAIN_INDENT : LEAST_FRAME_WIDTH;
	const char *plus, *space;
	size_t name, tail;

	fprintf(t->out, "%*s", CHAIN_INDENT, "");
	if (!t->term.width || f.len <= room) {
		fprintf(t->out, "%s\n", f.s);
		return;
	}
	plus = strchr(f.s, '+');
	space = strchr(f.s, ' ');
	name = plus && (!space || plus < space) ? (size_t)(plus - f.s) : f.len;
	tail = space && name < f.len ? strlen(space) : 0;
	if (name + tail <= room)
		fprintf(t->out, "%.*s%s\n", (int)name, f.s, tail ? space : "");
	else
		fprintf(t->out, "%.*s...\n", (int)(room - 3), f.s);
}

static void print_chain(const struct table *t, const struct group *g)
{
	const struct model *m = t->r->model;
	const struct chain *chain = &m->stacks.chains[g->key.chain];
	u32 i;

	if (!field_listed(&m->view->group, FIELD_STACK))
		return;
	for (i = 0; i < chain->n; i++)
		print_frame(t, model_frame(m, chain, i));
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

static void print_rows(struct table *t)
{
	u32 n = 0;		/* lines written: the first is the head */
	char *text, *line, *nl;

	must(scols_print_table_to_string(t->tb, &text));
	for (line = text; *line; line = nl + 1, n++) {
		nl = line + strcspn(line, "\n");
		fprintf(t->out, "%.*s\n", (int)without_padding(line, nl - line), line);
		if (n && n <= t->r->shown)
			print_chain(t, report_group(t->r, n - 1));
		if (!*nl)
			break;
	}
	free(text);
}

static void print_notes(const struct table *t)
{
	const struct model *m = t->r->model;
	const struct health *h = t->r->health;
	u32 hidden = m->nr_groups - t->r->shown;
	char buf[HUMAN_LEN];

	if (hidden)
		fprintf(t->out, "rest: %u of %u groups; --top 0 shows them\n",
			hidden, m->nr_groups);
	if (m->filtered.objects)
		fprintf(t->out, "filtered out: %llu objects, %s\n",
			m->filtered.objects, human_bytes(buf, m->filtered.bytes));
	if (m->coverage_known)
		fprintf(t->out,
			"untracked: %llu slab objects have no owner and are not counted\n",
			m->untracked);
	sources_print_notes(&m->sources, t->out);
	if (health_complete(h))
		return;
	fprintf(t->out,
		"%sINCOMPLETE: damaged places %llu, inputs unread %u; figures cover the rest%s\n",
		t->term.colour ? "\033[1;31m" : "", h->damaged, h->unread,
		t->term.colour ? "\033[0m" : "");
}

static bool held_differs(const struct report *r)
{
	return r->model->total.held != r->model->total.bytes;
}

void write_table(const struct report *r, FILE *out)
{
	write_table_to(r, out, terminal_of(out));
}

void write_table_to(const struct report *r, FILE *out, struct terminal term)
{
	struct table t = {
		.r = r,
		.out = out,
		.term = term,
		.tb = scols_new_table(),
		.held = held_differs(r),
	};

	must(!t.tb);
	/*
	 * How wide characters are. Not earlier and no more of the locale than
	 * that: it slows down matching, and programs read the other formats.
	 */
	setlocale(LC_CTYPE, "");
	must(scols_table_enable_colors(t.tb, t.term.colour));
	must(scols_table_set_termforce(t.tb, t.term.width ? SCOLS_TERMFORCE_ALWAYS :
							    SCOLS_TERMFORCE_NEVER));
	must(scols_table_set_column_separator(t.tb, "  "));
	if (t.term.width)
		must(scols_table_set_termwidth(t.tb, t.term.width));
	choose_fields(&t);
	add_columns(&t);
	add_rows(&t);
	print_rows(&t);
	print_notes(&t);
	scols_unref_table(t.tb);
}
