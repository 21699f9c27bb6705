// SPDX-License-Identifier: GPL-2.0
/*
 * Live mode: keys and a redrawn screen on a terminal, one table after the other
 * elsewhere.
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

/* Lines of a screen that are not groups: ours, the head, rest, total, notes. */
#define OTHER_LINES 7

/* Where all frames are shown, one key makes it so many. */
#define FEWER_FRAMES 4

struct live {
	struct options o;	/* keys change order and depth, the screen how many fit */
	u32 top;
	char * const *paths;
	int nr_paths;
	bool paused;
	struct answer a;
	struct output_options output;
};

static void read_again(struct live *l, bool quiet)
{
	/* The table's locale would slow down matching. */
	setlocale(LC_CTYPE, "C");
	answer_free(&l->a);
	l->a.health.quiet = quiet;
	answer_read(&l->a, &l->o, l->paths, l->nr_paths);
}

static int status(const struct live *l)
{
	return health_complete(&l->a.health) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
}

/* Of the table: a row, and the chain below it. */
static u32 lines_of(const struct live *l, const struct group *g)
{
	u32 frames;

	if (!field_listed(&l->o.select.group, OWNER_FIELD_STACK))
		return 1;
	frames = model_chain(&l->a.model, g)->n;
	return 1 + (frames ? frames : 1);
}

/* As many groups as fit with their chains, unless the user wants fewer. */
static u32 groups_that_fit(const struct live *l)
{
	u32 others = OTHER_LINES + sum_is_estimate(&l->a.model.total);
	u32 rows = screen_rows(), lines = 0, fit;
	struct report r;

	report_init(&r, &l->a);
	for (fit = 0; fit < r.kept && (!l->top || fit < l->top); fit++) {
		struct group g = report_group(&r, fit);

		lines += lines_of(l, &g);
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

static void print_status(const struct live *l, const struct terminal *term, FILE *out)
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

static void draw(struct live *l)
{
	struct terminal term = terminal_of(stdout);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	print_status(l, &term, out);
	l->a.view.top = groups_that_fit(l);
	write_table_to(&l->a, &l->output, out, term);
	if (!fclose(out))
		screen_show((struct text){ text, len });
	free(text);
}

static s64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

enum then { THEN_WAIT, THEN_READ, THEN_QUIT };

static void sort_by(struct live *l, enum owner_sort sort)
{
	struct view_options *view = &l->a.view;

	l->o.order[0] = sort;
	l->o.nr_order = 1;
	l->o.sort = measure_of_order(l->o.order, 1);
	view->order[0] = sort;
	view->nr_order = 1;
	view->measure = l->o.sort;
}

static enum then handle_key(struct live *l, int key)
{
	u32 *depth = &l->o.select.chains.depth;

	switch (key) {
	case 'b':
		sort_by(l, OWNER_SORT_BYTES);
		break;
	case 'h':
		sort_by(l, OWNER_SORT_HELD);
		break;
	case 'o':
		sort_by(l, OWNER_SORT_OBJECTS);
		break;
	case '+':
		if (*depth)
			++*depth;
		return THEN_READ;
	case '-':
		if (*depth != 1)
			*depth = *depth ? *depth - 1 : FEWER_FRAMES;
		return THEN_READ;
	case 'p':
	case ' ':
		l->paused = !l->paused;
		if (!l->paused)
			return THEN_READ;
		break;
	case 'q':
	case SCREEN_GONE:
		return THEN_QUIT;
	case SCREEN_TIMEOUT:
		return THEN_READ;
	}
	draw(l);
	return THEN_WAIT;
}

static void run_on_screen(struct live *l)
{
	enum then then = THEN_READ;
	s64 due = 0;

	while (then != THEN_QUIT) {
		s64 left;

		if (then == THEN_READ) {
			read_again(l, true);
			draw(l);
			due = now_ms() + l->o.interval_ms;
		}
		left = due - now_ms();
		then = handle_key(l, screen_key(l->paused ? -1 : left > 0 ? left : 0));
	}
	screen_end();
}

static void run_in_lines(struct live *l)
{
	struct timespec interval = {
		.tv_sec = l->o.interval_ms / 1000,
		.tv_nsec = l->o.interval_ms % 1000 * 1000000,
	};

	for (;;) {
		read_again(l, false);
		print_clock(stdout);
		putchar('\n');
		write_table(&l->a, &l->output, stdout);
		putchar('\n');
		if (fflush(stdout))
			return;
		nanosleep(&interval, NULL);
	}
}

int live_run(const struct options *o, char * const *paths, int n)
{
	struct live l = { .o = *o, .top = o->top, .paths = paths, .nr_paths = n };

	l.output = options_for_output(&l.o);
	if (screen_begin())
		run_on_screen(&l);
	else
		run_in_lines(&l);
	answer_free(&l.a);
	return status(&l);
}
