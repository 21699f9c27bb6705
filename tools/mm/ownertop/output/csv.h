/* SPDX-License-Identifier: GPL-2.0 */
/* Write rows as CSV, in the form of RFC 4180. */
#ifndef OWNERTOP_CSV_H
#define OWNERTOP_CSV_H

#include "output/column.h"

void csv_print_head(const struct column_list *list, FILE *out);
void csv_print_row(const struct column_list *list, const struct view_row *row, FILE *out);
/* Print a CSV row whose cells are empty, except for its name. */
void csv_print_name_row(const struct column_list *list, const struct answer *a, const char *name,
			FILE *out);
/* Print the CSV row "incomplete", if something could not be read. */
void csv_print_incomplete(const struct column_list *list, const struct answer *a, FILE *out);

#endif
