/* SPDX-License-Identifier: GPL-2.0 */
/* Unpack compressed input, recognised by its first bytes, in a thread ahead of the reader. */
#ifndef OWNERTOP_UNPACK_H
#define OWNERTOP_UNPACK_H

#include <sys/types.h>

#include "base/text.h"
#include "base/types.h"

/* Bytes at the beginning of an input that decide whether it is compressed. */
#define UNPACK_MAGIC 4

/* Limit of the bytes that are read from an input before unpack_begin(). */
#define UNPACK_HEAD_MAX (64 * 1024)

enum unpack_result {
	UNPACK_MORE,	/* more input or more room for output is needed */
	UNPACK_END,	/* end of a stream; another may follow */
	UNPACK_FAILED,
};

/* Compressed input and room for output of one step. struct compression_format advances both. */
struct unpack_io {
	const char *in;
	size_t in_len;
	char *out;
	size_t out_len;
};

/* One compression format, such as gzip, and the functions that unpack it. */
struct compression_format {
	const char *name;
	bool (*recognise)(struct text_slice head);
	void *(*begin)(void);
	/* Unpack some bytes of the input. Sets @reason if it returns UNPACK_FAILED. */
	enum unpack_result (*step)(void *state, struct unpack_io *io,
				   const char **reason);
	void (*end)(void *state);
};

extern const struct compression_format unpack_gzip;
extern const struct compression_format unpack_zstd;

/* Returns how to read the input if it is compressed by another program, or NULL. */
const char *unpack_find_other_program(struct text_slice head);

struct unpacker;

/*
 * Start to unpack @fd. @head: all bytes that were read from it already. Returns NULL if
 * they are not compressed.
 */
struct unpacker *unpack_begin(struct text_slice head, int fd);

/* Read unpacked bytes into @buf as read() does. Returns 0 also if the rest cannot be unpacked. */
ssize_t unpack_read(struct unpacker *u, char *buf, size_t len);
/* Returns why unpack_read() returned 0, or NULL: at the end of the input. */
const char *unpack_get_failure_reason(const struct unpacker *u);
/* Stop the unpacking thread, also before the end of the input. */
void unpack_end(struct unpacker *u);

#endif
