// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate through another module, owner_leak: the call chains have frames of two
 * modules and of an init function, which is freed after initialization.
 */

#include <linux/module.h>

#include "owner_leak.h"

#define SESSIONS	30

static noinline bool user_open_session(void)
{
	bool opened = owner_leak_open();

	/* Prevent a tail call, which would drop this frame from the chain. */
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

MODULE_DESCRIPTION("Allocate memory through another module");
MODULE_LICENSE("GPL");
