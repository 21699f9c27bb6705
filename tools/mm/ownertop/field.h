/* SPDX-License-Identifier: GPL-2.0 */
/* What records can be grouped by. */
#ifndef OWNERTOP_FIELD_H
#define OWNERTOP_FIELD_H

#include <stdbool.h>

enum field {
	FIELD_STACK,
	FIELD_CACHE,
	FIELD_COMM,
	FIELD_PID,
	FIELD_TGID,
	FIELD_MODULE,
	FIELD_KIND,
	FIELD_AGE,
	NR_FIELDS
};

struct field_list {
	enum field v[NR_FIELDS];
	unsigned int n;
};

const char *field_name(enum field field);
/* Is it a number, and not a name? */
bool field_is_number(enum field field);
bool field_listed(const struct field_list *list, enum field field);

/*
 * "stack,cache": each name at most once. Returns NULL, or the part of @names
 * that is no field or is named twice.
 */
const char *field_list_parse(struct field_list *list, const char *names);

#endif
