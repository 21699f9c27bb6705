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
