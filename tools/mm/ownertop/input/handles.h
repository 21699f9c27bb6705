/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The call chains that the kernel's handles stand for, as show_stacks_handles
 * tells them.
 */
#ifndef OWNERTOP_HANDLES_H
#define OWNERTOP_HANDLES_H

#include "base/strings.h"

#define HANDLE_NAME_LEN 32

struct handles {
	struct strings stacks;	/* raw text */
	struct handle *v;
	u32 n;
	u32 cap;
	struct index index;
	bool asked;		/* some input has handles */
};

/* Returns false if the handle is known to stand for another call chain. */
bool handles_add(struct handles *h, u64 handle, struct text stack);
/*
 * The raw call chain that @handle stands for; if that is not known, one frame
 * that names the handle, written to @name.
 */
struct text handles_stack(struct handles *h, u64 handle,
			  char name[HANDLE_NAME_LEN]);
void handles_free(struct handles *h);

#endif
