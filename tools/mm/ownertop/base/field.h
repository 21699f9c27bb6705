/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for the fields of the language, and lists of fields to group by. */
#ifndef OWNERTOP_FIELD_H
#define OWNERTOP_FIELD_H

#include <stdio.h>

#include "lang/lang.h"

/* Fields to group by. --group allows more of them than group= in a sentence. */
struct group_list {
	struct owner_group_field v[OWNER_GROUP_FIELDS];
	unsigned int n;
};

static inline const char *field_name(enum owner_field field)
{
	return owner_field_names[field];
}

/* Is the field a list of frames: the call chain or the user chain? */
static inline bool field_is_chain(enum owner_field field)
{
	return field >= OWNER_FIELDS;
}

static inline bool field_is_number(enum owner_field field)
{
	return !field_is_chain(field) && owner_field_types[field] >= OWNER_TYPE_NUMBER;
}

/* Returns the entry of @field in the list, or NULL. */
static inline const struct owner_group_field *field_find(const struct group_list *list,
							 enum owner_field field)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].field == field)
			return &list->v[i];
	return NULL;
}

/* Format a number as groups show it. A pid in a dump can be negative. */
static inline const char *field_format_number(const struct owner_group_field *by, long long number,
					      char *buf, size_t size)
{
	if (number < 0)
		snprintf(buf, size, "%lld", number);
	else
		owner_lang_print_group_number(by, number, buf, size);
	return buf;
}

static inline bool field_is_listed(const struct group_list *list, enum owner_field field)
{
	return field_find(list, field);
}

#endif
