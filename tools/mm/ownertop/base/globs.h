/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of globs that functions' names are matched with. */
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
/* One glob a line, '#' begins a comment. Returns false with errno set. */
bool globs_read(struct globs *globs, const char *path);
void globs_print(const struct globs *globs, FILE *out);
/* Does one match the name of @func or its stem? */
bool globs_match_func(const struct globs *globs, struct text func);
void globs_free(struct globs *globs);

#endif
