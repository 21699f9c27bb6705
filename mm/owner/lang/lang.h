/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The language of owner/control, owner/query and ownertop. One sentence is
 *
 *	settings [if expression]
 *
 * See Documentation/mm/slab_owner_language.rst for its grammar. The kernel and
 * ownertop compile the files of this directory unchanged. The code allocates no
 * memory, takes no lock and does not recurse.
 *
 *	token.c		text -> sentences -> tokens; error messages
 *	parse.c		tokens -> settings and commands
 *	expr.c		tokens -> the expression after "if"
 *	eval.c		does an expression hold for the field values of an allocation?
 *	print.c		sentence or error -> text
 *	words.c		names of fields, settings and values; spelling suggestions
 *	parser.h	what token.c, parse.c and expr.c share
 *	kind.h		values that the rest of mm/owner shares
 */
#ifndef _MM_OWNER_LANG_H
#define _MM_OWNER_LANG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

#include "kind.h"

/* Limits of a sentence. Error messages and the documentation name them. */
#define OWNER_SENTENCE_MAX	1023	/* bytes, in the form that is printed */
#define OWNER_COMPARISONS_MAX	32
#define OWNER_VALUES_MAX	64	/* of all comparisons together */
#define OWNER_SETS_MAX		32	/* [sets] of all globs together */
#define OWNER_NESTING_MAX	16	/* nested parentheses */
#define OWNER_GROUP_MAX		6	/* fields in group= */
#define OWNER_FRAMES_MAX	64	/* depth=, stack.N */
#define OWNER_USER_FRAMES_MAX	16	/* user.N */

/* The settings and fields that a sentence may use depend on its dialect. */
enum owner_dialect {
	OWNER_CONTROL,		/* owner/control, owner=: rules for new allocations */
	OWNER_QUERY,		/* owner/query, ownertop: queries over recorded owners */
};

/* The action of a sentence. */
enum owner_command {
	OWNER_RULE,		/* add this sentence as a rule; or answer this query */
	OWNER_DEL,		/* remove one rule, by its number or its condition */
	OWNER_CLEAR,		/* remove all rules */
	OWNER_MARK,		/* of a query: remember what groups hold, for since=mark */
	OWNER_COMMANDS
};

enum owner_field {
	OWNER_FIELD_CACHE,
	OWNER_FIELD_SIZE,	/* requested bytes */
	OWNER_FIELD_HELD,	/* bytes that the allocation occupies */
	OWNER_FIELD_GFP,
	OWNER_FIELD_ORDER,
	OWNER_FIELD_NID,
	OWNER_FIELD_PID,
	OWNER_FIELD_TGID,
	OWNER_FIELD_COMM,
	OWNER_FIELD_TASK_CGROUP, /* of the task that allocated; dumps do not have it */
	OWNER_FIELD_TS,		/* time of the allocation, ns since boot */
	OWNER_FIELD_FUNC,
	OWNER_FIELD_MODULE,
	OWNER_FIELD_KIND,	/* enum owner_kind */
	/* Rules cannot use the fields below: they have no value during an allocation. */
	OWNER_FIELD_AGE,	/* ns since the allocation */
	OWNER_FIELD_CGROUP,	/* to which the memory is charged */
	OWNER_FIELD_SYSCALL,	/* outermost function of the chain that is a syscall's entry */
	OWNER_FIELD_HANDLE,
	OWNER_FIELD_BINARY,	/* names of the files of the user chain */
	OWNER_FIELD_UFUNC,	/* functions of the user chain: only ownertop knows them */
	OWNER_FIELD_ADDRESS,	/* an address inside the object: only the kernel knows it */
	OWNER_FIELDS,
	/* The call chain and the user chain: valid in group=, but not in a comparison. */
	OWNER_FIELD_STACK = OWNER_FIELDS,
	OWNER_FIELD_USER,
	OWNER_GROUP_FIELDS
};

enum owner_setting {
	/* OWNER_CONTROL */
	OWNER_SET_DEPTH,
	OWNER_SET_SAMPLE,
	OWNER_SET_TRACK,
	OWNER_SET_FREE,
	OWNER_SET_USER,
	/* OWNER_QUERY */
	OWNER_SET_MODE,
	OWNER_SET_NID,
	OWNER_SET_GROUP,
	OWNER_SET_SORT,
	OWNER_SET_EACH,
	OWNER_SET_TOP,
	OWNER_SET_MIN,
	OWNER_SET_FORMAT,
	OWNER_SET_SINCE,
	OWNER_SETTINGS
};

enum owner_format {
	OWNER_FORMAT_TEXT,
	OWNER_FORMAT_TSV,
	OWNER_FORMATS
};

/* Sort keys of groups. The group with the largest value or the oldest object is first. */
enum owner_sort {
	OWNER_SORT_BYTES,	/* sum of the requested bytes */
	OWNER_SORT_HELD,	/* sum of the occupied bytes */
	OWNER_SORT_WASTE,	/* held - bytes */
	OWNER_SORT_OBJECTS,
	OWNER_SORT_OLDEST,	/* age of the oldest object */
	OWNER_SORT_SLABS,	/* slabs with an object of the group: only the kernel knows them */
	OWNER_SORTS
};

