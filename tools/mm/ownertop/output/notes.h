/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Print the notes, the last lines of every view: errors of estimates, and objects that are not
 * shown.
 */
#ifndef OWNERTOP_NOTES_H
#define OWNERTOP_NOTES_H

#include "output/terminal.h"
#include "model/answer.h"

/* Print all notes below a view, with the colours of @term. */
void notes_print_all(const struct answer *a, struct terminal term, FILE *out);

enum notes_part {
	NOTES_ALL,
	NOTES_LEFT_OUT,		/* all notes except the errors of estimates */
};

/* Callback that prints one line of the notes, which has no newline and no colours. */
typedef void (*note_printer)(void *arg, const char *line);
void notes_print_lines(const struct answer *a, enum notes_part part, note_printer print,
		       void *arg);

/*
 * Print how many of the chains of the @n groups in @order are equal to another one but for their
 * offsets.
 */
void notes_print_same_functions(const struct model *m, const u32 *order, u32 n, FILE *out);
/* Print how many of the @n groups that changed are not among the @shown ones. */
void notes_print_not_shown(u32 n, u32 shown, FILE *out);

#endif
