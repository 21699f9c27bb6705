// SPDX-License-Identifier: GPL-2.0
/*
 * How handles and evictable records are encoded, for readers of a memory dump.
 *
 * A reader finds types, members and variables by debug information, which lacks macros.
 * stack_depot_format has the values of these macros. A structure instead of lines in
 * vmcoreinfo, which is one page and nearly full on many machines.
 */

#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/stackdepot.h>
#include <linux/vmcore_info.h>

#include "evict.h"
#include "internal.h"

/*
 * Increase it when a reader that knows the previous version would misread a dump: when a
 * macro's meaning changes, or the meaning of a member of a structure.
 */
#define STACK_DEPOT_FORMAT	1

/**
 * struct stack_depot_format - what debug information does not say about the depot
 * @version: STACK_DEPOT_FORMAT
 * @pool_bytes: size of a pool
 * @offset_shift: a handle's offset is in units of 2 to the power of this many bytes
 * @counters: number of counters of a record that has counters
 * @evictable_tag: first word of a pool of evictable records
 * @unit_bytes: evictable records start at multiples of this within a pool
 * @unit_carved: bit of a byte in evictable_pool.unit: a record starts at this unit. The
 *	bits below have to be equal to handle_parts.extra.
 * @hash_counted: bit of stack_record.hash: the frames follow @counters longs
 * @hash_data: bit of stack_record.hash: the record has words that are not frames
 * @hash_packed: bit of stack_record.hash: a frame is a u32, and stack_depot_frame_base
 *	plus that number is the address
 * @hash_linked: bit of stack_record.hash: the last word is the handle of another record
 *	unless its upper 32 bits are set
 */
struct stack_depot_format {
	u32 version;
	u32 pool_bytes;
	u32 offset_shift;
	u32 counters;
	u32 evictable_tag;
	u32 unit_bytes;
	u32 unit_carved;
	u32 hash_counted;
	u32 hash_data;
	u32 hash_packed;
	u32 hash_linked;
};

static const struct stack_depot_format stack_depot_format __used = {
	.version	= STACK_DEPOT_FORMAT,
	.pool_bytes	= POOL_BYTES,
	.offset_shift	= DEPOT_STACK_ALIGN,
	.counters	= STACK_DEPOT_COUNTERS,
	.evictable_tag	= EVICTABLE_POOL_TAG,
	.unit_bytes	= DEPOT_UNIT,
	.unit_carved	= UNIT_CARVED,
	.hash_counted	= HASH_COUNTED,
	.hash_data	= HASH_DATA,
	.hash_packed	= HASH_PACKED,
	.hash_linked	= HASH_LINKED,
};

void __init stack_depot_save_vmcoreinfo(void)
{
	VMCOREINFO_NUMBER(STACK_DEPOT_FORMAT);
}
