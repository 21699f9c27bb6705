// SPDX-License-Identifier: GPL-2.0
/*
 * Find the memory cgroup of the current task and the one that an object or a page is charged to,
 * and charge the memory that readers need.
 *
 * Records do not keep the one that is charged: charges move to the parent when a cgroup is
 * removed. Readers look it up.
 */

#include <linux/cgroup.h>
#include <linux/kernfs.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/uaccess.h>

#include "../slab.h"
#include "cgroup.h"
#include "compat.h"
#include "escape.h"
#include "lang/kind.h"

/* True if there are memory cgroups. */
bool owner_cgroups_on(void)
{
	return !mem_cgroup_disabled();
}

/* Copy the path of a cgroup, under RCU. Return: false if there is none: @path is empty. */
static bool copy_path(const struct mem_cgroup *memcg, char *path)
{
	*path = '\0';
	if (memcg)
		cgroup_path(memcg->css.cgroup, path, OWNER_CGROUP_MAX);
	return *path;
}

/**
 * owner_cgroup_of_task() - get the cgroup of the current task
 * @path: filled with its path, OWNER_CGROUP_MAX bytes, unless it is NULL
 *
 * Context: any without @path, with it not NMI.
 *
 * Return: the number of the cgroup, which its hierarchy never uses again; 0 if the task has no
 *	cgroup.
 */
u64 owner_cgroup_of_task(char *path)
{
	struct mem_cgroup *memcg;
	u64 number = 0;

	if (mem_cgroup_disabled())
		return 0;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	if (memcg && (!path || copy_path(memcg, path)))
		number = cgroup_id(memcg->css.cgroup);
	rcu_read_unlock();
	return number;
}

/**
 * owner_cgroup_path() - get the path of a cgroup
 * @number: from owner_cgroup_of_task()
 * @path: filled with the path, OWNER_CGROUP_MAX bytes; with OWNER_CGROUP_REMOVED and the number if
 *	the cgroup was removed; empty if @number is 0
 *
 * Context: a task's, without locks of an allocation.
 */
void owner_cgroup_path(u64 number, char *path)
{
	struct kernfs_node *node;

	*path = '\0';
	if (!number)
		return;
	/* A hierarchy of version 1 that is unmounted meanwhile is freed after a grace period. */
	rcu_read_lock();
	node = kernfs_find_and_get_node_by_id(root_mem_cgroup->css.cgroup->root->kf_root, number);
	rcu_read_unlock();
	/* The number may be of another hierarchy, and a file have it in this one. */
	if (node && kernfs_type(node) == KERNFS_DIR)
		kernfs_path(node, path, OWNER_CGROUP_MAX);
	else
		snprintf(path, OWNER_CGROUP_MAX, OWNER_CGROUP_REMOVED "%llu", number);
	kernfs_put(node);
}

/**
 * owner_objcg_of() - get the obj_cgroup that a slab object is charged to
 * @slab: the slab, which may be freed meanwhile
 * @obj_exts: its vector of extensions
 * @index: the object's index
 *
 * The vector of extensions may have been freed with the slab. It is read without a fault.
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: a pointer that is valid until the end of the critical section, if the caller
 *	finds that the slab was not freed meanwhile. Else it must not be used.
 */
struct obj_cgroup *owner_objcg_of(struct slab *slab, unsigned long obj_exts, unsigned int index)
{
	unsigned long vector = obj_exts & ~OBJEXTS_FLAGS_MASK;
	struct obj_cgroup **slot = vector ? owner_objcg_in_vector(slab, vector, index) : NULL;
	struct obj_cgroup *objcg;

	if (!slot || get_kernel_nofault(objcg, slot))
		return NULL;
	return objcg;
}

/* Copy the path of the cgroup of @objcg, which owner_objcg_of() returned; empty if it is NULL. */
void owner_cgroup_of_objcg(struct obj_cgroup *objcg, char *path)
{
	copy_path(objcg ? obj_cgroup_memcg(objcg) : NULL, path);
}

/* Get the path of the cgroup that pages are charged to. The pages may be freed meanwhile. */
void owner_cgroup_of_page(struct page *page, char *path)
{
	rcu_read_lock();
	copy_path(page_memcg_check(page), path);
	rcu_read_unlock();
}

/**
 * owner_objcg_get() - get the obj_cgroup that pays for memory of the current task
 *
 * Return: with a reference, NULL if there is none.
 */
struct obj_cgroup *owner_objcg_get(void)
{
	return memcg_kmem_online() ? get_obj_cgroup_from_current() : NULL;
}

void owner_objcg_put(struct obj_cgroup *objcg)
{
	obj_cgroup_put(objcg);
}

/**
 * owner_objcg_has_room() - does the cgroup have memory free, without reclaim?
 * @objcg: from owner_objcg_get()
 * @size: bytes
 */
bool owner_objcg_has_room(struct obj_cgroup *objcg, size_t size)
{
	unsigned long used, pages = size >> PAGE_SHIFT;
	struct mem_cgroup *memcg;
	bool room = true;

	rcu_read_lock();
	memcg = objcg ? obj_cgroup_memcg(objcg) : NULL;
	for (; memcg && room; memcg = parent_mem_cgroup(memcg)) {
		used = page_counter_read(&memcg->memory);
		room = used + pages <= READ_ONCE(memcg->memory.max);
	}
	rcu_read_unlock();
	return room;
}

/**
 * owner_objcg_charge() - charge memory
 * @objcg: from owner_objcg_get()
 * @flags: with __GFP_RETRY_MAYFAIL, or without __GFP_DIRECT_RECLAIM: the cgroup's OOM killer is not
 *	invoked
 * @size: bytes
 *
 * Return: 0, -ENOMEM if the cgroup may not have so much.
 */
int owner_objcg_charge(struct obj_cgroup *objcg, gfp_t flags, size_t size)
{
	return objcg ? obj_cgroup_charge(objcg, flags, size) : 0;
}

void owner_objcg_uncharge(struct obj_cgroup *objcg, size_t size)
{
	if (objcg)
		obj_cgroup_uncharge(objcg, size);
}

/**
 * owner_cgroup_print() - print the cgroup that pages are charged to, as page_owner does
 * @text: the text to append to
 * @page: the first page, which may be freed meanwhile
 *
 * In Linux 6.12.117 page_owner itself takes every page->memcg_data for an obj_cgroup and
 * faults on page cache, which has none there. In Linux 7.3 all charged pages have one.
 */
void owner_cgroup_print(struct seq_buf *text, struct page *page)
{
	struct mem_cgroup *memcg;
	unsigned long data;
	char name[80], escaped[4 * sizeof(name)];

	rcu_read_lock();
	data = READ_ONCE(page->memcg_data);
	memcg = page_memcg_check(page);
	if (data & MEMCG_DATA_OBJEXTS) {
		seq_buf_puts(text, "Slab cache page\n");
	} else if (memcg) {
		cgroup_name(memcg->css.cgroup, name, sizeof(name));
		owner_escape_name(escaped, sizeof(escaped), name, "");
		seq_buf_printf(text, "Charged %sto %smemcg %s\n",
			       data & MEMCG_DATA_KMEM ? "(via objcg) " : "",
			       memcg->css.flags & CSS_ONLINE ? "" : "offline ", escaped);
	}
	rcu_read_unlock();
}
