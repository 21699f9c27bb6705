/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What DWARF knows of a frame: file and line, and the functions that were
 * inlined into it. Frames tell symbol and offset, so that it does not matter
 * where the kernel was loaded.
 */
#ifndef OWNERTOP_NAMES_H
#define OWNERTOP_NAMES_H

#include "text.h"
#include "types.h"

struct names;

/*
 * @vmlinux and @modules, a directory with .ko files below it, may each be NULL.
 * Returns NULL and says in @error what is wrong with vmlinux.
 */
struct names *names_open(const char *vmlinux, const char *modules, const char **error);
void names_close(struct names *names);

/*
 * The frames that @line, one as the kernel prints it, stands for: inlined ones
 * first. What is not known stands for itself.
 */
const struct text *names_frames(struct names *names, struct text line, u32 *n);

/* How many different frames with a symbol were not found, and one of them. */
u32 names_not_found(const struct names *names, const char **example);

#endif
