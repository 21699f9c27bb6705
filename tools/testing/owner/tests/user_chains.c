// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose user chains are known. It makes owner_program allocate objects, and prints
 * for each case how many, and the chain that they must have:
 *
 *   chain NAME COUNT OFFSET,...[,(REASON)]	offsets in the file NAME, innermost first
 *
 * The addresses come from the compiler, not from frame pointers: each function on the way
 * stores its return address. Built for x86_64 and arm64 without a library:
 *
 *   gcc -O1 -static -nostdlib -ffreestanding -fno-omit-frame-pointer
 *       -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-stack-protector
 *       -Wl,--build-id user_chains.c
 *
 * With -DOMIT and -fomit-frame-pointer, it has no frame pointers.
 *
 *   user_chains FILE_TO_EXEC	all cases; runs FILE_TO_EXEC "plain" as one of them
 *   user_chains plain		one chain
 *   user_chains torture	chains under signals, faults, exec and exit, for some seconds
 *   user_chains many N K	N processes at once make K calls each; every second one has
 *				called execve()
 */

#include "user_program.h"

static noinline long middle(const char *text)
{
	long result;

	NOTE(2);
	result = ask(text);
	asm volatile("");
	return result;
}

static noinline long outer(const char *text)
{
	long result;

	NOTE(3);
	result = middle(text);
	asm volatile("");
	return result;
}

static noinline long recurse(const char *text, word depth)
{
	long result;

	if (depth < FRAMES)
		NOTE(depth);
	result = depth == 2 ? ask(text) : recurse(text, depth - 1);
	asm volatile("");
	return result;
}

/* Nothing is mapped here. */
#ifdef __x86_64__
#define END_OF_STACK	0x7ffffffff000
#else
#define END_OF_STACK	0xfffffffff000
#endif

/* A system call without a frame, as libc has them. */
long leaf_call(long number, long fd, const char *text, word size);
asm(".text\n"
    ".globl leaf_call, leaf_called, leaf_end\n"
    "leaf_call:\n"
#ifdef __x86_64__
    "	mov %rdi, %rax\n"
    "	mov %rsi, %rdi\n"
    "	mov %rdx, %rsi\n"
    "	mov %rcx, %rdx\n"
    "	syscall\n"
    "leaf_called:\n"
    "	cmp $-4095, %rax\n"
    "	jae 1f\n"
    "	ret\n"
    "1:	neg %rax\n"
#else
    "	mov x8, x0\n"
    "	mov x0, x1\n"
    "	mov x1, x2\n"
    "	mov x2, x3\n"
    "	svc #0\n"
    "leaf_called:\n"
    "	cmn x0, #4095\n"
    "	b.hs 1f\n"
    "	ret\n"
    "1:	neg x0, x0\n"
#endif
    "	ret\n"
    "leaf_end:\n");
extern const char leaf_called[], leaf_end[];

typedef long leaf_fn(long number, long fd, const char *text, word size);

static noinline long ask_leaf(leaf_fn *leaf, const char *text)
{
	long result;

	NOTE(2);
	result = leaf(WRITE, file, text, length(text));
	asm volatile("after_leaf:");
	store_address(truth[1], "after_leaf");
	truth[0] = (word)leaf_called;
	return result;
}

static noinline long outer_leaf(leaf_fn *leaf, const char *text)
{
	long result;

	NOTE(3);
	result = ask_leaf(leaf, text);
	asm volatile("");
	return result;
}

/* A system call with another frame pointer, and with a stack pointer below it. */
static noinline long ask_with_registers(const char *text, word fp, word sp)
{
	word size = length(text);
	long result;

#ifdef __x86_64__
	asm volatile("mov %%rbp, %%r12\n"
		     "	mov %%rsp, %%r13\n"
		     "	mov %5, %%rbp\n"
		     "	mov %6, %%rsp\n"
		     "	syscall\n"
		     "asked_with_fp:\n"
		     "	mov %%r13, %%rsp\n"
		     "	mov %%r12, %%rbp"
		     : "=a" (result)
		     : "a" (WRITE), "D" (file), "S" (text), "d" (size), "r" (fp), "r" (sp)
		     : "rcx", "r11", "r12", "r13", "memory");
#else
	register word x8 asm("x8") = WRITE;
	register word x0 asm("x0") = file;
	register word x1 asm("x1") = (word)text;
	register word x2 asm("x2") = size;

	asm volatile("mov x19, x29\n"
		     "	mov x20, sp\n"
		     "	mov x29, %4\n"
		     "	mov sp, %5\n"
		     "	svc #0\n"
		     "asked_with_fp:\n"
		     "	mov sp, x20\n"
		     "	mov x29, x19"
		     : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2), "r" (fp), "r" (sp)
		     : "x19", "x20", "memory");
	result = x0;
