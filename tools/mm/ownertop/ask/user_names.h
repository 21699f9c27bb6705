/* SPDX-License-Identifier: GPL-2.0 */
/* Options of the user's halves of call chains: whether to group by them, and their names. */
#ifndef OWNERTOP_USER_NAMES_H
#define OWNERTOP_USER_NAMES_H

#include "ask/options.h"

/* Group by @groups. The user chain is among these only if an object may have one. */
void user_names_select_default_groups(struct options *o, const struct group_list *groups);
/* Open the files with names of user frames, if frames are shown or functions compared. */
void user_names_open(struct options *o);
/* Say which user frames have no names, and which files of --binary have no frames. */
void user_names_report_missing(const struct options *o);

#endif
