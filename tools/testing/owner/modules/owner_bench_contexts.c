// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cost of an allocation in each context in which the kernel allocates.
 *
 * Each context runs pairs of an allocation and its free, and reads the clock before and
 * after them, so the cost of entering the context is not measured. The init function
 * prints the smallest and the median result to the kernel's log in the format of
 * owner_bench.c, as "owner_bench: OPERATION/CONTEXT 0 MIN MEDIAN".
 *
 * With count=FUNCTION,... it prints how often the context called these functions of the
 * kernel instead, as "owner_bench: OPERATION/CONTEXT FUNCTION PAIRS CALLS".
 */

#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "owner_bench.h"

static char *contexts = "";
module_param(contexts, charp, 0400);
MODULE_PARM_DESC(contexts, "names of the contexts to measure, separated by commas (default: all)");

static char *only = "";
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "measure only operations whose names begin with this text");

static unsigned int pairs;
module_param(pairs, uint, 0400);
MODULE_PARM_DESC(pairs, "number of pairs in one measurement (default: 256, or 4096 for chains)");

static char *count[16];
static unsigned int nr_counted;
module_param_array(count, charp, &nr_counted, 0400);
MODULE_PARM_DESC(count, "functions of the kernel whose calls to count");

#define WARM_UPS	4
#define REPEATS		9

/*
 * Frames between a context and the allocation. A chain that begins in a task has more than
 * 16 frames. A chain that begins in an interrupt has fewer, because the unwinder must also
 * recognise the frame at which the interrupt begins.
 */
#define TASK_FRAMES		12
#define INTERRUPT_FRAMES	5

#define FLAGS		(GFP_NOWAIT | __GFP_NOWARN)

struct bench_operation {
	const char *name;
	void (*run_pair)(void);
	void (*run_pairs)(unsigned int count);
};

/* The operation that the contexts run, and the clock's differences, for each repeat. */
static const struct bench_operation *operation;
static u64 results[REPEATS];
static unsigned int nr_pairs;
static struct completion done;

static noinline void run_kmalloc_pair(void)
{
	kfree(kmalloc(64, FLAGS));
	barrier();
}

static noinline void run_kmalloc_pairs(unsigned int count)
{
	while (count--)
		kfree(kmalloc(64, FLAGS));
}

static noinline void run_page_pair(void)
{
	free_page(__get_free_page(FLAGS));
	barrier();
}

static noinline void run_page_pairs(unsigned int count)
{
	while (count--)
		free_page(__get_free_page(FLAGS));
}

static const struct bench_operation operations[] = {
	{ "kmalloc-64", run_kmalloc_pair, run_kmalloc_pairs },
	{ "pages-0", run_page_pair, run_page_pairs },
};

/*
 * A slab with a sampled object costs a few more instructions until it is freed. Hold a
 * slab's worth of objects before each measurement, so that each uses another slab.
 */
#define OBJECTS_OF_SLAB		64

static void *held[4096 + (WARM_UPS + REPEATS) * OBJECTS_OF_SLAB];
static unsigned int nr_held;

static void alloc_held_objects(unsigned int count)
{
	while (count--)
		held[nr_held++] = kmalloc(64, FLAGS);
}

static void free_held_objects(unsigned int count)
{
	while (count--)
		kfree(held[--nr_held]);
}

/*
 * DEFINE_WALK() - define a function of a binary tree of functions
 *
 * Its leaves are the ends of chains of equal depth that lead to one call site. A bit of the
 * path selects the function of each level. Both functions of a level call both functions of
 * the next level, so two chains that differ in one bit differ in few return addresses. The
 * functions end differently, or the compiler merges those of a level.
 */
#define DEFINE_WALK(side, level, next, last_statement)				\
static noinline void walk_##side##_##level(unsigned int path)			\
{										\
	if (path & BIT(next))							\
		walk_right_##next(path);					\
	else									\
		walk_left_##next(path);						\
	last_statement;								\
}

static noinline void walk_left_11(unsigned int path)
{
	operation->run_pair();
	barrier();
}

static noinline void walk_right_11(unsigned int path)
{
	operation->run_pair();
	barrier_data(&path);
}

DEFINE_WALK(left, 10, 11, barrier())
DEFINE_WALK(right, 10, 11, barrier_data(&path))
DEFINE_WALK(left, 9, 10, barrier())
DEFINE_WALK(right, 9, 10, barrier_data(&path))
DEFINE_WALK(left, 8, 9, barrier())
DEFINE_WALK(right, 8, 9, barrier_data(&path))
DEFINE_WALK(left, 7, 8, barrier())
DEFINE_WALK(right, 7, 8, barrier_data(&path))
DEFINE_WALK(left, 6, 7, barrier())
DEFINE_WALK(right, 6, 7, barrier_data(&path))
DEFINE_WALK(left, 5, 6, barrier())
DEFINE_WALK(right, 5, 6, barrier_data(&path))
DEFINE_WALK(left, 4, 5, barrier())
DEFINE_WALK(right, 4, 5, barrier_data(&path))
DEFINE_WALK(left, 3, 4, barrier())
DEFINE_WALK(right, 3, 4, barrier_data(&path))
DEFINE_WALK(left, 2, 3, barrier())
DEFINE_WALK(right, 2, 3, barrier_data(&path))
DEFINE_WALK(left, 1, 2, barrier())
DEFINE_WALK(right, 1, 2, barrier_data(&path))
DEFINE_WALK(left, 0, 1, barrier())
DEFINE_WALK(right, 0, 1, barrier_data(&path))

