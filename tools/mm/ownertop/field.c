// SPDX-License-Identifier: GPL-2.0
/* Names of the fields, and lists of them. */
#include <string.h>

#include "field.h"

static const char * const names[NR_FIELDS] = {
	[FIELD_STACK] = "stack",
	[FIELD_CACHE] = "cache",
	[FIELD_COMM] = "comm",
	[FIELD_PID] = "pid",
	[FIELD_TGID] = "tgid",
	[FIELD_MODULE] = "module",
	[FIELD_KIND] = "kind",
	[FIELD_AGE] = "age",
};

const char *field_name(enum field field)
{
	return names[field];
}

bool field_is_number(enum field field)
{
	return field == FIELD_PID || field == FIELD_TGID || field == FIELD_AGE;
}

bool field_listed(const struct field_list *list, enum field field)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (list->v[i] == field)
			return true;
	return false;
}

static bool parse_name(const char *name, size_t len, enum field *field)
{
	unsigned int i;

	for (i = 0; i < NR_FIELDS; i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], name, len)) {
			*field = i;
			return true;
		}
	}
	return false;
}

const char *field_list_parse(struct field_list *list, const char *p)
{
	list->n = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		enum field field;

		if (!parse_name(p, len, &field) || field_listed(list, field))
			return p;
		list->v[list->n++] = field;
		if (!p[len])
			return NULL;
		p += len + 1;
	}
}
