// SPDX-License-Identifier: GPL-2.0
/* slab_owner= on the boot line, and the start of tracking. */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/printk.h>
#include <linux/slab_owner.h>
#include <linux/string.h>

#include "../slab.h"
#include "capture.h"
#include "hooks.h"
#include "oom.h"
#include "rules/rules.h"
#include "slab_records.h"

/*
 * Enabled by the first capture, and never disabled: the records of objects have to be
 * dropped when the objects are freed, also after tracking was turned off.
 */
DEFINE_STATIC_KEY_FALSE(slab_owner_key);

/* Set by the boot line, before the first slab and before kmalloc's caches are created. */
static bool wanted __ro_after_init;
static bool wanted_at_boot __initdata;
/* oom=off: print no call chains when memory runs out. */
bool owner_oom_report __ro_after_init = true;

static int __init slab_owner_setup(char *str)
{
	static bool record_frees __initdata;
	char *word;

	/* A later word overrides an earlier one, also on the rest of the boot line. */
	while ((word = strsep(&str, ",")) != NULL) {
		if (!strcmp(word, "on")) {
			wanted = true;
			wanted_at_boot = true;
		} else if (!strcmp(word, "ready")) {
			wanted = true;
			wanted_at_boot = false;
		} else if (!strcmp(word, "off")) {
			wanted = false;
			wanted_at_boot = false;
		} else if (!strcmp(word, "free=on")) {
			record_frees = true;
		} else if (!strcmp(word, "free=off")) {
			record_frees = false;
		} else if (!strcmp(word, "oom=on")) {
			owner_oom_report = true;
		} else if (!strcmp(word, "oom=off")) {
			owner_oom_report = false;
		} else {
			pr_err("\"%s\" is not understood: say on, ready or off, free=on or free=off, and oom=on or oom=off\n",
			       word);
		}
	}
	owner_rules_set_default(wanted_at_boot, record_frees);
	if (wanted_at_boot) {
		owner_capture_early_init();
		static_branch_enable(&slab_owner_key);
	} else {
		static_branch_disable(&slab_owner_key);
	}
	return 0;
}
early_param("slab_owner", slab_owner_setup);

/**
 * slab_owner_wanted() - tell whether slab objects can be tracked
 *
 * Called when kmalloc's caches are created. If objects can be tracked, kmalloc needs
 * separate caches for their records: if two kmalloc caches held each other's records,
 * freeing a slab would recurse from one to the other.
 *
 * Return: true if the boot line has slab_owner=on or slab_owner=ready.
 */
bool slab_owner_wanted(void)
{
	return wanted;
}

/**
 * slab_owner_start() - enable the hooks
 *
 * The rules still decide which allocations are tracked.
 *
 * Return: 0, or -ENOMEM if there is no memory for the stack depot.
 */
int slab_owner_start(void)
{
	int error = owner_capture_late_init();

	if (error)
		return error;
	static_branch_enable(&slab_owner_key);
	/* From now on each new cache gets its cache for records when it is created. */
	owner_record_caches_create();
	return 0;
}

/* Allocate memory for captures, which slab_owner_setup() could not do yet. */
static int __init slab_owner_init(void)
{
	if (static_key_enabled(&slab_owner_key))
		return owner_capture_late_init();
	/* A rule can start tracking later, when allocators can no longer be looked up. */
	if (wanted)
		owner_allocators_init();
	return 0;
}
early_initcall(slab_owner_init);
