/* SPDX-License-Identifier: GPL-2.0 */
/* Read the inputs of a view into a struct answer. */
#ifndef OWNERTOP_ASK_ANSWER_H
#define OWNERTOP_ASK_ANSWER_H

#include "ask/options.h"
#include "model/answer.h"

/*
 * Read @paths as the view of @o requires. Returns false if there is nothing to show, after a
 * message unless answer_report_same_kind() prints it. The caller calls answer_free_members() in
 * both cases.
 */
bool answer_read(struct answer *a, const struct options *o, char * const *paths, int n);

/* Print a message and return true if two inputs must not be added up without --sum. */
bool answer_report_same_kind(const struct answer *a);
void answer_free_members(struct answer *a);

/* Returns the part of the options that the writers of output need. */
struct output_options make_output_options(const struct options *o);

#endif
