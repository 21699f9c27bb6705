// SPDX-License-Identifier: GPL-2.0
/*
 * What a query asks of a call chain: its functions and modules, and which of its
 * frames are the allocator's own.
 *
 * Those are the ones that stand in front. Most chains have none, as they are
 * taken without; where one could not be taken so, they are left out here. An
 * allocator's function further down, as when memory is reclaimed in order to
 * allocate, is left in: the chain is not cut in its midst.
 */

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "../rules/symbol_ranges.h"
#include "../unwind.h"
#include "query.h"

/* The call, not what it returns to, which can be the next function. */
static unsigned long function_at(unsigned long frame)
{
	unsigned long size, offset;

	if (!kallsyms_lookup_size_offset(frame - 1, &size, &offset))
		return 0;
	return frame - 1 - offset;
}

static unsigned int skip_allocator(const struct query_chain *chain)
{
	unsigned int first = 0;

	while (first < chain->count && owner_is_allocator(chain->frames[first]))
		first++;
	/* Better the allocator's frames than none. */
	return first < chain->count ? first : 0;
}

/**
 * owner_query_chain - look at a call chain, or find it as it was seen before
 * @chains: 1 << QUERY_CHAIN_BITS of them, each kept until another takes its place
 * @handle: of the call chain, referenced by the caller
 *
 * Return: the chain, good until this is called again.
 */
struct query_chain *owner_query_chain(struct query_chain *chains, depot_stack_handle_t handle)
{
	struct query_chain *chain = &chains[hash_32(handle, QUERY_CHAIN_BITS)];

	if (chain->handle == handle)
		return chain;
	stack_depot_put(chain->handle);
	*chain = (struct query_chain){};
	if (stack_depot_get(handle))
		chain->handle = handle;
	chain->count = stack_depot_fetch(handle, &chain->frames);
	chain->first = skip_allocator(chain);
	cond_resched();
	return chain;
}

void owner_query_put_chains(struct query_chain *chains)
{
	unsigned int i;

	for (i = 0; i < 1 << QUERY_CHAIN_BITS; i++)
		stack_depot_put(chains[i].handle);
}

/**
 * owner_query_chain_matches - has a call chain a function or module of a comparison?
 * @chain: the call chain
 * @s: always the same sentence
 * @comparison: one of its comparisons
 */
bool owner_query_chain_matches(struct query_chain *chain, const struct owner_sentence *s,
			       const struct owner_comparison *comparison)
{
	u32 bit = 1U << (comparison - s->comparisons);
	unsigned int i;

	if (!(chain->asked & bit)) {
		chain->asked |= bit;
		for (i = 0; i < chain->count && !(chain->matched & bit); i++)
			if (owner_frame_matches(s, comparison, chain->frames[i]))
				chain->matched |= bit;
		cond_resched();
	}
	return chain->matched & bit;
}

/* The function that called the allocator, by its address; 0 if it has none any more. */
unsigned long owner_query_function(const struct query_chain *chain)
{
	return chain->count ? function_at(chain->frames[chain->first]) : 0;
}

/* The module that is nearest to the allocation; no name if there is none. */
void owner_query_module(const struct query_chain *chain, char *name, size_t size)
{
	unsigned int i;

	for (i = 0; i < chain->count; i++)
		if (owner_module_name(chain->frames[i], name, size))
			return;
	*name = '\0';
}
