/* SPDX-License-Identifier: GPL-2.0 */
/* Names of timer functions in older kernels, and a function that newer ones do not export. */
#ifndef OWNER_MODULES_COMPAT_H
#define OWNER_MODULES_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>

#ifdef timer_container_of

/*
 * kvfree_rcu_barrier() is not for modules: a kprobe finds it, which is not armed as that allocates.
 * The kernel must not have CONFIG_X86_KERNEL_IBT, with which the address is not the function's.
 * Without batches, kfree_rcu() needs only rcu_barrier().
 */
static inline void owner_kvfree_rcu_barrier(void)
{
	struct kprobe finder = {
		.symbol_name = "kvfree_rcu_barrier",
		.flags = KPROBE_FLAG_DISABLED,
	};
	void (*wait)(void);

	if (!IS_ENABLED(CONFIG_KVFREE_RCU_BATCHED))
		return rcu_barrier();
	if (WARN_ON(register_kprobe(&finder)))
		return;
	wait = (void *)finder.addr;
	unregister_kprobe(&finder);
	wait();
}

#define kvfree_rcu_barrier()	owner_kvfree_rcu_barrier()

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
