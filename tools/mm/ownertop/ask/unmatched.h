/* SPDX-License-Identifier: GPL-2.0 */
/* Say why an expression holds for no object, and which names are similar. */
#ifndef OWNERTOP_UNMATCHED_H
#define OWNERTOP_UNMATCHED_H

#include "ask/options.h"
#include "model/answer.h"

/*
 * If the expression of @o holds for no object of the answer @a, say so. Unless @paths include
 * standard input, read them again without the expression, and report each compared name that no
 * object has, with the nearest name.
 */
void unmatched_report_names(const struct answer *a, const struct options *o, char * const *paths,
			    int n);

#endif
