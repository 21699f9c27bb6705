/* SPDX-License-Identifier: GPL-2.0 */
/* Reads inputs of any format and hands their records to a sink. */
#ifndef OWNERTOP_READER_H
#define OWNERTOP_READER_H

#include "input/health.h"
#include "input/sink.h"

/* Reads @paths. Each is a file, or "-" for standard input. */
void read_inputs(char * const *paths, int n, u64 page_size, struct record_sink *sink,
		 struct health *health);

/* Reads the kernel's answer to a query from an open file, and closes it. */
void read_open(int fd, char *name, struct record_sink *sink, struct health *health);

#endif
