// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of user chains: their encoding, walks of a user stack that the test has made, the
 * cache of known stacks, and contexts of tasks that have no program.
 */

#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab_owner.h>
#include <linux/uaccess.h>

#include "../user/user.h"
#include "plant.h"
#include "user_answers_kunit.h"
#include "user_files_kunit.h"
#include "write_rules.h"

static void test_encoding(struct kunit *test)
{
	u64 frame = owner_user_frame(4096, 0x123456789abcULL);

	KUNIT_EXPECT_EQ(test, owner_user_place(frame), 4096);
	KUNIT_EXPECT_EQ(test, owner_user_offset(frame), 0x123456789abcULL);
	/* A handle has 32 bits and is no reason. */
	KUNIT_EXPECT_EQ(test, owner_user_word_reason(U32_MAX), OWNER_USER_NO_REASON);
	KUNIT_EXPECT_EQ(test, owner_user_word_reason(owner_user_reason_word(OWNER_USER_EXEC) | 7),
			OWNER_USER_EXEC);
	frame = owner_user_frame(OWNER_USER_PLACE_REASON, OWNER_USER_CYCLE);
	KUNIT_EXPECT_EQ(test, owner_user_place(frame), OWNER_USER_PLACE_REASON);
	KUNIT_EXPECT_NULL(test, owner_binary_of(frame));
	KUNIT_EXPECT_NULL(test, owner_binary_of(0));
}

/* A word of a user chain is printed as one token. */
static void test_tokens(struct kunit *test)
{
	static const struct {
		unsigned int place;
		u64 offset;
		const char *token;
	} cases[] = {
		{ OWNER_USER_PLACE_VDSO, 0xabc, "[vdso]+0xabc" },
		{ OWNER_USER_PLACE_ANON, 0, "[anon]" },
		{ OWNER_USER_PLACE_REASON, OWNER_USER_EXITING, "(exiting)" },
		{ OWNER_USER_PLACE_REASON, OWNER_USER_NO_FRAME_POINTERS, "(no-frame-pointers)" },
		/* Of a damaged record. */
		{ OWNER_USER_PLACE_REASON, 99, "(pending)" },
	};
	unsigned int i;
	char buf[64];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct seq_file m = { .buf = buf, .size = sizeof(buf) };

		owner_user_show_frame(&m, owner_user_frame(cases[i].place, cases[i].offset));
		buf[m.count] = '\0';
		KUNIT_EXPECT_STREQ(test, buf, cases[i].token);
	}
}

/* A kernel thread has no program. */
static void test_kernel_thread(struct kunit *test)
{
	struct owner_record owner = {};
	u64 frames[OWNER_USER_WORDS];
	struct owner_task task;

	owner_user_attach(&owner, GFP_KERNEL);
	KUNIT_ASSERT_NE(test, owner.task, 0);
	KUNIT_EXPECT_EQ(test, owner_user_fetch(owner.task, frames), 1);
	KUNIT_EXPECT_EQ(test, frames[0], owner_user_frame(OWNER_USER_PLACE_REASON,
							  OWNER_USER_KERNEL_THREAD));
	/* A context has a task, too. */
	KUNIT_EXPECT_TRUE(test, owner_task_fetch(owner.task, &task));
	KUNIT_EXPECT_EQ(test, task.pid, current->pid);
	KUNIT_EXPECT_STREQ(test, task.comm, current->comm);
	KUNIT_EXPECT_EQ(test, current->owner_context, 0);
	stack_depot_put(owner.task);
}

