/* SPDX-License-Identifier: GPL-2.0 */
/* Show as many groups as the terminal has room for. */
#ifndef OWNERTOP_FIT_H
#define OWNERTOP_FIT_H

#include "ask/options.h"
#include "model/answer.h"

/* Set the number of groups that the view shows, so that all of its text is on the screen. */
void fit_groups_to_screen(struct answer *a, const struct options *o,
			  const struct output_options *output);

#endif
