/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_ALLOC_H
#define OWNERTOP_ALLOC_H

#include <stddef.h>
#include <stdio.h>
#include <stdnoreturn.h>

#include "base/types.h"

/*
 * Keep large arrays in mappings of their own, which grow without a copy and are returned to the
 * system when they are freed. By default, glibc does that only until the first one is freed.
 */
void alloc_map_large_arrays(void);

/* The x functions end the program with a message if there is no memory. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrndup(const char *s, size_t len);
/*
 * Open a stream that writes to memory. fclose() stores the text, which ends with NUL and is to
 * be freed, in @text.
 */
FILE *xopen_memstream(char **text, size_t *len);

/*
 * Enlarge @array so that it has room for element number @n. @cap: its capacity, updated if it
 * grows; @size: of an element. Returns the array, which may have moved.
 */
void *grow_array(void *array, u32 n, u32 *cap, size_t size);

/* Print that memory is exhausted, and exit with failure. */
noreturn void exit_out_of_memory(void);

#endif
