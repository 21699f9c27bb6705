/* SPDX-License-Identifier: GPL-2.0 */
/* Interned strings: each distinct one is kept once and has a small number. */
#ifndef OWNERTOP_STRINGS_H
#define OWNERTOP_STRINGS_H

#include "base/index.h"
#include "base/text.h"

struct strings {
	struct text *v;		/* each is NUL-terminated too */
	u32 n;
	u32 cap;
	struct index index;
	struct chunk *chunks;
};

u32 strings_intern(struct strings *st, struct text t);
void strings_free(struct strings *st);

#endif
