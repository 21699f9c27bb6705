/* SPDX-License-Identifier: GPL-2.0 */
/* Rules change while they are evaluated. For rules_kunit.c. */
#ifndef _MM_OWNER_TESTS_RULES_CHANGE_KUNIT_H
#define _MM_OWNER_TESTS_RULES_CHANGE_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "../rules/table.h"

static struct kmem_cache *cache;

static int write_rules(const char *sentences);
static unsigned int choose_depth_for_object(struct kmem_cache *s, size_t size, gfp_t flags);

/*
 * Apply the rules until the thread is stopped, while the test changes them. Return how
 * often none of the rules decided the depth.
 */
static int read_rules_until_stopped(void *runs)
{
	unsigned int depth;
	int missed = 0;

	complete(runs);
	while (!kthread_should_stop()) {
		depth = choose_depth_for_object(cache, 8, GFP_KERNEL);
		missed += depth < 1 || depth > 3;
		cond_resched();
	}
	return missed;
}

static void test_changes_under_readers(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(runs);
	struct task_struct *readers[2];
	unsigned int i;

	KUNIT_ASSERT_EQ(test, write_rules("depth=1"), 0);
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		readers[i] = kthread_run(read_rules_until_stopped, &runs, "owner_rules");
		KUNIT_ASSERT_FALSE(test, IS_ERR(readers[i]));
		/* kthread_stop() returns -EINTR for a thread that has not run yet. */
		wait_for_completion(&runs);
	}
	for (i = 0; i < 50; i++) {
		KUNIT_EXPECT_EQ(test, write_rules("clear; depth=2 if cache ~ *_a"), 0);
		KUNIT_EXPECT_EQ(test, write_rules("del 1; depth=3 if comm != nobody"), 0);
	}
	for (i = 0; i < ARRAY_SIZE(readers); i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(readers[i]), 0);
}

#ifdef CONFIG_SMP
struct rule_writer {
	struct work_struct work;
	bool done;
	int error;
};

static void replace_rules(struct work_struct *work)
{
	struct rule_writer *writer = container_of(work, struct rule_writer, work);

	writer->error = write_rules("clear; depth=2");
	WRITE_ONCE(writer->done, true);
}

/*
 * A change ends after two grace periods: readers of the old table may store its rules in caches
 * until the first one ends, and captures may use these rules until the second one does. Each time
 * that this reader leaves RCU for a moment, one grace period can end.
 */
static void test_change_waits_for_readers(struct kunit *test)
{
	const struct owner_rule_table *table;
	struct rule_writer writer = { };
	unsigned int exits = 0;
	unsigned long until;
	bool published;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is one CPU");
	KUNIT_ASSERT_EQ(test, write_rules("depth=1"), 0);
	INIT_WORK_ONSTACK(&writer.work, replace_rules);
	/* From here on this task is a reader, as a capture is, which disables preemption, too. */
	preempt_disable();
	table = rcu_access_pointer(owner_rules_table);
	schedule_work_on(cpumask_any_but(cpu_online_mask, smp_processor_id()), &writer.work);
	/* The kernel reports a task that disables preemption for 20 s. */
	until = jiffies + 5 * HZ;
	while (rcu_access_pointer(owner_rules_table) == table && time_before(jiffies, until))
		cpu_relax();
	published = rcu_access_pointer(owner_rules_table) != table;
	until = jiffies + 5 * HZ;
	while (published) {
		/* A grace period that waits only for the last exit ends meanwhile. */
		mdelay(50);
		if (READ_ONCE(writer.done) || time_after(jiffies, until))
			break;
		local_irq_disable();
		rcu_momentary_eqs();
		local_irq_enable();
		exits++;
	}
	preempt_enable();
	flush_work(&writer.work);
	destroy_work_on_stack(&writer.work);
	KUNIT_EXPECT_EQ(test, writer.error, 0);
	if (published)
		KUNIT_EXPECT_GE(test, exits, 2);
	else
		kunit_info(test, "the other CPU was too slow\n");
}
#endif /* CONFIG_SMP */

#endif /* _MM_OWNER_TESTS_RULES_CHANGE_KUNIT_H */
