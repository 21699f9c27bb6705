// SPDX-License-Identifier: GPL-2.0
/* What records add up to. */
#include "sum.h"

struct sum sum_of(const struct record *rec)
{
	return (struct sum){
		.objects = rec->objects,
		.bytes = rec->bytes,
		.held = rec->held,
	};
}

void sum_add(struct sum *to, const struct sum *sum)
{
	to->objects += sum->objects;
	to->bytes += sum->bytes;
	to->held += sum->held;
}

void sum_put(struct packed *p, u32 row, const struct sum *sum)
{
	packed_set(p, row, SUM_OBJECTS, sum->objects);
	packed_set(p, row, SUM_BYTES, sum->bytes);
	packed_set(p, row, SUM_HELD, sum->held);
}

bool sum_overflows(const struct sum *a, const struct sum *b)
{
	return b->objects > U64_MAX - a->objects || b->bytes > U64_MAX - a->bytes ||
	       b->held > U64_MAX - a->held;
}

bool sum_same(const struct sum *a, const struct sum *b)
{
	return a->objects == b->objects && a->bytes == b->bytes && a->held == b->held;
}
