// SPDX-License-Identifier: GPL-2.0
/*
 * Choose the reader of each input by its first lines, and read all inputs. An input that
 * maps handles to call chains is read before the others, wherever it is named.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "input/progress.h"
#include "input/reader.h"
#include "input/reading.h"

/* All input formats. The first one reads, and rejects, inputs that no format recognises. */
static const struct input_format * const formats[] = {
	&format_text, &format_stacks, &format_alloc_traces, &format_allocinfo,
	&format_answer,
};

#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

/*
 * Limit of the inputs that stay open between a look at their first lines and their reading. An
 * input that is closed must be opened again, and then the kernel computes a debugfs file anew.
 */
#define KEEP_OPEN_MAX 8

static u32 count_recognised_lines(const struct input_format *format, struct input_reading *r)
{
	struct text_scan c = reading_begin_scan(r);
	struct text_slice line;
	u32 n = 0;

	while (scan_next_line(&c, &line))
		n += format->recognise(line);
	return n;
}

/*
 * Returns the format that recognises most lines at the beginning of the input. A record of
 * format_text may contain one line that format_stacks recognises, so each line that format_text
 * recognises counts twice.
 */
static const struct input_format *choose_format(struct input_reading *r)
{
	const struct input_format *best = formats[0];
	u32 most = 2 * count_recognised_lines(best, r);
	size_t i;

	for (i = 1; i < NR_FORMATS; i++) {
		u32 n = count_recognised_lines(formats[i], r);

		if (n > most) {
			best = formats[i];
			most = n;
		}
	}
	return best;
}

/* Does @head begin an archive of tar, old or new? A block of 512 bytes names its first file. */
static bool is_tar_archive(struct text_slice head)
{
	return head.len >= 512 && !memcmp(head.s + 257, "ustar", 5);
}

/* Open the input: if it is a memory dump, the records that are in it. */
static bool open_input_or_vmcore(struct input_reading *r, const char **reason)
{
	struct text_slice head;
	int fd;

	*reason = NULL;
	if (!input_open(&r->in, r->path)) {
		*reason = strerror(errno);
		return false;
	}
	head = input_peek(&r->in);
	if (is_tar_archive(head)) {
		*reason = "it is a tar archive; unpack it first: tar xf";
		input_close(&r->in);
		return false;
	}
	if (!vmcore_recognise(head))
		return true;
	fd = r->vmcore ? vmcore_open_records(r->path, head, r->vmcore, reason) : -1;
	input_close(&r->in);
	if (fd < 0)
		return false;
	input_open_fd(&r->in, fd);
	return true;
}

static bool reading_open(struct input_reading *r)
{
	const char *reason;

	/* Show progress already now: the beginning of a pipe may take long to arrive. */
	progress_begin_input(r->path, 0);
	if (!open_input_or_vmcore(r, &reason)) {
		health_report_missing(r->health, r->path, reason);
		progress_end_input();
		r->path = NULL;
		return false;
	}
	r->open = true;
	r->format = choose_format(r);
	return true;
}

static void reading_close(struct input_reading *r)
{
	input_close(&r->in);
	r->open = false;
	progress_end_input();
}

/* Returns the size of an input that is a regular file, 0 for a pipe and for files of debugfs. */
static u64 find_input_size(const struct input_reading *r)
{
	struct stat st;

	return !fstat(r->in.fd, &st) && S_ISREG(st.st_mode) ? st.st_size : 0;
}

static void read_whole_input(struct input_reading *r)
{
	if (r->format->begin)
		r->format->begin(r);
	progress_begin_input(r->path, find_input_size(r));
	while (reading_read_record(r))
		;
	reading_finish(r);
	reading_close(r);
	r->path = NULL;
}

/* Can the input be closed, and opened again later? */
static bool is_reopenable(const struct input_reading *r)
{
	struct stat st;

	return r->in.fd && !fstat(r->in.fd, &st) && S_ISREG(st.st_mode);
}

static void note_kind_of_input(struct input_reading *r, enum record_kind kind)
{
	struct input_summary *summary = &r->sink->summary;

	/* A dump that lists per-CPU areas first lists slab objects, too. */
	if (kind == KIND_PERCPU)
		kind = KIND_SLAB;
	summary->slabs_listed |= kind == KIND_SLAB;
	if (summary->first_of_kind[kind]) {
		summary->same_kind[0] = summary->first_of_kind[kind];
		summary->same_kind[1] = r->path;
	}
	summary->first_of_kind[kind] = r->path;
}

/*
 * Open an input, note what it contains, and read it at once if it maps handles. Otherwise
 * close it again unless there are few inputs: each open one has a buffer, and a compressed
 * one has several.
 */
static void inspect_or_read_input(struct input_reading *r, bool keep_open)
{
	enum record_kind kind;

	if (!reading_open(r))
		return;
	if (r->format->find_kind && r->format->find_kind(r, &kind))
		note_kind_of_input(r, kind);
	if (r->format->maps_handles && r->format->maps_handles(r))
		read_whole_input(r);
	else if ((!keep_open || r->in.unpack) && is_reopenable(r))
		reading_close(r);
}

void read_records_from_fd(int fd, char *name, struct record_sink *sink, struct input_health *health)
{
	struct handle_map handles = { 0 };
	struct input_reading r = {
		.path = name,
		.line = 1,
		.open = true,
		.sink = sink,
		.health = health,
		.handles = &handles,
	};

	input_open_fd(&r.in, fd);
	r.format = &format_answer;
	read_whole_input(&r);
	handle_map_free(&handles);
}

void read_records_from_inputs(char * const *paths, int n, const struct input_options *options,
			      struct record_sink *sink, struct input_health *health)
{
	struct input_reading *all = xcalloc(n, sizeof(*all));
	struct handle_map handles = { 0 };
	bool refused;
	int i;

	for (i = 0; i < n; i++)
		all[i] = (struct input_reading){
			.path = paths[i],
			.line = 1,
			.page_size = options->page_size,
			.vmcore = &options->vmcore,
			.sink = sink,
			.health = health,
			.handles = &handles,
		};
	if (n > 1)
		for (i = 0; i < n; i++)
			inspect_or_read_input(&all[i], n <= KEEP_OPEN_MAX);
	if (options->sum)
		sink->summary.same_kind[0] = NULL;
	refused = sink->summary.same_kind[0];
	for (i = 0; i < n; i++)
		if (refused && all[i].open)
			reading_close(&all[i]);
	for (i = 0; i < n && !refused; i++)
		if (all[i].path && (all[i].open || reading_open(&all[i])))
			read_whole_input(&all[i]);
	if (!handles.used)
		sink->summary.idle_handles = handles.n;
	handle_map_free(&handles);
	free(all);
}
