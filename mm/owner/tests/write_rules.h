/* SPDX-License-Identifier: GPL-2.0 */
/* Write sentences to owner/control in KUnit tests. */
#ifndef _MM_OWNER_TESTS_WRITE_RULES_H
#define _MM_OWNER_TESTS_WRITE_RULES_H

#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/string.h>

#include "../rules/rules.h"

/* Skip the rest of a test that needs rules. */
static inline void skip_without_rules(void)
{
	if (!IS_ENABLED(CONFIG_SLAB_OWNER_RULES))
		kunit_skip(kunit_get_current_test(), "rules need CONFIG_SLAB_OWNER_RULES");
}

#ifdef CONFIG_SLAB_OWNER_RULES

/* Return what a write of @sentences to owner/control returns. The message is dropped. */
static inline int write_rules(const char *sentences)
{
	char error_text[256];

	return owner_rules_write(sentences, strlen(sentences), error_text, sizeof(error_text));
}

#else /* CONFIG_SLAB_OWNER_RULES */

/* There are no rules to clear. */
static inline int write_rules(const char *sentences)
{
	if (strcmp(sentences, "clear"))
		skip_without_rules();
	return 0;
}

#endif /* CONFIG_SLAB_OWNER_RULES */

#endif /* _MM_OWNER_TESTS_WRITE_RULES_H */