/* No user stack is walked in a worker of the kernel, within execve(), or while the task exits. */
static void test_obstacles(struct kunit *test)
{
	static const struct {
		unsigned int flags;
		bool in_execve;
		enum owner_user_reason reason;
	} cases[] = {
		{ PF_USER_WORKER, false, OWNER_USER_WORKER },
		{ 0, true, OWNER_USER_EXEC },
		{ PF_EXITING, false, OWNER_USER_EXITING },
	};
	u64 frames[OWNER_USER_WORDS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct owner_record owner = {};

		current->flags = (current->flags & ~PF_KTHREAD) | cases[i].flags;
		current->in_execve = cases[i].in_execve;
		owner_user_attach(&owner, GFP_KERNEL);
		current->in_execve = false;
		current->flags = (current->flags & ~cases[i].flags) | PF_KTHREAD;
		KUNIT_ASSERT_NE(test, owner.task, 0);
		KUNIT_EXPECT_EQ(test, owner_user_fetch(owner.task, frames), 1);
		KUNIT_EXPECT_EQ(test, frames[0], owner_user_frame(OWNER_USER_PLACE_REASON,
								  cases[i].reason));
		KUNIT_EXPECT_EQ(test, current->owner_context, 0);
		stack_depot_put(owner.task);
	}
}

/* Objects have a context only if the rule that decides says so. */
static void test_rule(struct kunit *test)
{
	int error = write_rules("depth=2 user=on if cache == owner_kunit");
	struct kmem_cache *cache = create_test_cache(test, 0);
	u64 frames[OWNER_USER_WORDS];
	unsigned int words[2], i;
	void *object;

	for (i = 0; i < 2; i++) {
		object = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, object);
		words[i] = owner_user_fetch(find_object_record(object)->task, frames);
		kmem_cache_free(cache, object);
		if (!i)
			write_rules("depth=2 if cache == owner_kunit");
	}
	write_rules("del if cache == owner_kunit");
	kmem_cache_destroy(cache);
	KUNIT_EXPECT_EQ(test, error, 0);
	KUNIT_EXPECT_EQ(test, words[0], 1);
	KUNIT_EXPECT_EQ(test, words[1], 0);
}

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)

#define STACK_SIZE	(2 * PAGE_SIZE)

/* A user stack and code, and the user registers of this thread, which has no others. */
struct made_stack {
	unsigned long start;
	unsigned long code;
	struct pt_regs *regs;
	struct owner_user_raw raw;
};

/* Each address of the first half of the code follows a call, none of the second does. */
#define NO_CALL		(PAGE_SIZE / 2)

static unsigned long map_pages(struct kunit *test, unsigned long size)
{
	unsigned long start = kunit_vm_mmap(test, NULL, 0, size, PROT_READ | PROT_WRITE,
					    MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, start, 0);
	KUNIT_ASSERT_LT(test, start, TASK_SIZE);
	return start;
}

static void put_user_bytes(struct kunit *test, unsigned long address, const void *bytes,
			   size_t size)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)address, bytes, size), 0);
}

static void make_stack(struct kunit *test, struct made_stack *stack)
{
	u8 calls[64];
	unsigned int i;

	stack->start = map_pages(test, STACK_SIZE);
	stack->code = map_pages(test, PAGE_SIZE) + sizeof(calls);
	/* call rel32 */
	memset(calls, 0xe8, sizeof(calls));
	for (i = 0; i < NO_CALL; i += sizeof(calls))
		put_user_bytes(test, stack->code - sizeof(calls) + i, calls, sizeof(calls));
	stack->regs = task_pt_regs(current);
	memset(stack->regs, 0, sizeof(*stack->regs));
	stack->regs->cs = __USER_CS;
	stack->regs->ip = stack->code;
	stack->regs->sp = stack->start;
	stack->regs->bp = stack->start + 64;
}

/* Put a frame at @offset of the stack. @code: offset of its return address, 0: none. */
static void put_frame(struct kunit *test, const struct made_stack *stack, unsigned long offset,
		      unsigned long next, unsigned long code)
{
	unsigned long frame[2] = { next ? stack->start + next : 0, code ? stack->code + code : 0 };

	put_user_bytes(test, stack->start + offset, frame, sizeof(frame));
}

static void expect_walk(struct kunit *test, struct made_stack *stack, bool walked,
			unsigned int count, enum owner_user_reason reason)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, owner_user_walk(&stack->raw), walked);
	KUNIT_EXPECT_EQ(test, stack->raw.count, count);
	KUNIT_EXPECT_EQ(test, stack->raw.reason, reason);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, stack->raw.frame[i], stack->code + i);
}

