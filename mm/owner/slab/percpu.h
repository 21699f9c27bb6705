/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of per-CPU areas that have an owner.
 *
 * percpu.c writes it from the per-CPU allocator's hooks, percpu_walk.c reads it.
 * The table is an array of buckets, indexed by a hash of the area's address.
 */
#ifndef _MM_OWNER_PERCPU_H
#define _MM_OWNER_PERCPU_H

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "../owner.h"

/**
 * struct owner_percpu_record - one per-CPU area that has an owner
 * @node: in a bucket of owner_percpu_table
 * @number: how many records had been made before this one; it increases along a bucket
 * @area: the area's address
 * @size: bytes that the area takes on all CPUs
 * @owner: the record
 * @rcu: frees the record after a grace period
 */
struct owner_percpu_record {
	struct list_head node;
	u64 number;
	const void *area;
	size_t size;
	struct owner_record owner;
	struct rcu_head rcu;
};

/*
 * The table has 2^owner_percpu_bits buckets. NULL until early_initcall. Read under RCU;
 * owner_percpu_alloc() and owner_percpu_free() change the buckets under a spinlock of percpu.c.
 */
extern struct list_head *owner_percpu_table;
extern unsigned int owner_percpu_bits;

/*
 * Return the bits of the table of a machine: one bucket for each 256 KiB of its memory, and at most
 * 1 MiB of buckets. A BPF map can have a million areas, and a bucket is searched with interrupts
 * disabled.
 */
static inline unsigned int owner_percpu_bits_for(u64 memory)
{
	return ilog2(clamp(memory / SZ_256K, 256, SZ_1M / sizeof(struct list_head)));
}

/* Number of per-CPU areas that have an owner. */
extern atomic_long_t owner_percpu_areas;

#endif /* _MM_OWNER_PERCPU_H */
