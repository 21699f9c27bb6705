// SPDX-License-Identifier: GPL-2.0
/*
 * A module that holds memory through another one, owner_leak: call chains that
 * pass through two modules, and functions that are gone once it is initialized.
 */

#include <linux/module.h>

#include "owner_leak.h"

#define SESSIONS	30

static noinline bool user_open_session(void)
{
	bool opened = owner_leak_open();

	/* Not a tail call: the chain must pass here. */
	barrier();
	return opened;
}

static int __init user_init(void)
{
	unsigned int i;

	for (i = 0; i < SESSIONS; i++)
		if (!user_open_session())
			return -ENOMEM;
	return 0;
}
module_init(user_init);

static void __exit user_exit(void)
{
}
module_exit(user_exit);

MODULE_DESCRIPTION("A module that holds memory through another");
MODULE_LICENSE("GPL");
