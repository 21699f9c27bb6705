/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the command line asks, in a sentence and in options that say the same: each
 * once. All of this ends the program with a message if it makes no sense.
 */
#ifndef OWNERTOP_GIVEN_H
#define OWNERTOP_GIVEN_H

#include "ask/options.h"
#include "ask/sentence.h"

/* The command line, as far as it is not in struct options yet. */
struct given {
	struct asking asking;
	const char *depth, *group, *sort, *top;	/* NULL: not given */
	unsigned int taken;	/* TAKES_ bits of the options that were given */
};

/* What asks for each form. */
extern const char * const given_forms[NR_FORMATS];

void given_group(struct options *o, const char *list);
void given_sort(struct options *o, const char *list);
/* Takes the sentence out of @words, which leaves views and files. */
void given_sentence(struct options *o, struct given *given, char **words);
/* All is read: puts together what is asked. */
void given_finish(struct options *o, struct given *given);

#endif
