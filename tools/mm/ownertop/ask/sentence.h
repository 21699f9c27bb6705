/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One sentence of the kernel's language, built from the sentence on the command line and
 * from the options that add a condition to it: enum condition. All functions but
 * is_query_sentence() end the program with a message on an error.
 */
#ifndef OWNERTOP_SENTENCE_H
#define OWNERTOP_SENTENCE_H

#include "lang/lang.h"
#include "base/types.h"

/* The options that are a condition. Of the values of one option, one must hold. */
enum condition {
	CONDITION_CACHE,
	CONDITION_COMM,
	CONDITION_MODULE,
	CONDITION_FUNC,
	CONDITION_IGNORE,	/* not func */
	CONDITION_PID,
	CONDITION_TGID,
	CONDITION_OLDER,
	NR_CONDITIONS
};

struct sentence_parts {
	const char *sentence;	/* sentence on the command line; NULL: it has none */
	char *values[NR_CONDITIONS];	/* the values of each option, with commas between them */
	bool kernel;		/* --kernel: leave out pages of programs */
};

/* Is @argument a sentence, rather than a view, a file or "-"? */
bool is_query_sentence(const char *argument);

/*
 * Parse the argument of @option as the value of @setting, which is the beginning of a
 * sentence: "group=", "group=kind sort=" or "if ts == ".
 */
void sentence_parse_setting(struct owner_sentence *s, const char *option, const char *setting,
			    const char *value);
/* Parse one time in the language's form; returns ns. */
u64 sentence_parse_time(const char *option, const char *text);

/* Add the values of an option, with commas between them, to those of its condition. */
void sentence_add_values(struct sentence_parts *parts, enum condition condition,
			 const char *values);
/* Parse the sentence together with all conditions into @s, and free the conditions. */
void sentence_parse_with_conditions(struct sentence_parts *parts, struct owner_sentence *s);

#endif
