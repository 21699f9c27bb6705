/* SPDX-License-Identifier: GPL-2.0 */
/* The forms a report can be written in. */
#ifndef OWNERTOP_WRITER_H
#define OWNERTOP_WRITER_H

#include <stdio.h>

#include "report.h"
#include "terminal.h"

/* Version of what write_json() prints: grows when a reader would have to change. */
#define JSON_SCHEMA_VERSION 1

void write_table(const struct report *r, FILE *out);
/* As it would look on @term, although @out leads elsewhere. */
void write_table_to(const struct report *r, FILE *out, struct terminal term);
void write_json(const struct report *r, FILE *out);
void write_csv(const struct report *r, FILE *out);

#endif
