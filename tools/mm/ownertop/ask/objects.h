/* SPDX-License-Identifier: GPL-2.0 */
/* Objects one by one: the records of the input that the expression holds for. */
#ifndef OWNERTOP_OBJECTS_H
#define OWNERTOP_OBJECTS_H

#include "ask/options.h"

/* Reads @paths and prints as it reads, so that memory does not grow with records. */
int objects_run(const struct options *o, char * const *paths, int n, FILE *out);

#endif
