/* SPDX-License-Identifier: GPL-2.0 */
/* Short forms of a sum's figures, for text that people read. */
#ifndef OWNERTOP_FIGURE_H
#define OWNERTOP_FIGURE_H

#include "base/human.h"
#include "model/dumps.h"
#include "model/report.h"

/*
 * @v as a count if @measure is MEASURE_OBJECTS, else as bytes with a unit. All functions
 * here return @buf or a constant.
 */
const char *figure_format(char buf[HUMAN_LEN], u64 v, enum measure measure);
/* The standard error of @measure, for held that of bytes; "-" if @sum is no estimate. */
const char *figure_format_error(char buf[HUMAN_LEN], const struct sum *sum, enum measure measure);
/* The head of a column that figure_format_error() fills. */
const char *figure_error_head(enum measure measure);
/* A change with its sign. */
const char *figure_format_change(char buf[HUMAN_LEN], struct change c, enum measure measure);

#endif
