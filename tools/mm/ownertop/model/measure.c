// SPDX-License-Identifier: GPL-2.0
/*
 * The measures: the three figures of a sum (bytes, held, objects) that groups are compared by.
 */
#include "model/measure.h"

static const enum owner_sort sort_keys[NR_MEASURES] = {
	[MEASURE_BYTES] = OWNER_SORT_BYTES,
	[MEASURE_HELD] = OWNER_SORT_HELD,
	[MEASURE_OBJECTS] = OWNER_SORT_OBJECTS,
};

const char *measure_name(enum measure measure)
{
	return owner_sort_names[sort_keys[measure]];
}

bool measure_is_sort_key(enum owner_sort sort)
{
	unsigned int i;

	for (i = 0; i < NR_MEASURES; i++)
		if (sort_keys[i] == sort)
			return true;
	return false;
}

enum measure measure_find_in_sort_keys(const unsigned char *order, u32 n)
{
	u32 i, measure;

	for (i = 0; i < n; i++)
		for (measure = 0; measure < NR_MEASURES; measure++)
			if (sort_keys[measure] == order[i])
				return measure;
	return MEASURE_HELD;
}

enum measure measure_get_second_shown(enum measure measure)
{
	return measure == MEASURE_OBJECTS ? MEASURE_HELD : MEASURE_OBJECTS;
}

u64 sum_get_figure(const struct sum *sum, enum owner_sort sort)
{
	switch (sort) {
	case OWNER_SORT_HELD:
		return sum->held;
	case OWNER_SORT_WASTE:
		return sum_get_waste(sum);
	case OWNER_SORT_OBJECTS:
		return sum->objects;
	default:
		return sum->bytes;
	}
}

u64 measure_get_value(const struct sum *sum, enum measure measure)
{
	return sum_get_figure(sum, sort_keys[measure]);
}