static void test_walk(struct kunit *test)
{
	struct made_stack stack;

	make_stack(test, &stack);
	put_frame(test, &stack, 64, 128, 1);
	put_frame(test, &stack, 128, 256, 2);
	put_frame(test, &stack, 256, 0, 3);
	expect_walk(test, &stack, true, 4, OWNER_USER_NO_REASON);
	/* A return address of 0 ends the stack, too. */
	put_frame(test, &stack, 256, 512, 0);
	expect_walk(test, &stack, true, 3, OWNER_USER_NO_REASON);
	/* A frame that leads to itself, and one that leads down. */
	put_frame(test, &stack, 256, 256, 3);
	expect_walk(test, &stack, true, 4, OWNER_USER_CYCLE);
	put_frame(test, &stack, 256, 128, 3);
	expect_walk(test, &stack, true, 4, OWNER_USER_CYCLE);
	/* Neither aligned, nor in user memory. */
	put_frame(test, &stack, 256, 513, 3);
	expect_walk(test, &stack, true, 4, OWNER_USER_NO_FRAME_POINTERS);
	put_frame(test, &stack, 256, -stack.start - 4096, 3);
	expect_walk(test, &stack, true, 4, OWNER_USER_NO_FRAME_POINTERS);
	stack.regs->bp = 12345;
	expect_walk(test, &stack, true, 1, OWNER_USER_NO_FRAME_POINTERS);
	stack.regs->bp = 0;
	expect_walk(test, &stack, true, 1, OWNER_USER_NO_FRAME_POINTERS);
	/* Not mapped. */
	stack.regs->bp = stack.start + 64;
	put_frame(test, &stack, 64, TASK_SIZE - stack.start - 4096, 1);
	expect_walk(test, &stack, false, 2, OWNER_USER_FAULT);
}

/* Functions whose return address is at the stack pointer. */
static void test_leaf(struct kunit *test)
{
	static const u8 codes[][16] = {
		{ 0xc3 },							/* ret */
		{ 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x73, 1, 0xc3 },		/* jae rel8 */
		{ 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0x77, 1, 0xc3 },		/* ja rel8 */
		{ 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x0f, 0x83, 1, 0, 0, 0, 0xc3 },
		{ 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0x0f, 0x87, 1, 0, 0, 0, 0xc3 },
		{ 0x55, 0x48, 0x89, 0xe5 },					/* push, mov */
		{ 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 },		/* endbr64 first */
		/* These are no leaves. */
		{ 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0x77, 1, 0x89 },
		{ 0x48, 0x3d, 0x02, 0xf0, 0xff, 0xff, 0x77, 1, 0xc3 },
		{ 0xf3, 0x0f, 0x1e, 0xfa, 0x89, 0xc2 },
	};
	struct made_stack stack;
	unsigned long word;
	unsigned int i;

	make_stack(test, &stack);
	stack.code += 64;
	word = stack.code + 1;
	put_user_bytes(test, stack.start, &word, sizeof(word));
	put_frame(test, &stack, 64, 0, 2);
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		stack.regs->ip = stack.code - 32;
		put_user_bytes(test, stack.regs->ip, codes[i], sizeof(codes[i]));
		KUNIT_EXPECT_TRUE(test, owner_user_walk(&stack.raw));
		KUNIT_EXPECT_EQ_MSG(test, stack.raw.count, i < 7 ? 3 : 2, "code %u", i);
		KUNIT_EXPECT_EQ(test, stack.raw.frame[1], stack.code + (i < 7 ? 1 : 2));
	}
}

static bool walk_without_faults(struct made_stack *stack)
{
	bool walked;

	pagefault_disable();
	walked = owner_user_walk(&stack->raw);
	pagefault_enable();
	return walked;
}

/*
 * A word that no call precedes is no return address, and is not in the key of the cache: in a
 * program without frame pointers, it may be different each time.
 */
