// SPDX-License-Identifier: GPL-2.0
/* Buffered reading that always shows a whole record. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "input.h"

/* Fits a core's second-level cache, and makes moving what is left over rare. */
#define BUFFER_SIZE (4 * INPUT_AHEAD)

/* page_owner fails a read that has no room for a record of one page. */
#define LEAST_READ (64 * 1024)

bool input_open(struct input *in, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		return false;
	*in = (struct input){ .fd = fd, .buf = xmalloc(BUFFER_SIZE) };
	return true;
}

void input_close(struct input *in)
{
	if (in->fd != STDIN_FILENO)
		close(in->fd);
	free(in->buf);
}

static void fill(struct input *in)
{
	memmove(in->buf, in->buf + in->pos, in->end - in->pos);
	in->end -= in->pos;
	in->pos = 0;

	while (!in->eof && BUFFER_SIZE - in->end >= LEAST_READ) {
		ssize_t n = read(in->fd, in->buf + in->end, BUFFER_SIZE - in->end);

		if (n > 0) {
			in->end += n;
		} else if (!n) {
			in->eof = true;
		} else if (errno != EINTR) {
			in->error = errno;
			in->eof = true;
		}
	}
}

struct text input_ahead(struct input *in)
{
	if (!in->eof && in->end - in->pos < INPUT_AHEAD)
		fill(in);
	return (struct text){ in->buf + in->pos, in->end - in->pos };
}

void input_consume(struct input *in, size_t bytes)
{
	in->pos += bytes;
}
