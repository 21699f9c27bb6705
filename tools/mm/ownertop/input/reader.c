// SPDX-License-Identifier: GPL-2.0
/*
 * Which reader an input is for: lines that only one format has tell.
 * What only explains other inputs is read before them, in whatever order they
 * were named.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "input/progress.h"
#include "input/reader.h"
#include "input/reading.h"

/* What no format recognises, the first one says what is wrong with. */
static const struct format * const formats[] = {
	&format_text, &format_stacks, &format_alloc_traces, &format_allocinfo,
	&format_answer,
};

#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

/* To open a file of debugfs twice may make the kernel add it up twice. */
#define STAY_OPEN_MAX 8

static u32 count_lines(const struct format *format, struct reading *r)
{
	struct cursor c = reading_cursor(r);
	struct text line;
	u32 n = 0;

	while (cursor_line(&c, &line))
		n += format->recognise(line);
	return n;
}

/*
 * The format that most lines of the beginning are of. A record of format_text
 * may have a line that format_stacks would have, so its own count twice.
 */
static const struct format *format_of(struct reading *r)
{
	const struct format *best = formats[0];
	u32 most = 2 * count_lines(best, r);
	size_t i;

	for (i = 1; i < NR_FORMATS; i++) {
		u32 n = count_lines(formats[i], r);

		if (n > most) {
			best = formats[i];
			most = n;
		}
	}
	return best;
}

static bool reading_open(struct reading *r)
{
	/* A pipe may take its time from the first byte on. */
	progress_begin(r->path, 0);
	if (!input_open(&r->in, r->path)) {
		health_unread(r->health, r->path, strerror(errno));
		progress_end();
		r->path = NULL;
		return false;
	}
	r->open = true;
	r->format = format_of(r);
	return true;
}

static void reading_close(struct reading *r)
{
	input_close(&r->in);
	r->open = false;
	progress_end();
}

/* Bytes of a file, 0 for what grows as it is read. */
static u64 size_of(const struct reading *r)
{
	struct stat st;

	return !fstat(r->in.fd, &st) && S_ISREG(st.st_mode) ? st.st_size : 0;
}

static void read_through(struct reading *r)
{
	if (r->format->begin)
		r->format->begin(r);
	progress_begin(r->path, size_of(r));
	reading_run(r);
	reading_close(r);
	r->path = NULL;
}

/* Can it be closed now and opened again later? */
static bool is_file(const struct reading *r)
{
	struct stat st;

	return r->in.fd && !fstat(r->in.fd, &st) && S_ISREG(st.st_mode);
}

/*
 * Looks at an input, so that what explains the others is read first. Files may
 * have to be closed again, as each open one takes a buffer, and a compressed one
 * several.
 */
static void look_ahead(struct reading *r, bool stay_open)
{
	if (!reading_open(r))
		return;
	if (r->format->lists_slabs && r->format->lists_slabs(r))
		r->sink->summary.slabs_listed = true;
	if (r->format->explains && r->format->explains(r))
		read_through(r);
	else if ((!stay_open || r->in.unpack) && is_file(r))
		reading_close(r);
}

void read_open(int fd, char *name, struct record_sink *sink, struct health *health)
{
	struct handles handles = { 0 };
	struct reading r = {
		.path = name,
		.line = 1,
		.open = true,
		.sink = sink,
		.health = health,
		.handles = &handles,
	};

	input_take(&r.in, fd);
	r.format = &format_answer;
	read_through(&r);
	handles_free(&handles);
}

void read_inputs(char * const *paths, int n, u64 page_size, struct record_sink *sink,
		 struct health *health)
{
	struct reading *all = xcalloc(n, sizeof(*all));
	struct handles handles = { 0 };
	int i;

	for (i = 0; i < n; i++)
		all[i] = (struct reading){
			.path = paths[i],
			.line = 1,
			.page_size = page_size,
			.sink = sink,
			.health = health,
			.handles = &handles,
		};
	if (n > 1)
		for (i = 0; i < n; i++)
			look_ahead(&all[i], n <= STAY_OPEN_MAX);
	for (i = 0; i < n; i++)
		if (all[i].path && (all[i].open || reading_open(&all[i])))
			read_through(&all[i]);
	if (!handles.asked)
		sink->summary.idle_handles = handles.n;
	handles_free(&handles);
	free(all);
}
