/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sentence that chooses which allocations are captured, and what is read:
 *
 *	settings [if expression]
 *
 * Its grammar, fields and settings: Documentation/mm/slab_owner_language.rst.
 * lang*.c is compiled into the kernel and into tools in userspace, unchanged.
 * It allocates nothing, takes no lock and does not recurse.
 */
#ifndef _MM_OWNER_LANG_H
#define _MM_OWNER_LANG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

/* What a sentence may hold. Messages name these limits. */
#define OWNER_SENTENCE_MAX	1023	/* bytes, as it is printed */
#define OWNER_COMPARISONS_MAX	32
#define OWNER_VALUES_MAX	64	/* in all, those of lists included */
#define OWNER_NESTING_MAX	16	/* parentheses in parentheses */
#define OWNER_GROUP_MAX		6	/* fields to group by */
#define OWNER_FRAMES_MAX	64	/* depth=, stack.N */
#define OWNER_GROUPS_MAX	1048576

#define OWNER_GROUPS_DEFAULT	4096

/* Where a sentence is written. */
enum owner_dialect {
	OWNER_CONTROL,		/* what is captured */
	OWNER_QUERY,		/* what is read */
};

/* What a sentence of control does. */
enum owner_command {
	OWNER_RULE,		/* adds itself */
	OWNER_DEL,		/* removes the rule of this number */
	OWNER_CLEAR,		/* removes all */
	OWNER_COMMANDS
};

enum owner_field {
	OWNER_FIELD_CACHE,
	OWNER_FIELD_SIZE,	/* bytes that were asked for */
	OWNER_FIELD_HELD,	/* bytes that it takes */
	OWNER_FIELD_GFP,
	OWNER_FIELD_ORDER,
	OWNER_FIELD_NID,
	OWNER_FIELD_PID,
	OWNER_FIELD_TGID,
	OWNER_FIELD_COMM,
	OWNER_FIELD_CGROUP,
	OWNER_FIELD_TS,		/* ns from boot to when it was allocated */
	OWNER_FIELD_FUNC,
	OWNER_FIELD_MODULE,
	OWNER_FIELD_KIND,	/* enum owner_source */
	/* From here on it is not known when it is allocated. */
	OWNER_FIELD_AGE,	/* ns since then */
	OWNER_FIELD_HANDLE,
	OWNER_FIELDS,
	/* The call chain can be grouped by and not compared. */
	OWNER_FIELD_STACK = OWNER_FIELDS,
};

enum owner_source {
	OWNER_SOURCE_SLAB,
	OWNER_SOURCE_PAGE,
	OWNER_SOURCE_PERCPU,
	OWNER_SOURCES
};

enum owner_setting {
	/* of control */
	OWNER_SET_DEPTH,
	OWNER_SET_SAMPLE,
	OWNER_SET_TRACK,
	OWNER_SET_FREE,
	/* of queries */
	OWNER_SET_MODE,
	OWNER_SET_SOURCE,
	OWNER_SET_NID,
	OWNER_SET_GROUP,
	OWNER_SET_SORT,
	OWNER_SET_TOP,
	OWNER_SET_GROUPS,
	OWNER_SET_FORMAT,
	OWNER_SETTINGS
};

/* How the answer to a query shows a call chain. */
enum owner_mode {
	OWNER_MODE_STACK,	/* its frames */
	OWNER_MODE_HANDLE,	/* its handle */
	OWNER_MODE_STACK_HANDLE,
	OWNER_MODES
};

enum owner_format {
	OWNER_FORMAT_TEXT,
	OWNER_FORMAT_TSV,
	OWNER_FORMATS
};

/* What a group sums up, and is sorted by: the largest, the oldest first. */
enum owner_sort {
	OWNER_SORT_BYTES,	/* asked for */
	OWNER_SORT_HELD,	/* taken */
	OWNER_SORT_WASTE,	/* the difference */
	OWNER_SORT_OBJECTS,
	OWNER_SORT_OLDEST,	/* by the age of its oldest object */
	OWNER_SORT_YOUNGEST,	/* by that of its youngest, smallest first */
	OWNER_SORTS
};

/* One part of what makes a group. */
struct owner_group_field {
	unsigned char field;	/* or OWNER_FIELD_STACK */
	unsigned char full;	/* of the stack: with the allocator's own frames */
	unsigned char frames;	/* of the stack: so many, 0: all */
};

/* How seldom samples may be. */
#define OWNER_SAMPLE_BYTES_MAX		(64U << 20)
#define OWNER_SAMPLE_OBJECTS_MAX	1048576U

enum owner_operator {
	OWNER_EQ,
	OWNER_NE,
	OWNER_LT,
	OWNER_LE,
	OWNER_GT,
	OWNER_GE,
	OWNER_LIKE,		/* ~, the same as == for those who say it is a glob */
	OWNER_OPERATORS
};

/* A number stands for a range; a word is a pattern unless it has no magic. */
union owner_value {
	struct {
		unsigned long long low;
		unsigned long long high;
	};
	struct {
		unsigned short word;	/* where it starts in words[] */
		bool is_glob;
	};
};

/* Where evaluation goes on if not at another comparison. */
#define OWNER_REJECT		254
#define OWNER_ACCEPT		255

/*
 * One comparison. Which one is looked at next, or whether all is decided, hangs
 * on the outcome of this one alone: no stack is needed to evaluate, and as
 * next[] leads forward only, each is looked at once at most.
 */
struct owner_comparison {
	unsigned char field;
	unsigned char operator;
	unsigned char first_value;
	unsigned char nr_values;
	unsigned char next[2];		/* if it does not hold, if it holds */
	/* How it was written. */
	unsigned char nr_opening;	/* parentheses before it */
	unsigned char nr_closing;	/* and after it */
	bool followed_by_and;		/* && comes next, not || */
	unsigned int negated;		/* bit n: a ! before parenthesis n, or before itself */
};

