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

/* Records of a task's size that the depot can have memory for without an allocation. */
#define FILLERS		131072
/* Refusals in a row after which most pools have been searched: each refusal searches a few. */
#define REFUSALS	10

/* Save records of a task's size after @nr others until the depot refuses. Return their number. */
static unsigned int fill_until_refused(depot_stack_handle_t *handles, unsigned int nr)
{
	for (; nr < FILLERS; nr++) {
		unsigned long words[OWNER_TASK_WORDS] = { nr, (unsigned long)handles, FILLERS };

		handles[nr] = stack_depot_save_flags(words, ARRAY_SIZE(words), 0,
						     STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_DATA);
		if (!handles[nr])
			break;
	}
	return nr;
}

/* Use up the depot's memory for tasks. Return the number of @handles. */
static unsigned int fill_depot(depot_stack_handle_t *handles)
{
	unsigned int nr = 0, before, refusals = 0;

	/* A refused record has searched a few pools, and the next one, in another tick, others. */
	while (refusals < REFUSALS) {
		before = nr;
		nr = fill_until_refused(handles, nr);
		refusals = nr == before ? refusals + 1 : 0;
		msleep(20);
	}
	return nr;
}

/* A free interns the task that frees, but allocates nothing for it. */
static void test_free_allocates_nothing(struct kunit *test)
{
	depot_stack_handle_t *handles = kvcalloc(FILLERS, sizeof(*handles), GFP_KERNEL);
	depot_stack_handle_t refused = 1, saved = 0;
	char comm[TASK_COMM_LEN];
	unsigned int try, i, nr;

	KUNIT_ASSERT_NOT_NULL(test, handles);
	get_task_comm(comm, current);
	set_task_comm(current, "owner_kunit_fre");
	/* Other tasks can let a worker allocate meanwhile: try again. */
	for (try = 0; try < 100 && (refused || !saved); try++) {
		nr = fill_depot(handles);
		KUNIT_EXPECT_LT(test, nr, FILLERS);
		refused = owner_task_save(0);
		if (!refused)
			saved = owner_task_save(GFP_KERNEL);
		if (refused)
			stack_depot_put(refused);
		for (i = 0; i < nr; i++)
			stack_depot_put(handles[i]);
		owner_task_changed(current);
		rcu_barrier();
	}
	stack_depot_put(saved);
	set_task_comm(current, comm);
	kvfree(handles);
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_NE(test, saved, 0);
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
