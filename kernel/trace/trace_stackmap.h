/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stack ids: with the option "stackmap", a trace event has a 4-byte id instead of its stack.
 */
#ifndef _TRACE_STACKMAP_H
#define _TRACE_STACKMAP_H

#include <linux/stackdepot_capture.h>
#include <linux/types.h>

struct dentry;
struct pt_regs;
struct trace_array;
struct trace_buffer;

/* Result of trace_stack_map_write(). */
enum trace_stack_written {
	TRACE_STACK_ID_WRITTEN,		/* the caller is done */
	TRACE_STACK_HAS_NO_ID,		/* the caller writes the whole stack */
	TRACE_STACK_UNKNOWN,		/* the caller walks the stack, and adds it to the map */
};

#ifdef CONFIG_TRACE_STACK_MAP

enum trace_stack_written trace_stack_map_write(struct trace_array *tr, struct trace_buffer *buffer,
					       unsigned int trace_ctx, unsigned int skip,
					       struct stack_depot_caller caller);
bool trace_stack_map_add(struct trace_array *tr, struct trace_buffer *buffer,
			 unsigned int trace_ctx, unsigned int skip,
			 struct stack_depot_caller caller, unsigned long *frames,
			 unsigned int count, unsigned int room);
void trace_stack_map_count_regs(struct trace_array *tr);
int trace_stack_map_enable(struct trace_array *tr);
void trace_stack_map_free(struct trace_array *tr);
void trace_stack_map_create_files(struct trace_array *tr, struct dentry *parent);

#else /* CONFIG_TRACE_STACK_MAP */

static inline enum trace_stack_written
trace_stack_map_write(struct trace_array *tr, struct trace_buffer *buffer, unsigned int trace_ctx,
		      unsigned int skip, struct stack_depot_caller caller)
{
	return TRACE_STACK_HAS_NO_ID;
}

static inline bool trace_stack_map_add(struct trace_array *tr, struct trace_buffer *buffer,
				       unsigned int trace_ctx, unsigned int skip,
				       struct stack_depot_caller caller, unsigned long *frames,
				       unsigned int count, unsigned int room)
{
	return false;
}

static inline void trace_stack_map_count_regs(struct trace_array *tr)
{
}

static inline int trace_stack_map_enable(struct trace_array *tr)
{
	return 0;
}

static inline void trace_stack_map_free(struct trace_array *tr)
{
}

static inline void trace_stack_map_create_files(struct trace_array *tr, struct dentry *parent)
{
}

#endif /* CONFIG_TRACE_STACK_MAP */
#endif /* _TRACE_STACKMAP_H */
