/* SPDX-License-Identifier: GPL-2.0 */
/* Read a regular file with two threads. */
#ifndef OWNERTOP_PIECES_H
#define OWNERTOP_PIECES_H

#include "input/reading.h"

/*
 * Least bytes of a file that two threads read, and most bytes of a piece: they are read twice if
 * the part is dropped. Tests set lower limits.
 */
extern u64 pieces_size_min, pieces_size_max;

/*
 * Read all records of an input. The sums and the messages are those that one thread would
 * make.
 */
void pieces_read_records(struct input_reading *r);

#endif
