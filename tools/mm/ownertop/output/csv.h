/* SPDX-License-Identifier: GPL-2.0 */
/* The parts that every CSV output is made of. */
#ifndef OWNERTOP_CSV_H
#define OWNERTOP_CSV_H

#include <stdio.h>

#include "model/model.h"

/*
 * The last columns of each row and the end of its line: one for each field that
 * is grouped by. @g: NULL for a row that is no group.
 */
void csv_field_names(const struct model *m, FILE *out);
void csv_fields(const struct model *m, const struct group *g, FILE *out);

/* Columns before these if anything was sampled. @sum: NULL for a row that has none. */
void csv_estimate_names(const struct model *m, const char *prefix, FILE *out);
void csv_estimate(const struct model *m, const struct sum *sum, FILE *out);

#endif
