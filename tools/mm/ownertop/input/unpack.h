/* SPDX-License-Identifier: GPL-2.0 */
/* Unpack compressed input, recognised by its first bytes. */
#ifndef OWNERTOP_UNPACK_H
#define OWNERTOP_UNPACK_H

#include <sys/types.h>

#include "base/text.h"
#include "base/types.h"

/* Bytes at the beginning of an input that decide whether it is compressed. */
#define UNPACK_MAGIC 4

/* Limit of the bytes that are read from an input before unpack_begin(). */
#define UNPACK_HEAD_MAX (64 * 1024)

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
/* Stop to unpack, also before the end of the input. */
void unpack_end(struct unpacker *u);

#endif
