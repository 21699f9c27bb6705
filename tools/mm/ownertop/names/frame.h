/* SPDX-License-Identifier: GPL-2.0 */
/* Parse and print one frame of a call chain, in the form of the kernel's %pS. */
#ifndef OWNERTOP_FRAME_H
#define OWNERTOP_FRAME_H

#include <stdio.h>

#include "base/text.h"

struct frame {
	struct text_slice func;	/* name of the function, or an address, without offset */
	struct text_slice place;	/* source line, as "file:line"; empty: unknown */
	struct text_slice module;	/* name of the module; empty: the kernel itself */
};

/*
 * Parse one frame of a call chain. Returns false if @line is not a frame, because the input is
 * damaged.
 */
bool frame_parse(struct text_slice line, struct frame *frame);

/*
 * Returns the name of a function without suffixes of the compiler (".isra.0") and of memory
 * allocation profiling ("_noprof"), so that a function has the same stem in every build.
 */
struct text_slice frame_stem(struct text_slice func);

/*
 * Print the frame @line, which is NUL-terminated, and a newline. @width: columns of the
 * terminal, or 0 for no limit; @used: columns that are already taken. A frame that does not fit
 * is printed without what says least, its offset or the id of its file; if it is still too long,
 * it is cut.
 */
void frame_print_fitted(struct text_slice line, size_t width, size_t used, FILE *out);

#endif
