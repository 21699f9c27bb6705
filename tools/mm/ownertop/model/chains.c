// SPDX-License-Identifier: GPL-2.0
/* Intern call chains. A chain is never moved: pointers to it stay valid. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/chains.h"

struct chain_key {
	const u32 *frames;
	u32 n;
};

static bool chain_has_frames(const void *owner, u32 id, const void *key)
{
	const struct chains *chains = owner;
	const struct chain *chain = chains->v[id];
	const struct chain_key *k = key;

	return chain->n == k->n &&
	       (!k->n || !memcmp(chain->frames, k->frames, k->n * sizeof(*k->frames)));
}

u32 chains_intern(struct chains *chains, const u32 *frames, u32 n)
{
	struct chain_key key = { frames, n };
	u64 hash = XXH3_64bits(frames, n * sizeof(*frames));
	u32 id = hash_index_find(&chains->index, hash, chain_has_frames, chains, &key);
	struct chain *chain;

	if (id != HASH_INDEX_NONE)
		return id;

	chain = chunks_take(&chains->chunks, sizeof(*chain) + n * sizeof(*frames));
	chain->n = n;
	if (n)
		memcpy(chain->frames, frames, n * sizeof(*frames));
	chains->v = grow_array(chains->v, chains->n, &chains->cap, sizeof(*chains->v));
	chains->v[chains->n] = chain;
	hash_index_add(&chains->index, hash, chains->n);
	return chains->n++;
}

void chains_finish(struct chains *chains)
{
	hash_index_free(&chains->index);
}

void chains_free(struct chains *chains)
{
	chunks_free(&chains->chunks);
	free(chains->v);
	chains_finish(chains);
}
