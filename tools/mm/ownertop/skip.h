/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that belong to the allocator: a chain's first frames, not its owner. */
#ifndef OWNERTOP_SKIP_H
#define OWNERTOP_SKIP_H

#include <stdio.h>

#include "text.h"
#include "types.h"

struct skip_list {
	char **globs;
	u32 n;
	u32 cap;
};

void skip_builtin(struct skip_list *list);
/* One glob a line, '#' begins a comment. Returns false with errno set. */
bool skip_read(struct skip_list *list, const char *path);
void skip_print(const struct skip_list *list, FILE *out);
bool skip_matches(const struct skip_list *list, struct text func);
void skip_free(struct skip_list *list);

#endif
