/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_ALLOC_H
#define OWNERTOP_ALLOC_H

#include <stddef.h>
#include <stdnoreturn.h>

#include "base/types.h"

/* The x functions end the program with a message if there is no memory. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrndup(const char *s, size_t len);

/*
 * Enlarge @array so that it has room for element number @n. @cap: its capacity, updated if it
 * grows; @size: of an element. Returns the array, which may have moved.
 */
void *grow_array(void *array, u32 n, u32 *cap, size_t size);

/* Print that memory is exhausted, and exit with failure. */
noreturn void exit_out_of_memory(void);

#endif