static void test_no_call(struct kunit *test)
{
	struct made_stack stack;
	unsigned long i, word;

	make_stack(test, &stack);
	put_frame(test, &stack, 64, 128, 1);
	for (i = 0; i < 16; i++) {
		put_frame(test, &stack, 128, 256, NO_CALL + i);
		expect_walk(test, &stack, true, 2, OWNER_USER_NO_FRAME_POINTERS);
	}
	/* Nor is a small number, a kernel address, or one that is not mapped. */
	for (i = 0; i < 3; i++) {
		word = i == 0 ? 12 : i == 1 ? (unsigned long)&stack : TASK_SIZE - PAGE_SIZE;
		put_user_bytes(test, stack.start + 136, &word, sizeof(word));
		expect_walk(test, &stack, true, 2, OWNER_USER_NO_FRAME_POINTERS);
		/* Only a page that could be mapped is worth a walk with page faults. */
		KUNIT_EXPECT_EQ(test, walk_without_faults(&stack), i < 2);
	}
}

/* Without page faults, a page that is not present ends the walk; with them, it does not. */
static void test_walk_without_faults(struct kunit *test)
{
	struct made_stack stack;
	unsigned long empty;

	make_stack(test, &stack);
	/* The second page of the stack. */
	put_frame(test, &stack, 64, PAGE_SIZE + 64, 1);
	KUNIT_EXPECT_FALSE(test, walk_without_faults(&stack));
	KUNIT_EXPECT_EQ(test, stack.raw.reason, OWNER_USER_FAULT);
	KUNIT_EXPECT_EQ(test, stack.raw.count, 2);
	/* The page has zeros: the outermost frame. */
	expect_walk(test, &stack, true, 2, OWNER_USER_NO_REASON);
	KUNIT_EXPECT_TRUE(test, walk_without_faults(&stack));
	/* The code of a caller. */
	empty = map_pages(test, PAGE_SIZE) + 64;
	put_frame(test, &stack, 64, 128, empty - stack.code);
	KUNIT_EXPECT_FALSE(test, walk_without_faults(&stack));
	KUNIT_EXPECT_EQ(test, stack.raw.reason, OWNER_USER_FAULT);
	KUNIT_EXPECT_EQ(test, stack.raw.count, 1);
	expect_walk(test, &stack, true, 1, OWNER_USER_NO_FRAME_POINTERS);
	/* The innermost code. */
	put_frame(test, &stack, 64, 0, 1);
	stack.regs->ip = map_pages(test, PAGE_SIZE);
	KUNIT_EXPECT_FALSE(test, walk_without_faults(&stack));
	KUNIT_EXPECT_EQ(test, stack.raw.reason, OWNER_USER_FAULT);
	KUNIT_EXPECT_EQ(test, stack.raw.count, 1);
}

/* At most OWNER_USER_FRAMES are kept. */
static void test_walk_deep(struct kunit *test)
{
	struct made_stack stack;
	unsigned int i;

	make_stack(test, &stack);
	for (i = 0; i < 40; i++)
		put_frame(test, &stack, 64 + 16 * i, 80 + 16 * i, 1 + i);
	expect_walk(test, &stack, true, OWNER_USER_FRAMES, OWNER_USER_NO_REASON);
}

static void test_32bit(struct kunit *test)
{
	struct made_stack stack;

	make_stack(test, &stack);
	KUNIT_EXPECT_FALSE(test, owner_user_is_32bit());
	stack.regs->cs = __USER32_CS;
	KUNIT_EXPECT_TRUE(test, owner_user_is_32bit());
	memset(stack.regs, 0, sizeof(*stack.regs));
}

static void do_nothing(struct callback_head *work)
{
}

/*
 * An entry begins once: an object that is allocated while its context is saved, or after the
 * depot had no room for it, keeps its task.
 */
