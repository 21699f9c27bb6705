// SPDX-License-Identifier: GPL-2.0
/*
 * Keep ages within the range of a record's clock, which has 32 bits.
 *
 * Records that are older than OWNER_AGE_LIMIT get the time of that age, every few days.
 */

#include <linux/init.h>
#include <linux/workqueue.h>

#include "hooks.h"
#include "percpu.h"
#include "record.h"
#include "walk_slab.h"

static void limit_ages(struct work_struct *work)
{
	owner_slab_limit_ages();
	owner_percpu_limit_ages();
	queue_delayed_work(system_unbound_wq, to_delayed_work(work),
			   OWNER_AGE_PERIOD << OWNER_TICKS_SHIFT);
}

static DECLARE_DEFERRABLE_WORK(age_work, limit_ages);

static int __init owner_age_init(void)
{
	if (slab_owner_wanted())
		queue_delayed_work(system_unbound_wq, &age_work,
				   OWNER_AGE_PERIOD << OWNER_TICKS_SHIFT);
	return 0;
}
late_initcall(owner_age_init);
