/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a kernel by address, from a text as /proc/kallsyms is. */
#ifndef OWNERTOP_KALLSYMS_H
#define OWNERTOP_KALLSYMS_H

#include "base/types.h"

struct kallsyms;

/*
 * Returns NULL after a message that says what is wrong with the file, and what
 * would be right. It may be compressed.
 */
struct kallsyms *kallsyms_open(const char *path);
void kallsyms_close(struct kallsyms *k);

/*
 * "name+0x1d/0x30 [module]", as the kernel would have printed @address, for the
 * caller to free; NULL if it is in no function.
 */
char *kallsyms_frame(const struct kallsyms *k, u64 address);

#endif