/* The number of chains, a power of two, or 0 for a loop at the end of a single chain. */
static unsigned int nr_chains;

/* Visit the chains in an order in which no chain follows its neighbour. */
static noinline void visit_chains(void)
{
	unsigned int i, path;

	for (i = 0; i < nr_pairs; i++) {
		path = (i * 1597) & (nr_chains - 1);
		if (path & 1)
			walk_right_0(path);
		else
			walk_left_0(path);
	}
}

static noinline u64 time_pairs_once(void)
{
	unsigned long flags;
	u64 began, ended;

	local_irq_save(flags);
	began = now();
	if (nr_chains)
		visit_chains();
	else
		operation->run_pairs(nr_pairs);
	ended = now();
	local_irq_restore(flags);
	return ended - began;
}

static noinline void measure_here(void)
{
	unsigned int i;

	for (i = 0; i < WARM_UPS + REPEATS; i++) {
		alloc_held_objects(OBJECTS_OF_SLAB);
		results[i % REPEATS] = time_pairs_once();
		/* The CPU also runs its works, such as one that makes room for more chains. */
		if (in_task())
			cond_resched();
	}
	free_held_objects(i * OBJECTS_OF_SLAB);
}

static noinline void measure_below_frames(unsigned int frames)
{
	if (frames)
		measure_below_frames(frames - 1);
	else
		measure_here();
	/* Prevent a tail call, which would drop this frame. */
	barrier();
}

static int measure_in_kthread(void *unused)
{
	measure_below_frames(nr_chains ? 0 : TASK_FRAMES);
	complete(&done);
	return 0;
}

static int run_kthread(int (*fn)(void *))
{
	struct task_struct *task = kthread_run(fn, NULL, "owner_bench");

	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&done);
	return 0;
}

static int run_in_task(void)
{
	return run_kthread(measure_in_kthread);
}

static void measure_in_work(struct work_struct *work)
{
	measure_below_frames(TASK_FRAMES);
	complete(&done);
}

static DECLARE_WORK(work, measure_in_work);

static int run_in_kworker(void)
{
	schedule_work(&work);
	wait_for_completion(&done);
	return 0;
}

static enum hrtimer_restart measure_in_hrtimer(struct hrtimer *timer)
{
	measure_below_frames(INTERRUPT_FRAMES);
	complete(&done);
	return HRTIMER_NORESTART;
}

static int run_in_hrtimer(void)
{
	static struct hrtimer hrtimer;

	hrtimer_setup(&hrtimer, measure_in_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&hrtimer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	wait_for_completion(&done);
	hrtimer_cancel(&hrtimer);
	return 0;
}

static void measure_in_timer(struct timer_list *unused)
{
	measure_below_frames(INTERRUPT_FRAMES);
	complete(&done);
}

static DEFINE_TIMER(timer, measure_in_timer);

static int run_in_timer(void)
{
	mod_timer(&timer, jiffies + 1);
	wait_for_completion(&done);
	timer_delete_sync(&timer);
	return 0;
}

static void measure_in_tasklet(struct tasklet_struct *unused)
{
	measure_below_frames(INTERRUPT_FRAMES);
}

static DECLARE_TASKLET(tasklet, measure_in_tasklet);

/* local_bh_enable() runs the tasklet on this task's behalf, on the interrupt stack. */
static int schedule_tasklet_in_kthread(void *unused)
{
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	complete(&done);
	return 0;
}

static int run_in_tasklet(void)
{
	int error = run_kthread(schedule_tasklet_in_kthread);

	tasklet_kill(&tasklet);
	return error;
}

static void measure_in_irq_work(struct irq_work *unused)
{
	measure_below_frames(INTERRUPT_FRAMES);
	complete(&done);
}

static int run_in_irq_work(void)
{
	static struct irq_work irq_work = IRQ_WORK_INIT_HARD(measure_in_irq_work);

	irq_work_queue(&irq_work);
	wait_for_completion(&done);
	irq_work_sync(&irq_work);
	return 0;
}

/*
 * blocking_notifier_call_chain() is a function of the kernel that calls a function of this
 * module, so a tracer can replace its return address. The caller of this module attaches
 * the tracer, except for the kretprobe.
 */
static int measure_in_notifier(struct notifier_block *block, unsigned long action, void *data)
{
	measure_below_frames(TASK_FRAMES / 3);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = measure_in_notifier };
static BLOCKING_NOTIFIER_HEAD(notifiers);

static int call_notifiers_in_kthread(void *unused)
{
	blocking_notifier_call_chain(&notifiers, 0, NULL);
	complete(&done);
	return 0;
}

static int run_in_notifier(void)
{
	int error;

	blocking_notifier_chain_register(&notifiers, &notifier);
	error = run_kthread(call_notifiers_in_kthread);
	blocking_notifier_chain_unregister(&notifiers, &notifier);
	return error;
}

#ifdef CONFIG_KRETPROBES
static int ignore_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return 0;
}