/* One field of group=. Objects that agree in all of these fields form a group. */
struct owner_group_field {
	unsigned char field;	/* enum owner_field */
	unsigned char full;	/* stack.full: keep leading frames of the allocator */
	unsigned char frames;	/* stack.N, user.N: compare the first N frames; 0: all */
	unsigned char outermost;	/* stack.-N: compare the last N frames */
	unsigned char functions;	/* stack.func: compare functions, not return addresses */
	unsigned char log2;	/* age.log2: each bucket is twice as wide as the one below */
	unsigned long long width;	/* age.1h, size.4K: width of the buckets; 0: none */
};

/* More than this is no amount of memory: the growth of a group can be below zero. */
#define OWNER_HELD_MAX			(~0ULL >> 1)

enum owner_operator {
	OWNER_EQ,
	OWNER_NE,
	OWNER_LT,
	OWNER_LE,
	OWNER_GT,
	OWNER_GE,
	OWNER_LIKE,		/* "~": as "==", and a word can be a pattern */
	OWNER_OPERATORS
};

/* One value of a comparison, by the type of the field. */
union owner_value {
	struct {		/* a number is stored as a range, both ends included */
		unsigned long long low;
		unsigned long long high;
	};
	struct {
		unsigned short word;	/* offset in owner_sentence.words */
		bool is_glob;		/* the word contains *, ?, [ or \ */
		unsigned char first_set;	/* of the glob, in owner_sentence.sets */
	};
};

/* A [set] of a glob. */
struct owner_glob_set {
	unsigned long long members[256 / 64];	/* a bit for each character */
	unsigned short end;			/* offset in owner_sentence.words, behind the ] */
};

/* In owner_comparison.next: the expression is decided. */
#define OWNER_REJECT		254
#define OWNER_ACCEPT		255

/*
 * One comparison, compiled to a branch: next[] says which comparison to evaluate
 * after this one. Evaluation needs no stack, and since next[] only leads forward
 * it visits each comparison at most once.
 */
struct owner_comparison {
	unsigned char field;		/* enum owner_field */
	unsigned char operator;		/* enum owner_operator */
	unsigned char first_value;	/* index in owner_sentence.values */
	unsigned char nr_values;
	unsigned char next[2];		/* index after a false [0], a true [1] comparison */
	bool excludes;			/* an odd number of "!" applies to it */
	/* The remaining members serve owner_lang_print() only. */
	unsigned char nr_opening;	/* number of "(" before the comparison */
	unsigned char nr_closing;	/* number of ")" after it */
	bool followed_by_and;		/* the next comparison follows "&&", not "||" */
	unsigned int negated;		/* bit n: "!" before opening parenthesis n, or before */
					/* the comparison itself if n == nr_opening */
};

/* A parsed sentence. It holds no pointers, so it can be copied. */
struct owner_sentence {
	enum owner_dialect dialect;
	enum owner_command command;
	unsigned int number;		/* OWNER_DEL: the rule to remove; 0: by condition */
	unsigned int settings_given;	/* bit mask of enum owner_setting: set by the text */
	unsigned int fields_used;	/* bit mask of enum owner_field: compared by the text */

	/* OWNER_CONTROL. @settings_given tells which of them the text has. */
	unsigned int depth;		/* frames to keep; 0: the default */
	/* Mean number of bytes, or of objects, per sample. Both 0: record every object. */
	unsigned int sample_bytes;
	unsigned int sample_objects;
	bool track;
	bool free;			/* also record which task and chain freed the object */
	bool user;			/* also record the user chain */

	/* OWNER_QUERY */
	enum owner_mode mode;
	enum owner_format format;
	bool since_mark;		/* show growth: what is held less what the mark has */
	unsigned int top;		/* groups or single objects to show; 0: all */
	enum owner_field each;		/* if each= is given: top= is for each of its values */
	unsigned long long min_held;	/* bytes that a group holds at least to be shown */
	unsigned int nr_group_by;	/* 0: show single objects */
	unsigned int nr_sort_by;
	struct owner_group_field group_by[OWNER_GROUP_MAX];
	unsigned char sort_by[OWNER_SORTS];	/* enum owner_sort */

	/* The expression. The setting nid= is stored as its first comparison. */
	unsigned int nr_comparisons;
	unsigned int nr_values;
	unsigned int nr_sets;
	unsigned int nr_words;		/* bytes used in words[] */
	struct owner_comparison comparisons[OWNER_COMPARISONS_MAX];
	union owner_value values[OWNER_VALUES_MAX];
	struct owner_glob_set sets[OWNER_SETS_MAX];
	char words[OWNER_SENTENCE_MAX + 1];	/* NUL-terminated words, one after the other */
};

/* The first error of a sentence and the text that caused it. */
struct owner_lang_error {
	unsigned int position;		/* byte offset in the sentence */
	unsigned int length;		/* bytes; 0: the sentence ends too early */
	char message[224];
};