static void test_entry_without_context(struct kunit *test)
{
	long walks = owner_user_read_count(OWNER_USER_PENDING);
	struct owner_record owner = {};
	struct made_stack stack;

	make_stack(test, &stack);
	current->owner_work.func = do_nothing;
	current->flags &= ~PF_KTHREAD;
	owner_user_attach(&owner, GFP_KERNEL);
	current->flags |= PF_KTHREAD;
	current->owner_work.func = NULL;
	KUNIT_EXPECT_EQ(test, owner.task, 0);
	KUNIT_EXPECT_EQ(test, current->owner_context, 0);
	KUNIT_EXPECT_EQ(test, owner_user_read_count(OWNER_USER_PENDING), walks);
	stack_depot_put(owner.task);
	stack_depot_put(current->owner_context);
	current->owner_context = 0;
}

/* Give the current mm new maps. Return: their number. */
static unsigned long make_maps(struct kunit *test)
{
	struct owner_user_maps *maps = owner_user_alloc_maps();

	KUNIT_ASSERT_NOT_NULL(test, maps);
	mmap_write_lock(current->mm);
	owner_user_drop_maps(current->mm);
	owner_user_put_maps(owner_user_get_maps(current->mm, maps));
	mmap_write_unlock(current->mm);
	owner_user_put_maps(maps);
	return owner_user_current_maps_id();
}

static depot_stack_handle_t make_chain(struct kunit *test, unsigned long first)
{
	unsigned long words[2] = { first, first + 1 };
	depot_stack_handle_t chain;

	chain = stack_depot_save_flags(words, ARRAY_SIZE(words), GFP_KERNEL,
				       STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
				       STACK_DEPOT_FLAG_DATA);
	KUNIT_ASSERT_NE(test, chain, 0);
	return chain;
}

/* The chain of a stack of the current mm, 0 if it is not known. */
static depot_stack_handle_t find_known(const struct owner_user_raw *raw)
{
	depot_stack_handle_t chain = owner_user_cache_find(raw, owner_user_current_maps_id());

	stack_depot_put(chain);
	return chain;
}

/* A stack is known until an executable mapping is added to the mm. */
static void test_cache(struct kunit *test)
{
	depot_stack_handle_t chain;
	struct made_stack stack;
	unsigned long id, other;

	make_stack(test, &stack);
	put_frame(test, &stack, 64, 0, 1);
	expect_walk(test, &stack, true, 2, OWNER_USER_NO_REASON);
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	chain = make_chain(test, 1);

	id = make_maps(test);
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), 0);
	owner_user_cache_add(&stack.raw, id, chain);
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), chain);
	/* Another stack. */
	stack.raw.frame[1]++;
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), 0);
	stack.raw.frame[1]--;
	stack.raw.count--;
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), 0);
	stack.raw.count++;
	/* A mapping that is not executable changes nothing, nor does one that is removed. */
	kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	vm_stat_account(current->mm, VM_EXEC, -1);
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), chain);
	vm_stat_account(current->mm, 0, 1);
	kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_EXEC,
		      MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_EXPECT_EQ(test, owner_user_current_maps_id(), 0);
	KUNIT_EXPECT_EQ(test, find_known(&stack.raw), 0);
	/* Nor is it known to any other mm. Some of these numbers have the same hash. */
	for (other = id + 1; other <= id + 16384; other++)
		KUNIT_ASSERT_EQ(test, owner_user_cache_find(&stack.raw, other), 0);
	stack_depot_put(chain);
}

/* A child of fork() knows what its parent knows, until one of them gets another mapping. */
static void test_fork(struct kunit *test)
{
	struct mm_struct *parent, *child;
	unsigned long id;

	/* Give the test an mm. */
	map_pages(test, PAGE_SIZE);
	parent = current->mm;
	child = mm_alloc();
	KUNIT_ASSERT_NOT_NULL(test, child);
	id = make_maps(test);
	mmap_write_lock(parent);
	owner_user_fork_maps(child, parent);
	KUNIT_EXPECT_PTR_EQ(test, unrcu_pointer(child->owner_maps),
			    unrcu_pointer(parent->owner_maps));
	owner_user_drop_maps(parent);
	mmap_write_unlock(parent);
	KUNIT_EXPECT_EQ(test, owner_user_current_maps_id(), 0);
	KUNIT_EXPECT_EQ(test, owner_user_maps_id(unrcu_pointer(child->owner_maps)), id);
	mmput(child);
}

