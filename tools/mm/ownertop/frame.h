/* SPDX-License-Identifier: GPL-2.0 */
/* One line of a call chain, as the kernel's %pS prints it. */
#ifndef OWNERTOP_FRAME_H
#define OWNERTOP_FRAME_H

#include "text.h"

struct frame {
	struct text func;	/* name or address, without offset */
	struct text module;	/* empty: not in a module */
};

/* Returns false if @line is more than a symbol and its module: damage. */
bool frame_parse(struct text line, struct frame *frame);

/*
 * The name without what the compiler or allocation profiling append
 * (".isra.0", "_noprof"): the same function has the same stem in every build.
 */
struct text frame_stem(struct text func);

#endif
