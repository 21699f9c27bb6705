// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the user stack of the current task by its frame pointers, and intern it as a chain.
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
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/stackdepot.h>
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

/* --- Addresses to a user chain ------------------------------------------------ */

/* The number of the executable mappings of the current mm. The mmap lock is held. */
static unsigned long name_mappings(struct mm_struct *mm)
{
	static atomic_long_t last_id;
	unsigned long none = 0, id = READ_ONCE(mm->owner_maps_id);

	if (id)
		return id;
	id = atomic_long_inc_return(&last_id);
	return try_cmpxchg(&mm->owner_maps_id, &none, id) ? id : none;
}

/* Where an address is, once the mmap lock is not held any more. */
struct located_address {
	u64 frame;		/* a word of the chain, or an offset in @file */
	struct file *file;	/* with a reference, NULL if @frame names the place */
};

/* Locate one address, under the mmap lock. */
static struct located_address locate_address(struct mm_struct *mm, unsigned long address,
					     bool innermost)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);
	enum owner_user_reason reason;
	struct located_address at = {};
	unsigned long offset;

	if (!vma || !(vma->vm_flags & VM_EXEC)) {
		reason = innermost ? OWNER_USER_FAULT : OWNER_USER_NO_FRAME_POINTERS;
		at.frame = owner_user_frame(OWNER_USER_PLACE_REASON, reason);
		return at;
	}
	offset = address - vma->vm_start;
	if (vma->vm_start == (unsigned long)mm->context.vdso) {
		at.frame = owner_user_frame(OWNER_USER_PLACE_VDSO, offset);
	} else if (!vma->vm_file) {
		at.frame = owner_user_frame(OWNER_USER_PLACE_ANON, 0);
	} else {
		at.frame = offset + (vma->vm_pgoff << PAGE_SHIFT);
		at.file = get_file(vma->vm_file);
	}
	return at;
}

/* Locate all addresses, up to the first without code. Return: their number. */
static unsigned int locate_addresses(const struct owner_user_raw *raw,
				     struct located_address at[OWNER_USER_FRAMES],
				     unsigned long *maps_id)
{
	struct mm_struct *mm = current->mm;
	unsigned int i;

	mmap_read_lock(mm);
	*maps_id = name_mappings(mm);
	for (i = 0; i < raw->count; i++) {
		at[i] = locate_address(mm, raw->frame[i], !i);
		if (!at[i].file && owner_user_place(at[i].frame) == OWNER_USER_PLACE_REASON) {
			i++;
			break;
		}
	}
	mmap_read_unlock(mm);
	return i;
}

/* Intern the file of an address. Return: a word of the chain. */
static u64 intern_file(const struct located_address *at)
{
	enum owner_user_reason reason;
	int binary = owner_binary_intern(at->file);

	if (binary >= 0)
		return owner_user_frame(binary + 1, at->frame);
	reason = binary == -ENOSPC ? OWNER_USER_BINARIES_FULL :
		 binary == -ENOMEM ? OWNER_USER_NO_MEMORY : OWNER_USER_FAULT;
	return owner_user_frame(OWNER_USER_PLACE_REASON, reason);
}

/*
 * Resolve all addresses. Files are read without the mmap lock: a file system may wait for a
 * task that waits for it. Return: the number of words.
 */
static unsigned int resolve_addresses(const struct owner_user_raw *raw,
				      unsigned long words[OWNER_USER_WORDS],
				      unsigned long *maps_id)
{
	struct located_address at[OWNER_USER_FRAMES];
	unsigned int located = locate_addresses(raw, at, maps_id), i, j, count = 0;
	bool ended = false;

	for (i = 0; i < located && !ended; i++) {
		/* The same file as that of a frame before? */
		for (j = 0; j < i && at[i].file != at[j].file; j++)
			;
		if (!at[i].file)
			words[i] = at[i].frame;
		else if (j < i)
			words[i] = owner_user_frame(owner_user_place(words[j]), at[i].frame);
		else
			words[i] = intern_file(&at[i]);
		ended = owner_user_place(words[i]) == OWNER_USER_PLACE_REASON;
		count++;
	}
	for (i = 0; i < located; i++)
		if (at[i].file)
			fput(at[i].file);
	if (!ended && raw->reason)
		words[count++] = owner_user_frame(OWNER_USER_PLACE_REASON, raw->reason);
	return count;
}

/* May the next stack with these addresses get the same chain? */
static bool chain_is_lasting(const struct owner_user_raw *raw, unsigned long last)
{
	if (raw->reason == OWNER_USER_FAULT)
		return false;
	return owner_user_place(last) != OWNER_USER_PLACE_REASON ||
	       (owner_user_offset(last) != OWNER_USER_FAULT &&
		owner_user_offset(last) != OWNER_USER_BINARIES_FULL &&
		owner_user_offset(last) != OWNER_USER_NO_MEMORY);
}

/**
 * owner_user_intern_chain() - intern the user chain of the current task
 * @reason: set to why there is none, or to OWNER_USER_NO_REASON
 *
 * Context: may sleep, and may fault on user memory.
 *
 * Return: a handle with a reference, or 0.
 */
depot_stack_handle_t owner_user_intern_chain(enum owner_user_reason *reason)
{
	unsigned long words[OWNER_USER_WORDS], maps_id;
	struct owner_user_raw raw;
	depot_stack_handle_t chain;
	unsigned int count;

	owner_user_walk(&raw);
	count = resolve_addresses(&raw, words, &maps_id);
	chain = stack_depot_save_flags(words, count, GFP_KERNEL | __GFP_NOWARN,
				       STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
				       STACK_DEPOT_FLAG_DATA);
	*reason = chain ? OWNER_USER_NO_REASON : OWNER_USER_NO_MEMORY;
	if (chain && chain_is_lasting(&raw, words[count - 1]))
		owner_user_cache_add(&raw, maps_id, chain);
	return chain;
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

depot_stack_handle_t owner_user_intern_chain(enum owner_user_reason *reason)
{
	*reason = OWNER_USER_NO_FRAME_POINTERS;
	return 0;
}

#endif
