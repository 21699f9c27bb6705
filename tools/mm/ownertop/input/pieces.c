// SPDX-License-Identifier: GPL-2.0
/*
 * Read a regular file in pieces: while the first thread reads one, the second thread reads the
 * next into a part of the sink.
 *
 * The second piece begins at a line that looks like the header of a record. If the first
 * thread arrives at that line and expects a record there, both threads together have read
 * what one thread would have read, and the part is added. Otherwise, for example if damage
 * hides the header, or if the sink refuses the part, the part is dropped and the first thread
 * reads all that is left.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/pieces.h"

u64 pieces_size_min = 4 * 1024 * 1024;
u64 pieces_size_max = 128 * 1024 * 1024;

/* Bytes that are searched for the header at which the second piece begins. */
#define SEARCH_SIZE (16 * 1024)

struct second_piece {
	struct input_reading reading;	/* lines and offsets count from the start of the piece */
	struct input_health health;
	struct handle_map handles;	/* shares all but used with the map of the first thread */
	u64 from;		/* offset in the input where the piece begins */
	u64 size;		/* the piece ends with the record at this offset of the piece */
	pthread_t thread;
	atomic_bool stop;	/* set by the first thread: the part will be dropped */
};

static void *run_second_thread(void *arg)
{
	struct second_piece *piece = arg;
	struct input_reading *r = &piece->reading;

	while (!piece->stop && !r->sink->part_full && r->in.offset < piece->size &&
	       reading_read_record(r))
		;
	return NULL;
}

/* Returns the number of bytes from position @at of a file to the next header; 0: none is near. */
static u64 find_next_header(const struct input_reading *r, u64 at)
{
	char text[SEARCH_SIZE];
	ssize_t len = pread(r->in.fd, text, sizeof(text), at);
	const char *p = text, *end = text + (len > 0 ? len : 0);

	while ((p = memchr(p, '\n', end - p))) {
		p++;
		if (r->format->record_begins((struct text_slice){ p, end - p }))
			return p - text;
	}
	return 0;
}

/* Returns the bytes of a regular file that are not read yet; 0 for a pipe, and for debugfs. */
static u64 count_bytes_left(const struct input_reading *r)
{
	u64 position;
	struct stat st;

	if (r->in.unpack || fstat(r->in.fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	position = input_get_position(&r->in);
	return position < (u64)st.st_size ? st.st_size - position : 0;
}

/*
 * Start the second thread, in the middle of what is left or of two pieces of @size_max bytes.
 * Returns NULL if one thread must read what is left.
 */
static struct second_piece *begin_second_piece(struct input_reading *r, u64 size_max)
{
	struct record_sink *sink = r->sink, *part;
	struct second_piece *piece;
	u64 left, size, at, more;

	if (!sink->begin_part || !r->format->divisible)
		return NULL;
	left = count_bytes_left(r);
	if (!left || left < pieces_size_min)
		return NULL;
	size = left / 2 < size_max ? left / 2 : size_max;
	at = input_get_position(&r->in) + size;
	more = find_next_header(r, at);
	part = more ? sink->begin_part(sink->arg) : NULL;
	if (!part)
		return NULL;

	piece = xcalloc(1, sizeof(*piece));
	piece->from = r->in.offset + size + more;
	piece->size = left / 2 < size_max ? left : size_max;
	piece->handles = *r->handles;
	piece->handles.used = false;
	piece->health.postponed = true;
	piece->reading = (struct input_reading){
		.format = r->format,
		.path = r->path,
		.page_size = r->page_size,
		.sink = part,
		.health = &piece->health,
		.handles = &piece->handles,
	};
	input_open_part(&piece->reading.in, r->in.fd, at + more);
	if (!pthread_create(&piece->thread, NULL, run_second_thread, piece))
		return piece;
	input_close(&piece->reading.in);
	sink->free_part(part);
	free(piece);
	return NULL;
}

static bool add_second_piece(struct input_reading *r, const struct second_piece *piece)
{
	const struct input_reading *second = &piece->reading;

	if (second->in.failure || !r->sink->add_part(r->sink->arg, second->sink))
		return false;
	health_report_places(r->health, r->path, &piece->health, r->line);
	r->line += second->line;
	r->handles->used |= piece->handles.used;
	input_skip_unread(&r->in, second->in.offset);
	return true;
}

/*
 * Read the first piece, and wait for the second thread. Returns whether its part was added: the
 * first thread has arrived where the second piece begins, and the sink has accepted the part. If
 * the part was full, the second thread had to wait for the first one: the next pieces shall have
 * @size_max bytes, as many as the second thread has read.
 */
static bool read_two_pieces(struct input_reading *r, struct second_piece *piece, u64 *size_max)
{
	bool added;

	while (r->in.offset < piece->from && reading_read_record(r))
		;
	added = r->in.offset == piece->from;
	piece->stop = !added;
	pthread_join(piece->thread, NULL);
	if (added)
		added = add_second_piece(r, piece);
	if (piece->reading.sink->part_full)
		*size_max = piece->reading.in.offset;
	input_close(&piece->reading.in);
	r->sink->free_part(piece->reading.sink);
	free(piece);
	return added;
}

void pieces_read_records(struct input_reading *r)
{
	struct second_piece *piece;
	u64 size_max = pieces_size_max;

	do
		piece = begin_second_piece(r, size_max);
	while (piece && read_two_pieces(r, piece, &size_max));
	while (reading_read_record(r))
		;
}
