/* SPDX-License-Identifier: GPL-2.0 */
/* The three figures of a sum that groups are compared by. */
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
u64 measure_get_value(const struct sum *sum, enum measure measure);
/* Is @sort one of the three figures? The other sort keys are ages and waste. */
bool measure_is_sort_key(enum owner_sort sort);
/* The first of the @n sort keys in @order that is a figure; bytes if none is. */
enum measure measure_of_sort_keys(const unsigned char *order, u32 n);
/* The second figure to show beside @measure: objects beside bytes, bytes beside objects. */
enum measure measure_shown_beside(enum measure measure);

#endif
