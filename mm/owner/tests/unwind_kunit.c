// SPDX-License-Identifier: GPL-2.0
/*
 * The cheap walk finds what the kernel's unwinder finds: from each context, at
 * each depth, and when tracers have replaced return addresses on the stack.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "../unwind.h"

#define FRAMES		128

/* What was found in one place; an interrupt has no test to tell it to. */
static struct {
	unsigned int calls;
	unsigned int different;		/* of OWNER_DEPTH_MAX in each call */
	unsigned int longest;
	unsigned long ours[OWNER_DEPTH_MAX], theirs[FRAMES];
	unsigned int our_count, their_count;
	unsigned long slow;		/* chains left to the kernel's unwinder before */
} result;

/*
 * Look at our caller's chain both ways. What stack_trace_save() finds of its own
 * and of this function goes, and what is before an interrupt.
 */
static noinline void look(void)
{
	static unsigned long ours[OWNER_DEPTH_MAX], theirs[FRAMES];
	unsigned int count, their_count, first = 0, depth;
	struct owner_caller caller = OWNER_CALLER;

	their_count = stack_trace_save(theirs, FRAMES, 0);
	their_count = filter_irq_stacks(theirs, their_count);
	/* The first one in look() itself is where it called. */
	while (first < their_count && theirs[first] - (unsigned long)look > 1024)
		first++;
	first++;
	result.calls++;
	for (depth = 1; depth <= OWNER_DEPTH_MAX; depth++) {
		unsigned int expected = min(their_count - first, depth);

		count = owner_unwind(ours, depth, caller);
		if (first < their_count && count == expected &&
		    !memcmp(ours, theirs + first, count * sizeof(*ours))) {
			result.longest = max(result.longest, count);
			continue;
		}
		if (result.different++)
			continue;
		result.our_count = count;
		result.their_count = expected;
		memcpy(result.ours, ours, count * sizeof(*ours));
		memcpy(result.theirs, theirs + first, expected * sizeof(*theirs));
	}
}

static void start(void)
{
	struct owner_unwind_counts counts;

	owner_unwind_read_counts(&counts);
	memset(&result, 0, sizeof(result));
	result.slow = counts.slow;
}

static void expect_same(struct kunit *test, unsigned int calls)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, result.calls, calls);
	KUNIT_EXPECT_EQ(test, result.different, 0);
	if (!result.different)
		return;
	for (i = 0; i < max(result.our_count, result.their_count); i++)
		kunit_info(test, "%pS, should be %pS\n",
			   (void *)(i < result.our_count ? result.ours[i] : 0),
			   (void *)(i < result.their_count ? result.theirs[i] : 0));
}

/* And without help. Whatever else the kernel does meanwhile needs none either. */
static void expect_cheap(struct kunit *test, unsigned int calls)
{
	struct owner_unwind_counts counts;

	expect_same(test, calls);
	owner_unwind_read_counts(&counts);
	KUNIT_EXPECT_EQ(test, counts.slow, result.slow);
}

static void test_process(struct kunit *test)
{
	start();
	look();
	expect_cheap(test, 1);
	KUNIT_EXPECT_GT(test, result.longest, 3);
}

/* Chains of frames of all kinds, in every order. */
static void look_through(unsigned int kinds, unsigned int frames);

static noinline void through_ordinary(unsigned int kinds, unsigned int frames)
{
	look_through(kinds, frames);
	barrier();
}

/* Only the frame pointer knows how far its caller is. */
static noinline void through_varying(unsigned int kinds, unsigned int frames)
{
	char *space = __builtin_alloca(16 * (1 + kinds % 7));

	barrier_data(space);
	look_through(kinds, frames);
	barrier_data(space);
}

/* The caller's stack may have been less aligned. */
static noinline void through_realigned(unsigned int kinds, unsigned int frames)
{
	char space[64] __aligned(64);

	barrier_data(space);
	look_through(kinds, frames);
	barrier_data(space);
}

/* Enough variables to use all registers, BP as well. */
static noinline void through_crowded(unsigned int kinds, unsigned int frames)
{
	unsigned long a = kinds, b = frames, c = a + b, d = a ^ b, e = a * 3, f = b * 5;

	OPTIMIZER_HIDE_VAR(c);
	OPTIMIZER_HIDE_VAR(d);
	OPTIMIZER_HIDE_VAR(e);
	OPTIMIZER_HIDE_VAR(f);
	look_through(kinds, frames);
	OPTIMIZER_HIDE_VAR(a);
	OPTIMIZER_HIDE_VAR(b);
	OPTIMIZER_HIDE_VAR(c);
	OPTIMIZER_HIDE_VAR(d);
	OPTIMIZER_HIDE_VAR(e);
	OPTIMIZER_HIDE_VAR(f);
}

static noinline void look_through(unsigned int kinds, unsigned int frames)
{
	if (!frames)
		look();
	else if (kinds % 4 == 0)
		through_ordinary(kinds / 4, frames - 1);
	else if (kinds % 4 == 1)
		through_varying(kinds / 4, frames - 1);
	else if (kinds % 4 == 2)
		through_realigned(kinds / 4, frames - 1);
	else
		through_crowded(kinds / 4, frames - 1);
	barrier();
}

