/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What more is known of a frame. Of an address without a symbol, kallsyms knows
 * the function. DWARF knows file and line, and the functions that were inlined
 * there; it asks for symbol and offset, so that it does not matter where the
 * kernel was loaded.
 */
#ifndef OWNERTOP_NAMES_H
#define OWNERTOP_NAMES_H

#include "names/kallsyms.h"
#include "base/text.h"
#include "base/types.h"

struct names;

/*
 * @vmlinux, @modules, a directory with .ko files below it, and @kallsyms may each
 * be NULL; the last is closed with the names.
 * Returns NULL and says in @error what is wrong with vmlinux.
 */
struct names *names_open(const char *vmlinux, const char *modules,
			 struct kallsyms *kallsyms, const char **error);
void names_close(struct names *names);

/*
 * The frames that @line, one as the kernel prints it, stands for: inlined ones
 * first. What is not known stands for itself.
 */
const struct text *names_frames(struct names *names, struct text line, u32 *n);

/* How many different frames were looked for and not found, and one of them. */
struct missed {
	u32 n;
	const char *example;
};

/* Symbols, in DWARF. */
struct missed names_not_found(const struct names *names);
/* Addresses, in kallsyms. */
struct missed names_not_covered(const struct names *names);

#endif
