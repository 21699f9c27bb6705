// SPDX-License-Identifier: GPL-2.0
/*
 * Run live mode. On a terminal, groups are redrawn and keys change them. Otherwise the tables,
 * or JSON objects, are printed one after the other.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_status.h"
#include "base/replace_file.h"
#include "model/report.h"
#include "ui/live.h"
#include "ui/live_state.h"
#include "ui/screen.h"

/* Number of frames that are shown after "-" is pressed while all frames are shown. */
#define DEPTH_AFTER_ALL 4

/* Returns false if the inputs must not be added up. */
static bool read_live_answer(struct live_state *l, bool quiet)
{
	/* rows_begin_table() has set a locale that would slow down matching. */
	setlocale(LC_CTYPE, "C");
	history_keep(&l->history, &l->a.model);
	answer_free_members(&l->a);
	l->a.health.quiet = quiet;
	l->time = time(NULL);
	answer_read(&l->a, &l->o, l->paths, l->nr_paths);
	return !l->a.model.sink.summary.same_kind[0];
}

static int get_exit_status(const struct live_state *l)
{
	return health_is_complete(&l->a.health) ? STATUS_COMPLETE : STATUS_INCOMPLETE;
}

/* Sort ranks by growth. Groups that grew alike, as all do at the mark, keep their order. */
static int compare_growth(const void *a, const void *b, void *arg)
{
	const s64 *growth = arg;
	u32 ra = *(const u32 *)a, rb = *(const u32 *)b;

	if (growth[ra] != growth[rb])
		return growth[ra] < growth[rb] ? 1 : -1;
	return ra < rb ? -1 : 1;
}

/* Choose and order the groups that are shown, and add up those that the text of / holds for. */
static void choose_groups(struct live_state *l)
{
	u32 top = l->a.view.each || l->o.fit_screen ? 0 : l->o.top, i;
	struct report r;
	s64 *growth;

	report_init(&r, &l->a);
	growth = xmalloc(r.n * sizeof(*growth));
	free(l->shown);
	l->shown = xmalloc(r.n * sizeof(*l->shown));
	l->nr_found = 0;
	l->found = (struct figures){ 0 };
	for (i = 0; i < (l->a.view.each ? r.shown : r.n); i++) {
		struct group g = report_get_group(&r, i);
		struct figures f;

		if (!live_filter_holds(l, &g))
			continue;
		f = history_find(&l->history, &l->a.model, &g);
		figures_add(&l->found, &f);
		growth[i] = measure_get_value(&f.now, l->o.sort) -
			    measure_get_value(&f.mark, l->o.sort);
		l->shown[l->nr_found++] = i;
	}
	if (l->by_growth)
		qsort_r(l->shown, l->nr_found, sizeof(*l->shown), compare_growth, growth);
	for (i = 0; i < l->nr_found; i++)
		l->shown[i] = r.order[l->shown[i]];
	l->nr_shown = top && top < l->nr_found ? top : l->nr_found;
	free(growth);
	report_free(&r);
}

/* Forget the figures of earlier updates, after the fields or frames that make groups changed. */
static void restart_history(struct live_state *l)
{
	history_free(&l->history);
	l->unfolded = 0;
	l->selected = 0;
	l->top = 0;
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

	l->by_growth = false;
	l->o.order[0] = sort;
	l->o.nr_order = 1;
	l->o.sort = measure_find_in_sort_keys(l->o.order, 1);
	view->order[0] = sort;
	view->nr_order = 1;
	view->measure = l->o.sort;
}

static void toggle_unfolded(struct live_state *l)
{
	struct group g;
	u64 hash;

	if (!l->nr_shown)
		return;
	g = model_get_group(&l->a.model, l->shown[l->selected]);
	hash = history_hash_group(&l->a.model, &g);
	l->unfolded = l->unfolded == hash ? 0 : hash;
}

/* Group by the fields that the user has typed. */
static enum next_step change_groups(struct live_state *l)
{
	struct owner_lang_error error;
	struct owner_sentence s;
	char *text;

