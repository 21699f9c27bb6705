/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a kernel by address, from a copy of /proc/kallsyms. */
#ifndef OWNERTOP_KALLSYMS_H
#define OWNERTOP_KALLSYMS_H

#include "base/types.h"

struct kallsyms;

/*
 * Read a copy of /proc/kallsyms, which may be compressed. Returns NULL after a message if
 * the file is wrong; the message says how to make a right one.
 */
struct kallsyms *kallsyms_open(const char *path);
void kallsyms_close(struct kallsyms *k);

/*
 * Returns "name+0x1d/0x30 [module]" for @address, as the kernel prints it, or NULL if it
 * is in no function. The caller frees it.
 */
char *kallsyms_format_frame(const struct kallsyms *k, u64 address);

#endif
