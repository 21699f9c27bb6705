/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is asked, as one sentence of the kernel's language: the one on the command
 * line, and what short options add to its condition.
 */
#ifndef OWNERTOP_SENTENCE_H
#define OWNERTOP_SENTENCE_H

#include "lang/lang.h"
#include "base/types.h"

struct asking {
	const char *written;	/* NULL: no sentence */
	char *conditions;	/* of options, each after an && */
	char *focus;		/* lists of functions */
	char *ignore;
};

/* Is it a sentence, and no view, file or pipe? */
bool sentence_is_one(const char *argument);

/* These end the program with a message if what they are given makes no sense. */

/* What an option has, after a @setting such as "group=", "group=kind sort=", "if ts == ". */
void sentence_of_option(struct owner_sentence *s, const char *option, const char *setting,
			const char *value);
/* One time, as the language has it, in ns. */
u64 sentence_time(const char *option, const char *text);
void asking_word(struct asking *a, const char *option, const char *field, const char *word);
void asking_number(struct asking *a, const char *option, const char *comparison,
		   const char *number);
/* Adds a pattern, also for names with an ending, to the focus or what is ignored. */
void asking_function(char **list, const char *pattern);
/* Puts together what was asked, and frees it. */
void asking_finish(struct asking *a, struct owner_sentence *s);

#endif
