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
 *	"ret" at once: its return address is at the stack pointer
 *	a function that faults at its first instruction, "push %rbp" or "endbr64" before it,
 *	has no frame either
 *	a signal handler returns to code that ends the signal: the registers that the signal
 *	interrupted are in the signal's frame
 */

#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "user.h"

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

#include <asm/sigcontext.h>
#include <asm/ucontext.h>

/* Registers that the walk begins with. */
struct user_registers {
	unsigned long ip;
	unsigned long sp;
	unsigned long fp;
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
	return mask_user_address((unsigned long __user *)address);
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

#define RET			0xc3
#define PUSH_RBP_MOV_RSP_RBP	0xe5894855U
#define ENDBR64			0xfa1e0ff3U
#define CMP_RAX_4096		0xfffff0003d48ULL	/* cmp $-4096, %rax; ja follows */
#define CMP_RAX_4095		0xfffff0013d48ULL	/* cmp $-4095, %rax; jae follows */
/* mov $__NR_rt_sigreturn, %rax; and the first byte of syscall */
#define CALL_SIGRETURN		0x0f0000000fc0c748ULL

/* Bytes of a cmp of the result of a system call and of the jump behind it, 0: no such. */
static __always_inline unsigned int skip_error_check(unsigned long code)
{
	if ((code & 0xffffffffffffULL) != CMP_RAX_4096 &&
	    (code & 0xffffffffffffULL) != CMP_RAX_4095)
		return 0;
	/* jae and ja, with 8 or 32 bits. */
	if ((code >> 48 & 0xfb) == 0x73)
		return 8;
	return (code >> 48 & 0xff) == 0x0f && (code >> 56 & 0xfb) == 0x83 ? 12 : 0;
}

/*
 * Does the function return with the stack pointer at its return address? Then the instructions
 * at @ip do not use the stack before they return. Sets *@leaf. False if the code could not be
 * read.
 */
static __always_inline bool read_leaf_code(unsigned long ip, bool *leaf)
{
	unsigned long code, more;
	unsigned int skip;

	*leaf = false;
	if (!read_user_word(ip, &code))
		return false;
	skip = skip_error_check(code);
	if (!skip) {
		*leaf = (code & 0xff) == RET || (u32)code == PUSH_RBP_MOV_RSP_RBP ||
			((u32)code == ENDBR64 && code >> 32 == PUSH_RBP_MOV_RSP_RBP);
		return true;
	}
	if (!read_user_word(ip + skip, &more))
		return false;
	*leaf = (more & 0xff) == RET;
	return true;
}

/* Kinds of a return address. */
enum caller_kind {
	CALLER_NONE,		/* no call is before it */
	CALLER_CALLED,
	CALLER_SIGNAL,		/* it ends a signal */
	CALLER_FAULT,		/* the code must not be read now */
};

/* Is there a call at the end of these 8 bytes? */
static __always_inline bool ends_in_call(unsigned long code)
{
	unsigned int i;

	/* call rel32 */
	if ((code >> 24 & 0xff) == 0xe8)
		return true;
	/* call *register or *memory, of 2 to 7 bytes without prefixes */
	for (i = 48; i; i -= 8)
		if ((code >> i & 0x38ff) == 0x10ff)
			return true;
	return false;
}

/*
 * Find the kind of a return address. Words on the stack of a program without frame pointers
 * often look like frames.
 */
static __always_inline enum caller_kind find_caller_kind(unsigned long address)
{
	unsigned long before, code;

	if (!address_is_of_user(address - sizeof(before)))
		return CALLER_NONE;
	if (!read_user_words(address - sizeof(before), &before, &code)) {
		/* Small numbers are frequent, and no code is there that is not present. */
		return pagefault_disabled() && address >= mmap_min_addr ? CALLER_FAULT :
									  CALLER_NONE;
	}
	if (code == CALL_SIGRETURN)
		return CALLER_SIGNAL;
	return ends_in_call(before) ? CALLER_CALLED : CALLER_NONE;
}

/* Read the registers that a signal interrupted. @frame: the frame of the signal's handler. */
static __always_inline bool read_signal_frame(unsigned long frame, struct user_registers *regs)
{
	/* The return address of the handler is the first member of the signal's frame. */
	unsigned long context = frame + sizeof(struct user_frame) +
				offsetof(struct ucontext, uc_mcontext);

	return read_user_word(context + offsetof(struct sigcontext_64, ip), &regs->ip) &&
	       read_user_word(context + offsetof(struct sigcontext_64, sp), &regs->sp) &&
	       read_user_word(context + offsetof(struct sigcontext_64, bp), &regs->fp);
}

bool owner_user_is_32bit(void)
{
	return !user_64bit_mode(task_pt_regs(current));
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
	if (!read_leaf_code(regs->ip, &leaf) && pagefault_disabled())
		return end_walk(raw, OWNER_USER_FAULT);
	if (leaf) {
		if (!read_user_word(regs->sp, &frame.return_address))
			return end_walk(raw, OWNER_USER_FAULT);
		if (!add_caller(raw, frame.return_address, &interrupted))
			return false;
		if (interrupted)
			return read_signal_frame(regs->sp - sizeof(frame.next), regs) ||
			       end_walk(raw, OWNER_USER_FAULT);
	}
	while (fp || first) {
		if (fp % sizeof(fp) || fp < lowest || !address_is_of_user(fp))
			return end_walk(raw, fp < lowest && !first ? OWNER_USER_CYCLE :
							 OWNER_USER_NO_FRAME_POINTERS);
		if (!read_user_words(fp, &frame.next, &frame.return_address))
			return end_walk(raw, OWNER_USER_FAULT);
		if (!add_caller(raw, frame.return_address, &interrupted))
			return false;
		if (interrupted)
			return read_signal_frame(fp, regs) || end_walk(raw, OWNER_USER_FAULT);
		lowest = fp + sizeof(frame);
		fp = frame.next;
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
	const struct pt_regs *regs = task_pt_regs(current);
	struct user_registers from = { regs->ip, regs->sp, regs->bp };

	raw->count = 0;
	raw->begins = 0;
	raw->reason = OWNER_USER_NO_REASON;
	/* access_ok() is asked for each address. */
	if (!user_access_begin(NULL, 0))
		return end_walk(raw, OWNER_USER_FAULT);
	while (walk_frames(raw, &from))
		;
	user_access_end();
	return raw->reason != OWNER_USER_FAULT;
}

#else /* no user chains: change.c refuses user=on */

bool owner_user_is_32bit(void)
{
	return false;
}

bool owner_user_walk(struct owner_user_raw *raw)
{
	return false;
}

#endif
