// SPDX-License-Identifier: GPL-2.0
/* Allocate many small pieces of memory that are freed together. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/chunks.h"

#define CHUNK_SIZE 16384

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

void *chunks_take(struct chunk **chunks, size_t len)
{
	struct chunk *c = *chunks;

	if (!c || c->size - c->used < len) {
		size_t size = len > CHUNK_SIZE ? len : CHUNK_SIZE;

		c = xmalloc(sizeof(*c) + size);
		c->next = *chunks;
		c->used = 0;
		c->size = size;
		*chunks = c;
	}
	c->used += len;
	return c->bytes + c->used - len;
}

void chunks_free(struct chunk **chunks)
{
	while (*chunks) {
		struct chunk *next = (*chunks)->next;

		free(*chunks);
		*chunks = next;
	}
}
