/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The language's settings (group=, sort=, top=, mode=, format=) may be written in
 * the sentence or as options, but each only once. This file merges the two into struct
 * options. Each function ends the program with a message if it refuses its input.
 */
#ifndef OWNERTOP_SETTINGS_H
#define OWNERTOP_SETTINGS_H

#include "ask/options.h"
#include "ask/sentence.h"

/* Arguments of the command line that can be checked only after all of it is parsed. */
struct command_line {
	struct sentence_parts parts;
	const char *depth, *group, *sort, *top;	/* arguments of the options; NULL: not used */
	unsigned int takes;	/* TAKES_ bits of the options and settings that were used */
};

/* The option that selects each output format, for messages. */
extern const char * const format_options[NR_FORMATS];

/* Parse the list of fields of --group into @o. */
void settings_parse_group(struct options *o, const char *list);
/* Parse the list of sort keys of --sort into @o. */
void settings_parse_sort(struct options *o, const char *list);
/*
 * Move the sentence from the o->nr_inputs @words into @line; views and files remain as
 * the inputs of @o.
 */
void settings_extract_sentence(struct options *o, struct command_line *line, char **words);
/* Merge the settings of the sentence into @o, once all options have been parsed. */
void settings_merge(struct options *o, struct command_line *line);

#endif
