/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_ALLOC_H
#define OWNERTOP_ALLOC_H

#include <stddef.h>
#include <stdnoreturn.h>

#include "base/types.h"

/* These never return NULL: without memory there is no answer to give. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrndup(const char *s, size_t len);

/* Returns @array with room for element @n, and the new capacity in @cap. */
void *grow(void *array, u32 n, u32 *cap, size_t size);

noreturn void out_of_memory(void);

#endif
