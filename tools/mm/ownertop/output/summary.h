/* SPDX-License-Identifier: GPL-2.0 */
/* Say in a few lines who holds memory, and what to ask next. */
#ifndef OWNERTOP_SUMMARY_H
#define OWNERTOP_SUMMARY_H

#include "output/writer.h"

/* Print how much memory the slabs of the machine have, and how much of it owners explain. */
void summary_print_slab(const struct answer *a, FILE *out);
/* Print the cache and the first @functions functions of the group @id. */
void summary_print_owner(const struct answer *a, u32 id, u32 functions, FILE *out);
/* Print the first lines of an answer on a terminal. */
void summary_print(const struct answer *a, const struct output_options *o, FILE *out);

#endif