static void test_kinds_of_frames(struct kunit *test)
{
	unsigned int kinds;

	start();
	for (kinds = 0; kinds < 4 * 4 * 4 * 4; kinds++)
		look_through(kinds, 4);
	expect_cheap(test, 4 * 4 * 4 * 4);
}

static void look_from_constructor(void *object)
{
	look();
}

/* Through the allocator, whose frames GCC realigns. */
static void test_allocator_frames(struct kunit *test)
{
	struct kmem_cache *cache;
	void *object;

	start();
	cache = kmem_cache_create("owner_unwind", 512, 0, SLAB_NO_MERGE, look_from_constructor);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, object);
	KUNIT_EXPECT_GT(test, result.calls, 0);
	expect_cheap(test, result.calls);
	kmem_cache_free(cache, object);
	kmem_cache_destroy(cache);
}

static noinline void look_deeper(unsigned int frames)
{
	if (frames)
		look_deeper(frames - 1);
	else
		look();
	barrier();
}

static void test_recursion(struct kunit *test)
{
	unsigned int i;

	start();
	for (i = 0; i < 64; i++)
		look_deeper(i);
	expect_cheap(test, 64);
	KUNIT_EXPECT_EQ(test, result.longest, OWNER_DEPTH_MAX);
}

static void look_from_work(struct work_struct *work)
{
	look();
}

static void test_work(struct kunit *test)
{
	struct work_struct work;

	start();
	INIT_WORK_ONSTACK(&work, look_from_work);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
	expect_cheap(test, 1);
}

static int look_from_thread(void *done)
{
	look();
	complete(done);
	return 0;
}

static void test_kthread(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *thread;

	start();
	thread = kthread_run(look_from_thread, &done, "owner_unwind");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	wait_for_completion(&done);
	expect_cheap(test, 1);
}

static void look_from_timer(struct timer_list *timer)
{
	look();
}

static void test_timer(struct kunit *test)
{
	struct timer_list timer;
	unsigned int i;

	start();
	timer_setup_on_stack(&timer, look_from_timer, 0);
	mod_timer(&timer, jiffies + 1);
	/* Most likely it interrupts this. */
	for (i = 0; i < 5000 && !READ_ONCE(result.calls); i++)
		mdelay(1);
	timer_delete_sync(&timer);
	destroy_timer_on_stack(&timer);
	expect_cheap(test, 1);
}

static void look_from_tasklet(struct tasklet_struct *tasklet)
{
	look();
}

/* Run where bottom halves are enabled again: from a task, on the interrupts' stack. */
static void test_softirq(struct kunit *test)
{
	struct tasklet_struct tasklet;

	start();
	tasklet_setup(&tasklet, look_from_tasklet);
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_kill(&tasklet);
	expect_cheap(test, 1);
}

static void look_from_irq(struct irq_work *work)
{
	look();
}

static void test_hardirq(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(look_from_irq);

	start();
	irq_work_queue(&work);
	irq_work_sync(&work);
	expect_cheap(test, 1);
}

static struct irq_work irq_on_softirq = IRQ_WORK_INIT_HARD(look_from_irq);

static void queue_irq(struct tasklet_struct *tasklet)
{
	irq_work_queue(&irq_on_softirq);
}

/* An interrupt of a softirq: it stays on the stack that it finds. */
static void test_hardirq_on_softirq(struct kunit *test)
{
	struct tasklet_struct tasklet;

	start();
	tasklet_setup(&tasklet, queue_irq);
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_kill(&tasklet);
	irq_work_sync(&irq_on_softirq);
	expect_cheap(test, 1);
}

static void look_from_ipi(void *unused)
{
	look();
}

static void test_ipi(struct kunit *test)
{
	int cpu = cpumask_any_but(cpu_online_mask, get_cpu());

	if (cpu >= nr_cpu_ids) {
		put_cpu();
		kunit_skip(test, "needs two CPUs");
	}
	start();
	smp_call_function_single(cpu, look_from_ipi, NULL, true);
	put_cpu();
	expect_cheap(test, 1);
}

#ifdef CONFIG_KRETPROBES
static int nothing(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return 0;
}

static int look_on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	look();
	return 0;
}

/* The probed function's return address is a trampoline's. */
static void test_kretprobe(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.symbol_name = "look_deeper",
		.handler = nothing,
		.maxactive = 64,
	};

	start();
	look_deeper(3);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	look_deeper(3);
	unregister_kretprobe(&probe);
	expect_same(test, 2);
	KUNIT_EXPECT_GT(test, result.longest, 4);
}

/* From the handler itself, which the trampoline calls. */
static void test_kretprobe_handler(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.symbol_name = "look_deeper",
		.handler = look_on_return,
		.maxactive = 64,
	};

	start();
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	look_deeper(0);
	unregister_kretprobe(&probe);
	expect_same(test, 2);
}

