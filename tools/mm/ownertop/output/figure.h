/* SPDX-License-Identifier: GPL-2.0 */
/* Write the figures of a sum in short forms, for text that people read. */
#ifndef OWNERTOP_FIGURE_H
#define OWNERTOP_FIGURE_H

#include "base/human.h"
#include "model/dumps.h"
#include "model/report.h"

/*
 * Write the figure @v as a count if @measure is MEASURE_OBJECTS, else as bytes with a unit.
 * Returns @buf.
 */
const char *figure_to_text(char buf[HUMAN_LEN], u64 v, enum measure measure);
/*
 * Write the standard error of @measure, for held that of bytes; "-" if @sum is no estimate.
 * Returns @buf or a constant.
 */
const char *figure_error_to_text(char buf[HUMAN_LEN], const struct sum *sum, enum measure measure);
/* Returns the head of a column of errors, which figure_error_to_text() writes. */
const char *figure_error_head(enum measure measure);
/* Write a change with its sign. Returns @buf. */
const char *figure_change_to_text(char buf[HUMAN_LEN], struct change c, enum measure measure);

#endif
