// SPDX-License-Identifier: GPL-2.0
/* Names of fields, settings, values and units; the name most similar to a misspelled one. */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "lang.h"

const char * const owner_field_names[OWNER_GROUP_FIELDS] = {
	[OWNER_FIELD_CACHE]	= "cache",
	[OWNER_FIELD_SIZE]	= "size",
	[OWNER_FIELD_HELD]	= "held",
	[OWNER_FIELD_GFP]	= "gfp",
	[OWNER_FIELD_ORDER]	= "order",
	[OWNER_FIELD_NID]	= "nid",
	[OWNER_FIELD_PID]	= "pid",
	[OWNER_FIELD_TGID]	= "tgid",
	[OWNER_FIELD_COMM]	= "comm",
	[OWNER_FIELD_TASK_CGROUP] = "task_cgroup",
	[OWNER_FIELD_CGROUP]	= "cgroup",
	[OWNER_FIELD_AGE]	= "age",
	[OWNER_FIELD_TS]	= "ts",
	[OWNER_FIELD_FUNC]	= "func",
	[OWNER_FIELD_MODULE]	= "module",
	[OWNER_FIELD_SYSCALL]	= "syscall",
	[OWNER_FIELD_HANDLE]	= "handle",
	[OWNER_FIELD_KIND]	= "kind",
	[OWNER_FIELD_BINARY]	= "binary",
	[OWNER_FIELD_UFUNC]	= "ufunc",
	[OWNER_FIELD_ADDRESS]	= "address",
	[OWNER_FIELD_STACK]	= "stack",
	[OWNER_FIELD_USER]	= "user",
};

const unsigned char owner_field_types[OWNER_FIELDS] = {
	[OWNER_FIELD_CACHE]	= OWNER_TYPE_WORD,
	[OWNER_FIELD_SIZE]	= OWNER_TYPE_BYTES,
	[OWNER_FIELD_HELD]	= OWNER_TYPE_BYTES,
	[OWNER_FIELD_GFP]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_ORDER]	= OWNER_TYPE_NUMBER,
	[OWNER_FIELD_NID]	= OWNER_TYPE_NUMBER,
	[OWNER_FIELD_PID]	= OWNER_TYPE_NUMBER,
	[OWNER_FIELD_TGID]	= OWNER_TYPE_NUMBER,
	[OWNER_FIELD_COMM]	= OWNER_TYPE_WORD,
	[OWNER_FIELD_TASK_CGROUP] = OWNER_TYPE_WORD,
	[OWNER_FIELD_CGROUP]	= OWNER_TYPE_WORD,
	[OWNER_FIELD_AGE]	= OWNER_TYPE_TIME,
	[OWNER_FIELD_TS]	= OWNER_TYPE_TIME,
	[OWNER_FIELD_FUNC]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_MODULE]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_SYSCALL]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_HANDLE]	= OWNER_TYPE_NUMBER,
	[OWNER_FIELD_KIND]	= OWNER_TYPE_KIND,
	[OWNER_FIELD_BINARY]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_UFUNC]	= OWNER_TYPE_WORDS,
	[OWNER_FIELD_ADDRESS]	= OWNER_TYPE_ADDRESS,
};

const char * const owner_setting_names[OWNER_SETTINGS] = {
	[OWNER_SET_DEPTH]	= "depth",
	[OWNER_SET_SAMPLE]	= "sample",
	[OWNER_SET_TRACK]	= "track",
	[OWNER_SET_FREE]	= "free",
	[OWNER_SET_USER]	= "user",
	[OWNER_SET_MODE]	= "mode",
	[OWNER_SET_NID]		= "nid",
	[OWNER_SET_GROUP]	= "group",
	[OWNER_SET_SORT]	= "sort",
	[OWNER_SET_EACH]	= "each",
	[OWNER_SET_TOP]		= "top",
	[OWNER_SET_MIN]		= "min",
	[OWNER_SET_FORMAT]	= "format",
	[OWNER_SET_SINCE]	= "since",
};

const char * const owner_command_names[OWNER_COMMANDS] = {
	[OWNER_DEL]		= "del",
	[OWNER_CLEAR]		= "clear",
	[OWNER_MARK]		= "mark",
};

const char * const owner_kind_names[OWNER_KINDS] = {
	[OWNER_KIND_SLAB]	= "slab",
	[OWNER_KIND_PAGE]	= "page",
	[OWNER_KIND_PERCPU]	= "percpu",
};

const char * const owner_mode_names[OWNER_MODES] = {
	[OWNER_MODE_STACK]		= "stack",
	[OWNER_MODE_HANDLE]		= "handle",
	[OWNER_MODE_STACK_HANDLE]	= "stack_handle",
};

const char * const owner_format_names[OWNER_FORMATS] = {
	[OWNER_FORMAT_TEXT]	= "text",
	[OWNER_FORMAT_TSV]	= "tsv",
};

const char * const owner_sort_names[OWNER_SORTS] = {
	[OWNER_SORT_BYTES]	= "bytes",
	[OWNER_SORT_HELD]	= "held",
	[OWNER_SORT_WASTE]	= "waste",
	[OWNER_SORT_OBJECTS]	= "objects",
	[OWNER_SORT_OLDEST]	= "oldest",
	[OWNER_SORT_SLABS]	= "slabs",
};

const char * const owner_operator_names[OWNER_OPERATORS] = {
	[OWNER_EQ]	= "==",
	[OWNER_NE]	= "!=",
	[OWNER_LT]	= "<",
	[OWNER_LE]	= "<=",
	[OWNER_GT]	= ">",
	[OWNER_GE]	= ">=",
	[OWNER_LIKE]	= "~",
};