#endif
	store_address(truth[0], "asked_with_fp");
	return result;
}

static long ask_with_frame_pointer(const char *text, word fp)
{
	return ask_with_registers(text, fp, (word)__builtin_frame_address(0) - 1024);
}

/* --- Signals ------------------------------------------------------------------- */

struct action {
	void (*handler)(int signal);
	word flags;
	void (*restorer)(void);
	word mask;
};

void restore(void);
asm(".text\n"
    ".globl restore\n"
    "	nop\n"
    "restore:\n"
#ifdef __x86_64__
    "	mov $15, %rax\n"
    "	syscall\n");
#else
    "	mov x8, #139\n"
    "	svc #0\n");
#endif

static noinline void handle(int signal)
{
	/* Frame 3 is in handle(), frame 4 in restore(). */
	outer("6");
	truth[4] = (word)__builtin_return_address(0);
	asm volatile("");
}

static noinline void ignore(int signal)
{
	outer("1");
	asm volatile("");
}

static long catch_signal(int signal, void (*handler)(int signal))
{
	struct action action = { handler, 0x04000000, restore, 0 };

	return call(SIGACTION, signal, (word)&action, 0, 8, 0, 0);
}

static noinline void raise(void)
{
	word pid = call3(GETPID, 0, 0, 0);
	long result;

	NOTE(6);
	call_at(result, "raised", KILL, pid, 10, 0);
	store_address(truth[5], "raised");
	(void)result;
}

/* --- Cases --------------------------------------------------------------------- */

static noinline void test_chains(void)
{
	word i;

	NOTE(4);
	outer("7");
	expect(7, TO_BEGIN, 0);
	/* From the second time on, the chain is known. */
	for (i = 0; i < 50; i++)
		outer("2");
	expect(100, TO_BEGIN, 0);
	outer_leaf(leaf_call, "5");
	expect(5, TO_BEGIN, 0);
	outer("work 4");
	expect(4, 0, "(kernel-thread)");
	outer("timer 6");
	expect(6, 0, "(interrupt)");
}

static noinline void test_depth(void)
{
	word i, rest[3] = { truth[4], truth[5], truth[6] };

	recurse("3", 40);
	/* 16 frames are kept. */
	for (i = 2; i < FRAMES; i++)
		truth[i] = truth[2];
	expect(3, FRAMES, 0);
	for (i = 0; i < 3; i++)
		truth[4 + i] = rest[i];
}

static noinline void test_generated_code(void)
{
	char *page = (char *)call(MMAP, 0, PAGE, 7, 0x22, -1, 0);
	word i;

	NOTE(4);
	for (i = 0; (const char *)leaf_call + i < leaf_end; i++)
		page[i] = ((const char *)leaf_call)[i];
#ifdef __aarch64__
	/* The code is in one or two lines of the instruction cache. */
	for (i = 0; (const char *)leaf_call + i < leaf_end; i += 4)
		asm volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb"
			     : : "r" (page + i) : "memory");
#endif
	outer_leaf((leaf_fn *)page, "8");
	truth[0] = 1;
	expect(8, TO_BEGIN, 0);
	call3(MUNMAP, page, PAGE, 0);
}

