/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Victims: references of a CPU to chains that it has evicted from its CPU cache. See
 * include/linux/stackdepot_refs.h.
 */
#ifndef _LIB_STACKDEPOT_VICTIMS_H
#define _LIB_STACKDEPOT_VICTIMS_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/stackdepot_refs.h>
#include <linux/types.h>

extern unsigned long stack_depot_victims_paused_at;

void stack_depot_replace_victim(struct stack_depot_victim kept);
void stack_depot_pause_victims(void);
void stack_depot_flush_victims(unsigned int cpu);
void stack_depot_alloc_victims(unsigned int cpu);
void stack_depot_free_victims(unsigned int cpu);

/* --- Keep and take a victim, between acquire and release of the CPU cache ---------- */

/*
 * Return one of the two sets that can hold the victim of @handle; @place is 0 or 1. Records of one
 * size have handles at equal distances: the upper bits of the hash spread these over more sets than
 * the lower bits do.
 */
static inline struct stack_depot_victim *
stack_depot_victim_set(const struct stack_depot_victims *victims, depot_stack_handle_t handle,
		       unsigned int place)
{
	unsigned int sets = victims->count / STACK_DEPOT_VICTIM_SET;
	unsigned int set = stack_depot_ref_index(handle, place) * sets / STACK_DEPOT_REFS;

	return &victims->victim[set * STACK_DEPOT_VICTIM_SET];
}

/*
 * Search both sets of @handle for the victim of @wanted, or for an unused victim if @wanted is 0.
 * Return: NULL if there is none.
 */
static inline struct stack_depot_victim *
stack_depot_find_victim(const struct stack_depot_victims *victims, depot_stack_handle_t handle,
			depot_stack_handle_t wanted)
{
	struct stack_depot_victim *set;
	unsigned int place, i;

	for (place = 0; place < STACK_DEPOT_REF_PLACES; place++) {
		set = stack_depot_victim_set(victims, handle, place);
		for (i = 0; i < STACK_DEPOT_VICTIM_SET; i++)
			if (set[i].handle == wanted)
				return &set[i];
	}
	return NULL;
}

static inline bool stack_depot_can_keep_victim(void)
{
	return likely(__this_cpu_read(stack_depot_victims.victim)) &&
	       jiffies - READ_ONCE(stack_depot_victims_paused_at) >= HZ;
}

/* Keep a victim: stack_depot_can_keep_victim() was true. */
static inline void stack_depot_keep_victim(struct stack_depot_victim kept)
{
	struct stack_depot_victim *unused;

	unused = stack_depot_find_victim(this_cpu_ptr(&stack_depot_victims), kept.handle, 0);
	if (likely(unused))
		*unused = kept;
	else
		stack_depot_replace_victim(kept);
}

/* Take the victim of @handle, which may be 0. Return: false if there is none. */
static inline bool stack_depot_take_victim(depot_stack_handle_t handle,
					   struct stack_depot_victim *taken)
{
	const struct stack_depot_victims *victims = this_cpu_ptr(&stack_depot_victims);
	struct stack_depot_victim *victim;

	if (unlikely(!victims->victim || !handle))
		return false;
	victim = stack_depot_find_victim(victims, handle, handle);
	if (!victim)
		return false;
	*taken = *victim;
	victim->handle = 0;
	return true;
}

#endif /* _LIB_STACKDEPOT_VICTIMS_H */
