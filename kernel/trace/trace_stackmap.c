// SPDX-License-Identifier: GPL-2.0
/*
 * Stack ids: write an id to the ring buffer instead of a stack. See
 * Documentation/trace/stackmap.rst.
 *
 * The map of an instance has a slot for each stack. A slot has a handle of the stack depot, and a
 * reference until the map is replaced. The handle stands for a chain: the return addresses of
 * the running stack, which begin with functions of the tracer that an event's stack leaves out.
 * Most events find the slot by the hash of the chain, and neither store a frame nor take a lock.
 *
 * A chain ends with the function that entered an interrupt. The frames that were interrupted are
 * called the rest of the stack, and have a slot and an id of their own.
 *
 * If the stack of an event, up to the rest, is not the chain's last frames, the event keeps its
 * whole stack.
 */

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_running.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_map.h"

/* The map of an instance. Preemption is off. */
static struct trace_stack_map *get_map(const struct trace_array *tr)
{
	/* A tracer may not call what rcu_dereference_sched() calls with lockdep. */
	return rcu_dereference_raw(tr->stack_map);
}

static bool is_full(const struct trace_stack_map *map)
{
	return atomic_read(&map->used) >= map->size;
}

static void count_hit(const struct trace_stack_map *map, unsigned int index)
{
	atomic_inc(get_hits(map, raw_smp_processor_id(), index));
}

static void count_event(const struct trace_stack_map *map, enum event_kind kind)
{
	this_cpu_inc(map->counts->events[kind]);
}

/* --- Slots -------------------------------------------------------------------------- */

/* The slot of @hash, or the free slot that it can take. There is always a free one. */
static struct stack_slot *find_slot(struct trace_stack_map *map, u64 hash)
{
	unsigned int mask = count_slots(map) - 1, i = hash >> (64 - map->bits);
	u64 found;

	for (;; i = (i + 1) & mask) {
		found = READ_ONCE(map->slots[i].hash);
		if (likely(found == hash) || !found)
			return &map->slots[i];
	}
}

/* Find the slot of @hash, or take one. Return: NULL if the map is full. */
static struct stack_slot *find_or_take_slot(struct trace_stack_map *map, u64 hash, bool *taken)
{
	struct stack_slot *slot;
	u64 old;

	*taken = false;
	for (;;) {
		slot = find_slot(map, hash);
		if (READ_ONCE(slot->hash) == hash)
			break;
		if (!*taken) {
			/* Events of a full map only read the counter. */
			if (is_full(map))
				return NULL;
			if (atomic_inc_return(&map->used) > map->size) {
				atomic_dec(&map->used);
				return NULL;
			}
		}
		*taken = true;
		old = cmpxchg64(&slot->hash, 0, hash);
		if (!old)
			return slot;
		if (old == hash)
			break;
	}
	/* Another CPU was faster. */
	if (*taken)
		atomic_dec(&map->used);
	*taken = false;
	return slot;
}

/*
 * Are @frames those of a chain from its frame @first on? @frames has a marker in place of the
 * address of a trampoline. @trampoline: set to the index of this frame in the chain + 1, 0
 * without one.
 */
static bool frames_agree(const unsigned long *frames, unsigned int count,
			 const unsigned long *chain, unsigned int first, u8 *trampoline)
{
	unsigned int i;

	*trampoline = 0;
	for (i = 0; i < count; i++) {
		if (frames[i] == chain[first + i])
			continue;
		if (frames[i] != FTRACE_TRAMPOLINE_MARKER || *trampoline)
			return false;
		*trampoline = first + i + 1;
	}
	return true;
}

/*
 * Fill a slot that was taken: compare the stack of an event with the chain of @handle. @frames: the
 * stack; @room: length of the array, whose rest is used for the chain.
 */
static void fill_slot(struct stack_slot *slot, depot_stack_handle_t handle, unsigned int skip,
		      unsigned long *frames, unsigned int count, unsigned int room)
{
	unsigned long *chain = frames + count;
	enum slot_state state = SLOT_DIFFERS;
	unsigned int depth = 0, first;
	bool interrupt;

	slot->handle = handle;
	if (room - count >= STACK_DEPOT_CAPTURE_MAX)
		depth = stack_depot_copy(handle, chain, STACK_DEPOT_CAPTURE_MAX);
	interrupt = depth && stack_depot_ends_chain(chain[depth - 1]);
	/* The stack leaves out the chain's first frames, and has all others. */
	for (first = 0; first < depth && skip <= U8_MAX; first++) {
		if (interrupt ? depth - first > count : depth - first != count)
			continue;
		if (!frames_agree(frames, depth - first, chain, first, &slot->trampoline))
			continue;
		state = interrupt ? SLOT_INTERRUPT : SLOT_ID;
		slot->first = first;
		slot->skip = skip;
		break;
	}
	/* Pairs with read_state(). */
	smp_store_release(&slot->state, state);
}