static noinline void test_damaged_stacks(void)
{
	word *stack = (word *)__builtin_frame_address(0);
	word frame[2];

	NOTE(4);
	ask_with_frame_pointer("9", (word)stack | 0x7f0000000000 | 1);
	expect(9, 1, "(no-frame-pointers)");
	/* Above the stack, nothing is mapped. */
	ask_with_frame_pointer("11", END_OF_STACK - 16);
	expect(11, 1, "(fault)");
	frame[0] = (word)frame;
	outer("1");
	expect(1, TO_BEGIN, 0);
	frame[1] = truth[1];
	ask_with_frame_pointer("12", (word)frame);
	truth[1] = frame[1];
	expect(12, 2, "(cycle)");
	/* A word that no call precedes is no return address. */
	frame[1] = (word)leaf_called;
	ask_with_frame_pointer("13", (word)frame);
	expect(13, 1, "(no-frame-pointers)");
	/* Nor is one that is not code. */
	frame[1] = (word)frame;
	ask_with_frame_pointer("14", (word)frame);
	expect(14, 1, "(no-frame-pointers)");
}

static noinline void wait_for(long child)
{
	call(WAIT4, child, 0, 0, 0, 0, 0);
}

static noinline void test_children(const char *path)
{
	char *const exec_arguments[] = { (char *)path, (char *)"plain", 0 };
	long child;

	NOTE(4);
	child = fork_task();
	if (!child) {
		outer("15");
		expect(15, TO_BEGIN, 0);
		call3(EXIT, 0, 0, 0);
	}
	outer("16");
	expect(16, TO_BEGIN, 0);
	wait_for(child);

	child = vfork_task();
	if (!child) {
		outer("17");
		expect(17, TO_BEGIN, 0);
		call3(EXECVE, path, exec_arguments, environment);
		call3(EXIT, 1, 0, 0);
	}
	wait_for(child);

	/* Objects that are allocated while the task exits. */
	child = fork_task();
	if (!child) {
		outer("flush 19");
		expect(19, 0, "(exiting)");
		call3(EXIT, 0, 0, 0);
	}
	wait_for(child);
}

static noinline void test_plain(void)
{
	NOTE(4);
	outer("18");
#ifdef OMIT
	expect(18, 1, "(no-frame-pointers)");
#else
	expect(18, TO_BEGIN, 0);
#endif
}

static noinline void test_signals(void)
{
	word i, rest[3] = { (word)__builtin_return_address(0), truth[5], truth[6] };

	catch_signal(10, handle);
	raise();
	for (i = 0; i < 3; i++)
		truth[7 + i] = rest[i];
	expect(6, 10, 0);
}

/* The faulting instruction is the innermost frame. */
static noinline void touch(const volatile char *page)
{
	char byte;

	NOTE(1);
#ifdef __x86_64__
	asm volatile("touches: movb (%1), %0" : "=q" (byte) : "r" (page) : "memory");
#else
	asm volatile("touches: ldrb %w0, [%1]" : "=r" (byte) : "r" (page) : "memory");
#endif
	store_address(truth[0], "touches");
	(void)byte;
}

#ifdef __x86_64__
/* Fault in 32-bit code, which a 64-bit program can enter by a far jump. */
static noinline void touch_in_32bit_code(const volatile char *page)
{
	static word saved[3];

	asm volatile("mov %%rsp, (%1)\n"
		     "	mov %%rbp, 8(%1)\n"
		     "	movl $1f, 16(%1)\n"
		     "	movw $0x23, 20(%1)\n"
		     "	ljmp *16(%1)\n"
		     ".code32\n"
		     "1:	movb (%%ebx), %%al\n"
		     "	ljmp $0x33, $2f\n"
		     ".code64\n"
		     "2:	mov (%1), %%rsp\n"
		     "	mov 8(%1), %%rbp"
		     : : "b" (page), "S" (saved) : "rax", "memory");
}
#endif

static noinline void test_page_faults(void)
{
	/* PROT_READ, MAP_SHARED, and on x86_64 MAP_32BIT */
	char *pages = (char *)call(MMAP, 0, 5 * PAGE, 1, 0x41, file, 0);
	word i;

	truth[2] = (word)__builtin_return_address(0);
	truth[3] = truth[5];
	truth[4] = truth[6];
	for (i = 0; i < 2; i++) {
		touch(pages + i * PAGE);
		/* Keep the loop: both calls have one return address. */
		asm volatile("" : "+r" (i));
	}
	expect(2, 5, 0);
#ifdef __x86_64__
	for (i = 2; i < 5; i++)
		touch_in_32bit_code(pages + i * PAGE);
	expect(3, 0, "(32-bit)");
#endif
	call3(MUNMAP, pages, 5 * PAGE, 0);
}

