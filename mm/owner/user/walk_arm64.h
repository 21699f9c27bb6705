/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers, code and signal frames of arm64, for walk.c.
 */
#ifndef _MM_OWNER_USER_WALK_ARM64_H
#define _MM_OWNER_USER_WALK_ARM64_H

#include <asm/pointer_auth.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>

static __always_inline bool owner_user_code_is_32bit(struct pt_regs *regs)
{
	return compat_user_mode(regs);
}

static inline struct user_registers read_user_registers(const struct pt_regs *regs)
{
	return (struct user_registers){ .ip = regs->pc, .sp = regs->sp,
		.fp = untagged_addr(regs->regs[29]), .lr = regs->regs[30] };
}

/* The address that is in a word of the stack, without its signature and tag */
static __always_inline unsigned long strip_address(unsigned long word)
{
	return untagged_addr(ptrauth_strip_user_insn_pac(word));
}

static __always_inline unsigned long strip_frame_pointer(unsigned long word)
{
	return untagged_addr(word);
}

#define RET			0xd65f03c0
#define PACIASP			0xd503233f
#define PACIBSP			0xd503237f
#define BTI_C			0xd503245f
#define CMN_X0_4095		0xb13ffc1f
#define MOV_X8_SIGRETURN	0xd2801168
#define SVC			0xd4000001

/* Read an instruction. False if it is not there, or its page is not present. */
static __always_inline bool read_code(unsigned long address, u32 *code)
{
	__le32 word;

	if (address % sizeof(word) || !address_is_of_user(address))
		return false;
	unsafe_get_user(word, (__le32 __user *)address, fault);
	*code = le32_to_cpu(word);
	return true;
fault:
	return false;
}

/* b.hs or b.hi, with any offset */
static __always_inline bool is_error_branch(u32 code)
{
	return (code & 0xff00001f) == 0x54000002 || (code & 0xff00001f) == 0x54000008;
}

/* stp x29, x30, [sp, #-n]! */
static __always_inline bool begins_frame(u32 code)
{
	return (code & 0xffe07fff) == 0xa9a07bfd;
}

/*
 * Find the return address of a function that has no frame: it is in the link register if the
 * instructions at @ip return at once, or begin the function. False if the code could not be
 * read. Sets *@leaf if there is one.
 */
static __always_inline bool read_leaf(const struct user_registers *regs, bool *leaf,
				      unsigned long *return_address)
{
	unsigned long ip = regs->ip;
	u32 code, more;

	*leaf = false;
	*return_address = regs->lr;
	if (!read_code(ip, &code))
		return false;
	if (code == CMN_X0_4095) {
		if (!read_code(ip + 4, &code) || !read_code(ip + 8, &more))
			return false;
		*leaf = is_error_branch(code) && more == RET;
		return true;
	}
	if (code == PACIASP || code == PACIBSP || code == BTI_C) {
		if (!read_code(ip + 4, &code))
			return false;
		*leaf = begins_frame(code);
		return true;
	}
	*leaf = code == RET || begins_frame(code);
	return true;
}

/* bl, or blr and its forms that authenticate */
static __always_inline bool is_call(u32 code)
{
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
}

/*
 * Find the kind of a return address. Words on the stack of a program without frame pointers
 * often look like frames.
 */
static __always_inline enum caller_kind find_caller_kind(unsigned long address)
{
	u32 before, code, next;

	if (address % sizeof(code) || !address_is_of_user(address - sizeof(code)))
		return CALLER_NONE;
	if (!read_code(address - sizeof(code), &before) || !read_code(address, &code))
		return find_unreadable_kind(address);
	if (code == MOV_X8_SIGRETURN && read_code(address + sizeof(code), &next) && next == SVC)
		return CALLER_SIGNAL;
	return is_call(before) ? CALLER_CALLED : CALLER_NONE;
}

/* The fixed part of a signal's frame. The state of other registers and a frame record follow. */
struct user_signal_frame {
	struct siginfo info;
	struct ucontext uc;
};

/*
 * Read the registers that a signal interrupted. @next: the frame record above the signal's
 * frame; with @leaf, the handler has no frame, and the frame pointer in @regs leads there.
 *
 * With much state of other registers, the frame is larger, and its start is not known. Go on with
 * the interrupted function's return address then, instead of the interrupted instruction.
 */
static __always_inline bool read_signal_frame(unsigned long frame, unsigned long next, bool leaf,
					      struct user_registers *regs)
{
	unsigned long record = leaf ? regs->fp : strip_frame_pointer(next);
	unsigned long context = record - round_up(sizeof(struct user_signal_frame), 16) +
				offsetof(struct user_signal_frame, uc.uc_mcontext);
	unsigned long fp, lr, ip;

	if (record % sizeof(record) || !address_is_of_user(record) ||
	    !read_user_words(record, &regs->fp, &regs->lr))
		return false;
	if (read_user_word(context + offsetof(struct sigcontext, regs[29]), &fp) &&
	    read_user_word(context + offsetof(struct sigcontext, regs[30]), &lr) &&
	    read_user_word(context + offsetof(struct sigcontext, pc), &ip) &&
	    fp == regs->fp && lr == regs->lr) {
		regs->ip = ip;
	} else {
		regs->ip = strip_address(regs->lr);
		regs->lr = 0;
	}
	regs->fp = untagged_addr(regs->fp);
	regs->sp = record + sizeof(struct user_frame);
	return true;
}

#endif /* _MM_OWNER_USER_WALK_ARM64_H */