	if (asprintf(&text, "group=%s", l->input) < 0)
		exit_out_of_memory();
	if (!owner_lang_parse(&s, OWNER_QUERY, text, strlen(text), &error) || s.nr_comparisons) {
		snprintf(l->message, sizeof(l->message), "group: %s",
			 s.nr_comparisons ? "only fields, with commas" : error.message);
		free(text);
		return STEP_WAIT;
	}
	free(text);
	memcpy(l->o.select.group.v, s.group_by, sizeof(s.group_by));
	l->o.select.group.n = s.nr_group_by;
	restart_history(l);
	return STEP_READ;
}

static void save_table(struct live_state *l)
{
	struct output_options output = l->output;
	struct answer *a = &l->a;
	char *temporary;
	FILE *out = *l->input ? replace_file_begin(l->input, &temporary) : NULL;

	output.term = (struct terminal){ 0 };
	output.repeats = false;
	a->view.top = 0;
	if (out)
		write_table(a, &output, out);
	if (out && replace_file_end(out, temporary, l->input, true))
		snprintf(l->message, sizeof(l->message), "written to %s", l->input);
	else
		snprintf(l->message, sizeof(l->message), "write: %s: %s",
			 *l->input ? l->input : "no name", *l->input ? strerror(errno) : "");
}

static enum next_step finish_prompt(struct live_state *l)
{
	enum prompt prompt = l->prompt;

	l->prompt = PROMPT_NONE;
	switch (prompt) {
	case PROMPT_FILTER:
		memcpy(l->filter, l->input, sizeof(l->filter));
		l->selected = 0;
		choose_groups(l);
		break;
	case PROMPT_GROUP:
		return *l->input ? change_groups(l) : STEP_WAIT;
	case PROMPT_SAVE:
		save_table(l);
		break;
	case PROMPT_NONE:
		break;
	}
	return STEP_WAIT;
}

static void begin_prompt(struct live_state *l, enum prompt prompt, const char *input)
{
	l->prompt = prompt;
	snprintf(l->input, sizeof(l->input), "%s", input);
}

static enum next_step handle_prompt_key(struct live_state *l, int key)
{
	size_t len = strlen(l->input);

	switch (key) {
	case '\r':
	case '\n':
		return finish_prompt(l);
	case SCREEN_ESCAPE:
		l->prompt = PROMPT_NONE;
		break;
	case '\b':
	case 0x7f:
		/* Remove the continuation bytes of a UTF-8 character, too. */
		while (len && (l->input[--len] & 0xc0) == 0x80)
			;
		l->input[len] = '\0';
		break;
	default:
		if (key >= ' ' && len + 1 < sizeof(l->input)) {
			l->input[len] = key;
			l->input[len + 1] = '\0';
		}
	}
	return STEP_WAIT;
}

static void move_selected(struct live_state *l, s64 by)
{
	s64 to = l->selected + by;

	if (to >= l->nr_shown)
		to = (s64)l->nr_shown - 1;
	l->selected = to > 0 ? to : 0;
}

static enum next_step change_depth(struct live_state *l, u32 depth)
{
	if (depth == l->o.select.chains.depth)
		return STEP_WAIT;
	l->o.select.chains.depth = depth;
	restart_history(l);
	return STEP_READ;
}

static enum next_step handle_command_key(struct live_state *l, int key)
{
	u32 depth = l->o.select.chains.depth;

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
	case 'c':
		l->by_growth = true;
		break;
	case 'm':
		history_mark(&l->history, &l->a.model, l->time);
		break;
	case '+':
		return change_depth(l, depth ? depth + 1 : 0);
	case '-':
		return change_depth(l, depth > 1 ? depth - 1 : depth ? 1 : DEPTH_AFTER_ALL);
	case 'p':
	case ' ':
		l->paused = !l->paused;
		return l->paused ? STEP_WAIT : STEP_READ;
	case 'g':
		begin_prompt(l, PROMPT_GROUP, "");
		break;
	case '/':
		begin_prompt(l, PROMPT_FILTER, l->filter);
		break;
	case 'w':
		begin_prompt(l, PROMPT_SAVE, "ownertop.txt");
		break;
	case '?':
		l->help = true;
		break;
	case '\r':
	case '\n':
		toggle_unfolded(l);
		break;
	case 'q':
		return STEP_QUIT;
	}
	choose_groups(l);
	return STEP_WAIT;
}

