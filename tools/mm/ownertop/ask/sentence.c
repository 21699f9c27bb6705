// SPDX-License-Identifier: GPL-2.0
/* One sentence, out of the one that is written and of options. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_status.h"
#include "ask/sentence.h"
#include "ask/usage.h"

bool sentence_is_one(const char *argument)
{
	if (strchr("/.-", *argument))
		return false;
	/* "dump.txt~" is a file; "age > 1h" lacks its if, and is told so. */
	return strchr(argument, '=') || !strcmp(argument, "if") ||
	       !strncmp(argument, "if ", 3) ||
	       (strchr(argument, ' ') && strpbrk(argument, "<>~"));
}

static void append(char **text, const char *format, ...)
{
	char *more, *all;
	va_list args;

	va_start(args, format);
	if (vasprintf(&more, format, args) < 0)
		out_of_memory();
	va_end(args);
	if (asprintf(&all, "%s%s", *text ? *text : "", more) < 0)
		out_of_memory();
	free(more);
	free(*text);
	*text = all;
}

/* A quote in it is not its end; what a \ is before stays as it is. */
static void append_quoted(char **text, const char *word, const char *ending)
{
	append(text, "\"");
	while (*word) {
		if (*word == '\\' && word[1])
			append(text, "%c", *word++);
		else if (*word == '"' || *word == '\\')
			append(text, "\\");
		append(text, "%c", *word++);
	}
	append(text, "%s\"", ending);
}

/* What the language has no objection to. */
static const char *refusal(const struct owner_sentence *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field == OWNER_FIELD_STACK && s->group_by[i].frames &&
		    s->mode != OWNER_MODE_STACK)
			return "a handle is that of a whole chain: group=stack, without a number";
	return NULL;
}

void sentence_of_option(struct owner_sentence *s, const char *option, const char *setting,
			const char *value)
{
	struct owner_lang_error error;
	char *text = NULL;

	append(&text, "%s%s", setting, value);
	if (!owner_lang_parse(s, OWNER_QUERY, text, strlen(text), &error))
		usage_refuse(option, error.message);
	if (refusal(s))
		usage_refuse(option, refusal(s));
	free(text);
}

u64 sentence_time(const char *option, const char *text)
{
	struct owner_sentence s;

	sentence_of_option(&s, option, "if ts == ", text);
	if (s.nr_comparisons != 1 || s.nr_values != 1 || s.values[0].low != s.values[0].high)
		usage_fail(option, text, "is not one time");
	return s.values[0].low;
}

/* Takes @condition if it is one: no value is the beginning of something else. */
static void add(struct asking *a, const char *option, const char *value, char *condition)
{
	struct owner_lang_error error;
	struct owner_sentence s;

	if (!owner_lang_parse(&s, OWNER_QUERY, condition, strlen(condition), &error))
		usage_refuse(option, error.message);
	if (s.nr_comparisons != 1 || s.comparisons[0].nr_closing)
		usage_fail(option, value, "is more than a value");
	append(&a->conditions, " && %s", condition + strlen("if "));
	free(condition);
}

void asking_word(struct asking *a, const char *option, const char *field, const char *word)
{
	char *condition = NULL;

	append(&condition, "if %s == ", field);
	append_quoted(&condition, word, "");
	add(a, option, word, condition);
}

void asking_number(struct asking *a, const char *option, const char *comparison,
		   const char *number)
{
	char *condition = NULL;

	append(&condition, "if %s %s", comparison, number);
	add(a, option, number, condition);
}

void asking_function(char **list, const char *pattern)
{
	/* What the compiler and allocation profiling append. */
	static const char * const endings[] = { "", ".*", "_noprof", "_noprof.*" };
	unsigned int i;

	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		append(list, *list ? "," : "");
		append_quoted(list, pattern, endings[i]);
	}
}

static void add_functions(struct asking *a, const char *option, const char *comparison,
			  char *list)
{
	char *condition = NULL;

	if (!list)
		return;
	append(&condition, "if func %s %s", comparison, list);
	add(a, option, list, condition);
	free(list);
}

static noreturn void fail(const struct owner_lang_error *error, const char *text, size_t length)
{
	char shown[OWNER_ERROR_TEXT_SIZE];

	owner_lang_render_error(error, text, length, shown, sizeof(shown));
	fprintf(stderr, "ownertop: %s", shown);
	exit(STATUS_FAILED);
}

static noreturn void refuse(const char *reason, const char *text, size_t length)
{
	struct owner_lang_error error = { .length = length };

	snprintf(error.message, sizeof(error.message), "%s", reason);
	fail(&error, text, length);
}

/* The sentence as it was written, alone: what is wrong is shown in it. */
static void understand(struct owner_sentence *s, const char *written)
{
	struct owner_lang_text left = { written, strlen(written) };
	const char *sentence = "", *reason;
	struct owner_lang_error error;
	size_t length = 0;

	owner_lang_next_sentence(&left, &sentence, &length);
	if (!owner_lang_parse(s, OWNER_QUERY, sentence, length, &error))
		fail(&error, sentence, length);
	reason = refusal(s);
	if (reason)
		refuse(reason, sentence, length);
	if (owner_lang_next_sentence(&left, &sentence, &length))
		refuse("one sentence is answered at a time: here another begins",
		       sentence, length);
}

/* Where the expression begins; no word before it has a blank in it. */
static const char *find_if(const char *printed)
{
	const char *found;

	if (!strncmp(printed, "if ", 3))
		return printed;
	found = strstr(printed, " if ");
	return found ? found + 1 : NULL;
}

static void add_conditions(struct owner_sentence *s, const char *conditions)
{
	char printed[OWNER_SENTENCE_MAX + 1], *text = NULL;
	struct owner_lang_error error;
	const char *expression;

	owner_lang_print(s, printed, sizeof(printed));
	expression = find_if(printed);
	if (expression)
		append(&text, "%.*sif (%s)%s", (int)(expression - printed), printed,
		       expression + strlen("if "), conditions);
	else
		append(&text, "%s if %s", printed, conditions + strlen(" && "));
	if (!owner_lang_parse(s, OWNER_QUERY, text, strlen(text), &error))
		fail(&error, text, strlen(text));
	free(text);
}

void asking_finish(struct asking *a, struct owner_sentence *s)
{
	add_functions(a, "--focus", "==", a->focus);
	add_functions(a, "--ignore", "!=", a->ignore);
	understand(s, a->written ? a->written : "");
	if (a->conditions)
		add_conditions(s, a->conditions);
	free(a->conditions);
}
