// SPDX-License-Identifier: GPL-2.0
/* Parses a sentence, and refuses one that is correct but cannot be answered. */

#include <linux/cred.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>
#include <linux/string.h>

#include "../page/page.h"
#include "query.h"

/**
 * owner_query_fields() - which fields does a sentence compare or group by?
 * @s: the sentence
 *
 * Return: a bit for each enum owner_field, but none for the call chain.
 */
unsigned int owner_query_fields(const struct owner_sentence *s)
{
	unsigned int i, mask = s->fields_used;

	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].field != OWNER_FIELD_STACK)
			mask |= BIT(s->group_by[i].field);
	return mask;
}

/**
 * owner_query_keeps_name() - is a field a name in the key of a group?
 * @field: a field of group=
 *
 * Of func the key has an address, of gfp the bits, of task_cgroup the number.
 */
bool owner_query_keeps_name(enum owner_field field)
{
	return field < OWNER_FIELDS && owner_field_types[field] <= OWNER_TYPE_WORDS &&
	       field != OWNER_FIELD_FUNC && field != OWNER_FIELD_GFP &&
	       field != OWNER_FIELD_TASK_CGROUP;
}

/**
 * owner_query_count_key_words() - count the words of a key that belong to its next field
 * @s: the sentence
 * @by: the field
 * @key: begins with the field
 */
unsigned int owner_query_count_key_words(const struct owner_sentence *s,
					 const struct owner_group_field *by, const u64 *key)
{
	if (owner_query_keeps_name(by->field))
		return strlen((const char *)key) / sizeof(u64) + 1;
	if (by->field == OWNER_FIELD_USER ||
	    (by->field == OWNER_FIELD_STACK && !owner_query_keyed_by_handle(s)))
		return 1 + key[0];
	return 1;
}

/**
 * owner_query_sorts_by_objects() - is there a sort key that takes a walk over all objects?
 * @s: the sentence
 *
 * Call chains have counters of objects and bytes, but not of ages and slabs.
 */
bool owner_query_sorts_by_objects(const struct owner_sentence *s)
{
	return owner_lang_sorts_by(s, OWNER_SORT_OLDEST) ||
	       owner_lang_sorts_by(s, OWNER_SORT_SLABS);
}

/* Which fields a mark can have. The chain has the functions, the modules and the handle. */
#define MARK_FIELDS	(BIT(OWNER_FIELD_STACK) | BIT(OWNER_FIELD_CACHE) | \
			 BIT(OWNER_FIELD_CGROUP) | BIT(OWNER_FIELD_COMM) | BIT(OWNER_FIELD_PID) | \
			 BIT(OWNER_FIELD_TGID) | BIT(OWNER_FIELD_SIZE) | BIT(OWNER_FIELD_HELD) | \
			 BIT(OWNER_FIELD_NID) | BIT(OWNER_FIELD_KIND) | \
			 BIT(OWNER_FIELD_TASK_CGROUP))
#define MARK_FIELD_NAMES	"stack, cache, cgroup, task_cgroup, comm, pid, tgid, size, held, nid and kind"

static unsigned int find_group_fields(const struct owner_sentence *s)
{
	unsigned int i, fields = 0;

	for (i = 0; i < s->nr_group_by; i++)
		fields |= BIT(s->group_by[i].field);
	return fields;
}

static const char *refuse_mark(const struct owner_sentence *s)
{
	unsigned int i;

	if (find_group_fields(s) & ~MARK_FIELDS)
		return "a mark has no such fields, but " MARK_FIELD_NAMES;
	for (i = 0; i < s->nr_group_by; i++)
		if (s->group_by[i].full || s->group_by[i].frames ||
		    s->group_by[i].functions || s->group_by[i].log2 || s->group_by[i].width)
			return "a mark has whole chains and exact sizes: no dot after a field";
	return NULL;
}

