// SPDX-License-Identifier: GPL-2.0
/*
 * Victims: the handles of chains that a CPU has evicted from its CPU cache, each with some
 * references and a tag.
 *
 * A chain whose objects are freed at once may have no other reference than a victim's. Without
 * it, the depot would free the chain, and the next capture would store it anew.
 *
 * Two hashes of the handle choose two sets, as they choose the two places of a ref. The victim is
 * in one of these sets. Handles that share their first set mostly have different second sets, so
 * few victims find both sets full.
 *
 * A CPU begins with room for STACK_DEPOT_VICTIMS. If it loses LOST_MAX before the next flush, it
 * gets room for STACK_DEPOT_VICTIMS_MAX: a capture that finds neither a ref nor a victim takes
 * some 2,000 instructions, one that finds a victim some 100 more than one that finds a ref.
 */

#include <linux/build_bug.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stackdepot.h>
#include <linux/workqueue.h>

#include "stackdepot_victims.h"

DEFINE_PER_CPU(struct stack_depot_victims, stack_depot_victims);

/* Victims that a CPU may lose between two flushes before it gets more room. */
#define LOST_MAX	(STACK_DEPOT_VICTIMS / 4)

static_assert(sizeof(struct stack_depot_victim) * STACK_DEPOT_VICTIM_SET == 64);

/* Time of the last stack_depot_pause_victims(), in jiffies. */
unsigned long stack_depot_victims_paused_at = INITIAL_JIFFIES - HZ;

/* Keep no victims for a second: their references may be what keeps the depot full. */
void stack_depot_pause_victims(void)
{
	WRITE_ONCE(stack_depot_victims_paused_at, jiffies);
}

/* Give the references of a victim back to the depot. */
static void flush_victim(struct stack_depot_victim *victim)
{
	if (victim->handle)
		stack_depot_put_many(victim->handle, victim->references);
	victim->handle = 0;
}

/*
 * Both sets of @kept are full: put it in the place of another victim, and flush that one. The
 * caller has acquired the CPU cache.
 */
void stack_depot_replace_victim(struct stack_depot_victim kept)
{
	struct stack_depot_victims *victims = this_cpu_ptr(&stack_depot_victims);
	unsigned int turn = victims->nr_lost++;
	struct stack_depot_victim *lost = stack_depot_victim_set(victims, kept.handle,
								 turn % STACK_DEPOT_REF_PLACES);

	lost += turn / STACK_DEPOT_REF_PLACES % STACK_DEPOT_VICTIM_SET;
	flush_victim(lost);
	*lost = kept;
	/* A capture may not queue a work itself: it may run under the workqueue's lock. */
	if (victims->nr_lost == LOST_MAX && victims->count < STACK_DEPOT_VICTIMS_MAX)
		irq_work_queue(&victims->want_more);
}

/* Flush the victims of this CPU, which has acquired its cache, or of one that went offline. */
void stack_depot_flush_victims(unsigned int cpu)
{
	struct stack_depot_victims *victims = per_cpu_ptr(&stack_depot_victims, cpu);
	unsigned int i;

	for (i = 0; i < victims->count; i++)
		flush_victim(&victims->victim[i]);
	victims->nr_lost = 0;
}

static struct stack_depot_victim *alloc_array(unsigned int cpu, unsigned int count)
{
	return kvcalloc_node(count, sizeof(struct stack_depot_victim),
			     GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
}

/* Give the CPU on which this runs room for more victims. */
static void add_room(struct work_struct *work)
{
	struct stack_depot_victims *victims = container_of(work, struct stack_depot_victims, grow);
	struct stack_depot_victim *unused = alloc_array(raw_smp_processor_id(),
							STACK_DEPOT_VICTIMS_MAX);
	struct stack_depot_cpu_cache *cpu = unused ? stack_depot_cpu_acquire() : NULL;

	if (cpu) {
		/* After its CPU has gone offline, the work runs elsewhere. */
		if (victims == this_cpu_ptr(&stack_depot_victims) &&
		    victims->count < STACK_DEPOT_VICTIMS_MAX) {
			stack_depot_flush_victims(smp_processor_id());
			swap(victims->victim, unused);
			victims->count = STACK_DEPOT_VICTIMS_MAX;
		}
		stack_depot_cpu_release(cpu);
	}
	kvfree(unused);
}

static void queue_grow(struct irq_work *work)
{
	struct stack_depot_victims *victims = container_of(work, struct stack_depot_victims,
							   want_more);

	schedule_work_on(smp_processor_id(), &victims->grow);
}

/* Allocate what a CPU begins with. Without memory, it keeps no victims. */
void stack_depot_alloc_victims(unsigned int cpu)
{
	struct stack_depot_victims *victims = per_cpu_ptr(&stack_depot_victims, cpu);

	init_irq_work(&victims->want_more, queue_grow);
	INIT_WORK(&victims->grow, add_room);
	victims->nr_lost = 0;
	victims->victim = alloc_array(cpu, STACK_DEPOT_VICTIMS);
	victims->count = victims->victim ? STACK_DEPOT_VICTIMS : 0;
}

/* The CPU has gone offline, and its victims were flushed. May sleep. */
void stack_depot_free_victims(unsigned int cpu)
{
	struct stack_depot_victims *victims = per_cpu_ptr(&stack_depot_victims, cpu);

	irq_work_sync(&victims->want_more);
	cancel_work_sync(&victims->grow);
	kvfree(victims->victim);
	victims->victim = NULL;
	victims->count = 0;
}