/* Choose between an id and the stack, for an event that leaves out @skip frames. */
static enum event_kind choose_event(const struct stack_slot *slot, unsigned int skip)
{
	switch (read_state(slot)) {
	case SLOT_ID:
		return likely(slot->skip == skip) ? EVENT_ID : EVENT_DIFFERS;
	case SLOT_INTERRUPT:
		return EVENT_INTERRUPT;
	case SLOT_DIFFERS:
		return EVENT_DIFFERS;
	default:
		return EVENT_NEW;
	}
}

/* --- Writing events --------------------------------------------------------------- */

/* Write an event with the id of @slot, and that of @rest if it is not NULL, and count it. */
static void write_ids(struct trace_stack_map *map, const struct stack_slot *slot,
		      const struct stack_slot *rest, struct trace_buffer *buffer,
		      unsigned int trace_ctx)
{
	size_t size = rest ? sizeof(struct stack_ids_entry) : sizeof(struct stack_id_entry);
	unsigned int index = slot - map->slots, rest_index = 0;
	struct ring_buffer_event *event;
	struct stack_ids_entry *two;
	struct stack_id_entry *one;

	event = trace_buffer_lock_reserve(buffer, rest ? TRACE_STACK_IDS : TRACE_STACK_ID, size,
					  trace_ctx);
	if (!event)
		return;
	count_event(map, rest ? EVENT_TWO_IDS : EVENT_ID);
	count_hit(map, index);
	if (rest) {
		rest_index = rest - map->slots;
		count_hit(map, rest_index);
		two = ring_buffer_event_data(event);
		two->id = trace_stack_map_id(map, index);
		two->rest = trace_stack_map_id(map, rest_index);
	} else {
		one = ring_buffer_event_data(event);
		one->id = trace_stack_map_id(map, index);
	}
	trace_buffer_unlock_commit_nostack(buffer, event);
}

/* Write an event with the slot's id if it can have one. Otherwise count it. */
static bool write_slot(struct trace_stack_map *map, const struct stack_slot *slot,
		       struct trace_buffer *buffer, unsigned int trace_ctx, unsigned int skip)
{
	enum event_kind kind = choose_event(slot, skip);

	if (kind == EVENT_ID)
		write_ids(map, slot, NULL, buffer, trace_ctx);
	else
		count_event(map, kind);
	return kind == EVENT_ID;
}

/**
 * trace_stack_map_write() - write the id of the running stack
 * @tr: instance
 * @buffer: its buffer
 * @trace_ctx: context of the event
 * @skip: number of frames that the event's stack leaves out
 * @caller: where the chain starts
 *
 * Context: Any, with preemption disabled.
 *
 * Return: what the event has.
 */
enum trace_stack_written trace_stack_map_write(struct trace_array *tr, struct trace_buffer *buffer,
					       unsigned int trace_ctx, unsigned int skip,
					       struct stack_depot_caller caller)
{
	struct trace_stack_map *map = get_map(tr);
	struct stack_slot *slot;
	u64 hash;

	if (!map)
		return TRACE_STACK_HAS_NO_ID;
	hash = stack_depot_hash_running(STACK_DEPOT_CAPTURE_MAX, 0, caller);
	slot = find_slot(map, hash);
	if (!hash || READ_ONCE(slot->hash) != hash) {
		/* No chain is stored in an NMI: the depot's lock may not be free. */
		if (in_nmi())
			count_event(map, EVENT_NMI);
		else if (is_full(map))
			count_event(map, EVENT_FULL);
		else
			return TRACE_STACK_UNKNOWN;
		return TRACE_STACK_HAS_NO_ID;
	}
	/* The stack has to be walked to find out what was interrupted. */
	if (read_state(slot) == SLOT_INTERRUPT && !in_nmi())
		return TRACE_STACK_UNKNOWN;
	return write_slot(map, slot, buffer, trace_ctx, skip) ? TRACE_STACK_ID_WRITTEN :
								TRACE_STACK_HAS_NO_ID;
}

/*
 * Interrupted functions have many stacks, most of which are not seen again. They may take one
 * slot in this many.
 */
#define REST_SHARE	4

#define REST_FLAGS	(STACK_DEPOT_FLAG_GET | STACK_DEPOT_FLAG_COUNT | STACK_DEPOT_FLAG_RAW)

/* A rest has another slot than a chain with the same frames. */
static u64 hash_rest(const unsigned long *frames, unsigned int count)
{
	return stack_depot_hash_frames(frames, count) ^ GOLDEN_RATIO_64;
}

