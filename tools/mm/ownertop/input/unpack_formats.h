/* SPDX-License-Identifier: GPL-2.0 */
/* The formats of compressed input, and the libraries that unpack them. */
#ifndef OWNERTOP_UNPACK_FORMATS_H
#define OWNERTOP_UNPACK_FORMATS_H

#include "base/text.h"

/* Compressed input and room for output of one step, which advances both. */
struct unpack_io {
	const char *in;
	size_t in_len;
	char *out;
	size_t out_len;
	bool end;	/* of a stream; another may follow */
};

/* One compression format, such as gzip, and the functions that unpack a stream of it. */
struct compression_format {
	const char *name;
	const char *magic;	/* the first bytes, at most UNPACK_MAGIC */
	void *(*begin)(void);
	/* Unpack some bytes of the input. Returns why it fails, or NULL. */
	const char *(*step)(void *state, struct unpack_io *io);
	void (*end)(void *state);
};

/* Returns the format of an input with @head at its beginning, NULL: it is not compressed. */
const struct compression_format *find_compression_format(struct text_slice head);

#endif
