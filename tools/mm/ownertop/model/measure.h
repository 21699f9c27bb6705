/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measures: the three figures of a sum (bytes, held, objects) that groups are compared by.
 */
#ifndef OWNERTOP_MEASURE_H
#define OWNERTOP_MEASURE_H

#include "model/sum.h"

enum measure {
	MEASURE_BYTES,
	MEASURE_HELD,
	MEASURE_OBJECTS,
	NR_MEASURES
};

const char *measure_name(enum measure measure);
/* Returns the bytes, what is held or wasted, or the objects of a sum. */
u64 sum_get_figure(const struct sum *sum, enum owner_sort sort);
u64 measure_get_value(const struct sum *sum, enum measure measure);
/* Is the sort key @sort a measure? The others are ages and waste. */
bool measure_is_sort_key(enum owner_sort sort);
/* Returns the first measure among the @n sort keys in @order; MEASURE_HELD if there is none. */
enum measure measure_find_in_sort_keys(const unsigned char *order, u32 n);
/*
 * Returns the measure that views show beside @measure: objects beside bytes or held, held
 * beside objects.
 */
enum measure measure_get_second_shown(enum measure measure);

#endif
