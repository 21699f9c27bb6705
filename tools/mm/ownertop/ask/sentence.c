// SPDX-License-Identifier: GPL-2.0
/*
 * Build one sentence of the query language from the sentence and the options on the command
 * line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_status.h"
#include "ask/sentence.h"
#include "ask/usage.h"
#include "input/record.h"

bool is_query_sentence(const char *argument)
{
	if (strchr("/.-", *argument))
		return false;
	/*
	 * "dump.txt~" is a file. "age > 1h" is taken for a sentence, so that the message
	 * says that "if" is missing.
	 */
	return strchr(argument, '=') || !strcmp(argument, "if") ||
	       !strncmp(argument, "if ", 3) ||
	       (strchr(argument, ' ') && strpbrk(argument, "<>~"));
}

static void append_formatted_text(char **text, const char *format, ...)
{
	char *more, *all;
	va_list args;

	va_start(args, format);
	if (vasprintf(&more, format, args) < 0)
		exit_out_of_memory();
	va_end(args);
	if (asprintf(&all, "%s%s", *text ? *text : "", more) < 0)
		exit_out_of_memory();
	free(more);
	free(*text);
	*text = all;
}

/* Append @word in quotes to @text. Escape quotes in it, but keep a backslash that escapes. */
static void append_quoted_word(char **text, const char *word, size_t len)
{
	const char *end = word + len;

	append_formatted_text(text, "\"");
	while (word < end) {
		if (*word == '\\' && word + 1 < end)
			append_formatted_text(text, "%c", *word++);
		else if (*word == '"' || *word == '\\')
			append_formatted_text(text, "\\");
		append_formatted_text(text, "%c", *word++);
	}
	append_formatted_text(text, "\"");
}

/* Returns why a sentence that the language allows has no answer here, or NULL. */
static const char *find_unanswerable_reason(const struct owner_sentence *s)
{
	if (owner_lang_sorts_by(s, OWNER_SORT_SLABS))
		return "slabs are counted by the kernel only: write a sentence with sort=slabs to\n"
		       "/sys/kernel/debug/owner/query, and read the answer";
	if (s->since_mark || s->command == OWNER_MARK)
		return "a mark is kept by the open file owner/query: compare two dumps with diff";
	if (s->fields_used & 1U << OWNER_FIELD_ADDRESS)
		return "a dump has no addresses of objects: write a sentence with 'address' to\n"
		       "/sys/kernel/debug/owner/query, and read the answer";
	return NULL;
}

void sentence_parse_setting(struct owner_sentence *s, const char *option, const char *setting,
			    const char *value)
{
	struct owner_lang_error error;
	char *text = NULL;

	append_formatted_text(&text, "%s%s", setting, value);
	if (!owner_lang_parse(s, OWNER_QUERY, text, strlen(text), &error))
		usage_refuse_option(option, error.message);
	if (find_unanswerable_reason(s))
		usage_refuse_option(option, find_unanswerable_reason(s));
	free(text);
}

u64 sentence_parse_time(const char *option, const char *text)
{
	struct owner_sentence s;

	sentence_parse_setting(&s, option, "if ts == ", text);
	if (s.nr_comparisons != 1 || s.nr_values != 1 || s.values[0].low != s.values[0].high)
		usage_refuse_value(option, text, "is not one time");
	return s.values[0].low;
}

/* The comparison that an option stands for. @compare: NULL for words, which can be patterns. */
static const struct {
	const char *option, *field, *compare;
} comparisons[NR_CONDITIONS] = {
	[CONDITION_CACHE] = { "--cache", "cache", NULL },
	[CONDITION_COMM] = { "--comm", "comm", NULL },
	[CONDITION_MODULE] = { "--module", "module", NULL },
	[CONDITION_FUNC] = { "--func", "func", NULL },
	[CONDITION_IGNORE] = { "--ignore", "!func", NULL },
	[CONDITION_PID] = { "--pid", "pid", "==" },
	[CONDITION_TGID] = { "--tgid", "tgid", "==" },
	[CONDITION_OLDER] = { "--older", "age", ">=" },
};

void sentence_add_values(struct sentence_parts *parts, enum condition condition,
			 const char *values)
{
	char **all = &parts->values[condition];

	if (*all && condition == CONDITION_OLDER)
		usage_refuse_value("--older", values, "is a second age");
	append_formatted_text(all, "%s%s", *all ? "," : "", values);
}

/* Append the words of a list, in quotes. */
static void append_quoted_list(char **text, const char *list)
{
	size_t len = strcspn(list, ",");

	append_quoted_word(text, list, len);
	if (!list[len])
		return;
	append_formatted_text(text, ",");
	append_quoted_list(text, list + len + 1);
}

static bool list_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; list; list = strchr(list, ','), list = list ? list + 1 : NULL)
		if (!strncmp(list, word, len) && (!list[len] || list[len] == ','))
			return true;
	return false;
}

/*
 * Append the condition of an option to the other conditions. It is parsed alone before, so that a
 * value like "1 || pid > 0" does not change the meaning of the expression.
 */
