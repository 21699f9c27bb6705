/* SPDX-License-Identifier: GPL-2.0 */
/* Print objects one by one: the records for which the expression holds. */
#ifndef OWNERTOP_OBJECTS_H
#define OWNERTOP_OBJECTS_H

#include "ask/options.h"

/* Print records while reading @paths, with constant memory. Returns the exit status. */
int objects_run(const struct options *o, char * const *paths, int n, FILE *out);

#endif
