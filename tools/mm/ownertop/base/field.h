/* SPDX-License-Identifier: GPL-2.0 */
/* What records can be grouped by: the fields of the language. */
#ifndef OWNERTOP_FIELD_H
#define OWNERTOP_FIELD_H

#include "lang/lang.h"

/* Longer than a sentence's, and OWNER_FIELD_AGE may stand here. */
struct group_list {
	struct owner_group_field v[OWNER_FIELDS + 1];
	unsigned int n;
};

const char *field_name(enum owner_field field);
/* Is it a number, and not a name? */
bool field_is_number(enum owner_field field);
bool field_listed(const struct group_list *list, enum owner_field field);

#endif
