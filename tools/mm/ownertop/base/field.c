// SPDX-License-Identifier: GPL-2.0
/* What the fields are, and lists of them. */
#include "base/field.h"

const char *field_name(enum owner_field field)
{
	return owner_field_names[field];
}

bool field_is_number(enum owner_field field)
{
	if (field == OWNER_FIELD_STACK)
		return false;
	return owner_field_types[field] >= OWNER_TYPE_NUMBER;
}

bool field_listed(const struct group_list *list, enum owner_field field)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].field == field)
			return true;
	return false;
}