/* In descending order: append_number() uses the first unit that divides the number. */
static const struct owner_unit byte_units[] = {
	{ "G", 1ULL << 30 }, { "M", 1ULL << 20 }, { "K", 1ULL << 10 }, { "", 1 }, {}
};

static const struct owner_unit time_units[] = {
	{ "d", 86400000000000ULL }, { "h", 3600000000000ULL }, { "m", 60000000000ULL },
	{ "s", 1000000000ULL }, { "ms", 1000000ULL }, { "us", 1000ULL }, { "ns", 1 }, {}
};

static const struct owner_unit no_units[] = { { "", 1 }, {} };

/* The units that a type of field accepts. A factor of 0 ends the table. */
const struct owner_unit *owner_lang_units(enum owner_type type)
{
	switch (type) {
	case OWNER_TYPE_BYTES:
		return byte_units;
	case OWNER_TYPE_TIME:
		return time_units;
	default:
		return no_units;
	}
}

#define NOPROF	"_noprof"

/**
 * owner_lang_function_length() - measure a function's name without what its build has added
 * @name: of a function of the kernel
 * @length: of @name
 *
 * Return: the length without the suffix of the compiler (.constprop.0, .isra.0, .part.0, .cold) and
 *	without that of memory allocation profiling (_noprof).
 */
size_t owner_lang_function_length(const char *name, size_t length)
{
	const char *dot = length ? memchr(name + 1, '.', length - 1) : NULL;

	if (dot)
		length = dot - name;
	if (length > strlen(NOPROF) &&
	    !memcmp(name + length - strlen(NOPROF), NOPROF, strlen(NOPROF)))
		length -= strlen(NOPROF);
	return length;
}

/**
 * owner_lang_syscall_of_function() - find the system call that a function is the entry of
 * @function: name of a function of the kernel
 * @length: of @function; gets the length of the system call's name
 *
 * The names are those of the macro SYSCALL_DEFINE: "sys_", "compat_sys_" or, of an architecture
 * with wrappers, "__x64_sys_", and behind that the name of the system call. An entry that jumps to
 * "ksys_write" is not in the chain, so this is an entry as well.
 *
 * Return: the system call's name, a part of @function; NULL if it is no entry.
 */
const char *owner_lang_syscall_of_function(const char *function, size_t *length)
{
	const char *end = function + owner_lang_function_length(function, *length);
	const char *name = function, *wrapped;

	if (end - name > 2 && !memcmp(name, "__", 2)) {
		wrapped = memchr(name + 2, '_', end - name - 2);
		if (!wrapped)
			return NULL;
		name = wrapped + 1;
	} else if (end > name && *name == 'k') {
		name++;
	}
	if (end - name > 7 && !memcmp(name, "compat_", 7))
		name += 7;
	if (end - name <= 4 || memcmp(name, "sys_", 4))
		return NULL;
	name += 4;
	*length = end - name;
	return name;
}

/* Can a word contain this character without quotes? */
bool owner_lang_is_word_char(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f && !strchr("\"'\\(),;!=<>~&|#", c);
}

/* Find a word in @names, which may contain NULL. Returns its index or -1. */
int owner_lang_find_name(const char *word, size_t length, const char * const *names,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (names[i] && strlen(names[i]) == length && !memcmp(names[i], word, length))
			return i;
	return -1;
}

/* owner_lang_nearest_name() compares no longer words and names. */
#define NAME_MAX_LENGTH	63

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Levenshtein distance: letters to change, add or remove to turn @word into @name. */
static unsigned int edit_distance(const char *word, size_t length, const char *name)
{
	unsigned int row[NAME_MAX_LENGTH + 1];	/* [j]: from word[0..i) to name[0..j) */
	unsigned int i, j, above, diagonal, size = strlen(name);

	for (j = 0; j <= size; j++)
		row[j] = j;
	for (i = 1; i <= length; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= size; j++) {
			above = row[j];
			row[j] = diagonal + (to_lower(word[i - 1]) != name[j - 1]);
			if (above < row[j])
				row[j] = above + 1;
			if (row[j - 1] < row[j])
				row[j] = row[j - 1] + 1;
			diagonal = above;
		}
	}
	return row[size];
}

/* Is one of the two a prefix of the other, as "func" of "function"? */
static bool share_prefix(const char *word, size_t length, const char *name)
{
	size_t size = strlen(name), shorter = size < length ? size : length;

	return shorter > 2 && !memcmp(word, name, shorter);
}

/* Find the name that the user may have meant. Returns its index, or -1 if none is similar. */
int owner_lang_nearest_name(const char *word, size_t length, const char * const *names,
			    unsigned int count)
{
	/* Accept a distance of two, in a short word of one. */
	unsigned int i, d, least = length < 4 ? (length + 2) / 2 : 3;
	int nearest = -1;

	if (length > NAME_MAX_LENGTH)
		return -1;
	for (i = 0; i < count; i++) {
		if (!names[i] || strlen(names[i]) > NAME_MAX_LENGTH)
			continue;
		d = edit_distance(word, length, names[i]);
		/* In a four-letter word, accept two wrong letters but no missing ones. */
		if (d == 2 && length < 5 && strlen(names[i]) != length)
			continue;
		if (d < least) {
			least = d;
			nearest = i;
		}
	}
	for (i = 0; i < count && nearest < 0; i++)
		if (names[i] && share_prefix(word, length, names[i]))
			nearest = i;
	return nearest;
}
