// SPDX-License-Identifier: GPL-2.0
/* Allocation functions that end the program if there is no memory. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_status.h"

/* Least bytes of an array that alloc_map_large_arrays() concerns. */
#define LARGE_ARRAY (128 * 1024)

void alloc_map_large_arrays(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_ARRAY);
}

void exit_out_of_memory(void)
{
	fputs("ownertop: out of memory\n", stderr);
	exit(STATUS_FAILED);
}

static void *check_allocated(void *p)
{
	if (!p)
		exit_out_of_memory();
	return p;
}

void *xmalloc(size_t size)
{
	return check_allocated(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return check_allocated(calloc(n, size));
}

void *xrealloc(void *p, size_t size)
{
	return check_allocated(realloc(p, size));
}

char *xstrndup(const char *s, size_t len)
{
	return check_allocated(strndup(s, len));
}

FILE *xopen_memstream(char **text, size_t *len)
{
	return check_allocated(open_memstream(text, len));
}

void *grow_array(void *array, u32 n, u32 *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 64;
	return check_allocated(reallocarray(array, *cap, size));
}
