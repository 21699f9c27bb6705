/* SPDX-License-Identifier: GPL-2.0 */
/* Read inputs of any format and hand their records to a sink. */
#ifndef OWNERTOP_READER_H
#define OWNERTOP_READER_H

#include "input/health.h"
#include "input/sink.h"
#include "input/vmcore.h"

/* How inputs are read. */
struct input_options {
	u64 page_size;		/* bytes of a page of the machine that printed them */
	struct vmcore_options vmcore;
	bool sum;		/* read two inputs that list objects of one kind */
};

/*
 * Read @n inputs and hand their records to @sink. Each of @paths is a file, or "-" for standard
 * input. If two list objects of one kind, nothing is read, unless @options has sum.
 */
void read_records_from_inputs(char * const *paths, int n, const struct input_options *options,
			      struct record_sink *sink, struct input_health *health);

/* Read the kernel's answer to a query from @fd, and close it. @name: for messages. */
void read_records_from_fd(int fd, char *name, struct record_sink *sink,
			  struct input_health *health);

#endif
