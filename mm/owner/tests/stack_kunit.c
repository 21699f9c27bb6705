// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of captures: chains and tasks are interned, recognized, and read back.
 */

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../capture.h"
#include "plant.h"

/* Capture the stack as a hook in an allocator does. */
static noinline depot_stack_handle_t capture_like_allocator_hook(void)
{
	depot_stack_handle_t handle = 0;
	struct owner_record owner;

	if (owner_record_fill(&owner, GFP_KERNEL, OWNER_DEPTH, STACK_DEPOT_CALLER,
			      OWNER_NO_CHARGE)) {
		handle = owner.stack;
		stack_depot_put(owner.task);
	}

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture_stack(void)
{
	depot_stack_handle_t handle = capture_like_allocator_hook();

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture_deeper_stack(void)
{
	depot_stack_handle_t handle = capture_stack();

	barrier();
	return handle;
}

/* Equal chains have one handle, different chains have different handles. */
static void test_chain(struct kunit *test)
{
	depot_stack_handle_t first = 0, handle;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		handle = capture_stack();
		KUNIT_ASSERT_NE(test, handle, 0);
		KUNIT_EXPECT_TRUE(test, chain_has_function(handle, capture_stack));
		KUNIT_EXPECT_TRUE(test, chain_has_function(handle, test_chain));
		if (i)
			KUNIT_EXPECT_EQ(test, handle, first);
		first = handle;
	}
	handle = capture_deeper_stack();
	KUNIT_EXPECT_NE(test, handle, first);
	KUNIT_EXPECT_TRUE(test, chain_has_function(handle, capture_deeper_stack));
	stack_depot_put(handle);
	/* Put the reference that each capture has returned. */
	stack_depot_put(first);
	stack_depot_put(first);
	KUNIT_EXPECT_TRUE(test, stack_depot_get(first));
	stack_depot_put(first);
	stack_depot_put(first);
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_FALSE(test, stack_depot_get(first));
}

/*
 * This function and capture_from_second_site() give chains that differ in one return
 * address only: stack depth and caller are equal.
 */
static noinline depot_stack_handle_t capture_from_first_site(void)
{
	depot_stack_handle_t handle = capture_stack();

	barrier();
	return handle;
}

static noinline depot_stack_handle_t capture_from_second_site(void)
{
	depot_stack_handle_t handle = capture_stack();

	barrier();
	return handle;
}

/* The fast path does not take a chain for another one that differs in one return address. */
static void test_chains_alike(struct kunit *test)
{
	depot_stack_handle_t (*ways[])(void) = {
		capture_from_first_site, capture_from_second_site,
	};
	depot_stack_handle_t handles[2] = {};
	unsigned int i, j;

	for (i = 0; i < 200; i++) {
		for (j = 0; j < ARRAY_SIZE(ways); j++) {
			/* Call both functions from one call site, each eight times in turn. */
			unsigned int way = (j + i / 8) % 2;
			depot_stack_handle_t handle = ways[way]();

			KUNIT_ASSERT_TRUE(test, chain_has_function(handle, ways[way]));
			KUNIT_ASSERT_FALSE(test, chain_has_function(handle, ways[!way]));
			if (handles[way])
				KUNIT_ASSERT_EQ(test, handle, handles[way]);
			handles[way] = handle;
		}
	}
	stack_depot_cpu_caches_flush();
	for (j = 0; j < ARRAY_SIZE(ways); j++) {
		stack_depot_put_many(handles[j], 199);
		KUNIT_EXPECT_TRUE(test, stack_depot_get(handles[j]));
		stack_depot_put(handles[j]);
		stack_depot_put(handles[j]);
		KUNIT_EXPECT_FALSE(test, stack_depot_get(handles[j]));
	}
}

static noinline depot_stack_handle_t capture_task(void)
{
	struct owner_record owner;

	if (!owner_record_fill(&owner, GFP_KERNEL, 1, STACK_DEPOT_CALLER, OWNER_NO_CHARGE))
		return 0;
	stack_depot_put(owner.stack);
	return owner.task;
}

static void test_task(struct kunit *test)
{
	depot_stack_handle_t handle = capture_task();
	struct owner_task task;

	KUNIT_ASSERT_TRUE(test, owner_task_fetch(handle, &task));
	KUNIT_EXPECT_EQ(test, task.pid, current->pid);
	KUNIT_EXPECT_EQ(test, task.tgid, current->tgid);
	KUNIT_EXPECT_STREQ(test, task.comm, current->comm);
	stack_depot_put(handle);
	KUNIT_EXPECT_FALSE(test, owner_task_fetch(0, &task));
}

static depot_stack_handle_t gone_task;

static int capture_task_and_exit(void *done)
{
	gone_task = capture_task();
	kthread_complete_and_exit(done, 0);
}

/* A task's pid, tgid and name of maximum length can be read after the task has exited. */
static void test_task_has_gone(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *thread;
	struct owner_task task;
	pid_t pid;

	thread = kthread_create(capture_task_and_exit, &done, "fifteen-letters");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	pid = thread->pid;
	wake_up_process(thread);
	wait_for_completion(&done);
	KUNIT_ASSERT_TRUE(test, owner_task_fetch(gone_task, &task));
	KUNIT_EXPECT_EQ(test, task.pid, pid);
	KUNIT_EXPECT_STREQ(test, task.comm, "fifteen-letters");
	stack_depot_put(gone_task);
}

static noinline char *copy_string(const char *string)
{
	char *copy = kstrdup(string, GFP_KERNEL);

	barrier();
	return copy;
}

/* The caller of kstrdup() owns the copy: kstrdup() is an allocator. */
static void test_allocators_are_left_out(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, owner_is_allocator((unsigned long)kstrdup + 8));
	KUNIT_EXPECT_TRUE(test, owner_is_allocator((unsigned long)__kmalloc_noprof + 8));
	KUNIT_EXPECT_FALSE(test, owner_is_allocator((unsigned long)kfree + 8));
	KUNIT_EXPECT_FALSE(test, owner_is_allocator((unsigned long)copy_string + 8));
}

static struct kunit_case owner_stack_cases[] = {
	KUNIT_CASE(test_chain),
	KUNIT_CASE(test_chains_alike),
	KUNIT_CASE(test_task),
	KUNIT_CASE(test_task_has_gone),
	KUNIT_CASE(test_allocators_are_left_out),
	{}
};

static struct kunit_suite owner_stack_suite = {
	.name = "owner_stack",
	.init = require_slab_owner,
	.test_cases = owner_stack_cases,
};

kunit_test_suite(owner_stack_suite);
