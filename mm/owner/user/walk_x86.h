/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers, code and signal frames of x86_64, for walk.c.
 */
#ifndef _MM_OWNER_USER_WALK_X86_H
#define _MM_OWNER_USER_WALK_X86_H

#include <asm/sigcontext.h>
#include <asm/ucontext.h>

static __always_inline bool owner_user_code_is_32bit(struct pt_regs *regs)
{
	return !user_64bit_mode(regs);
}

static inline struct user_registers read_user_registers(const struct pt_regs *regs)
{
	return (struct user_registers){ .ip = regs->ip, .sp = regs->sp, .fp = regs->bp };
}

/* The address that is in a word of the stack */
static __always_inline unsigned long strip_address(unsigned long word)
{
	return word;
}

static __always_inline unsigned long strip_frame_pointer(unsigned long word)
{
	return word;
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
 * Find the return address of a function that has no frame: the instructions at @ip do not use
 * the stack before they return. False if the code, or the return address, could not be read.
 * Sets *@leaf if there is one.
 */
static __always_inline bool read_leaf(const struct user_registers *regs, bool *leaf,
				      unsigned long *return_address)
{
	unsigned long code, more;
	unsigned int skip;

	*leaf = false;
	if (!read_user_word(regs->ip, &code))
		return false;
	skip = skip_error_check(code);
	if (!skip) {
		*leaf = (code & 0xff) == RET || (u32)code == PUSH_RBP_MOV_RSP_RBP ||
			((u32)code == ENDBR64 && code >> 32 == PUSH_RBP_MOV_RSP_RBP);
	} else {
		if (!read_user_word(regs->ip + skip, &more))
			return false;
		*leaf = (more & 0xff) == RET;
	}
	return !*leaf || read_user_word(regs->sp, return_address);
}

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
	if (!read_user_words(address - sizeof(before), &before, &code))
		return find_unreadable_kind(address);
	if (code == CALL_SIGRETURN)
		return CALLER_SIGNAL;
	return ends_in_call(before) ? CALLER_CALLED : CALLER_NONE;
}

/*
 * Read the registers that a signal interrupted. @frame: the frame of the signal's handler; with
 * @leaf, the handler has no frame, and its registers are @regs.
 */
static __always_inline bool read_signal_frame(unsigned long frame, unsigned long next, bool leaf,
					      struct user_registers *regs)
{
	unsigned long context = leaf ? regs->sp : frame + sizeof(frame);

	/* The return address of the handler is the first member of the signal's frame. */
	context += sizeof(context) + offsetof(struct ucontext, uc_mcontext);
	return read_user_word(context + offsetof(struct sigcontext_64, ip), &regs->ip) &&
	       read_user_word(context + offsetof(struct sigcontext_64, sp), &regs->sp) &&
	       read_user_word(context + offsetof(struct sigcontext_64, bp), &regs->fp);
}

#endif /* _MM_OWNER_USER_WALK_X86_H */
