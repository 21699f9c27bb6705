/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of stack ids, for trace_stackmap.c, trace_stackmap_map.c and trace_stackmap_files.c.
 */
#ifndef _TRACE_STACKMAP_MAP_H
#define _TRACE_STACKMAP_MAP_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

struct trace_array;

#define TRACE_STACK_MAP_SIZE	16384
#define TRACE_STACK_MAP_SIZE_MIN	16
#define TRACE_STACK_MAP_SIZE_MAX	BIT(18)

/* The low bits of an id are the slot's index + 1, the others the map's epoch. No id is 0. */
#define INDEX_BITS	20
#define EPOCH_MASK	(BIT(32 - INDEX_BITS) - 1)

/* How events use a slot. */
enum slot_state {
	SLOT_NEW,		/* free, or a CPU is filling the slot */
	SLOT_ID,		/* events have the id of the slot */
	SLOT_INTERRUPT,		/* events have its id, and one for the rest of their stack */
	SLOT_REST,		/* its id stands for the rest of a stack, which was interrupted */
	SLOT_DIFFERS,		/* events have whole stacks, which differ from the chain's end */
};

struct stack_slot {
	u64 hash;			/* of the chain, or of the rest; 0: free */
	depot_stack_handle_t handle;	/* 0 until @state is published */
	u8 skip;			/* frames that the event's caller asked to leave out */
	u8 first;			/* index of the chain's first frame that events have */
	u8 trampoline;			/* index of the frame of a trampoline + 1, 0 without one */
	u8 state;			/* enum slot_state. Published after the fields above. */
};

/* Events with ids, and the reasons for which events have whole stacks. */
enum event_kind {
	EVENT_ID,
	EVENT_TWO_IDS,
	EVENT_INTERRUPT,	/* SLOT_INTERRUPT, and the rest of the stack has no id */
	EVENT_DIFFERS,		/* SLOT_DIFFERS, or another number of frames to leave out */
	EVENT_REGS,		/* the stack of registers, not the running one */
	EVENT_NMI,
	EVENT_FULL,		/* the map has no free slot */
	EVENT_NO_ROOM,		/* the depot has no room, or is in use by what was traced */
	EVENT_NEW,		/* another CPU is filling the slot */
	NR_EVENT_KINDS,
};

/* Events that a CPU wrote. */
struct map_counts {
	unsigned long events[NR_EVENT_KINDS];
};

/*
 * Hits of a slot are counted in one of this many counters at most, so their memory does not grow
 * with the number of CPUs.
 */
#define MAX_HIT_COUNTERS	16

struct trace_stack_map {
	unsigned int size;	/* slots that may be in use */
	unsigned int bits;	/* log2 of the number of slots, at least twice @size */
	unsigned int epoch;
	unsigned int hit_counters;	/* of each slot, a power of two */
	atomic_t used;		/* slots */
	atomic_t rests;		/* slots with SLOT_REST, see REST_SHARE */
	struct map_counts __percpu *counts;
	atomic_t *hits;		/* an array of slots for each counter of a slot */
	struct stack_slot slots[];
};

static inline unsigned int count_slots(const struct trace_stack_map *map)
{
	return 1U << map->bits;
}

static inline atomic_t *get_hits(const struct trace_stack_map *map, unsigned int counter,
				 unsigned int index)
{
	return &map->hits[((counter & (map->hit_counters - 1)) << map->bits) + index];
}

static inline enum slot_state read_state(const struct stack_slot *slot)
{
	/* Pairs with fill_slot(). */
	return smp_load_acquire(&slot->state);
}

static inline bool has_id(const struct stack_slot *slot)
{
	enum slot_state state = read_state(slot);

	return state == SLOT_ID || state == SLOT_INTERRUPT || state == SLOT_REST;
}

/* The id of a slot. */
static inline u32 trace_stack_map_id(const struct trace_stack_map *map, unsigned int index)
{
	return map->epoch << INDEX_BITS | (index + 1);
}

extern struct mutex trace_stack_map_mutex;

int trace_stack_map_replace(struct trace_array *tr, unsigned int size);
unsigned int trace_stack_map_copy(const struct trace_array *tr, u32 id, unsigned long *frames);

#endif /* _TRACE_STACKMAP_MAP_H */
