// SPDX-License-Identifier: GPL-2.0
/* Draw the screen of live mode: a line for each group, and the frames of unfolded ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/human.h"
#include "base/utf8.h"
#include "output/column.h"
#include "output/figure.h"
#include "ui/live_state.h"
#include "ui/screen.h"

/* Lines of the screen that are no groups: status, message, head and total. */
#define OTHER_LINES 4

/* Indentation of call chains. */
#define CHAIN_INDENT 7

#define REVERSE "\033[7m"
#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define NORMAL "\033[0m"

static const char help[] =
"ownertop --live: keys\n"
"\n"
"  up down, k j      select a group        Enter   show or hide its call chains\n"
"  PgUp PgDn Home End  scroll\n"
"  b h o             sort by bytes, held, objects\n"
"  c                 sort by growth since the mark\n"
"  m                 mark now: growth is counted from here on\n"
"  + -               more or fewer frames in a group; starts again\n"
"  g                 group by other fields, as cache,comm; starts again\n"
"  /                 show only groups that contain a text; empty shows all\n"
"  p, space          freeze or continue\n"
"  w                 write the table to a file\n"
"  ?                 this help\n"
"  q                 quit\n"
"\n"
"TICK is the change since the last update, GROWTH that since the mark: the start of\n"
"live mode or of its groups, or the key m. Press any key.\n";

static const char * const prompts[] = {
	[PROMPT_FILTER] = "/",
	[PROMPT_GROUP] = "group by: ",
	[PROMPT_SAVE] = "write to file: ",
};

/* Returns the field of a group as text, which the caller frees. */
static char *make_field_text(const struct model *m, const struct group *g, enum owner_field field)
{
	char number[HUMAN_LEN];
	const char *text = "-";

	if (!field_is_number(field) && model_field_is_known(m, g, field))
		return human_escape_name(model_get_name(m, g, field));
	if (model_field_is_known(m, g, field))
		text = model_format_number(number, m, g, field);
	return xstrndup(text, strlen(text));
}

static size_t count_characters(struct text_slice text)
{
	size_t n = 0, len;

	for (; text.len; n++) {
		len = utf8_char_len(text);
		len = len ? len : 1;
		text.s += len;
		text.len -= len;
	}
	return n;
}

/* Print a text that is at most @width columns. */
static void print_cut(struct text_slice text, size_t width, FILE *out)
{
	while (text.len && width--) {
		size_t len = utf8_char_len(text);

		len = len ? len : 1;
		fwrite(text.s, 1, len, out);
		text.s += len;
		text.len -= len;
	}
}

/* Print a name in a column of @width. A name that is too long is cut, with ".." at its end. */
static void print_in_column(const char *name, size_t width, FILE *out)
{
	struct text_slice text = { name, strlen(name) };
	size_t n = count_characters(text);

	if (n <= width) {
		fprintf(out, "  %s%*s", name, (int)(width - n), "");
		return;
	}
	fputs("  ", out);
	print_cut(text, width - 2, out);
	fputs("..", out);
}

/*
 * Print the fields of a group: each name in its column, the call chain last, in one line.
 * @widths: of the columns, or NULL to print names whole.
 */
static void print_fields(const struct model *m, const struct group *g, const size_t *widths,
			 FILE *out)
{
	const struct group_list *by = &m->select->group;
	bool has_chain = false;
	char *text;
	u32 i;

	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;

		if (field_is_chain(field)) {
			has_chain = true;
			continue;
		}
		text = make_field_text(m, g, field);
		print_in_column(text, widths ? widths[i] : strlen(text), out);
		free(text);
	}
	if (!has_chain)
		return;
	fputs("  ", out);
	print_joined_chains(m, g, out);
}

bool live_filter_holds(const struct live_state *l, const struct group *g)
{
	char *text;
	size_t len;
	bool holds;
	FILE *out;

	if (!*l->filter)
		return true;
	out = xopen_memstream(&text, &len);
	print_fields(&l->a.model, g, NULL, out);
	fclose(out);
	holds = strcasestr(text, l->filter);
	free(text);
	return holds;
}

static void print_change(u64 before, u64 now, enum measure measure, bool colour, FILE *out)
{
	struct change c = change_between(before, now);
	char buf[HUMAN_LEN];

	colour &= c.by != 0;
	fprintf(out, "  %s%8s%s", !colour ? "" : c.shrunk ? GREEN : RED,
		c.by ? figure_change_to_text(buf, c, measure) : ".", colour ? NORMAL : "");
}

static void print_figures(const struct live_state *l, const struct figures *f, bool colour,
			  FILE *out)
{
	enum measure by = l->o.sort, beside = measure_get_second_shown(by);
	u64 now = measure_get_value(&f->now, by);
	char buf[HUMAN_LEN];

	fprintf(out, "%8s", figure_to_text(buf, now, by));
	print_change(measure_get_value(&f->mark, by), now, by, colour, out);
	print_change(measure_get_value(&f->before, by), now, by, colour, out);
	fprintf(out, "  %8s", figure_to_text(buf, measure_get_value(&f->now, beside), beside));
}