/* A stack that is new gets its chain if the places of its code are known. */
static void test_ranges(struct kunit *test)
{
	struct owner_user_range range = { 0x1000, 0x200000, owner_user_frame(5, 0x3000) };
	struct owner_user_raw raw = { .count = 3, .frame = { 0x1000, 0x1ffe, 0x200fff } };
	struct owner_user_range anon = { 0x300000, 1, owner_user_frame(OWNER_USER_PLACE_ANON, 0) };
	struct owner_user_maps *maps;
	struct made_stack stack;
	depot_stack_handle_t chain;
	unsigned int i;

	make_stack(test, &stack);
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	KUNIT_EXPECT_EQ(test, owner_user_intern_known(&raw, GFP_KERNEL), 0);
	make_maps(test);
	maps = unrcu_pointer(current->mm->owner_maps);
	KUNIT_EXPECT_EQ(test, owner_user_intern_known(&raw, GFP_KERNEL), 0);
	owner_user_add_range(maps, &range);
	chain = owner_user_intern_known(&raw, GFP_KERNEL);
	KUNIT_ASSERT_NE(test, chain, 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, stack_depot_frame(chain, i),
				owner_user_frame(5, 0x2000 + raw.frame[i]));
	KUNIT_EXPECT_EQ(test, find_known(&raw), chain);
	stack_depot_put(chain);

	/* Neither before nor behind a range. */
	raw.frame[2] = 0xfff;
	KUNIT_EXPECT_EQ(test, owner_user_intern_known(&raw, GFP_KERNEL), 0);
	raw.frame[2] = 0x201000;
	KUNIT_EXPECT_EQ(test, owner_user_intern_known(&raw, GFP_KERNEL), 0);

	/* Generated code has no offset; a chain that ends early says why. */
	owner_user_add_range(maps, &anon);
	raw.frame[1] = anon.start;
	raw.count = 2;
	raw.reason = OWNER_USER_CYCLE;
	chain = owner_user_intern_known(&raw, GFP_KERNEL);
	KUNIT_ASSERT_NE(test, chain, 0);
	KUNIT_EXPECT_EQ(test, stack_depot_frame(chain, 1), anon.word);
	KUNIT_EXPECT_EQ(test, stack_depot_frame(chain, 2),
			owner_user_frame(OWNER_USER_PLACE_REASON, OWNER_USER_CYCLE));
	stack_depot_put(chain);

	/* The ranges that were added last are known. */
	for (i = 1; i <= 100; i++) {
		anon.start = 0x300000 + i;
		owner_user_add_range(maps, &anon);
	}
	raw.frame[0] = anon.start;
	raw.frame[1] = anon.start - 16;
	chain = owner_user_intern_known(&raw, GFP_KERNEL);
	KUNIT_EXPECT_NE(test, chain, 0);
	stack_depot_put(chain);
	/* Nor another mm's. */
	make_maps(test);
	KUNIT_EXPECT_EQ(test, owner_user_intern_known(&raw, GFP_KERNEL), 0);
}

/* A stack is not displaced by the next one, even if both are in the same set. */
static void test_cache_places(struct kunit *test)
{
	struct owner_user_raw kept = { .count = 1 }, other = { .count = 1 };
	unsigned int i, displaced = 0;
	depot_stack_handle_t chain;
	struct made_stack stack;
	unsigned long id;

	make_stack(test, &stack);
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	chain = make_chain(test, 3);
	id = make_maps(test);
	for (i = 1; i <= 16384; i++) {
		other.frame[0] = i;
		owner_user_cache_add(&kept, id, chain);
		owner_user_cache_add(&other, id, chain);
		displaced += find_known(&kept) != chain;
	}
	KUNIT_EXPECT_EQ(test, displaced, 0);
	stack_depot_put(chain);
}

/* How many more reads drop files, and whether each drop has ended meanwhile. */
static unsigned int reads_that_drop;
static struct drop drop_in_read;
static bool drops_ended;

