/* SPDX-License-Identifier: GPL-2.0 */
/* The forms that views are written in. */
#ifndef OWNERTOP_WRITER_H
#define OWNERTOP_WRITER_H

#include "ask/options.h"
#include "ui/terminal.h"

void write_table(const struct answer *a, FILE *out);
/* As it would look on @term, although @out leads elsewhere. */
void write_table_to(const struct answer *a, FILE *out, struct terminal term);
void write_table_json(const struct answer *a, FILE *out);
void write_table_csv(const struct answer *a, FILE *out);
void write_tsv(const struct answer *a, FILE *out);

void write_diff(const struct answer *a, FILE *out);
void write_diff_json(const struct answer *a, FILE *out);
void write_diff_csv(const struct answer *a, FILE *out);

void write_records(const struct answer *a, FILE *out);

void write_trend(const struct answer *a, FILE *out);
void write_trend_json(const struct answer *a, FILE *out);
void write_trend_csv(const struct answer *a, FILE *out);

void write_tree(const struct answer *a, FILE *out);
void write_tree_json(const struct answer *a, FILE *out);

void write_folded(const struct answer *a, FILE *out);
void write_pprof(const struct answer *a, FILE *out);
void write_flame(const struct answer *a, FILE *out);

#endif
