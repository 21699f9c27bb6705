/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of patterns for the names of functions. */
#ifndef OWNERTOP_GLOBS_H
#define OWNERTOP_GLOBS_H

#include <stdio.h>

#include "base/text.h"
#include "base/types.h"

struct globs {
	char **v;
	u32 n;
	u32 cap;
};

void globs_add(struct globs *globs, const char *glob, size_t len);
/*
 * Add patterns of the allocator's functions: the first frames of a chain, which do not own
 * memory.
 */
void globs_add_allocator_name_patterns(struct globs *globs);
/*
 * Add patterns from a file with one in each line; "#" begins a comment. Returns false with
 * errno set on failure.
 */
bool globs_read_file(struct globs *globs, const char *path);
void globs_print(const struct globs *globs, FILE *out);
/* Does a pattern in @globs match the name of @func or its stem (frame_stem())? */
bool globs_match_function(const struct globs *globs, struct text_slice func);
void globs_free(struct globs *globs);

#endif
