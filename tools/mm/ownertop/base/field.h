/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for the fields of the language, and lists of fields to group by. */
#ifndef OWNERTOP_FIELD_H
#define OWNERTOP_FIELD_H

#include "lang/lang.h"

/*
 * Fields to group by. --group allows more of them than group= in a sentence, and also
 * OWNER_FIELD_AGE.
 */
struct group_list {
	struct owner_group_field v[OWNER_FIELDS + 1];
	unsigned int n;
};

static inline const char *field_name(enum owner_field field)
{
	return owner_field_names[field];
}

static inline bool field_is_number(enum owner_field field)
{
	return field != OWNER_FIELD_STACK && owner_field_types[field] >= OWNER_TYPE_NUMBER;
}

static inline bool field_is_listed(const struct group_list *list, enum owner_field field)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].field == field)
			return true;
	return false;
}

#endif