static ssize_t drop_and_read(struct kiocb *iocb, struct iov_iter *to)
{
	if (reads_that_drop) {
		reads_that_drop--;
		reinit_completion(&drop_in_read.done);
		schedule_work(&drop_in_read.work);
		if (!wait_for_completion_timeout(&drop_in_read.done, 20 * HZ)) {
			drops_ended = false;
			reads_that_drop = 0;
		}
	}
	return counted_fops->read_iter(iocb, to);
}

/* A file system can delay a read for ever: drops do not wait for it, and it is tried again. */
static void test_drop_while_resolved(struct kunit *test)
{
	static const struct file_operations dropping_fops = { .read_iter = drop_and_read };
	struct file *file = shmem_kernel_file_setup("owner_kunit", PAGE_SIZE, EMPTY_VMA_FLAGS);
	enum owner_user_reason reasons[2];
	const struct owner_binary *binary;
	depot_stack_handle_t chains[2];
	struct made_stack stack;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	make_stack(test, &stack);
	stack.regs->ip = kunit_vm_mmap(test, file, 0, PAGE_SIZE, PROT_READ | PROT_EXEC,
				       MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, stack.regs->ip, 0);
	stack.regs->bp = 0;
	set_nlink(file_inode(file), 1);
	counted_fops = file->f_op;
	file->f_op = &dropping_fops;
	INIT_WORK(&drop_in_read.work, drop_in_work);
	init_completion(&drop_in_read.done);
	drops_ended = true;
	reads_that_drop = 1;
	chains[0] = owner_user_intern_chain(&reasons[0]);
	/* In each attempt */
	reads_that_drop = 100;
	chains[1] = owner_user_intern_chain(&reasons[1]);
	file->f_op = counted_fops;
	clear_nlink(file_inode(file));
	/* A drop that waited for a read has ended after it. */
	flush_work(&drop_in_read.work);
	KUNIT_EXPECT_TRUE(test, drops_ended);
	KUNIT_ASSERT_NE(test, chains[0], 0);
	KUNIT_EXPECT_EQ(test, reasons[0], OWNER_USER_NO_REASON);
	binary = owner_binary_of(stack_depot_frame(chains[0], 0));
	KUNIT_ASSERT_NOT_NULL(test, binary);
	KUNIT_EXPECT_EQ(test, binary->ino, file_inode(file)->i_ino);
	KUNIT_EXPECT_EQ(test, chains[1], 0);
	KUNIT_EXPECT_EQ(test, reasons[1], OWNER_USER_BINARIES_FULL);
	stack_depot_put(chains[0]);
	fput(file);
}

#endif

static struct kunit_case owner_user_cases[] = {
	KUNIT_CASE(test_encoding),
	KUNIT_CASE(test_tokens),
	KUNIT_CASE(test_kernel_thread),
	KUNIT_CASE(test_obstacles),
	KUNIT_CASE(test_rule),
	KUNIT_CASE(test_device),
	KUNIT_CASE(test_inode),
	KUNIT_CASE(test_unreadable_file),
	KUNIT_CASE(test_generated_code),
	KUNIT_CASE(test_drop),
	KUNIT_CASE(test_places_after_a_drop),
	KUNIT_CASE(test_drop_delay),
	KUNIT_CASE(test_known_file),
	KUNIT_CASE(test_answer_keeps_files),
	KUNIT_CASE(test_list_of_files),
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	KUNIT_CASE(test_walk),
	KUNIT_CASE(test_leaf),
	KUNIT_CASE(test_no_call),
	KUNIT_CASE(test_walk_without_faults),
	KUNIT_CASE(test_walk_deep),
	KUNIT_CASE(test_32bit),
	KUNIT_CASE(test_entry_without_context),
	KUNIT_CASE(test_cache),
	KUNIT_CASE(test_fork),
	KUNIT_CASE(test_ranges),
	KUNIT_CASE(test_cache_places),
	KUNIT_CASE(test_drop_while_resolved),
#endif
	{}
};

static struct kunit_suite owner_user_suite = {
	.name = "owner_user",
	.init = require_slab_owner,
	.test_cases = owner_user_cases,
};

kunit_test_suite(owner_user_suite);
