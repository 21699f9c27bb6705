/* SPDX-License-Identifier: GPL-2.0 */
/* Compressed input, known by its first bytes, unpacked ahead of its reader. */
#ifndef OWNERTOP_UNPACK_H
#define OWNERTOP_UNPACK_H

#include <sys/types.h>

#include "base/text.h"
#include "base/types.h"

/* So many bytes tell whether an input is compressed. */
#define UNPACK_MAGIC 4

/* The most of an input that may have been read before it is known to be compressed. */
#define UNPACK_HEAD_MAX (64 * 1024)

enum unpack_result {
	UNPACK_MORE,	/* wants more input or more room */
	UNPACK_END,	/* the end of one stream; another may follow */
	UNPACK_FAILED,
};

/* What is to be unpacked, and room for what comes out; both move forward. */
struct unpack_io {
	const char *in;
	size_t in_len;
	char *out;
	size_t out_len;
};

/* One kind of compression. */
struct unpack_kind {
	const char *name;
	bool (*recognise)(struct text head);
	void *(*begin)(void);
	/* On UNPACK_FAILED, @reason says what is wrong with the data. */
	enum unpack_result (*step)(void *state, struct unpack_io *io,
				   const char **reason);
	void (*end)(void *state);
};

extern const struct unpack_kind unpack_gzip;
extern const struct unpack_kind unpack_zstd;

struct unpack;

/*
 * Returns NULL if @head, which was read from @fd and is all that was, is not
 * compressed.
 */
struct unpack *unpack_begin(struct text head, int fd);

/* As read(2); -1: unpack_failure() says why. */
ssize_t unpack_read(struct unpack *u, char *buf, size_t len);
const char *unpack_failure(const struct unpack *u);
void unpack_end(struct unpack *u);

#endif
