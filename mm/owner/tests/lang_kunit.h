/* SPDX-License-Identifier: GPL-2.0 */
/* Cases of the suite owner_lang that are not in lang_kunit.c. */
#ifndef _MM_OWNER_LANG_KUNIT_H
#define _MM_OWNER_LANG_KUNIT_H

struct kunit;

/* As KUNIT_CASE(), for a function with the prefix that non-static symbols need. */
#define OWNER_LANG_CASE(test) {		\
	.run_case = owner_lang_##test,	\
	.name = #test,			\
	.module_name = KBUILD_MODNAME,	\
}

/* lang_errors_kunit.c */
void owner_lang_test_errors(struct kunit *test);
void owner_lang_test_zero_in_word(struct kunit *test);
void owner_lang_test_limits(struct kunit *test);
void owner_lang_test_errors_of_long(struct kunit *test);
void owner_lang_test_syscalls(struct kunit *test);

#endif /* _MM_OWNER_LANG_KUNIT_H */
