// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory cgroup memory is charged to.
 *
 * Nothing of it is kept: what is charged is moved to the parent when a cgroup
 * goes, so it is looked up when somebody asks.
 */

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/uaccess.h>

#include "../slab.h"
#include "cgroup.h"

bool owner_cgroups_on(void)
{
	return !mem_cgroup_disabled();
}

/* RCU is read-locked: a cgroup stays until it is unlocked, and so does its path. */
static bool show_path(const struct mem_cgroup *memcg, char *path)
{
	*path = '\0';
	if (memcg)
		cgroup_path(memcg->css.cgroup, path, OWNER_CGROUP_MAX);
	return *path;
}

/* What tells the current task's cgroup from all others; 0 if it is no task that runs. */
u64 owner_cgroup_number(void)
{
	struct mem_cgroup *memcg;
	u64 number = 0;

	if (!in_task())
		return 0;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	if (memcg)
		number = cgroup_id(memcg->css.cgroup);
	rcu_read_unlock();
	return number;
}

/**
 * owner_cgroup_of_task - the cgroup of the current task
 * @path: where its path goes, OWNER_CGROUP_MAX bytes
 *
 * Context: not in NMI.
 *
 * Return: false if it is no task that runs here.
 */
bool owner_cgroup_of_task(char *path)
{
	bool found;

	if (!in_task())
		return false;
	rcu_read_lock();
	found = show_path(mem_cgroup_from_task(current), path);
	rcu_read_unlock();
	return found;
}

/**
 * owner_charged - to whom a slab object is charged
 * @owners: of its slab, which may go meanwhile
 * @index: of the object
 *
 * Context: in an RCU read-side critical section.
 *
 * Return: good until RCU is unlocked if the slab still stands now, else nothing at
 *	all: its vector may be gone, and is read as if it were.
 */
struct obj_cgroup *owner_charged(const struct owner_slab_records *records, unsigned int index)
{
	struct slabobj_ext *vector = (void *)(READ_ONCE(records->obj_exts) & ~OBJEXTS_FLAGS_MASK);
	struct obj_cgroup *charged;

	if (!vector || get_kernel_nofault(charged, &vector[index].objcg))
		return NULL;
	return charged;
}

/* The path of that, no text if there is none. RCU is read-locked. */
void owner_cgroup_of_charged(struct obj_cgroup *charged, char *path)
{
	show_path(charged ? obj_cgroup_memcg(charged) : NULL, path);
}

/* That of an allocation of pages, which may go meanwhile. */
void owner_cgroup_of_page(struct page *page, char *path)
{
	rcu_read_lock();
	show_path(page_memcg_check(page), path);
	rcu_read_unlock();
}

/**
 * owner_cgroup_print - say to whom pages are charged, as page_owner does
 * @text: where to
 * @page: the first of them, which may go meanwhile
 *
 * Not by mm/page_owner.c: Linux 6.12.117 takes whatever stands there for an
 * obj_cgroup, which only kernel memory is charged by, and faults on page cache.
 */
void owner_cgroup_print(struct seq_buf *text, struct page *page)
{
	struct mem_cgroup *memcg;
	unsigned long data;
	char name[80];

	rcu_read_lock();
	data = READ_ONCE(page->memcg_data);
	memcg = page_memcg_check(page);
	if (data & MEMCG_DATA_OBJEXTS) {
		seq_buf_puts(text, "Slab cache page\n");
	} else if (memcg) {
		cgroup_name(memcg->css.cgroup, name, sizeof(name));
		seq_buf_printf(text, "Charged %sto %smemcg %s\n",
			       data & MEMCG_DATA_KMEM ? "(via objcg) " : "",
			       memcg->css.flags & CSS_ONLINE ? "" : "offline ", name);
	}
	rcu_read_unlock();
}
