// SPDX-License-Identifier: GPL-2.0
/* User chains of a query: the files that they name. */

#include <linux/string.h>

#include "query.h"

/**
 * owner_query_user_matches() - does a comparison hold for a binary of a user chain?
 * @task: handle of the task or of the context, with a reference, or 0
 * @s: the sentence
 * @comparison: a comparison of the sentence, with binary
 */
bool owner_query_user_matches(depot_stack_handle_t task, const struct owner_sentence *s,
			      const struct owner_comparison *comparison)
{
	u64 frames[OWNER_USER_WORDS];
	unsigned int i, count = owner_user_fetch(task, frames);

	for (i = 0; i < count; i++) {
		const struct owner_binary *binary = owner_binary_of(frames[i]);

		if (binary && owner_lang_word_matches(s, comparison, binary->name))
			return true;
	}
	return false;
}

/* Is this a library that most programs make their system calls through? */
static bool is_common_library(const char *name)
{
	static const char * const prefixes[] = {
		"libc.", "libc-", "ld-linux", "ld-musl", "libpthread",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_has_prefix(name, prefixes[i]))
			return true;
	return false;
}

/**
 * owner_query_user_binary() - find the binary that made the system call
 * @task: handle of the task or of the context, with a reference, or 0
 *
 * Return: the name of the first file that is neither libc nor the dynamic loader, or else of
 *	the first file; an empty name if the chain names no file.
 */
const char *owner_query_user_binary(depot_stack_handle_t task)
{
	u64 frames[OWNER_USER_WORDS];
	unsigned int i, count = owner_user_fetch(task, frames);
	const char *first = "";

	for (i = 0; i < count; i++) {
		const struct owner_binary *binary = owner_binary_of(frames[i]);

		if (!binary)
			continue;
		if (!is_common_library(binary->name))
			return binary->name;
		if (!*first)
			first = binary->name;
	}
	return first;
}
