/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file, pipe or debugfs file that is read once, from front to back, through one buffer.
 * Compressed input is unpacked.
 */
#ifndef OWNERTOP_INPUT_H
#define OWNERTOP_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "base/types.h"
#include "input/unpack.h"

/*
 * Bytes that input_peek() returns before the end of the input. The kernel prints a record
 * into at most one page, which has up to 64 KiB.
 */
#ifndef INPUT_AHEAD
#define INPUT_AHEAD (128 * 1024)
#endif

struct input {
	int fd;
	char *buf;
	size_t pos;
	size_t end;
	bool eof;
	const char *failure;	/* error message if reading failed, or NULL */
	struct unpacker *unpack;	/* NULL: the input is not compressed */
};

/* Open the input file @path; "-" is standard input. Returns false with errno set on failure. */
bool input_open(struct input *in, const char *path);
/* Use the open file @fd as an input, without unpacking. input_close() closes it. */
void input_open_fd(struct input *in, int fd);
void input_close(struct input *in);

/* Read more of the input: the buffer has less than INPUT_AHEAD bytes. */
void input_fill_buffer(struct input *in);

/*
 * Returns the text of the input that is not consumed yet: INPUT_AHEAD bytes, or all that is
 * left. It is never more, although the buffer may have more: how many more depends on earlier
 * reads, and the longest record that can be read must not depend on them.
 */
static inline struct text_slice input_peek(struct input *in)
{
	size_t len;

	if (!in->eof && in->end - in->pos < INPUT_AHEAD)
		input_fill_buffer(in);
	len = in->end - in->pos;
	return (struct text_slice){ in->buf + in->pos, len < INPUT_AHEAD ? len : INPUT_AHEAD };
}

static inline void input_skip(struct input *in, size_t bytes)
{
	in->pos += bytes;
}

#endif