/* owner_lang_render_error() shows at most this many bytes of the sentence. */
#define OWNER_ERROR_SENTENCE_MAX	240

/* A buffer for any rendered error, with its NUL. It fits into one printk() record. */
#define OWNER_ERROR_TEXT_SIZE	768

/* The part of a text that owner_lang_next_sentence() has not returned yet. */
struct owner_lang_text {
	const char *start;
	size_t length;
};

bool owner_lang_next_sentence(struct owner_lang_text *text, const char **sentence, size_t *length);
bool owner_lang_parse(struct owner_sentence *s, enum owner_dialect dialect,
		      const char *text, size_t length, struct owner_lang_error *error);
bool owner_lang_sorts_by(const struct owner_sentence *s, enum owner_sort key);
size_t owner_lang_print(const struct owner_sentence *s, char *buf, size_t size);
size_t owner_lang_print_comparison(const struct owner_sentence *s,
				   const struct owner_comparison *c, char *buf, size_t size);
size_t owner_lang_print_column(const struct owner_group_field *by, char *buf, size_t size);
size_t owner_lang_print_group_number(const struct owner_group_field *by, unsigned long long number,
				     char *buf, size_t size);
size_t owner_lang_render_error(const struct owner_lang_error *error, const char *text,
			       size_t length, char *buf, size_t size);

/* The field values of one allocation. An expression is evaluated against them. */
struct owner_field_values {
	unsigned int known_fields;	/* bit mask for owner_lang_evaluate_known_fields() */
	unsigned int absent_fields;	/* bit mask: the allocation is known to have no value */
	union {
		unsigned long long number;
		const char *word;	/* NULL: ask any_word_matches() */
	} value[OWNER_FIELDS];
	/*
	 * Does any word of the comparison's field match one of its values? An
	 * allocation has many functions, modules, binaries, gfp flags and addresses, so they
	 * have no value[]. Also called for a word that is NULL because it is slow to find.
	 */
	bool (*any_word_matches)(const struct owner_field_values *fields,
				 const struct owner_sentence *s,
				 const struct owner_comparison *comparison);
};

enum owner_verdict {
	OWNER_VERDICT_FALSE,
	OWNER_VERDICT_TRUE,
	OWNER_VERDICT_UNDECIDED,	/* depends on fields that are not known */
};

bool owner_lang_matches(const struct owner_sentence *s, const struct owner_field_values *fields);
enum owner_verdict owner_lang_evaluate_known_fields(const struct owner_sentence *s,
						    const struct owner_field_values *fields);
unsigned int owner_lang_compare_fields(const struct owner_sentence *s,
				       const struct owner_field_values *fields, unsigned int mask);
bool owner_lang_matches_outcomes(const struct owner_sentence *s,
				 const struct owner_field_values *fields, unsigned int mask,
				 unsigned int outcomes);
bool owner_lang_word_matches(const struct owner_sentence *s,
			     const struct owner_comparison *comparison, const char *word);
unsigned int owner_lang_matching_kinds(const struct owner_sentence *s);
unsigned int owner_lang_asked_kinds(const struct owner_sentence *s);
unsigned long long owner_lang_find_bucket(const struct owner_group_field *by,
					  unsigned long long number);

/* The type of a field decides which operators and values a comparison accepts. */
enum owner_type {
	OWNER_TYPE_WORD,
	OWNER_TYPE_WORDS,	/* an allocation has many: "==" holds if one of them matches */
	OWNER_TYPE_KIND,
	OWNER_TYPE_NUMBER,
	OWNER_TYPE_BYTES,
	OWNER_TYPE_TIME,
	OWNER_TYPE_ADDRESS,	/* an object has many: "==" holds if one of them is a value */
};

extern const char * const owner_field_names[OWNER_GROUP_FIELDS];
extern const unsigned char owner_field_types[OWNER_FIELDS];
extern const char * const owner_setting_names[OWNER_SETTINGS];
extern const char * const owner_command_names[OWNER_COMMANDS];
extern const char * const owner_kind_names[OWNER_KINDS];
extern const char * const owner_mode_names[OWNER_MODES];
extern const char * const owner_format_names[OWNER_FORMATS];
extern const char * const owner_sort_names[OWNER_SORTS];
extern const char * const owner_operator_names[OWNER_OPERATORS];

struct owner_unit {
	char name[3];
	unsigned long long factor;
};

const struct owner_unit *owner_lang_units(enum owner_type type);
size_t owner_lang_function_length(const char *name, size_t length);
const char *owner_lang_syscall_of_function(const char *function, size_t *length);
bool owner_lang_is_word_char(char c);
int owner_lang_find_name(const char *word, size_t length, const char * const *names,
			 unsigned int count);
int owner_lang_nearest_name(const char *word, size_t length, const char * const *names,
			    unsigned int count);
const char *owner_lang_read_glob_set(const char *pattern, struct owner_glob_set *set);

#endif /* _MM_OWNER_LANG_H */