/* Growth is known by the fields of the mark. */
static const char *refuse_growth(const struct owner_query *query, char *text, size_t size)
{
	const unsigned int of_chain = OWNER_CHAIN_FIELDS & ~BIT(OWNER_FIELD_KIND);
	const struct owner_sentence *s = &query->sentence;
	unsigned int needed = find_group_fields(s) | s->fields_used;

	if (!query->mark)
		return "this open file has no mark: write 'mark' to it, and ask since=mark later";
	if (owner_lang_asked_kinds(s) & BIT(OWNER_KIND_PAGE))
		return "a mark has slab objects and per-CPU areas, no pages: say kind != page";
	if (needed & of_chain)
		needed = (needed & ~of_chain) | BIT(OWNER_FIELD_STACK);
	if (needed & ~MARK_FIELDS)
		return "growth is known by what a mark can have: " MARK_FIELD_NAMES
		       ", and func, module, syscall and handle with stack";
	needed &= ~find_group_fields(&query->mark->sentence);
	if (needed) {
		snprintf(text, size,
			 "the mark was set without '%s': write 'mark group=%s', with all fields of later sentences",
			 owner_field_names[__ffs(needed)], owner_field_names[__ffs(needed)]);
		return text;
	}
	if (owner_query_sorts_by_objects(s))
		return "growth has no ages and no slabs: sort by held, bytes, waste or objects";
	return NULL;
}

static const char *refuse_fields(unsigned int mask, unsigned int kinds)
{
	if (mask & (BIT(OWNER_FIELD_CGROUP) | BIT(OWNER_FIELD_TASK_CGROUP)) &&
	    !owner_cgroups_on())
		return OWNER_CGROUPS_OFF;
	if (mask & BIT(OWNER_FIELD_ADDRESS) && !kallsyms_show_value(current_cred()))
		return "addresses are hidden: 'address' needs CAP_SYSLOG, kernel.kptr_restrict < 2";
	if (mask & BIT(OWNER_FIELD_UFUNC))
		return "the kernel knows no functions of programs: ask ownertop for 'ufunc'";
	if (mask & BIT(OWNER_FIELD_GFP) && kinds != BIT(OWNER_KIND_PAGE))
		return "'gfp' is kept of pages only: say kind == page";
	return NULL;
}

/* Returns why a sentence cannot be answered, NULL if it can. */
static const char *refuse_sentence(const struct owner_query *query, char *text, size_t size)
{
	const struct owner_sentence *s = &query->sentence;
	const char *refusal = s->since_mark ? refuse_growth(query, text, size) : NULL;
	unsigned int kinds = owner_lang_asked_kinds(s);

	if (s->command == OWNER_MARK)
		refusal = refuse_mark(s);
	if (refusal)
		return refusal;
	if (!kinds)
		return "neither slab objects, pages nor per-CPU areas can match: a contradiction";
	if (kinds & BIT(OWNER_KIND_PAGE) && !owner_pages_tracked())
		return "page_owner is off: for pages boot with page_owner=on, or say kind != page";
	if (kinds & ~BIT(OWNER_KIND_PAGE) && !slab_owner_wanted())
		return "slab_owner is off: boot with slab_owner=on, or say kind == page";
	/* Which file of a user chain is the program's takes the names of libraries. */
	if (find_group_fields(s) & BIT(OWNER_FIELD_BINARY))
		return "the kernel knows no programs: group by 'user', or by 'binary' in ownertop";
	return refuse_fields(owner_query_fields(s), kinds);
}

/**
 * owner_query_parse() - parse a sentence
 * @query: gets the sentence
 * @text: one sentence; an empty text asks for all objects, one by one
 * @length: of @text
 * @error_text: set to a description of the error, to be freed by kfree()
 *
 * Return: 0, -EINVAL if @error_text is set, -ENOMEM.
 */
int owner_query_parse(struct owner_query *query, const char *text, size_t length,
		      char **error_text)
{
	struct owner_lang_text unread = { text, length };
	const char *sentence = "", *second;
	struct owner_lang_error error = {};
	const char *refusal = NULL;
	char text_of_refusal[sizeof(error.message)];
	size_t size;

	length = 0;
	owner_lang_next_sentence(&unread, &sentence, &length);
	if (owner_lang_parse(&query->sentence, OWNER_QUERY, sentence, length, &error)) {
		error.length = length;
		refusal = refuse_sentence(query, text_of_refusal, sizeof(text_of_refusal));
		if (!refusal && owner_lang_next_sentence(&unread, &second, &size)) {
			refusal = "one sentence is answered at a time: here another begins";
			sentence = second;
			length = size;
			error.length = size;
		}
		if (!refusal)
			return 0;
		strscpy(error.message, refusal);
	}
	size = owner_lang_render_error(&error, sentence, length, NULL, 0) + 1;
	*error_text = kmalloc(size, GFP_KERNEL);
	if (!*error_text)
		return -ENOMEM;
	owner_lang_render_error(&error, sentence, length, *error_text, size);
	return -EINVAL;
}
