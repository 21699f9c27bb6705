// SPDX-License-Identifier: GPL-2.0
/* Tests of tasks: whom a record names after the task was renamed, and when handles are put. */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/slab_owner.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>

#include "../../../lib/stackdepot/internal.h"
#include "plant.h"

/* Allocate an object, and return the handle of the task that its record names. */
static depot_stack_handle_t capture_task(struct kmem_cache *cache, struct owner_task *task)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);
	struct owner_record *record = object ? find_object_record(object) : NULL;
	depot_stack_handle_t handle = record ? record->task : 0;

	memset(task, 0, sizeof(*task));
	owner_task_fetch(handle, task);
	kmem_cache_free(cache, object);
	return handle;
}

/* A task keeps its handle from its first capture on. */
static void test_handle_is_kept(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	struct owner_task task;
	depot_stack_handle_t handle = capture_task(cache, &task);

	KUNIT_EXPECT_NE(test, handle, 0);
	KUNIT_EXPECT_EQ(test, current->owner_task, handle);
	KUNIT_EXPECT_EQ(test, capture_task(cache, &task), handle);
	/* The handle is valid without any reference of a CPU. */
	stack_depot_cpu_caches_flush();
	KUNIT_EXPECT_EQ(test, capture_task(cache, &task), handle);
	KUNIT_EXPECT_EQ(test, task.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, task.comm, current->comm);
	kmem_cache_destroy(cache);
}

/* After it was renamed, a task has its new comm in records. */
static void test_rename(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	char comm[TASK_COMM_LEN];
	struct owner_task task;
	unsigned int i;

	get_task_comm(comm, current);
	for (i = 0; i < 3; i++) {
		char name[TASK_COMM_LEN];

		snprintf(name, sizeof(name), "renamed_%u", i);
		set_task_comm(current, name);
		KUNIT_EXPECT_NE(test, capture_task(cache, &task), 0);
		KUNIT_EXPECT_STREQ(test, task.comm, name);
	}
	set_task_comm(current, comm);
	capture_task(cache, &task);
	KUNIT_EXPECT_STREQ(test, task.comm, comm);
	kmem_cache_destroy(cache);
}

static unsigned int count_references(depot_stack_handle_t handle)
{
	stack_depot_cpu_caches_flush();
	return refcount_read(&__stack_depot_get_stack_record(handle)->count);
}

/* Return true if the task puts one reference when it is renamed, and none the next time. */
static bool one_reference_is_put(struct kunit *test, struct kmem_cache *cache)
{
	unsigned int before, after, again;
	depot_stack_handle_t handle;
	struct owner_task task;

	handle = capture_task(cache, &task);
	KUNIT_ASSERT_TRUE(test, stack_depot_get(handle));
	capture_task(cache, &task);
	before = count_references(handle);
	owner_task_changed(current);
	KUNIT_EXPECT_EQ(test, current->owner_task, 0);
	after = count_references(handle);
	owner_task_changed(current);
	again = count_references(handle);
	stack_depot_put(handle);
	return after == before - 1 && again == after;
}

/*
 * A task has one reference to its handle, and puts it when it is renamed or freed. Other
 * objects of this task have references, too, and are allocated and freed at any time.
 */
static void test_one_reference(struct kunit *test)
{
	struct kmem_cache *cache = create_test_cache(test, 0);
	unsigned int i;

	for (i = 0; i < 50 && !one_reference_is_put(test, cache); i++)
		msleep(20);
	KUNIT_EXPECT_LT(test, i, 50);
	kmem_cache_destroy(cache);
}

struct capturing_thread {
	struct kmem_cache *cache;
	struct completion captured;
	depot_stack_handle_t handle;
	struct owner_task task;
};

static int capture_in_thread(void *data)
{
	struct capturing_thread *thread = data;

	thread->handle = capture_task(thread->cache, &thread->task);
	complete(&thread->captured);
	return 0;
}

static bool is_evicted(depot_stack_handle_t handle)
{
	stack_depot_cpu_caches_flush();
	if (!stack_depot_get(handle))
		return true;
	stack_depot_put(handle);
	return false;
}

/* A new task has no handle of its parent, and its own is put after it has exited. */
static void test_exit(struct kunit *test)
{
	struct capturing_thread thread = { .cache = create_test_cache(test, 0) };
	struct task_struct *task;
	struct owner_task own;
	unsigned int i;

	KUNIT_EXPECT_NE(test, capture_task(thread.cache, &own), 0);
	init_completion(&thread.captured);
	/* With free=on, records of what the thread has freed have the handle, too. */
	if (READ_ONCE(thread.cache->owner_keeps_freed)) {
		kmem_cache_destroy(thread.cache);
		kunit_skip(test, "boot with slab_owner=on,free=off");
	}
	task = kthread_run(capture_in_thread, &thread, "owner_kunit_exit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&thread.captured);
	KUNIT_EXPECT_STREQ(test, thread.task.comm, "owner_kunit_exi");
	KUNIT_EXPECT_NE(test, thread.task.pid, current->pid);
	for (i = 0; i < 500 && !is_evicted(thread.handle); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE(test, is_evicted(thread.handle));
	kmem_cache_destroy(thread.cache);
}

/* Intern this task with a new name. Return true if the depot allocated a pool for it. */
static bool task_allocates(const char *what, unsigned int try, gfp_t flags)
{
	char name[TASK_COMM_LEN];
	unsigned int pools;

	snprintf(name, sizeof(name), "%s_%u", what, try);
	set_task_comm(current, name);
	stack_depot_test_free_spare_pool();
	pools = stack_depot_count_pools();
	stack_depot_put(owner_task_save(flags));
	/* If no pool in use has room for the task, the new pool is not kept as a spare one. */
	return stack_depot_test_free_spare_pool() || stack_depot_count_pools() != pools;
}

/* A free interns the task that frees, but allocates nothing for it. */
static void test_free_allocates_nothing(struct kunit *test)
{
	char comm[TASK_COMM_LEN];
	bool free_allocates = true, alloc_allocates = false;
	unsigned int try;

	get_task_comm(comm, current);
	/* A capture of another task can take or allocate a pool meanwhile: try again. */
	for (try = 0; try < 1000 && (free_allocates || !alloc_allocates); try++) {
		free_allocates = task_allocates("free", try, 0);
		alloc_allocates = task_allocates("alloc", try, GFP_KERNEL);
	}
	set_task_comm(current, comm);
	KUNIT_EXPECT_FALSE(test, free_allocates);
	KUNIT_EXPECT_TRUE(test, alloc_allocates);
}

static struct kunit_case owner_task_cases[] = {
	KUNIT_CASE(test_handle_is_kept),
	KUNIT_CASE(test_rename),
	KUNIT_CASE(test_one_reference),
	KUNIT_CASE(test_exit),
	KUNIT_CASE(test_free_allocates_nothing),
	{}
};

static struct kunit_suite owner_task_suite = {
	.name = "owner_task",
	.init = require_slab_owner,
	.test_cases = owner_task_cases,
};

kunit_test_suite(owner_task_suite);
