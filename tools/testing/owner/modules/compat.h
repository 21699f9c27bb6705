/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of timers have other names in older kernels; modules cannot call one of RCU. */
#ifndef OWNER_MODULES_COMPAT_H
#define OWNER_MODULES_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>

#ifdef timer_container_of

/* Without batches, call_rcu() frees the memory, and the function is not for modules. */
#ifndef CONFIG_KVFREE_RCU_BATCHED
#define kvfree_rcu_barrier()	rcu_barrier()
#endif

#else

#define timer_container_of(var, timer, field)	from_timer(var, timer, field)

static inline void timer_destroy_on_stack(struct timer_list *timer)
{
	destroy_timer_on_stack(timer);
}

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

#endif

#endif /* OWNER_MODULES_COMPAT_H */
