// SPDX-License-Identifier: GPL-2.0
/* Show the progress of reading on the terminal. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "input/progress.h"

/* Milliseconds until the progress line appears: only slow inputs need it. */
#define FIRST_UPDATE_MS 1000
#define UPDATE_INTERVAL_MS 200

#define ERASE "\r\033[K"

static struct {
	bool enabled;
	bool shown;
	const char *input;	/* NULL: no input is being read */
	u64 total;
	u64 done;
	s64 began_ms;
	s64 due_ms;
} progress;

static s64 read_clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

void progress_enable(void)
{
	progress.enabled = isatty(STDERR_FILENO);
}

void progress_begin_input(const char *input, u64 total)
{
	if (!progress.enabled)
		return;
	progress.total = total;
	if (progress.input == input)
		return;
	progress.input = input;
	progress.done = 0;
	progress.began_ms = read_clock_ms();
	progress.due_ms = progress.began_ms + FIRST_UPDATE_MS;
}

static void print_progress(s64 now)
{
	u64 read = progress.done, rate = read * 1000 / (now - progress.began_ms);
	char done[HUMAN_LEN], total[HUMAN_LEN], per_second[HUMAN_LEN];

	human_format_bytes(done, read);
	human_format_bytes(per_second, rate);
	if (progress.total)
		fprintf(stderr, ERASE "%s: %llu%% of %s, %s/s", progress.input,
			100 * read / progress.total,
			human_format_bytes(total, progress.total), per_second);
	else
		fprintf(stderr, ERASE "%s: %s, %s/s", progress.input, done, per_second);
	progress.shown = true;
}

void progress_add_bytes(u64 more)
{
	s64 now;

	if (!progress.input)
		return;
	progress.done += more;
	now = read_clock_ms();
	if (now < progress.due_ms)
		return;
	print_progress(now);
	progress.due_ms = now + UPDATE_INTERVAL_MS;
}

void progress_erase_line(void)
{
	if (progress.shown)
		fputs(ERASE, stderr);
	progress.shown = false;
}

void progress_end_input(void)
{
	progress_erase_line();
	progress.input = NULL;
}
