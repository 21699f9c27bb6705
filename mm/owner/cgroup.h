/* SPDX-License-Identifier: GPL-2.0 */
/* The memory cgroup that an object or a page is charged to. */
#ifndef _MM_OWNER_CGROUP_H
#define _MM_OWNER_CGROUP_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct mem_cgroup;
struct obj_cgroup;
struct page;
struct seq_buf;
struct slab;

#define OWNER_CGROUPS_OFF \
	"there are no memory cgroups: they need CONFIG_MEMCG, and no cgroup_disable=memory"

/* Size of a buffer for a path. Longer paths are truncated. */
#define OWNER_CGROUP_MAX	256

#ifdef CONFIG_MEMCG

bool owner_cgroups_on(void);
u64 owner_cgroup_of_task(char *path);
void owner_cgroup_path(u64 number, char *path);
struct obj_cgroup *owner_objcg_of(struct slab *slab, unsigned long obj_exts, unsigned int index);
void owner_cgroup_of_objcg(struct obj_cgroup *objcg, char *path);
void owner_cgroup_of_page(struct page *page, char *path);
void owner_cgroup_print(struct seq_buf *text, struct page *page);
struct obj_cgroup *owner_objcg_get(void);
void owner_objcg_put(struct obj_cgroup *objcg);
bool owner_objcg_has_room(struct obj_cgroup *objcg, size_t size);
int owner_objcg_charge(struct obj_cgroup *objcg, gfp_t flags, size_t size);
void owner_objcg_uncharge(struct obj_cgroup *objcg, size_t size);

#else

static inline bool owner_cgroups_on(void)
{
	return false;
}

static inline u64 owner_cgroup_of_task(char *path)
{
	return 0;
}

static inline void owner_cgroup_path(u64 number, char *path)
{
	*path = '\0';
}

static inline struct obj_cgroup *owner_objcg_of(struct slab *slab, unsigned long obj_exts,
						unsigned int index)
{
	return NULL;
}

static inline void owner_cgroup_of_objcg(struct obj_cgroup *objcg, char *path)
{
}

static inline void owner_cgroup_of_page(struct page *page, char *path)
{
}

static inline void owner_cgroup_print(struct seq_buf *text, struct page *page)
{
}

static inline struct obj_cgroup *owner_objcg_get(void)
{
	return NULL;
}

static inline void owner_objcg_put(struct obj_cgroup *objcg)
{
}

static inline bool owner_objcg_has_room(struct obj_cgroup *objcg, size_t size)
{
	return true;
}

static inline int owner_objcg_charge(struct obj_cgroup *objcg, gfp_t flags, size_t size)
{
	return 0;
}

static inline void owner_objcg_uncharge(struct obj_cgroup *objcg, size_t size)
{
}

#endif /* CONFIG_MEMCG */

#endif /* _MM_OWNER_CGROUP_H */