static int look_on_entry(struct kprobe *kprobe, struct pt_regs *regs)
{
	look();
	return 0;
}

static void test_kprobe_handler(struct kunit *test)
{
	struct kprobe probe = {
		.symbol_name = "look_deeper",
		.pre_handler = look_on_entry,
	};

	start();
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	look_deeper(0);
	unregister_kprobe(&probe);
	expect_same(test, 2);
}
#endif /* CONFIG_KRETPROBES */

static noinline char *copy_from_here(const char *string)
{
	char *copy = kstrdup(string, GFP_KERNEL);

	barrier();
	return copy;
}

/* Who calls kstrdup() owns the copy: the chain does not start in kstrdup(). */
static void test_allocators_are_left_out(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, owner_is_allocator((unsigned long)kstrdup + 8));
	KUNIT_EXPECT_TRUE(test, owner_is_allocator((unsigned long)__kmalloc_noprof + 8));
	KUNIT_EXPECT_FALSE(test, owner_is_allocator((unsigned long)kfree + 8));
	KUNIT_EXPECT_FALSE(test, owner_is_allocator((unsigned long)copy_from_here + 8));
}

/* What interrupts a walk walks elsewhere; whoever finds no room takes none. */
static void test_room(struct kunit *test)
{
	struct owner_unwind_buffer *walks[8] = {};
	unsigned int i, given = 0, given_again = 0;
	unsigned long flags;

	local_irq_save(flags);
	while (given < ARRAY_SIZE(walks) && (walks[given] = owner_unwind_buffer_get()) != NULL)
		given++;
	for (i = 0; i < given; i++)
		owner_unwind_buffer_put();
	while (given_again < ARRAY_SIZE(walks) && owner_unwind_buffer_get())
		given_again++;
	for (i = 0; i < given_again; i++)
		owner_unwind_buffer_put();
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, given, 3);
	KUNIT_EXPECT_EQ(test, given_again, 3);
	for (i = 1; i < given; i++)
		KUNIT_EXPECT_TRUE(test, walks[i - 1] + 1 <= walks[i]);
}

#ifdef CONFIG_OWNER_UNWIND_ORC
/*
 * In a guest that counts instructions the time stamp counter advances by one
 * with each.
 */
#define MOST	16

static noinline void measure(struct kunit *test, unsigned int depth)
{
	unsigned long entries[MOST + 1];
	u64 fast = U64_MAX, slow = U64_MAX, nothing = U64_MAX, began;
	struct owner_caller caller = OWNER_CALLER;
	unsigned int i, count = 0;

	for (i = 0; i < 8; i++) {
		local_irq_disable();
		began = get_cycles();
		nothing = min(nothing, get_cycles() - began);
		began = get_cycles();
		count = owner_unwind(entries, depth, caller);
		fast = min(fast, get_cycles() - began);
		began = get_cycles();
		stack_trace_save(entries, depth + 1, 1);
		slow = min(slow, get_cycles() - began);
		local_irq_enable();
	}
	/* As tools/testing/owner/bench/bench.py reads it. */
	kunit_info(test, "owner_bench: owner_unwind %u %llu %llu\n", depth,
		   fast - nothing, fast - nothing);
	kunit_info(test, "owner_bench: stack_trace_save %u %llu %llu\n", depth,
		   slow - nothing, slow - nothing);
	KUNIT_EXPECT_EQ(test, count, depth);
	KUNIT_EXPECT_LT(test, fast, slow);
}

static noinline void measure_deeper(struct kunit *test, unsigned int frames)
{
	if (frames)
		measure_deeper(test, frames - 1);
	else
		for (unsigned int depth = 1; depth <= MOST; depth *= 2)
			measure(test, depth);
	barrier();
}

static void test_cost(struct kunit *test)
{
	measure_deeper(test, MOST);
}
#endif

static struct kunit_case owner_unwind_cases[] = {
	KUNIT_CASE(test_process),
	KUNIT_CASE(test_kinds_of_frames),
	KUNIT_CASE(test_allocator_frames),
	KUNIT_CASE(test_recursion),
	KUNIT_CASE(test_work),
	KUNIT_CASE(test_kthread),
	KUNIT_CASE(test_timer),
	KUNIT_CASE(test_softirq),
	KUNIT_CASE(test_hardirq),
	KUNIT_CASE(test_hardirq_on_softirq),
	KUNIT_CASE(test_ipi),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(test_kretprobe),
	KUNIT_CASE(test_kretprobe_handler),
	KUNIT_CASE(test_kprobe_handler),
#endif
	KUNIT_CASE(test_allocators_are_left_out),
	KUNIT_CASE(test_room),
#ifdef CONFIG_OWNER_UNWIND_ORC
	KUNIT_CASE(test_cost),
#endif
	{}
};

static int owner_unwind_test_init(struct kunit_suite *suite)
{
	owner_unwind_init();
	return 0;
}

static struct kunit_suite owner_unwind_suite = {
	.name = "owner_unwind",
	.suite_init = owner_unwind_test_init,
	.test_cases = owner_unwind_cases,
};

kunit_test_suite(owner_unwind_suite);
