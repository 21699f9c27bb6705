/* SPDX-License-Identifier: GPL-2.0 */
/* The forms a report can be written in. */
#ifndef OWNERTOP_WRITER_H
#define OWNERTOP_WRITER_H

#include <stdio.h>

#include "report.h"

void write_table(const struct report *r, FILE *out);

#endif