/* Print the age of the oldest object of a group, if the kernel was asked for ages. */
static void print_age(const struct live_state *l, u64 oldest, FILE *out)
{
	char buf[HUMAN_LEN];

	if (!l->o.ages)
		return;
	fprintf(out, "  %6s", human_format_age(buf, model_compute_age(&l->a.model, oldest)));
}

static void print_status(const struct live_state *l, size_t width, FILE *out)
{
	char clock[32], age[HUMAN_LEN], line[256];
	struct tm tm;
	int n;

	strftime(clock, sizeof(clock), "%F %T", localtime_r(&l->time, &tm));
	n = snprintf(line, sizeof(line),
		     "%s  %sby %s; GROWTH over %s; %u of %u groups; ? help, q quit",
		     clock, l->paused ? "PAUSED, " : "",
		     l->by_growth ? "growth" : owner_sort_names[l->o.order[0]],
		     human_format_age(age, (l->time - l->history.start) * 1000000000ULL),
		     l->nr_shown ? l->selected + 1 : 0, l->nr_shown);
	print_cut((struct text_slice){ line, n }, width, out);
	putc('\n', out);
}

/* Print which groups and which objects are shown, if that is not all. */
static void print_filters(const struct live_state *l, char *line, size_t size)
{
	struct owner_sentence expression = l->o.select.sentence;
	int n = 0;

	*line = '\0';
	if (*l->filter)
		n = snprintf(line, size, "groups with '%s'%s", l->filter,
			     expression.nr_comparisons ? "; " : "");
	expression.settings_given = 0;
	if (expression.nr_comparisons)
		owner_lang_print(&expression, line + n, size - n);
}

/*
 * Print the line for the prompt, for a message about a key, about the input, or about filters.
 */
static void print_message(const struct live_state *l, size_t width, FILE *out)
{
	char line[INPUT_MAX + OWNER_SENTENCE_MAX + 32], *shown;

	if (l->prompt)
		snprintf(line, sizeof(line), "%s%s_", prompts[l->prompt], l->input);
	else if (*l->message)
		snprintf(line, sizeof(line), "%s", l->message);
	else if (!health_is_complete(&l->a.health))
		snprintf(line, sizeof(line), "INCOMPLETE: %s", l->a.health.first);
	else
		print_filters(l, line, sizeof(line));
	shown = human_escape_name((struct text_slice){ line, strlen(line) });
	print_cut((struct text_slice){ shown, strlen(shown) }, width, out);
	putc('\n', out);
	free(shown);
}

/* Widths of the columns of fields: the longest name on the screen decides, up to a limit. */
#define FIELD_WIDTH_MIN 16
#define FIELD_WIDTH_MAX 32

static void measure_fields(const struct live_state *l, u32 rows, size_t widths[GROUP_KEY_MAX])
{
	const struct model *m = &l->a.model;
	const struct group_list *by = &m->select->group;
	size_t width;
	char *text;
	u32 i, j;

	for (i = 0; i < by->n; i++)
		widths[i] = FIELD_WIDTH_MIN;
	for (j = l->top; j < l->nr_shown && j < l->top + rows; j++) {
		struct group g = model_get_group(m, l->shown[j]);

		for (i = 0; i < by->n; i++) {
			if (field_is_chain(by->v[i].field))
				continue;
			text = make_field_text(m, &g, by->v[i].field);
			width = count_characters((struct text_slice){ text, strlen(text) });
			if (width > widths[i])
				widths[i] = width < FIELD_WIDTH_MAX ? width : FIELD_WIDTH_MAX;
			free(text);
		}
	}
}

static void print_head(const struct live_state *l, const size_t *widths, size_t width, bool colour,
		       FILE *out)
{
	const struct group_list *by = &l->o.select.group;
	char line[512];
	size_t i;
	int n;

	n = snprintf(line, sizeof(line), "  %8s  %8s  %8s  %8s", measure_name(l->o.sort), "GROWTH",
		     "TICK", measure_name(measure_get_second_shown(l->o.sort)));
	if (l->o.ages)
		n += snprintf(line + n, sizeof(line) - n, "  %6s", "OLDEST");
	for (i = 0; i < by->n; i++)
		if (!field_is_chain(by->v[i].field))
			n += snprintf(line + n, sizeof(line) - n, "  %-*s", (int)widths[i],
				      field_name(by->v[i].field));
	for (i = 0; i < (size_t)n; i++)
		if (line[i] >= 'a' && line[i] <= 'z')
			line[i] -= 'a' - 'A';
	if (field_is_listed(by, OWNER_FIELD_STACK) || field_is_listed(by, OWNER_FIELD_USER))
		n += snprintf(line + n, sizeof(line) - n, "  CALL CHAIN");
	fputs(colour ? BOLD : "", out);
	print_cut((struct text_slice){ line, n }, width, out);
	fputs(colour ? NORMAL "\n" : "\n", out);
}

