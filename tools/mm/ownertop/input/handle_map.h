/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A map from depot handles to call chains, filled from show_stacks_handles. It is used for
 * records that have a handle instead of a call chain.
 */
#ifndef OWNERTOP_HANDLE_MAP_H
#define OWNERTOP_HANDLE_MAP_H

#include "base/strings.h"

#define HANDLE_NAME_LEN 32

struct handle_map {
	struct strings stacks;	/* call chains, as the lines of the input */
	struct handle_entry *v;
	u32 n;
	u32 cap;
	struct hash_index index;
	bool used;		/* an input has a handle without its call chain */
};

/* Map @handle to the call chain @stack. Returns false if the map has it with another chain. */
bool handle_map_add(struct handle_map *h, u64 handle, struct text_slice stack);
/*
 * Returns the lines of the call chain of @handle. If the map does not have it, they are one
 * frame that names the handle, stored in @name.
 */
struct text_slice handle_map_lookup(struct handle_map *h, u64 handle,
				    char name[HANDLE_NAME_LEN]);
void handle_map_free(struct handle_map *h);

#endif
