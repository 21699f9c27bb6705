/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on the terminal that shows the progress of reading, if it takes long. The state is
 * global because the terminal is.
 */
#ifndef OWNERTOP_PROGRESS_H
#define OWNERTOP_PROGRESS_H

#include <stdbool.h>

#include "base/types.h"

/* Enable the progress line if standard error is a terminal. */
void progress_enable(void);

/*
 * Begin the progress of @input. @total: its bytes, 0 if unknown. A second call with the same
 * @input sets the total.
 */
void progress_begin_input(const char *input, u64 total);
/* Count @more bytes as read, and update the progress line if it is due. */
void progress_add_bytes(u64 more);
void progress_end_input(void);

/* Erase the progress line, so that a message can be printed. The next update draws it again. */
void progress_erase_line(void);

#endif
