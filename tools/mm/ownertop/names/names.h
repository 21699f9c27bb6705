/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace frames of call chains by frames with names and source lines. kallsyms gives an
 * address without a symbol its function. DWARF gives a frame its file and line, and adds frames
 * of inlined functions; it is looked up by symbol and offset, so KASLR does not matter.
 */
#ifndef OWNERTOP_NAMES_H
#define OWNERTOP_NAMES_H

#include "names/kallsyms.h"
#include "base/text.h"
#include "base/types.h"

struct frame_names;

/*
 * Open the files that have names of functions. @vmlinux: a path, or NULL; @modules: a directory
 * with .ko files anywhere below it, or NULL; @kallsyms: may be NULL, and is closed by
 * frame_names_close(). Returns NULL and sets @error to a message if @vmlinux cannot be used.
 */
struct frame_names *frame_names_open(const char *vmlinux, const char *modules,
				     struct kallsyms *kallsyms, const char **error);
void frame_names_close(struct frame_names *names);

/*
 * Returns the @n frames that replace the frame @line, as the kernel printed it: frames of
 * inlined functions first. A frame that the files do not have is returned unchanged.
 */
const struct text_slice *frame_names_expand(struct frame_names *names, struct text_slice line,
					    u32 *n);

/* Distinct frames that a lookup of names did not find: their number and one of them. */
struct missing_frames {
	u32 n;
	const char *example;
};

/* Returns the frames whose functions --vmlinux and --modules do not have. */
struct missing_frames frame_names_get_not_found(const struct frame_names *names);
/* Returns the frames whose addresses are in no function of kallsyms. */
struct missing_frames frame_names_get_not_covered(const struct frame_names *names);

#endif
