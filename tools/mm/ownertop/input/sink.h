/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between the readers and the program that uses their records. */
#ifndef OWNERTOP_SINK_H
#define OWNERTOP_SINK_H

#include <stdbool.h>

#include "base/types.h"

struct record;

/* Facts about all inputs that no record tells. */
struct input_summary {
	bool slabs_listed;	/* an input lists every slab object */
	bool coverage_known;	/* an input has the counts of tracked and untracked objects */
	u64 tracked;
	u64 untracked;
	u32 idle_handles;	/* handles that an input maps and no record has */
	const char *first_of_kind[NR_KINDS];	/* an input that lists all objects of a kind */
	const char *same_kind[2];	/* two inputs of one kind: none is read; or NULL */
};

struct record_sink {
	/* Add a record. Returns NULL, or why the record is not counted. */
	const char *(*add_record)(void *arg, const struct record *rec);
	/*
	 * Let a second thread add the records of a piece of an input to a sink of its own, the
	 * part. begin_part() returns NULL, or is NULL, if the sink needs the records in their
	 * order.
	 */
	struct record_sink *(*begin_part)(void *arg);
	/*
	 * Add the groups, sums and counts of @part to the sink of @arg. Returns false, and adds
	 * nothing, if add_record() would have made other sums of the records of @part.
	 */
	bool (*add_part)(void *arg, const struct record_sink *part);
	void (*free_part)(struct record_sink *part);
	bool part_full;		/* a part must be added before it gets more records */
	void *arg;
	u64 now;		/* time stamp that ages are counted from; 0: the newest record's */
	struct input_summary summary;
};

#endif
