/* SPDX-License-Identifier: GPL-2.0 */
/* Write words so that a shell reads them as one argument each. */
#ifndef OWNERTOP_QUOTE_H
#define OWNERTOP_QUOTE_H

#include <stdio.h>

/* Print a space and @word, in single quotes if a shell would change it. */
void quote_print_argument(const char *word, FILE *out);

#endif
