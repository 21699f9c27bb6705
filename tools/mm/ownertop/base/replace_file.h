/* SPDX-License-Identifier: GPL-2.0 */
/* Write a file whose readers never see a part of it. */
#ifndef OWNERTOP_REPLACE_FILE_H
#define OWNERTOP_REPLACE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Open a temporary file beside @path. Returns NULL with errno set on failure. */
FILE *replace_file_begin(const char *path, char **temporary);
/*
 * Close the file and rename it to @path; with @keep unset, remove it. Frees @temporary.
 * Returns false with errno set if @path was not replaced.
 */
bool replace_file_end(FILE *f, char *temporary, const char *path, bool keep);

#endif
