// SPDX-License-Identifier: GPL-2.0
/*
 * How records of owners are encoded, for readers of a memory dump.
 *
 * A reader finds types, members and variables by debug information, which lacks macros.
 * owner_format has the values of these macros; lib/stackdepot/format.c has those of handles.
 */

#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/pageblock-flags.h>
#include <linux/slab_owner.h>
#include <linux/vmcore_info.h>

#include "../owner.h"
#include "../record.h"
#include "../sample.h"
#include "../slab/records.h"
#include "../user/user.h"

/*
 * Increase it when a reader that knows the previous version would misread a dump: when a
 * macro's meaning changes, or the meaning of a member of a structure.
 */
#define OWNER_FORMAT	3

/**
 * struct owner_format - what debug information does not say about records
 * @version: OWNER_FORMAT
 * @tick_ns: unit of owner_record.time, in ns
 * @ticks_shift: jiffies are shifted right by this many bits to get ticks
 * @size_bits: owner_record.size_and_rate has the size in this many bits, and above them
 *	the number of the sampling rate
 * @exts_records: bit of slab.obj_exts, and of owner_slab_records.obj_exts: the word without
 *	the bits @exts_mask is the address of records
 * @exts_mask: see @exts_records
 * @block_order: a pageblock has 2 to the power of this many pages; 0 if pageblock_order is
 *	a variable
 * @context_words: a task handle with this many words is that of a context, see user/user.h: its
 *	last word is the handle of a user chain, or a reason; 0: there are no contexts
 * @user_reason_shift: a context's last word has its reason (enum owner_user_reason) above
 *	this many bits; 0: the word is a handle
 * @user_place_shift: a word of a user chain has its place above this many bits: the index
 *	of an entry of owner_binaries plus 1, or an enum owner_user_place
 */
struct owner_format {
	u32 version;
	u32 tick_ns;
	u32 ticks_shift;
	u32 size_bits;
	u32 exts_records;
	u32 exts_mask;
	u32 block_order;
	u32 context_words;
	u32 user_reason_shift;
	u32 user_place_shift;
};

static const struct owner_format owner_format __used = {
	.version	= OWNER_FORMAT,
	.tick_ns	= OWNER_TICK_NS,
	.ticks_shift	= OWNER_TICKS_SHIFT,
	.size_bits	= OWNER_SIZE_BITS,
#ifdef CONFIG_SLAB_OWNER
	.exts_records	= OBJEXTS_OWNER_RECORDS,
	.exts_mask	= OBJEXTS_OWNER_MASK,
#endif
#ifdef CONFIG_SLAB_OWNER_USER
	.context_words	= OWNER_CONTEXT_WORDS,
	.user_reason_shift = OWNER_USER_REASON_SHIFT,
	.user_place_shift = OWNER_USER_PLACE_SHIFT,
#endif
#ifndef CONFIG_HUGETLB_PAGE_SIZE_VARIABLE
	.block_order	= pageblock_order,
#endif
};

void __init owner_save_vmcoreinfo(void)
{
	VMCOREINFO_NUMBER(OWNER_FORMAT);
}
