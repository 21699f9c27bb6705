// SPDX-License-Identifier: GPL-2.0
/* slab_owner= on the boot line, and the start of tracking. */

#define pr_fmt(fmt) "slab_owner: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/printk.h>
#include <linux/slab_owner.h>
#include <linux/string.h>

#include "../../slab.h"
#include "../capture.h"
#include "../choice.h"
#include "hooks.h"
#include "records.h"

/*
 * Enabled by the first capture, and never disabled: the records of objects have to be
 * dropped when the objects are freed, also after tracking was turned off.
 */
DEFINE_STATIC_KEY_FALSE(slab_owner_key);

static bool wanted_at_boot __initdata;
bool owner_oom_report __ro_after_init = true;

static int __init slab_owner_setup(char *str)
{
	static bool record_frees __initdata;
	char *word;

	/* A later word overrides an earlier one, also on the rest of the boot line. */
	while ((word = strsep(&str, ",")) != NULL) {
		if (!strcmp(word, "on")) {
			slab_owner_is_wanted = true;
			wanted_at_boot = true;
		} else if (!strcmp(word, "ready")) {
			slab_owner_is_wanted = true;
			wanted_at_boot = false;
		} else if (!strcmp(word, "off")) {
			slab_owner_is_wanted = false;
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
	owner_set_default_choice(wanted_at_boot, record_frees);
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
	if (slab_owner_wanted() && !IS_ENABLED(CONFIG_SLAB_OWNER_RULES))
		pr_err("slab_owner=ready tracks nothing without CONFIG_SLAB_OWNER_RULES: say slab_owner=on\n");
	/* A rule can start tracking later, when allocators can no longer be looked up. */
	if (slab_owner_wanted())
		owner_allocators_init();
	return 0;
}
early_initcall(slab_owner_init);