static void handle_move_key(struct live_state *l, int key)
{
	s64 page = screen_count_rows() / 2;

	switch (key) {
	case SCREEN_UP:
	case 'k':
		move_selected(l, -1);
		break;
	case SCREEN_DOWN:
	case 'j':
		move_selected(l, 1);
		break;
	case SCREEN_PAGE_UP:
		move_selected(l, -page);
		break;
	case SCREEN_PAGE_DOWN:
		move_selected(l, page);
		break;
	case SCREEN_HOME:
		l->selected = 0;
		break;
	case SCREEN_END:
		move_selected(l, l->nr_shown);
		break;
	}
}

static enum next_step handle_key(struct live_state *l, int key)
{
	enum next_step step = STEP_WAIT;

	if (key == SCREEN_GONE)
		return STEP_QUIT;
	if (key == SCREEN_TIMEOUT)
		return STEP_READ;
	if (key != SCREEN_CHANGED) {
		*l->message = '\0';
		if (l->help)
			l->help = false;
		else if (l->prompt)
			step = handle_prompt_key(l, key);
		else if (key < 0 || key == 'j' || key == 'k')
			handle_move_key(l, key);
		else
			step = handle_command_key(l, key);
	}
	if (step == STEP_WAIT)
		live_draw(l);
	return step;
}

static void run_on_screen(struct live_state *l)
{
	enum next_step step = STEP_READ;
	s64 due = 0;
	u32 left = l->o.updates;

	while (step != STEP_QUIT) {
		s64 wait;

		if (step == STEP_READ) {
			if (!read_live_answer(l, true))
				break;
			history_begin(&l->history, &l->a.model, l->time);
			choose_groups(l);
			live_draw(l);
			due = read_clock_ms() + l->o.interval_ms;
			if (left && !--left)
				break;
		}
		wait = due - read_clock_ms();
		step = handle_key(l, screen_read_key(l->paused ? -1 : wait > 0 ? wait : 0));
	}
	screen_end();
}

static void print_clock(FILE *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char buf[32];

	strftime(buf, sizeof(buf), "%F %T", localtime_r(&now, &tm));
	fputs(buf, out);
}

/* Print the view as one line, which begins with the time of the update. */
static void print_json_line(const struct live_state *l)
{
	bool line_begins = false;
	char *text;
	size_t len, i;
	FILE *out = xopen_memstream(&text, &len);

	l->o.view->write[FORMAT_JSON](&l->a, &l->output, out);
	fclose(out);
	printf("{\"time\": %lld,", (long long)time(NULL));
	/* No string of JSON has a line break: breaks and the blanks after them are layout. */
	for (i = 1; i < len; i++) {
		if (text[i] == '\n') {
			line_begins = true;
			continue;
		}
		if (line_begins && text[i] == ' ')
			continue;
		if (line_begins)
			putchar(' ');
		line_begins = false;
		putchar(text[i]);
	}
	putchar('\n');
	free(text);
}

static void print_update(const struct live_state *l)
{
	if (l->o.format == FORMAT_JSON) {
		print_json_line(l);
		return;
	}
	print_clock(stdout);
	putchar('\n');
	write_table(&l->a, &l->output, stdout);
	putchar('\n');
}

static void run_without_terminal(struct live_state *l)
{
	struct timespec interval = {
		.tv_sec = l->o.interval_ms / 1000,
		.tv_nsec = l->o.interval_ms % 1000 * 1000000,
	};
	u32 left = l->o.updates;

	for (;;) {
		if (!read_live_answer(l, false))
			return;
		print_update(l);
		if (fflush(stdout) || (left && !--left))
			return;
		nanosleep(&interval, NULL);
	}
}

int live_run_view(const struct options *o, char * const *paths, int n)
{
	struct live_state l = {
		.o = *o,
		.paths = paths,
		.nr_paths = n,
		.by_growth = !o->sort_given,
	};
	int status;

	l.output = make_output_options(&l.o);
	if (o->format == FORMAT_TEXT && screen_begin())
		run_on_screen(&l);
	else
		run_without_terminal(&l);
	status = answer_report_same_kind(&l.a) ? STATUS_FAILED : get_exit_status(&l);
	free(l.shown);
	history_free(&l.history);
	answer_free_members(&l.a);
	return status;
}
