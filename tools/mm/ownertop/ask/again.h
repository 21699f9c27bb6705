/* SPDX-License-Identifier: GPL-2.0 */
/* Options and the sentence that select the same records in another call of ownertop. */
#ifndef OWNERTOP_ASK_AGAIN_H
#define OWNERTOP_ASK_AGAIN_H

#include "ask/options.h"

/* Returns the arguments, each after a space and quoted for a shell. The caller frees it. */
char *make_selection_arguments(const struct options *o);

#endif
