// SPDX-License-Identifier: GPL-2.0
/*
 * Run live mode. On a terminal, the table is redrawn and keys change it. Otherwise the tables
 * are printed one after the other.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "ask/answer.h"
#include "model/report.h"
#include "ui/live.h"
#include "ui/screen.h"
#include "output/writer.h"

/* Lines of the screen that are no groups: status, head, rest, total and notes. */
#define OTHER_LINES 7

/* Number of frames that are shown after "-" is pressed while all frames are shown. */
#define DEPTH_AFTER_ALL 4

struct live_state {
	struct options o;	/* options of the command line; keys change order and depth */
	char * const *paths;
	int nr_paths;
	bool paused;
	struct answer a;
	struct output_options output;
};

static void read_live_answer(struct live_state *l, bool quiet)
{
	/* rows_begin_table() has set a locale that would slow down matching. */
	setlocale(LC_CTYPE, "C");
	answer_free_members(&l->a);
	l->a.health.quiet = quiet;
	answer_read(&l->a, &l->o, l->paths, l->nr_paths);
}

static int get_exit_status(const struct live_state *l)
{
	return health_is_complete(&l->a.health) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
}

/* Returns the number of lines of a group: its row and the chain below it. */
static u32 count_group_lines(const struct live_state *l, const struct group *g)
{
	u32 frames;

	if (!field_is_listed(&l->o.select.group, OWNER_FIELD_STACK))
		return 1;
	frames = model_get_chain(&l->a.model, g)->n;
	return 1 + (frames ? frames : 1);
}

/* Returns the number of groups that fit on the screen, at most --top. */
static u32 count_groups_that_fit(const struct live_state *l)
{
	u32 others = OTHER_LINES + sum_is_estimate(&l->a.model.total) +
		     !health_is_complete(&l->a.health);
	u32 rows = screen_count_rows(), lines = 0, fit;
	struct report r;

	report_init(&r, &l->a);
	for (fit = 0; fit < r.kept && (!l->o.top || fit < l->o.top); fit++) {
		struct group g = report_get_group(&r, fit);

		lines += count_group_lines(l, &g);
		if (others + lines > rows)
			break;
	}
	report_free(&r);
	return fit ? fit : 1;
}

static void print_clock(FILE *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char buf[32];

	strftime(buf, sizeof(buf), "%F %T", localtime_r(&now, &tm));
	fputs(buf, out);
}

static void print_status(const struct live_state *l, const struct terminal *term, FILE *out)
{
	char *line;
	size_t len;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return;
	print_clock(f);
	fprintf(f, "  %sby %s; b h o sort, + - depth, p %s, q quit", l->paused ? "PAUSED, " : "",
		owner_sort_names[l->o.order[0]], l->paused ? "go on" : "pause");
	if (*l->a.health.first)
		fprintf(f, "  %s", l->a.health.first);
	if (!fclose(f))
		fprintf(out, "%.*s\n", (int)term->width, line);
	free(line);
}

static void draw_screen(struct live_state *l)
{
	struct terminal term = terminal_describe(stdout, l->o.colour);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	print_status(l, &term, out);
	l->a.view.top = count_groups_that_fit(l);
	l->output.term = term;
	write_table(&l->a, &l->output, out);
	if (!fclose(out))
		screen_draw_text((struct text_slice){ text, len });
	free(text);
}

static s64 read_clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

enum next_step { STEP_WAIT, STEP_READ, STEP_QUIT };

static void change_sort_key(struct live_state *l, enum owner_sort sort)
{
	struct view_options *view = &l->a.view;

	l->o.order[0] = sort;
	l->o.nr_order = 1;
	l->o.sort = measure_of_sort_keys(l->o.order, 1);
	view->order[0] = sort;
	view->nr_order = 1;
	view->measure = l->o.sort;
}

static enum next_step handle_key(struct live_state *l, int key)
{
	u32 *depth = &l->o.select.chains.depth;

	switch (key) {
	case 'b':
		change_sort_key(l, OWNER_SORT_BYTES);
		break;
	case 'h':
		change_sort_key(l, OWNER_SORT_HELD);
		break;
	case 'o':
		change_sort_key(l, OWNER_SORT_OBJECTS);
		break;
	case '+':
		if (*depth)
			++*depth;
		return STEP_READ;
	case '-':
		if (*depth != 1)
			*depth = *depth ? *depth - 1 : DEPTH_AFTER_ALL;
		return STEP_READ;
	case 'p':
	case ' ':
		l->paused = !l->paused;
		if (!l->paused)
			return STEP_READ;
		break;
	case 'q':
	case SCREEN_GONE:
		return STEP_QUIT;
	case SCREEN_TIMEOUT:
		return STEP_READ;
	}
	draw_screen(l);
	return STEP_WAIT;
}

static void run_on_screen(struct live_state *l)
{
	enum next_step step = STEP_READ;
	s64 due = 0;

	while (step != STEP_QUIT) {
		s64 left;

		if (step == STEP_READ) {
			read_live_answer(l, true);
			draw_screen(l);
			due = read_clock_ms() + l->o.interval_ms;
		}
		left = due - read_clock_ms();
		step = handle_key(l, screen_read_key(l->paused ? -1 : left > 0 ? left : 0));
	}
	screen_end();
}

static void run_without_terminal(struct live_state *l)
{
	struct timespec interval = {
		.tv_sec = l->o.interval_ms / 1000,
		.tv_nsec = l->o.interval_ms % 1000 * 1000000,
	};

	for (;;) {
		read_live_answer(l, false);
		print_clock(stdout);
		putchar('\n');
		write_table(&l->a, &l->output, stdout);
		putchar('\n');
		if (fflush(stdout))
			return;
		nanosleep(&interval, NULL);
	}
}

int live_run_view(const struct options *o, char * const *paths, int n)
{
	struct live_state l = { .o = *o, .paths = paths, .nr_paths = n };

	l.output = make_output_options(&l.o);
	if (screen_begin())
		run_on_screen(&l);
	else
		run_without_terminal(&l);
	answer_free_members(&l.a);
	return get_exit_status(&l);
}
