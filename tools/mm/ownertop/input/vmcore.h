/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory dumps as inputs. slab_owner.py, run by drgn, prints the records of a dump as the
 * kernel's files do, and the readers of these files read them.
 */
#ifndef OWNERTOP_VMCORE_H
#define OWNERTOP_VMCORE_H

#include <stdbool.h>

#include "base/text.h"

/* How memory dumps are read. */
struct vmcore_options {
	const char *vmlinux;	/* the dump's kernel with DWARF, or NULL */
	unsigned int kinds;	/* bits 1 << OWNER_KIND_*; 0: slab objects and per-CPU areas */
};

/* A buffer for the names of all kinds. */
#define VMCORE_KINDS_SIZE	64

/* Returns the names of kinds of memory, as the option --source of the reader takes them. */
const char *vmcore_name_kinds(unsigned int kinds, char text[VMCORE_KINDS_SIZE]);

/* Is an input with @head at its beginning a memory dump, or any file of the ELF format? */
bool vmcore_recognise(struct text_slice head);

/*
 * Read the records of the dump @path, which begins with @head, into a temporary file. A
 * dump that is read again is not read from the dump again. Returns the temporary file, at
 * its beginning, or -1 with *@reason set.
 */
int vmcore_open_records(const char *path, struct text_slice head, const struct vmcore_options *o,
			const char **reason);

#endif