/* Find the slot of the stack that was interrupted, or take one. Return: NULL without a slot. */
static struct stack_slot *find_rest(struct trace_stack_map *map, unsigned long *frames,
				    unsigned int count)
{
	u64 hash = hash_rest(frames, count);
	depot_stack_handle_t handle;
	struct stack_slot *slot;
	bool taken;

	if (count > STACK_DEPOT_CAPTURE_MAX)
		return NULL;
	slot = find_slot(map, hash);
	if (READ_ONCE(slot->hash) == hash)
		return read_state(slot) == SLOT_REST ? slot : NULL;
	if (atomic_read(&map->rests) >= map->size / REST_SHARE)
		return NULL;
	handle = stack_depot_save_flags(frames, count, 0, REST_FLAGS);
	if (!handle) {
		stack_depot_request_refill();
		return NULL;
	}
	slot = find_or_take_slot(map, hash, &taken);
	if (taken) {
		atomic_inc(&map->rests);
		slot->handle = handle;
		/* Pairs with read_state(). */
		smp_store_release(&slot->state, SLOT_REST);
	} else {
		stack_depot_put_running(handle);
	}
	return slot && read_state(slot) == SLOT_REST ? slot : NULL;
}

/*
 * Write an event in an interrupt, with the ids of @slot and of what was interrupted. Return:
 * false if the stack has to be written.
 */
static bool write_interrupted(struct trace_stack_map *map, const struct stack_slot *slot,
			      struct trace_buffer *buffer, unsigned int trace_ctx,
			      unsigned int skip, unsigned long *frames, unsigned int count,
			      unsigned int room)
{
	unsigned long *chain = frames + count;
	struct stack_slot *rest = NULL;
	unsigned int depth, shared;
	u8 trampoline;

	if (room - count < STACK_DEPOT_CAPTURE_MAX || slot->skip != skip)
		return false;
	depth = stack_depot_copy(slot->handle, chain, STACK_DEPOT_CAPTURE_MAX);
	shared = depth - slot->first;
	if (count < shared || !frames_agree(frames, shared, chain, slot->first, &trampoline) ||
	    trampoline != slot->trampoline)
		return false;
	/* Without a rest, the interrupt came from user mode. */
	if (count > shared) {
		rest = find_rest(map, frames + shared, count - shared);
		if (!rest)
			return false;
	}
	write_ids(map, slot, rest, buffer, trace_ctx);
	return true;
}

/* The hash of the chain that @handle stands for. */
static u64 hash_chain(depot_stack_handle_t handle)
{
	unsigned int i, count = stack_depot_copy(handle, NULL, 0);
	u64 hash = 0;

	for (i = 0; i < count; i++)
		hash = stack_depot_mix_frame(hash, stack_depot_frame(handle, i));
	return hash;
}

/**
 * trace_stack_map_add() - add the running stack to the map, and write its id
 * @tr: instance
 * @buffer: its buffer
 * @trace_ctx: context of the event
 * @skip: number of frames that @frames leaves out
 * @caller: where the chain starts
 * @frames: the event's stack
 * @count: number of frames
 * @room: length of @frames. The rest is overwritten.
 *
 * Context: Any, with preemption disabled.
 *
 * Return: false if the stack has to be written.
 */
bool trace_stack_map_add(struct trace_array *tr, struct trace_buffer *buffer,
			 unsigned int trace_ctx, unsigned int skip,
			 struct stack_depot_caller caller, unsigned long *frames,
			 unsigned int count, unsigned int room)
{
	struct trace_stack_map *map = get_map(tr);
	enum stack_depot_captured captured;
	depot_stack_handle_t handle;
	struct stack_slot *slot;
	bool taken;

	if (!map)
		return false;
	handle = stack_depot_capture(STACK_DEPOT_CAPTURE_MAX, STACK_DEPOT_FLAG_WHOLE, 0, caller,
				     &captured);
	if (!handle || captured != STACK_DEPOT_CAPTURED_ALL) {
		if (handle)
			stack_depot_put_running(handle);
		count_event(map, EVENT_NO_ROOM);
		return false;
	}
	slot = find_or_take_slot(map, hash_chain(handle), &taken);
	if (!slot) {
		stack_depot_put_running(handle);
		count_event(map, EVENT_FULL);
		return false;
	}
	if (taken)
		fill_slot(slot, handle, skip, frames, count, room);
	else
		stack_depot_put_running(handle);
	if (read_state(slot) == SLOT_INTERRUPT &&
	    write_interrupted(map, slot, buffer, trace_ctx, skip, frames, count, room))
		return true;
	return write_slot(map, slot, buffer, trace_ctx, skip);
}

/* Count an event that has the stack of registers. Preemption is off. */
void trace_stack_map_count_regs(struct trace_array *tr)
{
	struct trace_stack_map *map = get_map(tr);

	if (map)
		count_event(map, EVENT_REGS);
}
