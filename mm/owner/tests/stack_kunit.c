// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains and tasks that become handles and come back.
 */

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "plant.h"

/* In the place of an allocator's hook. */
static noinline depot_stack_handle_t hook(void)
{
	depot_stack_handle_t handle = owner_stack_capture(OWNER_CALLER, OWNER_DEPTH, GFP_KERNEL);

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture(void)
{
	depot_stack_handle_t handle = hook();

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture_deeper(void)
{
	depot_stack_handle_t handle = capture();

	barrier();
	return handle;
}

/* The same chain is the same handle, another chain another. */
static void test_chain(struct kunit *test)
{
	depot_stack_handle_t first = 0, handle;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		handle = capture();
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_EXPECT_TRUE(test, passes(handle, capture));
		KUNIT_EXPECT_TRUE(test, passes(handle, test_chain));
		if (i)
			KUNIT_EXPECT_EQ(test, handle, first);
		first = handle;
	}
	handle = capture_deeper();
	KUNIT_EXPECT_NE(test, handle, first);
	KUNIT_EXPECT_TRUE(test, passes(handle, capture_deeper));
	stack_depot_put(handle);
	/* Each came with a reference. */
	stack_depot_put(first);
	stack_depot_put(first);
	KUNIT_EXPECT_TRUE(test, stack_depot_get(first));
	stack_depot_put(first);
	stack_depot_put(first);
	KUNIT_EXPECT_FALSE(test, stack_depot_get(first));
}

static void test_task(struct kunit *test)
{
	depot_stack_handle_t handle = owner_task_capture(GFP_KERNEL);
	struct owner_task task;

	KUNIT_ASSERT_TRUE(test, owner_task_fetch(handle, &task));
	KUNIT_EXPECT_EQ(test, task.pid, current->pid);
	KUNIT_EXPECT_EQ(test, task.tgid, current->tgid);
	KUNIT_EXPECT_STREQ(test, task.comm, current->comm);
	stack_depot_put(handle);
	KUNIT_EXPECT_FALSE(test, owner_task_fetch(0, &task));
}

static depot_stack_handle_t gone_task;

static int task_that_goes(void *done)
{
	gone_task = owner_task_capture(GFP_KERNEL);
	kthread_complete_and_exit(done, 0);
}

/* A name as long as one may be, of a task that is no more. */
static void test_task_has_gone(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *thread;
	struct owner_task task;
	pid_t pid;

	thread = kthread_create(task_that_goes, &done, "fifteen-letters");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	pid = thread->pid;
	wake_up_process(thread);
	wait_for_completion(&done);
	KUNIT_ASSERT_TRUE(test, owner_task_fetch(gone_task, &task));
	KUNIT_EXPECT_EQ(test, task.pid, pid);
	KUNIT_EXPECT_STREQ(test, task.comm, "fifteen-letters");
	stack_depot_put(gone_task);
}

static struct kunit_case owner_stack_cases[] = {
	KUNIT_CASE(test_chain),
	KUNIT_CASE(test_task),
	KUNIT_CASE(test_task_has_gone),
	{}
};

static struct kunit_suite owner_stack_suite = {
	.name = "owner_stack",
	.init = owner_test_init,
	.test_cases = owner_stack_cases,
};

kunit_test_suite(owner_stack_suite);
