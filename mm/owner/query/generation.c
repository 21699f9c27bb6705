// SPDX-License-Identifier: GPL-2.0
/*
 * Counts loaded and unloaded modules: the name of a module's function is valid only
 * while the module stays, and an answer can be read long after it was made.
 */

#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "query.h"

static atomic_t generation;

#ifdef CONFIG_MODULES

static int count_module(struct notifier_block *block, unsigned long state, void *module)
{
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING)
		atomic_inc(&generation);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = count_module };

void __init owner_query_watch_modules(void)
{
	register_module_notifier(&module_notifier);
}

#else

void __init owner_query_watch_modules(void)
{
}

#endif

/**
 * owner_query_generation() - read the number of module loads and unloads
 *
 * Return: a number that changes when a module is loaded or unloaded.
 */
unsigned int owner_query_generation(void)
{
	return atomic_read(&generation);
}
