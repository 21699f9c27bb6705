/* SPDX-License-Identifier: GPL-2.0 */
/* Interned call chains: each distinct list of frames is stored once and has a number. */
#ifndef OWNERTOP_CHAINS_H
#define OWNERTOP_CHAINS_H

#include "base/chunks.h"
#include "base/hash_index.h"

struct chain {
	u32 n;
	u32 frames[];	/* numbers of interned frames */
};

struct chains {
	struct chain **v;
	u32 n;
	u32 cap;
	struct hash_index index;
	struct chunk *chunks;
};

/* Look up or store the chain with the @n frames @frames. Returns its number. */
u32 chains_intern(struct chains *chains, const u32 *frames, u32 n);
/* Free the index. No chain may be interned afterwards. */
void chains_finish(struct chains *chains);
void chains_free(struct chains *chains);

#endif
