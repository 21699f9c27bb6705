/* SPDX-License-Identifier: GPL-2.0 */
/* What the figures are, and what they leave out, for people: the last lines of every view. */
#ifndef OWNERTOP_NOTES_H
#define OWNERTOP_NOTES_H

#include "output/terminal.h"
#include "model/answer.h"

/* As it would look on @term, wherever @out leads. */
void notes_print(const struct answer *a, struct terminal term, FILE *out);
/* Where the errors of estimates are told elsewhere. */
void notes_left_out(const struct answer *a, struct terminal term, FILE *out);
/* Of @n groups that changed, @shown are in the table. */
void notes_not_shown(u32 n, u32 shown, FILE *out);

#endif
