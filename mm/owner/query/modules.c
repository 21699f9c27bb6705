// SPDX-License-Identifier: GPL-2.0
/*
 * Modules that come and go.
 *
 * The name of a module's function is valid only while the module stays, and an answer can be
 * read long after it was made: loads and unloads are counted. Objects outlive the module that
 * allocated them: the names and the text of the last unloaded modules are kept. The text of
 * init functions is freed before, and is not.
 */

#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "query.h"

struct unloaded_module {
	char name[MODULE_NAME_LEN];
	unsigned long start;
	unsigned long size;		/* 0: none, or another module was loaded there */
};

static atomic_t generation;

static DEFINE_SPINLOCK(unloaded_lock);
/* Guarded by unloaded_lock. The next module replaces unloaded[nr_unloaded % size]. */
static struct unloaded_module unloaded[OWNER_QUERY_UNLOADED];
static unsigned int nr_unloaded;

/**
 * owner_query_forget_unloaded() - forget the unloaded modules whose text is used again
 * @start: first address of a module that is being loaded
 * @size: of its text
 */
void owner_query_forget_unloaded(unsigned long start, unsigned long size)
{
	struct unloaded_module *module;

	spin_lock(&unloaded_lock);
	for (module = unloaded; module < unloaded + OWNER_QUERY_UNLOADED; module++)
		if (size && (start - module->start < module->size ||
			     module->start - start < size))
			module->size = 0;
	spin_unlock(&unloaded_lock);
}

/**
 * owner_query_remember_unloaded() - remember a module that is being unloaded
 * @name: its name
 * @start: first address of its text
 * @size: of its text
 */
void owner_query_remember_unloaded(const char *name, unsigned long start, unsigned long size)
{
	struct unloaded_module *module;

	/* Loading it may have failed before it had text. */
	if (!size)
		return;
	spin_lock(&unloaded_lock);
	module = &unloaded[nr_unloaded++ % OWNER_QUERY_UNLOADED];
	strscpy(module->name, name);
	module->start = start;
	module->size = size;
	spin_unlock(&unloaded_lock);
}

/**
 * owner_query_find_unloaded() - find the unloaded module that a frame was in
 * @frame: a return address
 * @name: set to the module's name
 * @size: of @name
 *
 * Return: false if there was none, it is forgotten, or there is other code now.
 */
bool owner_query_find_unloaded(unsigned long frame, char *name, size_t size)
{
	const struct unloaded_module *module;
	bool found = false;

	/* The kernel's, that of a loaded module, of BPF, of ftrace or of kprobes. */
	if (__kernel_text_address(frame - 1))
		return false;
	spin_lock(&unloaded_lock);
	for (module = unloaded; !found && module < unloaded + OWNER_QUERY_UNLOADED; module++) {
		found = frame - 1 - module->start < module->size;
		if (found)
			strscpy(name, module->name, size);
	}
	spin_unlock(&unloaded_lock);
	return found;
}

#ifdef CONFIG_MODULES

static int watch_module(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *module = data;
	const struct module_memory *text = &module->mem[MOD_TEXT];
	const struct module_memory *init = &module->mem[MOD_INIT_TEXT];

	if (state == MODULE_STATE_COMING) {
		owner_query_forget_unloaded((unsigned long)text->base, text->size);
		owner_query_forget_unloaded((unsigned long)init->base, init->size);
	}
	if (state == MODULE_STATE_GOING)
		owner_query_remember_unloaded(module->name, (unsigned long)text->base, text->size);
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING)
		atomic_inc(&generation);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = watch_module };

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
