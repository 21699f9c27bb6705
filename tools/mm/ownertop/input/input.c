// SPDX-License-Identifier: GPL-2.0
/* Read an input through a buffer that always holds a complete record. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "input/input.h"
#include "input/progress.h"

/* Size of the input buffer: input_fill_buffer() moves an eighth of what it reads at most. */
#define BUFFER_SIZE (8 * INPUT_AHEAD)

/* Smallest read: page_owner returns an error if the buffer is too small for a record. */
#define READ_MIN (INPUT_AHEAD / 2)

static_assert(READ_MIN <= UNPACK_HEAD_MAX, "the first read must fit");

/*
 * Read up to @size bytes of the input with one read(). Sets in->eof at the end and on failure.
 */
static void read_once(struct input *in, size_t size)
{
	char *room = in->buf + in->end;
	ssize_t n;

	if (in->unpack)
		n = unpack_read(in->unpack, room, size);
	else
		n = read(in->fd, room, size);

	if (n > 0) {
		in->end += n;
		if (!in->unpack)
			progress_add_bytes(n);
	} else if (!n) {
		if (in->unpack)
			in->failure = unpack_get_failure_reason(in->unpack);
		in->eof = true;
	} else if (errno != EINTR) {
		in->failure = strerror(errno);
		in->eof = true;
	}
}

static void detect_compression(struct input *in)
{
	while (!in->eof && in->end < UNPACK_MAGIC)
		read_once(in, READ_MIN - in->end);
	in->unpack = unpack_begin((struct text_slice){ in->buf, in->end }, in->fd);
	if (in->unpack) {
		in->end = 0;
		in->eof = false;
	}
}

bool input_open(struct input *in, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		return false;
	input_open_fd(in, fd);
	detect_compression(in);
	return true;
}

void input_open_fd(struct input *in, int fd)
{
	*in = (struct input){ .fd = fd, .buf = xmalloc(BUFFER_SIZE) };
}

void input_close(struct input *in)
{
	if (in->unpack)
		unpack_end(in->unpack);
	if (in->fd != STDIN_FILENO)
		close(in->fd);
	free(in->buf);
}

void input_fill_buffer(struct input *in)
{
	memmove(in->buf, in->buf + in->pos, in->end - in->pos);
	in->end -= in->pos;
	in->pos = 0;
	while (!in->eof && BUFFER_SIZE - in->end >= READ_MIN)
		read_once(in, BUFFER_SIZE - in->end);
}
