/* SPDX-License-Identifier: GPL-2.0 */
/* A list of known owners of memory, which are not what one looks for. */
#ifndef OWNERTOP_KNOWN_H
#define OWNERTOP_KNOWN_H

#include "names/globs.h"

/* One pattern: any function of a chain; more: the first functions of a chain. */
struct known_owner {
	char *text;		/* the line of the file */
	struct globs functions;
};

struct known_owners {
	char *frame;		/* the line of a chain that stands for all of them */
	struct known_owner *v;
	u32 n;
	u32 cap;
};

/*
 * Read known owners from a file with one in each line, as "func" or "func < caller"; "#" begins a
 * comment. Returns false with errno set on failure.
 */
bool known_owners_read(struct known_owners *known, const char *path);
/*
 * Does @func match function number @i of a known owner? If @i is beyond them, the result is false.
 */
bool known_owner_matches(const struct known_owner *owner, u32 i, struct text_slice func);
void known_owners_free(struct known_owners *known);

#endif
