/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on the terminal that says how far the reading is, if it takes long.
 * There is one terminal, so there is one line.
 */
#ifndef OWNERTOP_PROGRESS_H
#define OWNERTOP_PROGRESS_H

#include "base/types.h"

/* Without this nothing is shown; nor if standard error is no terminal. */
void progress_allow(void);

/* @total: bytes of the input, 0 if not known; may be told later, in another call. */
void progress_begin(const char *input, u64 total);
void progress_bytes(u64 more);
void progress_end(void);

/* Makes room for a message. */
void progress_hide(void);

#endif
