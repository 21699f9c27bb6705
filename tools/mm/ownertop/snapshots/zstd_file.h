/* SPDX-License-Identifier: GPL-2.0 */
/* Write a file that zstd compresses. */
#ifndef OWNERTOP_ZSTD_FILE_H
#define OWNERTOP_ZSTD_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

struct zstd_file;

/*
 * Create the file @name in the directory @dir_fd. Returns NULL with errno set on failure.
 * @left: bytes that may still be written; each write subtracts its bytes.
 */
struct zstd_file *zstd_file_create(int dir_fd, const char *name, u64 *left);
/* Compress and write @len bytes. Returns false with errno set; EFBIG: beyond @left. */
bool zstd_file_write(struct zstd_file *f, const void *bytes, size_t len);
/*
 * Write the end of the compressed data and the file to the disk, and close it. Returns false
 * with errno set on failure.
 */
bool zstd_file_finish(struct zstd_file *f);
/* Close the file after a failure. errno is kept. */
void zstd_file_abandon(struct zstd_file *f);

#endif
