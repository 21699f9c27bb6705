/* SPDX-License-Identifier: GPL-2.0 */
/* Write sentences to owner/control in KUnit tests. */
#ifndef _MM_OWNER_TESTS_WRITE_RULES_H
#define _MM_OWNER_TESTS_WRITE_RULES_H

#include <linux/string.h>

#include "../rules/rules.h"

/* Return what a write of @sentences to owner/control returns. The message is dropped. */
static inline int write_rules(const char *sentences)
{
	char error_text[256];

	return owner_rules_write(sentences, strlen(sentences), error_text, sizeof(error_text));
}

#endif /* _MM_OWNER_TESTS_WRITE_RULES_H */