static void print_group(const struct live_state *l, u32 position, const size_t *widths,
			size_t width, bool colour, FILE *out)
{
	const struct model *m = &l->a.model;
	struct group g = model_get_group(m, l->shown[position]);
	struct figures figures = history_find(&l->history, m, &g);
	bool selected = position == l->selected;
	size_t len, used = 2 + 8 + 3 * 10 + (l->o.ages ? 8 : 0);
	char *text;
	FILE *fields = xopen_memstream(&text, &len);

	print_fields(m, &g, widths, fields);
	fclose(fields);
	fprintf(out, "%s%s", selected && colour ? REVERSE : "", selected ? "> " : "  ");
	print_figures(l, &figures, colour && !selected, out);
	print_age(l, g.oldest, out);
	print_cut((struct text_slice){ text, len }, width > used ? width - used : 0, out);
	fputs(selected && colour ? NORMAL "\n" : "\n", out);
	free(text);
}

/* The chains of a group, in the order in which they are printed below it. */
static const enum owner_field chain_fields[] = { OWNER_FIELD_STACK, OWNER_FIELD_USER };

/* Returns the chain of @field of a group, or NULL if none is to be printed. */
static const struct chain *get_unfolded_chain(const struct live_state *l, u32 position,
					      enum owner_field field)
{
	const struct model *m = &l->a.model;
	struct group g = model_get_group(m, l->shown[position]);

	if (!field_is_listed(&l->o.select.group, field) || !model_shows_field(m, field) ||
	    history_hash_group(m, &g) != l->unfolded)
		return NULL;
	return model_get_chain(m, &g, field);
}

static u32 count_lines(const struct live_state *l, u32 position)
{
	const struct chain *chain;
	u32 lines = 1, i;

	for (i = 0; i < 2; i++) {
		chain = get_unfolded_chain(l, position, chain_fields[i]);
		if (chain)
			lines += chain->n ? chain->n : 1;
	}
	return lines;
}

/* Move the top so that the selected group is on a screen with @rows lines for groups. */
static void scroll_to_selected(struct live_state *l, u32 rows)
{
	u32 lines = 0, i;

	if (l->selected >= l->nr_shown)
		l->selected = l->nr_shown ? l->nr_shown - 1 : 0;
	if (l->top > l->selected)
		l->top = l->selected;
	for (i = l->selected + 1; i-- > l->top; ) {
		lines += i < l->nr_shown ? count_lines(l, i) : 0;
		if (lines > rows && i < l->selected) {
			l->top = i + 1;
			break;
		}
	}
}

/* Print the frames of a chain of a group, in at most @rows lines. Returns the number of lines. */
static u32 print_unfolded_chain(const struct live_state *l, u32 position, enum owner_field field,
				u32 rows, size_t width, FILE *out)
{
	const struct chain *chain = get_unfolded_chain(l, position, field);
	const char *head = field == OWNER_FIELD_USER ? "user " : "";
	size_t used = CHAIN_INDENT + strlen(head);
	u32 i;

	if (!chain || !rows)
		return 0;
	if (!chain->n) {
		fprintf(out, "%*s(no %s chain)\n", CHAIN_INDENT, "", *head ? "user" : "call");
		return 1;
	}
	for (i = 0; i < chain->n && i < rows; i++) {
		fprintf(out, "%*s%s", CHAIN_INDENT, "", head);
		print_cut(model_get_frame(&l->a.model, field, chain, i),
			  width > used ? width - used : 0, out);
		putc('\n', out);
	}
	return i;
}

static void print_groups(const struct live_state *l, u32 rows, const size_t *widths, size_t width,
			 bool colour, FILE *out)
{
	u32 lines = 0, i, j;

	for (i = l->top; i < l->nr_shown && lines < rows; i++) {
		print_group(l, i, widths, width, colour, out);
		lines++;
		for (j = 0; j < 2; j++)
			lines += print_unfolded_chain(l, i, chain_fields[j], rows - lines, width,
						      out);
	}
}

static void print_total(const struct live_state *l, bool colour, FILE *out)
{
	const struct model *m = &l->a.model;
	struct figures total = *l->filter ? l->found : history_get_total(&l->history, m);

	fputs("  ", out);
	print_figures(l, &total, colour, out);
	fputs("  total", out);
	if (*l->filter)
		fprintf(out, " of %u group%s", l->nr_found, l->nr_found == 1 ? "" : "s");
	if (m->filtered.objects)
		fprintf(out, ", %llu objects filtered out", m->filtered.objects);
	putc('\n', out);
}

void live_draw(struct live_state *l)
{
	struct terminal term = terminal_describe(stdout, l->o.colour);
	size_t rows = screen_count_rows(), len, widths[GROUP_KEY_MAX];
	char *text;
	FILE *out = xopen_memstream(&text, &len);

	if (l->help) {
		fputs(help, out);
	} else {
		print_status(l, term.width, out);
		print_message(l, term.width, out);
		rows = rows > OTHER_LINES ? rows - OTHER_LINES : 1;
		scroll_to_selected(l, rows);
		measure_fields(l, rows, widths);
		print_head(l, widths, term.width, term.colour, out);
		print_groups(l, rows, widths, term.width, term.colour, out);
		print_total(l, term.colour, out);
	}
	if (!fclose(out))
		screen_draw_text((struct text_slice){ text, len });
	free(text);
}
