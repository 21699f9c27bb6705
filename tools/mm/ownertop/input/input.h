/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file, pipe or debugfs file read once, front to back, through one buffer;
 * unpacked on the way if it is compressed.
 */
#ifndef OWNERTOP_INPUT_H
#define OWNERTOP_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "input/unpack.h"

/*
 * The most that input_ahead() promises. The kernel prints a record into at
 * most one page, and the largest page is 64 KiB.
 */
#define INPUT_AHEAD (128 * 1024)

struct input {
	int fd;
	char *buf;
	size_t pos;
	size_t end;
	bool eof;
	const char *failure;	/* why the reading ended early, or NULL */
	struct unpack *unpack;	/* NULL: not compressed */
};

bool input_open(struct input *in, const char *path);
/* Reads what is open already, as it is; input_close() closes it. */
void input_take(struct input *in, int fd);
void input_close(struct input *in);

/* What is not consumed yet: at least INPUT_AHEAD bytes, or all there is. */
struct text input_ahead(struct input *in);
void input_consume(struct input *in, size_t bytes);

#endif
