/* SPDX-License-Identifier: GPL-2.0 */
/* Write rows and comments as the kernel writes them when a query asks for TSV. */
#ifndef OWNERTOP_TSV_H
#define OWNERTOP_TSV_H

#include "output/column.h"

void tsv_print_head(const struct column_list *list, FILE *out);
void tsv_print_row(const struct column_list *list, const struct view_row *row, FILE *out);

/* Print a sentence in its canonical form as a TSV comment. */
void tsv_print_sentence(const struct owner_sentence *s, FILE *out);
/* Print the notes as TSV comments. */
void tsv_print_notes(const struct answer *a, FILE *out);

#endif
