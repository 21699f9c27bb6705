/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run a function in each kind of context, for tests of captures.
 *
 * Each helper returns after the function has run once. One test runs at a time.
 */
#ifndef _LIB_STACKDEPOT_CAPTURE_KUNIT_H
#define _LIB_STACKDEPOT_CAPTURE_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "../compat.h"

/* A function to run, and where an asynchronous context says that it has run. */
static struct {
	void (*function)(void);
	bool done;
} context_run;

static inline void prepare_context_run(void (*function)(void))
{
	context_run.function = function;
	WRITE_ONCE(context_run.done, false);
}

static inline void call_function(void)
{
	context_run.function();
	/* No tail call: the chain keeps this function. */
	WRITE_ONCE(context_run.done, true);
}

static inline void run_in_task(void (*function)(void))
{
	prepare_context_run(function);
	call_function();
}

static inline void call_from_work(struct work_struct *work)
{
	call_function();
}

static inline void run_in_work(void (*function)(void))
{
	struct work_struct work;

	prepare_context_run(function);
	INIT_WORK_ONSTACK(&work, call_from_work);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
}

static inline int call_from_thread(void *done)
{
	call_function();
	complete(done);
	return 0;
}

static inline void run_in_kthread(void (*function)(void))
{
	DECLARE_COMPLETION_ONSTACK(done);

	prepare_context_run(function);
	if (!IS_ERR(kthread_run(call_from_thread, &done, "capture_kunit")))
		wait_for_completion(&done);
}

static inline void call_from_timer(struct timer_list *timer)
{
	call_function();
}

/* Be interrupted here. */
static noinline __maybe_unused void spin_until_context_has_run(void)
{
	unsigned int i;

	/* On a host that is busy, seconds may pass before ksoftirqd runs. */
	for (i = 0; i < 60000 && !READ_ONCE(context_run.done); i++) {
		mdelay(1);
		cond_resched();
	}
}

/* The timer's softirq interrupts spin_until_context_has_run(), if it runs on this CPU. */
static inline void run_in_timer(void (*function)(void))
{
	struct timer_list timer;

	prepare_context_run(function);
	timer_setup_on_stack(&timer, call_from_timer, TIMER_PINNED);
	mod_timer(&timer, jiffies + 1);
	spin_until_context_has_run();
	timer_delete_sync(&timer);
	timer_destroy_on_stack(&timer);
}

static inline void call_from_tasklet(struct tasklet_struct *tasklet)
{
	call_function();
}

static inline void run_tasklet(void (*callback)(struct tasklet_struct *tasklet))
{
	struct tasklet_struct tasklet;

	tasklet_setup(&tasklet, callback);
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_kill(&tasklet);
}

/* Run in a softirq that local_bh_enable() runs: a task calls it on the interrupt stack. */
static inline void run_in_tasklet(void (*function)(void))
{
	prepare_context_run(function);
	run_tasklet(call_from_tasklet);
}

static inline void call_from_irq_work(struct irq_work *work)
{
	call_function();
}

static struct irq_work context_irq_work = IRQ_WORK_INIT_HARD(call_from_irq_work);

static inline void run_in_hardirq(void (*function)(void))
{
	prepare_context_run(function);
	irq_work_queue(&context_irq_work);
	irq_work_sync(&context_irq_work);
}

static inline void queue_context_irq_work(struct tasklet_struct *tasklet)
{
	irq_work_queue(&context_irq_work);
}

/* Run in an interrupt of a softirq: both run on the interrupt stack. */
static inline void run_in_hardirq_on_softirq(void (*function)(void))
{
	prepare_context_run(function);
	run_tasklet(queue_context_irq_work);
	irq_work_sync(&context_irq_work);
}

/* A context, as parameter of a test. */
struct capture_context {
	const char *name;
	void (*run)(void (*function)(void));
};

static const struct capture_context capture_contexts[] __maybe_unused = {
	{ "task", run_in_task },
	{ "kworker", run_in_work },
	{ "kthread", run_in_kthread },
	{ "timer softirq", run_in_timer },
	{ "tasklet", run_in_tasklet },
	{ "hard interrupt", run_in_hardirq },
	{ "hard interrupt on softirq", run_in_hardirq_on_softirq },
};

/* Is this return address in the function that begins at @function? */
static inline bool is_ip_in(unsigned long ip, const void *function)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(ip - 1, &size, &offset) &&
	       ip - 1 - offset == (unsigned long)function;
}

#endif /* _LIB_STACKDEPOT_CAPTURE_KUNIT_H */
