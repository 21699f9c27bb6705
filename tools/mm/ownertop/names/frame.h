/* SPDX-License-Identifier: GPL-2.0 */
/* One line of a call chain, as the kernel's %pS prints it. */
#ifndef OWNERTOP_FRAME_H
#define OWNERTOP_FRAME_H

#include <stdio.h>

#include "base/text.h"

struct frame {
	struct text func;	/* name or address, without offset */
	struct text place;	/* "file:line"; empty: not known */
	struct text module;	/* empty: not in a module */
};

/* Returns false if @line is more than a symbol and its module: damage. */
bool frame_parse(struct text line, struct frame *frame);

/*
 * The name without what the compiler or allocation profiling append
 * (".isra.0", "_noprof"): the same function has the same stem in every build.
 */
struct text frame_stem(struct text func);

/*
 * Prints @line, which is NUL-terminated, and a newline into what is left of
 * @width columns (0: no limit) behind @used ones. What does not fit loses its
 * offset first: the name and the module say more.
 */
void frame_print_fitted(struct text line, size_t width, size_t used, FILE *out);

#endif
