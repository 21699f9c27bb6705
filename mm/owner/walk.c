// SPDX-License-Identifier: GPL-2.0
/* The part of a cursor that all sources share: locks, yielding and references. */

#include <linux/jiffies.h>
#include <linux/sched.h>

#include "record.h"
#include "totals.h"
#include "walk.h"

/* Longest time to hold the locks of a source: 20 ms. */
#define LOCKED_JIFFIES	max(HZ / 50, 1)

/**
 * owner_cursor_put_refs() - drop the references to the object that was found last
 * @cursor: the cursor
 */
void owner_cursor_put_refs(struct owner_cursor *cursor)
{
	owner_record_put_refs(&cursor->ref);
	cursor->ref.handle_pair = 0;
}

/**
 * owner_cursor_begin() - take the locks of the cursor's source
 * @cursor: its @ops and @pos say what to read from where
 *
 * Context: process context, may sleep.
 */
void owner_cursor_begin(struct owner_cursor *cursor)
{
	if (cursor->ops->lock)
		cursor->ops->lock(cursor);
	cursor->deadline = jiffies + LOCKED_JIFFIES;
	cursor->ref.handle_pair = 0;
}

/**
 * owner_cursor_end() - drop the locks and the references of a cursor
 * @cursor: between owner_cursor_begin() and here; it keeps its position
 */
void owner_cursor_end(struct owner_cursor *cursor)
{
	owner_cursor_put_refs(cursor);
	if (cursor->ops->unlock)
		cursor->ops->unlock(cursor);
}

/**
 * owner_cursor_set_source() - continue at the start of another source
 * @cursor: between owner_cursor_begin() and owner_cursor_end()
 * @ops: the other source
 */
void owner_cursor_set_source(struct owner_cursor *cursor, const struct owner_source_ops *ops)
{
	owner_cursor_end(cursor);
	cursor->ops = ops;
	cursor->pos = 0;
	owner_cursor_begin(cursor);
}

/* Slow path of owner_cursor_yield(): drop the locks, let other tasks run, lock again. */
int owner_cursor_yield_slow(struct owner_cursor *cursor)
{
	if (owner_cursor_has_signal(cursor))
		return -ERESTARTSYS;
	owner_cursor_end(cursor);
	cond_resched();
	owner_cursor_begin(cursor);
	return 0;
}

/**
 * owner_cursor_next() - find the next object
 * @cursor: between owner_cursor_begin() and owner_cursor_end()
 * @object: filled if there is one
 *
 * Return: 1 if there is one, 0 if there is none, -ERESTARTSYS after a signal.
 */
int owner_cursor_next(struct owner_cursor *cursor, struct owner_object *object)
{
	owner_cursor_put_refs(cursor);
	return cursor->ops->next(cursor, object);
}

static int next_chain(struct owner_cursor *cursor, struct owner_object *object)
{
	const struct owner_chain_total *total = &cursor->chains->total[cursor->pos];
	int error = owner_cursor_yield(cursor);

	if (error)
		return error;
	if (cursor->pos == cursor->chains->count)
		return 0;
	cursor->found_pos = cursor->pos++;
	*object = (struct owner_object){
		.source = OWNER_SOURCE_SLAB,
		.owner.stack = total->stack,
		.counted = total->estimate,
	};
	return 1;
}

const struct owner_source_ops owner_chain_source = {
	.next	= next_chain,
};