/* --- Torture ------------------------------------------------------------------- */

/* Let the stack, the code and the program go away while chains are walked. */
static void torture_child(word seed, const char *path)
{
	char *const exec_arguments[] = { (char *)path, (char *)"plain", 0 };
	word timer[4] = { 0, 50 + seed % 400, 0, 50 + seed % 300 };
	word *page = (word *)call(MMAP, 0, PAGE, 7, 0x22, -1, 0);
	word i;

	catch_signal(14, ignore);
	call3(SETITIMER, 0, timer, 0);
	for (i = 0; i < 64; i++) {
		outer("3");
		page[256] = (word)&page[258];
		page[257] = truth[1];
		page[258] = 0;
		page[259] = truth[2];
		ask_with_registers("2", (word)&page[256], (word)&page[256]);
		if (i % 4 == 0)
			call3(MADVISE, page, PAGE, 4);
		if (i % 8 == 7) {
			call3(MUNMAP, page, PAGE, 0);
			ask_with_registers("1", (word)&page[256], (word)&page[256]);
			page = (word *)call(MMAP, (word)page, PAGE, 7, 0x22, -1, 0);
		}
		ask_leaf(leaf_call, "1");
	}
	ask("flush 2");
	if (seed % 3 == 0)
		call3(EXECVE, path, exec_arguments, environment);
	if (seed % 3 == 1)
		call3(KILL, call3(GETPID, 0, 0, 0), 9, 0);
	call3(EXIT, 0, 0, 0);
}

static void torture(const char *path, word rounds)
{
	long children[4];
	word i, j;

	for (i = 0; i < rounds; i++) {
		/* The objects of the last round stay. */
		ask("free");
		for (j = 0; j < 4; j++) {
			children[j] = fork_task();
			if (!children[j])
				torture_child(i * 4 + j, path);
		}
		for (j = 0; j < 4; j++)
			wait_for(children[j]);
	}
}

/* --- Many processes ------------------------------------------------------------ */

/* Let the others call between two calls. */
static void make_calls(word calls)
{
	while (calls--) {
		outer("1");
		call3(YIELD, 0, 0, 0);
	}
}

static void run_many(const char *path, const char *count, const char *calls)
{
	char *const exec_arguments[] = { (char *)path, (char *)"calls", (char *)calls, 0 };
	word i, processes = parse(count);
	int ends[2];
	char end;

	/* The code of the parent is known, and so is that of its children until execve(). */
	outer("1");
	call3(PIPE2, ends, 0, 0);
	for (i = 0; i < processes; i++) {
		if (fork_task())
			continue;
		/* Wait until all processes exist. */
		call3(CLOSE, ends[1], 0, 0);
		call3(READ, ends[0], &end, 1);
		if (i % 2)
			call3(EXECVE, path, exec_arguments, environment);
		else
			make_calls(parse(calls));
		call3(EXIT, 0, 0, 0);
	}
	call3(CLOSE, ends[1], 0, 0);
	for (i = 0; i < processes; i++)
		wait_for(-1);
}

/* --- Begin --------------------------------------------------------------------- */

static noinline void run(word count, char **arguments)
{
	if (count < 2)
		return;
	NOTE(5);
	file = open_file(PLACE, 2, 0);
	if (equal(arguments[1], "plain")) {
		test_plain();
	} else if (equal(arguments[1], "torture")) {
		torture(arguments[0], parse(arguments[2]));
	} else if (equal(arguments[1], "many")) {
		run_many(arguments[0], arguments[2], arguments[3]);
	} else if (equal(arguments[1], "calls")) {
		make_calls(parse(arguments[2]));
	} else {
		test_chains();
		test_depth();
		test_generated_code();
		test_page_faults();
		test_damaged_stacks();
		test_children(arguments[1]);
		test_signals();
	}
}
