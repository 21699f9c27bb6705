/* SPDX-License-Identifier: GPL-2.0 */
/* Show output that is longer than the terminal in a pager. */
#ifndef OWNERTOP_PAGER_H
#define OWNERTOP_PAGER_H

#include <stdio.h>

#include "output/terminal.h"

/*
 * Returns a stream whose output fills at most a screen of @term before a pager is started for
 * it; standard output if @term needs no pager.
 */
FILE *pager_open(struct terminal term);
/* End the stream @out of pager_open(), and wait for the pager. */
void pager_close(FILE *out);

#endif
