/* SPDX-License-Identifier: GPL-2.0 */
/* Which memory cgroup memory is charged to. */
#ifndef _MM_OWNER_CGROUP_H
#define _MM_OWNER_CGROUP_H

#include <linux/types.h>

struct obj_cgroup;
struct page;
struct seq_buf;
struct owner_slab_records;

#define OWNER_CGROUPS_OFF \
	"there are no memory cgroups: they need CONFIG_MEMCG, and no cgroup_disable=memory"

/* Bytes of a path, which is cut where it is longer. */
#define OWNER_CGROUP_MAX	256

#ifdef CONFIG_MEMCG

bool owner_cgroups_on(void);
u64 owner_cgroup_number(void);
bool owner_cgroup_of_task(char *path);
struct obj_cgroup *owner_charged(const struct owner_slab_records *records, unsigned int index);
void owner_cgroup_of_charged(struct obj_cgroup *charged, char *path);
void owner_cgroup_of_page(struct page *page, char *path);
void owner_cgroup_print(struct seq_buf *text, struct page *page);

#else

static inline bool owner_cgroups_on(void)
{
	return false;
}

static inline u64 owner_cgroup_number(void)
{
	return 0;
}

static inline bool owner_cgroup_of_task(char *path)
{
	return false;
}

static inline struct obj_cgroup *owner_charged(const struct owner_slab_records *records,
					       unsigned int index)
{
	return NULL;
}

static inline void owner_cgroup_of_charged(struct obj_cgroup *charged, char *path)
{
}

static inline void owner_cgroup_of_page(struct page *page, char *path)
{
}

static inline void owner_cgroup_print(struct seq_buf *text, struct page *page)
{
}

#endif /* CONFIG_MEMCG */

#endif /* _MM_OWNER_CGROUP_H */
