/* SPDX-License-Identifier: GPL-2.0 */
/* Memory in chunks that are never moved: pointers into it stay valid until all of it is freed. */
#ifndef OWNERTOP_CHUNKS_H
#define OWNERTOP_CHUNKS_H

#include <stddef.h>

struct chunk;

/* Take @len bytes. If all lengths are multiples of 4, so are all addresses. */
void *chunks_take(struct chunk **chunks, size_t len);
void chunks_free(struct chunk **chunks);

#endif
