/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel of this machine answers: it filters and adds up, nothing is dumped. */
#ifndef OWNERTOP_ASK_H
#define OWNERTOP_ASK_H

#include "ask/options.h"
#include "model/answer.h"

/*
 * Fills @a with what the kernel answers to the sentence of @o. Returns
 * false if it does not answer such: then records are to be read.
 */
bool ask_groups(struct answer *a, const struct options *o);
/* Prints the kernel's own answer, objects one by one; false as above. */
bool ask_objects(const struct options *o, FILE *out, int *status);

#endif
