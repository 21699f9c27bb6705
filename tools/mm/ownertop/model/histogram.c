// SPDX-License-Identifier: GPL-2.0
/* Count objects by size and by age. */
#include "model/histogram.h"

#define NS_PER_SECOND 1000000000ULL

static u32 find_bin(u64 value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

static void add_to_bin(struct histogram_bin *bin, const struct sum *sum)
{
	bin->objects += sum->objects;
	bin->bytes += sum->bytes;
	bin->held += sum->held;
}

/* Returns the size of one object: the average, if a sum has objects of several sizes. */
static u64 get_object_size(const struct record *rec)
{
	if (rec->summed && rec->each_size != SIZE_UNKNOWN)
		return rec->each_size;
	return rec->objects > 1 ? rec->bytes / rec->objects : rec->bytes;
}

void histograms_add(struct histograms *h, const struct record *rec, const struct sum *sum,
		    u64 now)
{
	add_to_bin(&h->sizes[find_bin(get_object_size(rec))], sum);
	/* A sum has the ages of its oldest and its youngest object only. */
	if (!now || rec->ts == TS_UNKNOWN || rec->span)
		h->ages_unknown += sum->objects;
	else
		add_to_bin(&h->ages[find_bin(rec->ts < now ? (now - rec->ts) / NS_PER_SECOND : 0)],
			   sum);
}

u64 histogram_get_least(u32 bin)
{
	return bin ? 1ULL << (bin - 1) : 0;
}
