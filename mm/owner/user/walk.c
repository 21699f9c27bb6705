// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the user stack of the current task by its frame pointers.
 *
 * owner_user_walk() reads user memory with or without page faults, as its caller allows. Its
 * result depends on the user registers, the user stack and the code there only, so that a
 * stack that was walked without page faults can be compared with one that was walked with
 * them.
 *
 * A frame pointer leads to the saved frame pointer of the caller, and to the return address
 * above it. Three callers are found in another way, by the instructions at an address:
 *
 *	a function that makes the system call without a frame, as those of libc, returns with
 *	"ret" at once: its return address is at the stack pointer, on arm64 in a register
 *	a function that faults at its first instruction, which saves the frame pointer, has no
 *	frame either
 *	a signal handler returns to code that ends the signal: the registers that the signal
 *	interrupted are in the signal's frame
 */

#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "user.h"

/* Registers that the walk begins with. */
struct user_registers {
	unsigned long ip;
	unsigned long sp;
	unsigned long fp;
	unsigned long lr;	/* on arm64 */
};

/* A saved frame pointer, and the return address above it. */
struct user_frame {
	unsigned long next;
	unsigned long return_address;
};

static __always_inline bool address_is_of_user(unsigned long address)
{
	return access_ok((void __user *)address, sizeof(struct user_frame));
}

/*
 * User memory is read between user_access_begin() and user_access_end(), where no function may
 * be called. Mask addresses against speculation: the processor may guess that one is of user
 * memory.
 */
static __always_inline unsigned long __user *mask_address(unsigned long address)
{
#ifdef CONFIG_X86_64
	return mask_user_address((unsigned long __user *)address);
#else
	/* unsafe_get_user() masks it. */
	return (unsigned long __user *)address;
#endif
}

/* Read a word. False if it is not there, or its page is not present and must not fault. */
static __always_inline bool read_user_word(unsigned long address, unsigned long *word)
{
	if (!address_is_of_user(address))
		return false;
	unsafe_get_user(*word, mask_address(address), fault);
	return true;
fault:
	return false;
}

/* Read two words. address_is_of_user() was true. */
static __always_inline bool read_user_words(unsigned long address, unsigned long *first,
					    unsigned long *second)
{
	const unsigned long __user *from = mask_address(address);

	unsafe_get_user(*first, from, fault);
	unsafe_get_user(*second, from + 1, fault);
	return true;
fault:
	return false;
}

/* Kinds of a return address. */
enum caller_kind {
	CALLER_NONE,		/* no call is before it */
	CALLER_CALLED,
	CALLER_SIGNAL,		/* it ends a signal */
	CALLER_FAULT,		/* the code must not be read now */
};

/*
 * Find the kind of a return address whose code could not be read. Many words of a stack are small
 * numbers. No code is mapped below mmap_min_addr: do not walk again with page faults for these.
 */
static __always_inline enum caller_kind find_unreadable_kind(unsigned long address)
{
	return pagefault_disabled() && address >= mmap_min_addr ? CALLER_FAULT : CALLER_NONE;
}

#ifdef CONFIG_ARM64
#include "walk_arm64.h"
#else
#include "walk_x86.h"
#endif

bool owner_user_is_32bit(void)
{
	return owner_user_code_is_32bit(task_pt_regs(current));
}

/* The walk ends. Return: false. */
static __always_inline bool end_walk(struct owner_user_raw *raw, enum owner_user_reason reason)
{
	raw->reason = reason;
	return false;
}

/*
 * Add the return address of a frame. Sets *@interrupted if it ends a signal. Return: false if
 * the walk ends here.
 */
static __always_inline bool add_caller(struct owner_user_raw *raw, unsigned long address,
				       bool *interrupted)
{
	*interrupted = false;
	if (raw->count == OWNER_USER_FRAMES)
		return false;
	switch (find_caller_kind(address)) {
	case CALLER_NONE:
		/* The outermost frame may have a return address of 0. */
		return end_walk(raw, address ? OWNER_USER_NO_FRAME_POINTERS :
					       OWNER_USER_NO_REASON);
	case CALLER_FAULT:
		return end_walk(raw, OWNER_USER_FAULT);
	case CALLER_SIGNAL:
		raw->begins |= BIT(raw->count);
		*interrupted = true;
		break;
	case CALLER_CALLED:
		break;
	}
	raw->frame[raw->count++] = address;
	return true;
}

/*
 * Walk from the registers of the task, or from those that a signal interrupted. Return: true
 * if the walk has come to a signal, and goes on with @regs.
 */
static __always_inline bool walk_frames(struct owner_user_raw *raw, struct user_registers *regs)
{
	unsigned long lowest = regs->sp, fp = regs->fp;
	bool leaf, interrupted, first = true;
	struct user_frame frame;

	if (raw->count == OWNER_USER_FRAMES)
		return false;
	raw->begins |= BIT(raw->count);
	raw->frame[raw->count++] = regs->ip;
	if (!read_leaf(regs, &leaf, &frame.return_address) && (leaf || pagefault_disabled()))
		return end_walk(raw, OWNER_USER_FAULT);
	if (leaf) {
		if (!add_caller(raw, strip_address(frame.return_address), &interrupted))
			return false;
		if (interrupted)
			return read_signal_frame(0, 0, true, regs) ||
			       end_walk(raw, OWNER_USER_FAULT);
	}
	while (fp || first) {
		if (fp % sizeof(fp) || fp < lowest || !address_is_of_user(fp))
			return end_walk(raw, fp < lowest && !first ? OWNER_USER_CYCLE :
							 OWNER_USER_NO_FRAME_POINTERS);
		if (!read_user_words(fp, &frame.next, &frame.return_address))
			return end_walk(raw, OWNER_USER_FAULT);
		if (!add_caller(raw, strip_address(frame.return_address), &interrupted))
			return false;
		if (interrupted)
			return read_signal_frame(fp, frame.next, false, regs) ||
			       end_walk(raw, OWNER_USER_FAULT);
		lowest = fp + sizeof(frame);
		fp = strip_frame_pointer(frame.next);
		first = false;
	}
	return false;
}

/**
 * owner_user_walk() - walk the user stack of the current task
 * @raw: filled
 *
 * Context: a task that has entered the kernel from 64-bit code. Page faults may be disabled.
 *
 * Return: false if there was a fault: the walk ends there.
 */
bool owner_user_walk(struct owner_user_raw *raw)
{
	struct user_registers from = read_user_registers(task_pt_regs(current));

	raw->count = 0;
	raw->begins = 0;
	raw->reason = OWNER_USER_NO_REASON;
	/* There is no range to check here: access_ok() checks each address that is read. */
	if (!user_access_begin(NULL, 0))
		return end_walk(raw, OWNER_USER_FAULT);
	while (walk_frames(raw, &from))
		;
	user_access_end();
	return raw->reason != OWNER_USER_FAULT;
}
