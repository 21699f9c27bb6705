// SPDX-License-Identifier: GPL-2.0
/*
 * Which reader an input is for: the first line that only one format has tells.
 * What only explains other inputs is read before them, in whatever order they
 * were named.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "alloc.h"
#include "progress.h"
#include "reader.h"
#include "reading.h"

/* What no format recognises, the first one says what is wrong with. */
static const struct format * const formats[] = {
	&format_text, &format_stacks, &format_alloc_traces, &format_allocinfo,
};

#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

static const struct format *format_of_line(struct text line)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++)
		if (formats[i]->recognise(line))
			return formats[i];
	return NULL;
}

static const struct format *format_of(struct reading *r)
{
	struct cursor c = reading_cursor(r);
	const struct format *format;
	struct text line;

	while (cursor_line(&c, &line)) {
		format = format_of_line(line);
		if (format)
			return format;
	}
	return formats[0];
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
 * Looks at each input, so that what explains the others is read first. Files
 * are closed again: there may be many, and each open one takes a buffer.
 */
static void look_ahead(struct reading *r)
{
	if (!reading_open(r))
		return;
	if (r->format->lists_slabs && r->format->lists_slabs(r))
		r->model->sources.slabs_listed = true;
	if (r->format->explains && r->format->explains(r))
		read_through(r);
	else if (is_file(r))
		reading_close(r);
}

void read_inputs(char * const *paths, int n, u64 page_size, struct model *model,
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
			.model = model,
			.health = health,
			.handles = &handles,
		};
	if (n > 1)
		for (i = 0; i < n; i++)
			look_ahead(&all[i]);
	for (i = 0; i < n; i++)
		if (all[i].path && (all[i].open || reading_open(&all[i])))
			read_through(&all[i]);
	if (!handles.asked)
		model->sources.idle_handles = handles.n;
	handles_free(&handles);
	free(all);
}