/* What a text says, once it is understood: self-contained, can be copied. */
struct owner_sentence {
	enum owner_dialect dialect;
	enum owner_command command;
	unsigned int number;		/* of the rule that OWNER_DEL removes */
	unsigned int settings_given;	/* a bit for each enum owner_setting that was said */
	unsigned int fields_used;	/* a bit for each enum owner_field that is compared */

	/* control; what is not said has its default */
	unsigned int depth;		/* frames to keep, 0: the default */
	/* Bytes from one sample to the next, or one object in so many; both 0: all. */
	unsigned int sample_bytes;
	unsigned int sample_objects;
	bool track;
	bool free;			/* also keep who frees it */

	/* query */
	enum owner_mode mode;
	enum owner_format format;
	unsigned int sources;		/* a bit for each enum owner_source, 0: the file's own */
	unsigned int top;		/* 0: all */
	unsigned int max_groups;
	unsigned int nr_group_by;		/* 0: objects one by one */
	unsigned int nr_sort_by;
	struct owner_group_field group_by[OWNER_GROUP_MAX];
	unsigned char sort_by[OWNER_SORTS];

	/* the expression; nid= is its first comparison */
	unsigned int nr_comparisons;
	unsigned int nr_values;
	unsigned int nr_words;		/* bytes */
	struct owner_comparison comparisons[OWNER_COMPARISONS_MAX];
	union owner_value values[OWNER_VALUES_MAX];
	char words[OWNER_SENTENCE_MAX + 1];
};

/* What was wrong, and with which word of the sentence. */
struct owner_lang_error {
	unsigned int position;		/* in bytes from the start of the sentence */
	unsigned int length;		/* 0: at the end */
	char message[192];
};

/* Of a sentence with an error so many bytes are shown. */
#define OWNER_ERROR_SENTENCE_MAX	240

/* What is said of an error, the 0 at its end included: printk() takes that whole. */
#define OWNER_ERROR_TEXT_SIZE	768

/* A text of many sentences, as it is being taken apart. */
struct owner_lang_text {
	const char *rest;
	size_t left;
};

bool owner_lang_next_sentence(struct owner_lang_text *text, const char **sentence, size_t *length);
bool owner_lang_parse(struct owner_sentence *s, enum owner_dialect dialect,
		      const char *text, size_t length, struct owner_lang_error *error);
size_t owner_lang_print(const struct owner_sentence *s, char *buf, size_t size);
size_t owner_lang_render_error(const struct owner_lang_error *error, const char *text,
			       size_t length, char *buf, size_t size);

/* What is known of an allocation. */
struct owner_field_values {
	unsigned int known_fields;	/* a bit for each field of which it is known... */
	unsigned int absent_fields;	/* ... and here, if all that is known is: it has none */
	union {
		unsigned long long number;
		const char *word;
	} value[OWNER_FIELDS];
	/*
	 * An allocation has many functions, modules and gfp flags: does any of
	 * them meet the comparison's values? Asks owner_lang_word_matches() for
	 * each, or knows better. Also asked about a word that is NULL, as it
	 * takes time to find.
	 */
	bool (*any_word_matches)(const struct owner_field_values *fields, const struct owner_sentence *s,
			    const struct owner_comparison *comparison);
};

enum owner_verdict {
	OWNER_VERDICT_FALSE,
	OWNER_VERDICT_TRUE,
	OWNER_VERDICT_UNDECIDED,		/* on what is not known */
};

bool owner_lang_matches(const struct owner_sentence *s, const struct owner_field_values *fields);
enum owner_verdict owner_lang_judge(const struct owner_sentence *s, const struct owner_field_values *fields);
unsigned int owner_lang_compare_fields(const struct owner_sentence *s, const struct owner_field_values *fields,
				 unsigned int mask);
bool owner_lang_matches_outcomes(const struct owner_sentence *s, const struct owner_field_values *fields,
			      unsigned int mask, unsigned int outcomes);
bool owner_lang_word_matches(const struct owner_sentence *s,
			     const struct owner_comparison *comparison, const char *word);

/* lang_words.c: what words there are, and what may be done with them. */

enum owner_type {
	OWNER_TYPE_WORD,
	OWNER_TYPE_WORDS,	/* it has many: == means any of them */
	OWNER_TYPE_SOURCE,
	OWNER_TYPE_NUMBER,
	OWNER_TYPE_BYTES,
	OWNER_TYPE_TIME,
};

extern const char * const owner_field_names[OWNER_FIELDS + 1];
extern const unsigned char owner_field_types[OWNER_FIELDS];
extern const char * const owner_setting_names[OWNER_SETTINGS];
extern const char * const owner_command_names[OWNER_COMMANDS];
extern const char * const owner_source_names[OWNER_SOURCES];
extern const char * const owner_mode_names[OWNER_MODES];
extern const char * const owner_format_names[OWNER_FORMATS];
extern const char * const owner_sort_names[OWNER_SORTS];
extern const char * const owner_operator_names[OWNER_OPERATORS];

struct owner_unit {
	char name[3];
	unsigned long long factor;
};

const struct owner_unit *owner_lang_units(enum owner_type type);
bool owner_lang_is_word_char(char c);
int owner_lang_find_name(const char *word, size_t length, const char * const *names, unsigned int count);
int owner_lang_nearest_name(const char *word, size_t length, const char * const *names,
		       unsigned int count);
const char *owner_lang_glob_class(const char *pattern, char c, bool *in);

#endif /* _MM_OWNER_LANG_H */