static void append_condition(char **conditions, enum condition number, const char *values)
{
	const char *option = comparisons[number].option, *compare = comparisons[number].compare;
	struct owner_lang_error error;
	struct owner_sentence s;
	char *condition = NULL;

	append_formatted_text(&condition, "if %s %s ", comparisons[number].field,
			      compare ?: strpbrk(values, "*?[") ? "~" : "==");
	if (compare)
		append_formatted_text(&condition, "%s", values);
	else
		append_quoted_list(&condition, values);
	if (!owner_lang_parse(&s, OWNER_QUERY, condition, strlen(condition), &error))
		usage_refuse_option(option, error.message);
	if (s.nr_comparisons != 1 || s.comparisons[0].nr_closing)
		usage_refuse_value(option, values, "is more than a value");
	/* Per-CPU areas have no cache, but are shown with this name where others have theirs. */
	if (number == CONDITION_CACHE && list_has_word(values, PERCPU_NAME))
		append_formatted_text(conditions, " && (kind == percpu || %s)",
				      condition + strlen("if "));
	else
		append_formatted_text(conditions, " && %s", condition + strlen("if "));
	free(condition);
}

static noreturn void exit_with_language_error(const struct owner_lang_error *error,
					      const char *text, size_t length)
{
	char shown[OWNER_ERROR_TEXT_SIZE];

	owner_lang_render_error(error, text, length, shown, sizeof(shown));
	fprintf(stderr, "ownertop: %s", shown);
	exit(STATUS_FAILED);
}

static noreturn void exit_with_sentence_error(const char *reason, const char *text, size_t length)
{
	struct owner_lang_error error = { .length = length };

	snprintf(error.message, sizeof(error.message), "%s", reason);
	exit_with_language_error(&error, text, length);
}

/*
 * Parse a sentence with settings of groups, as top=, but without group=, which the views have a
 * default for. Returns false if it is wrong in another way.
 */
static bool parse_without_groups(struct owner_sentence *s, const char *sentence, size_t length)
{
	struct owner_lang_error error;
	char *text = NULL;
	bool parsed;

	append_formatted_text(&text, "group=stack %.*s", (int)length, sentence);
	parsed = owner_lang_parse(s, OWNER_QUERY, text, strlen(text), &error);
	free(text);
	return parsed;
}

/*
 * Parse the user's sentence without the conditions of options, so that an error message points
 * into the text that the user wrote. Sets *@default_groups if @s has got a group= that the text
 * lacks.
 */
static void parse_sentence(struct owner_sentence *s, bool *default_groups, const char *text)
{
	struct owner_lang_text left = { text, strlen(text) };
	const char *sentence = "", *reason;
	struct owner_lang_error error;
	size_t length = 0;

	owner_lang_next_sentence(&left, &sentence, &length);
	if (!owner_lang_parse(s, OWNER_QUERY, sentence, length, &error)) {
		*default_groups = parse_without_groups(s, sentence, length);
		if (!*default_groups)
			exit_with_language_error(&error, sentence, length);
	}
	reason = find_unanswerable_reason(s);
	if (reason)
		exit_with_sentence_error(reason, sentence, length);
	if (owner_lang_next_sentence(&left, &sentence, &length))
		exit_with_sentence_error("one sentence is answered at a time: here another begins",
					 sentence, length);
}

/*
 * Find the expression of a printed sentence: it begins at "if", and no setting before it
 * contains a blank.
 */
static const char *find_if_keyword(const char *printed)
{
	const char *found;

	if (!strncmp(printed, "if ", 3))
		return printed;
	found = strstr(printed, " if ");
	return found ? found + 1 : NULL;
}

static void join_conditions(struct owner_sentence *s, const char *conditions)
{
	char printed[OWNER_SENTENCE_MAX + 1], *text = NULL;
	struct owner_lang_error error;
	const char *expression;

	owner_lang_print(s, printed, sizeof(printed));
	expression = find_if_keyword(printed);
	if (expression)
		append_formatted_text(&text, "%.*sif (%s)%s", (int)(expression - printed), printed,
				      expression + strlen("if "), conditions);
	else
		append_formatted_text(&text, "%s if %s", printed, conditions + strlen(" && "));
	if (!owner_lang_parse(s, OWNER_QUERY, text, strlen(text), &error))
		exit_with_language_error(&error, text, strlen(text));
	free(text);
}

/*
 * Leaves out pages that were allocated as movable: no other flag tells memory of programs from
 * memory of the kernel. These are the names of all masks with __GFP_MOVABLE.
 */
#define CONDITION_KERNEL " && !(kind == page && gfp == " \
	"GFP_HIGHUSER_MOVABLE,GFP_TRANSHUGE,GFP_TRANSHUGE_LIGHT,__GFP_MOVABLE)"

void sentence_parse_with_conditions(struct sentence_parts *parts, struct owner_sentence *s)
{
	bool default_groups = false;
	char *conditions = NULL;
	unsigned int i;

	for (i = 0; i < NR_CONDITIONS; i++) {
		if (parts->values[i])
			append_condition(&conditions, i, parts->values[i]);
		free(parts->values[i]);
	}
	if (parts->kernel)
		append_formatted_text(&conditions, "%s", CONDITION_KERNEL);
	parse_sentence(s, &default_groups, parts->sentence ? parts->sentence : "");
	if (conditions)
		join_conditions(s, conditions);
	if (default_groups)
		s->nr_group_by = 0;
	free(conditions);
}
