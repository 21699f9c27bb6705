/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One sentence of the kernel's language, built from the sentence on the command line and
 * from the options that add a condition to it (--cache, --comm, --pid, --older, --focus,
 * --ignore). All functions but is_query_sentence() end the program with a message on an error.
 */
#ifndef OWNERTOP_SENTENCE_H
#define OWNERTOP_SENTENCE_H

#include "lang/lang.h"
#include "base/types.h"

struct sentence_parts {
	const char *sentence;	/* sentence on the command line; NULL: it has none */
	char *conditions;	/* conditions of options, each after " && " */
	char *focus;		/* patterns of --focus */
	char *ignore;		/* patterns of --ignore */
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

/* Add the condition "@field ~ @word" of an option to a sentence. */
void sentence_add_word_condition(struct sentence_parts *parts, const char *option,
				 const char *field, const char *word);
/* Add the condition "@comparison @number" of an option to a sentence, as "pid == 1,2". */
void sentence_add_number_condition(struct sentence_parts *parts, const char *option,
				   const char *comparison, const char *number);
/* Append the function pattern of a --focus or --ignore option to the list @list. */
void sentence_append_function(char **list, const char *pattern);
/* Parse the sentence together with all conditions into @s, and free the conditions. */
void sentence_parse_with_conditions(struct sentence_parts *parts, struct owner_sentence *s);

#endif
