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
	u64 offset;		/* bytes of the input before pos */
	bool is_part;		/* opened by input_open_part() */
	u64 read_at;		/* is_part: position of the next read in the file */
	const char *failure;	/* error message if reading failed, or NULL */
	struct unpacker *unpack;	/* NULL: the input is not compressed */
};

/* Open the input file @path; "-" is standard input. Returns false with errno set on failure. */
bool input_open(struct input *in, const char *path);
/* Use the open file @fd as an input, without unpacking. input_close() closes it. */
void input_open_fd(struct input *in, int fd);
/*
 * Use the regular file @fd from position @at to its end as an input, without moving the position
 * of @fd. A second thread may read it. input_close() does not close @fd.
 */
void input_open_part(struct input *in, int fd, u64 at);
void input_close(struct input *in);

/*
 * Returns the text of the input that is not consumed yet: INPUT_AHEAD bytes, or all that is
 * left.
 */
struct text_slice input_peek(struct input *in);
void input_skip(struct input *in, size_t bytes);
/* Returns the position of the input in its file, which must be a regular one. */
u64 input_get_position(const struct input *in);
/* Skip @bytes of an input that is a regular file, without reading them. */
void input_skip_unread(struct input *in, u64 bytes);

#endif
