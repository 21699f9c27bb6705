/* SPDX-License-Identifier: GPL-2.0 */
/* Short forms of a sum's figures, for text that people read. */
#ifndef OWNERTOP_FIGURE_H
#define OWNERTOP_FIGURE_H

#include "base/human.h"
#include "model/dumps.h"
#include "model/report.h"

/* @v as bytes with a unit, or as a count if @sort is MEASURE_OBJECTS. Returns @buf, as all below. */
const char *figure_text(char buf[HUMAN_LEN], u64 v, enum measure sort);
/* The standard error of the sorted figure; held has that of bytes. "-": not an estimate. */
const char *figure_error(char buf[HUMAN_LEN], const struct sum *sum, enum measure sort);
/* The head of a column of such errors. */
const char *figure_error_head(enum measure sort);
/* A difference, with its sign. */
const char *figure_change(char buf[HUMAN_LEN], struct change c, enum measure sort);

#endif
