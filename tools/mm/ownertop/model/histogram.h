/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms of objects by size and by age, with bins that double. */
#ifndef OWNERTOP_HISTOGRAM_H
#define OWNERTOP_HISTOGRAM_H

#include "input/record.h"
#include "model/sum.h"

/* Bin 0 is for 0, bin n for values from 2^(n - 1) to 2^n - 1. */
#define HISTOGRAM_BINS 65

struct histogram_bin {
	u64 objects;
	u64 bytes;
	u64 held;
};

struct histograms {
	struct histogram_bin sizes[HISTOGRAM_BINS];	/* by bytes of an object */
	struct histogram_bin ages[HISTOGRAM_BINS];	/* by age in seconds */
	u64 ages_unknown;	/* number of objects whose age is unknown */
};

/* Add a record with the sum @sum. @now: time that ages are counted from; 0: unknown. */
void histograms_add(struct histograms *h, const struct record *rec, const struct sum *sum,
		    u64 now);
/* Returns the least value of a bin. */
u64 histogram_get_least(u32 bin);

#endif