static int run_below_kretprobe(void)
{
	struct kretprobe probe = {
		.kp.symbol_name = "blocking_notifier_call_chain",
		.handler = ignore_return,
	};
	int error = register_kretprobe(&probe);

	if (error)
		return error;
	error = run_in_notifier();
	unregister_kretprobe(&probe);
	return error;
}
#endif

static noinline __init int run_in_init_text(void)
{
	measure_below_frames(TASK_FRAMES / 3);
	return 0;
}

#ifdef CONFIG_KPROBES
static struct kprobe probes[ARRAY_SIZE(count)];
static atomic_t calls[ARRAY_SIZE(count)];

static int count_call(struct kprobe *probe, struct pt_regs *regs)
{
	atomic_inc(&calls[probe - probes]);
	return 0;
}

static void __init start_counting_calls(void)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++) {
		atomic_set(&calls[i], 0);
		memset(&probes[i], 0, sizeof(probes[i]));
		probes[i].symbol_name = count[i];
		probes[i].pre_handler = count_call;
		if (register_kprobe(&probes[i]))
			probes[i].symbol_name = NULL;
	}
}

static void __init print_calls(const char *context)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++) {
		/* This kernel does not have the function. */
		if (!probes[i].symbol_name)
			continue;
		unregister_kprobe(&probes[i]);
		pr_info("owner_bench: %s/%s %s %u %lu\n", operation->name, context, count[i],
			(WARM_UPS + REPEATS) * nr_pairs,
			atomic_read(&calls[i]) + probes[i].nmissed);
	}
}
#else
static void __init start_counting_calls(void) { }
static void __init print_calls(const char *context) { }
#endif

struct bench_context {
	const char *name;
	int (*run)(void);
	unsigned int chains;
	/* Measured only when it is named, because the caller must attach a tracer. */
	bool by_name;
};

static const struct bench_context table[] __initconst = {
	{ "task", run_in_task },
	{ "kworker", run_in_kworker },
	{ "hrtimer", run_in_hrtimer },
	{ "timer", run_in_timer },
	{ "tasklet", run_in_tasklet },
	{ "irq_work", run_in_irq_work },
	{ "chains-1", run_in_task, 1 },
	{ "chains-16", run_in_task, 16 },
	{ "chains-64", run_in_task, 64 },
	{ "chains-256", run_in_task, 256 },
	{ "chains-1024", run_in_task, 1024 },
	{ "chains-4096", run_in_task, 4096 },
	{ "untraced", run_in_notifier },
#ifdef CONFIG_KRETPROBES
	{ "kretprobe", run_below_kretprobe },
#endif
	{ "graph", run_in_notifier, .by_name = true },
	{ "fexit", run_in_notifier, .by_name = true },
	{ "init", run_in_init_text },
};

static bool __init is_wanted(const struct bench_context *context)
{
	const char *found = contexts;
	size_t length = strlen(context->name);

	if (!*contexts)
		return !context->by_name;
	while ((found = strstr(found, context->name))) {
		if ((found == contexts || found[-1] == ',') &&
		    (!found[length] || found[length] == ','))
			return true;
		found++;
	}
	return false;
}

static int __init compare_values(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void __init print_results(const struct bench_context *context)
{
	u64 min, median;

	sort(results, REPEATS, sizeof(*results), compare_values, NULL);
	min = results[0] * 100 / nr_pairs;
	median = results[REPEATS / 2] * 100 / nr_pairs;
	pr_info("owner_bench: %s/%s 0 %llu.%02llu %llu.%02llu\n", operation->name,
		context->name, min / 100, min % 100, median / 100, median % 100);
}

static int __init bench_init(void)
{
	unsigned int i, j;
	int error = 0;

	init_completion(&done);
	alloc_held_objects(4096);
	for (i = 0; i < ARRAY_SIZE(operations) && !error; i++) {
		operation = &operations[i];
		if (!strstarts(operation->name, only))
			continue;
		for (j = 0; j < ARRAY_SIZE(table) && !error; j++) {
			if (!is_wanted(&table[j]))
				continue;
			nr_chains = table[j].chains;
			nr_pairs = pairs ?: nr_chains ? 4096 : 256;
			start_counting_calls();
			error = table[j].run();
			if (nr_counted)
				print_calls(table[j].name);
			else if (!error)
				print_results(&table[j]);
			if (error)
				pr_err("owner_bench: %s: error %d\n", table[j].name, error);
		}
	}
	if (error)
		free_held_objects(nr_held);
	return error;
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	free_held_objects(nr_held);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("Measure the cost of an allocation in each context");
MODULE_LICENSE("GPL");
