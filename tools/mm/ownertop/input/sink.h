/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between the readers and the program that uses their records. */
#ifndef OWNERTOP_SINK_H
#define OWNERTOP_SINK_H

#include <stdbool.h>

#include "input/record.h"

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
	 * A record with a chain of this hash will be added: let the CPU fetch what is known of the
	 * chain. May be NULL.
	 */
	void (*expect_chain)(void *arg, u64 stack_hash);
	void *arg;
	u64 now;		/* time stamp that ages are counted from; 0: the newest record's */
	struct input_summary summary;
};

#endif
