/* SPDX-License-Identifier: GPL-2.0 */
/* Answers as mm/owner/query_show.c writes them for programs. */
#ifndef OWNERTOP_TSV_H
#define OWNERTOP_TSV_H

#include <stdio.h>

#include "model/answer.h"

/* Sums with the times that belong to them. */
struct tally {
	u64 groups;
	struct sum sum;
	bool is_any;		/* something was added */
	u64 oldest;		/* time stamps, TS_UNKNOWN if something has none */
	u64 newest;
};

#define TALLY_NONE ((struct tally){ .oldest = TS_UNKNOWN, .newest = TS_UNKNOWN })

void tally_add(struct tally *to, const struct sum *sum, u64 groups, u64 oldest, u64 newest);

/* "# ", and the sentence in its one form. */
void tsv_sentence(const struct owner_sentence *s, FILE *out);
/* The columns of a call chain. */
const char *tsv_stack_columns(enum owner_mode mode);
/* A name, "-" if it is empty; what separates is in octal. */
void tsv_name(struct text name, FILE *out);
/* Nanoseconds, "-" if the time stamp is unknown. */
void tsv_age(const struct model *m, u64 ts, FILE *out);
/* Notes, and damage, that no row tells. */
void tsv_notes(const struct answer *a, FILE *out);

#endif
