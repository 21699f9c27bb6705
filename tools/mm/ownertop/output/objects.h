/* SPDX-License-Identifier: GPL-2.0 */
/* Print objects one by one while they are read, as a dump or as TSV. */
#ifndef OWNERTOP_OUTPUT_OBJECTS_H
#define OWNERTOP_OUTPUT_OBJECTS_H

#include "output/column.h"

struct object_printer {
	const struct answer *a;
	const struct owner_sentence *sentence;
	enum output_format format;	/* FORMAT_TEXT or FORMAT_TSV */
	FILE *out;
	struct column_list list;
	struct group_totals total;
	u64 summed;		/* objects of sums, which an input does not list one by one */
};

void objects_begin(struct object_printer *o, const struct answer *a,
		   const struct owner_sentence *sentence, enum output_format format, FILE *out);
/*
 * Print one object while it is read: the model calls this as model.visit. @arg: struct
 * object_printer
 */
void objects_print_object(void *arg, const struct record *rec, const struct sum *sum);
/* Print the total of the objects and the notes. */
void objects_print_totals(const struct object_printer *o);

#endif
