/* SPDX-License-Identifier: GPL-2.0 */
/* What records and counters add up to, by chain and by cache. */
#ifndef _MM_OWNER_TOTALS_H
#define _MM_OWNER_TOTALS_H

#include <linux/types.h>
#include <linux/xarray.h>

#include "owner.h"
#include "sample.h"

/* What one call chain holds. */
struct owner_chain_total {
	depot_stack_handle_t stack;	/* with a reference */
	struct owner_sum sum;		/* of objects or pages; ages are not told */
};

/* What one cache holds. */
struct owner_cache_total {
	char *name;
	unsigned int object_size;
	unsigned long allocated;
	unsigned long tracked;
	u64 requested;
};

/* totals.c: each is an xarray of the structures above, by handle or by cache */
int owner_total_chains(struct xarray *totals);
void owner_free_chains(struct xarray *totals);
int owner_total_pages(struct xarray *totals);
int owner_total_caches(struct xarray *totals);
void owner_free_caches(struct xarray *totals);

#endif /* _MM_OWNER_TOTALS_H */
