/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that the programs share which plant user chains: system calls, printing, functions that
 * know the chains of their calls, and _start. The program has a function run().
 */
#ifndef _USER_PROGRAM_H
#define _USER_PROGRAM_H

typedef unsigned long word;

#define PLACE		"/sys/kernel/debug/owner_program"
#define PAGE		4096
#define FRAMES		16
/* Frames of a chain from ask() to _start, if the program does not say another number */
#ifndef TO_BEGIN
#define TO_BEGIN	7
#endif
#define noinline	__attribute__((noinline, noclone))
/* Store this function's return address: frame @i of the chain, which is TO_BEGIN long. */
#define NOTE(i)		(truth[i] = (word)__builtin_return_address(0))

extern const char __ehdr_start[];

static word truth[FRAMES];
/* The file of a frame, or NULL: the program's own. With a file, truth[] is the offset in it. */
static const char *truth_files[FRAMES];
static long file;
static char *const *environment;
static const char *name;

#ifdef __x86_64__

enum { READ, WRITE, OPEN, CLOSE, MMAP = 9, MPROTECT, MUNMAP, BRK, SIGACTION, YIELD = 24, MREMAP,
	MADVISE = 28, SETITIMER = 38, GETPID = 39, FORK = 57, VFORK, EXECVE, EXIT, WAIT4, KILL,
	PERSONALITY = 135, PIPE2 = 293, RSEQ = 334 };

static inline __attribute__((always_inline)) long
call(long number, word a, word b, word c, word d, word e, word f)
{
	register word r10 asm("r10") = d;
	register word r8 asm("r8") = e;
	register word r9 asm("r9") = f;
	long result;

	asm volatile("syscall" : "=a" (result)
		     : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return result;
}

/* Make a system call. Its return address is that of the label. */
#define call_at(result, label, number, a, b, c)						\
	asm volatile("syscall\n" label ":" : "=a" (result)				\
		     : "a" (number), "D" (a), "S" (b), "d" (c) : "rcx", "r11", "memory")
#define store_address(place, label)							\
	asm volatile("lea " label "(%%rip), %0" : "=r" (place))

#define open_file(path, flags, mode)	call3(OPEN, path, flags, mode)
#define fork_task()			call3(FORK, 0, 0, 0)
#define vfork_task()			call3(VFORK, 0, 0, 0)

#else /* arm64 */

enum { CLOSE = 57, PIPE2 = 59, READ = 63, WRITE, EXIT = 93, PERSONALITY = 92, SETITIMER = 103,
	YIELD = 124, KILL = 129, SIGACTION = 134, GETPID = 172, BRK = 214, MUNMAP, MREMAP,
	CLONE = 220, EXECVE, MMAP,
	MPROTECT = 226, MADVISE = 233, OPENAT = 56, WAIT4 = 260, RSEQ = 293 };

static inline __attribute__((always_inline)) long
call(long number, word a, word b, word c, word d, word e, word f)
{
	register word x8 asm("x8") = number;
	register word x0 asm("x0") = a;
	register word x1 asm("x1") = b;
	register word x2 asm("x2") = c;
	register word x3 asm("x3") = d;
	register word x4 asm("x4") = e;
	register word x5 asm("x5") = f;

	asm volatile("svc #0" : "+r" (x0)
		     : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5) : "memory");
	return x0;
}

/* Make a system call. Its return address is that of the label. */
#define call_at(result, label, number, a, b, c)						\
do {											\
	register word x8 asm("x8") = (number);						\
	register word x0 asm("x0") = (word)(a);						\
	register word x1 asm("x1") = (word)(b);						\
	register word x2 asm("x2") = (word)(c);						\
											\
	asm volatile("svc #0\n" label ":" : "+r" (x0)					\
		     : "r" (x8), "r" (x1), "r" (x2) : "memory");			\
	result = x0;									\
} while (0)
#define store_address(place, label)							\
	asm volatile("adr %0, " label : "=r" (place))

/* AT_FDCWD; SIGCHLD; CLONE_VM and CLONE_VFORK, too */
#define open_file(path, flags, mode)	call(OPENAT, -100, (word)(path), flags, mode, 0, 0)
#define fork_task()			call3(CLONE, 17, 0, 0)
#define vfork_task()			call3(CLONE, 0x4111, 0, 0)

#endif

#define call3(number, a, b, c)	call(number, (word)(a), (word)(b), (word)(c), 0, 0, 0)

static word length(const char *text)
{
	word i = 0;

	while (text[i])
		i++;
	return i;
}

static int equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static word parse(const char *text)
{
	word number = 0;

	while (*text >= '0' && *text <= '9')
		number = number * 10 + *text++ - '0';
	return number;
}

/* --- Printing ------------------------------------------------------------------ */

static char line[1024];
static word used;

static void put(const char *text)
{
	while (*text)
		line[used++] = *text++;
}

static void put_number(word number, word base)
{
	char digits[24];
	word i = sizeof(digits);

	digits[--i] = 0;
	do {
		digits[--i] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	put(digits + i);
}

/* Print the chain: @count addresses of truth[], and a reason if there is one. */
static void expect(word objects, word count, const char *reason)
{
	word i;

	used = 0;
	put("chain ");
	put(name);
	put(" ");
	put_number(objects, 10);
	put(" ");
	for (i = 0; i < count; i++) {
		if (i)
			put(",");
		if (truth[i] == 1) {
			put("[anon]");
			continue;
		}
		if (truth_files[i]) {
			put(truth_files[i]);
			put("+");
		}
		put("0x");
		put_number(truth[i] - (truth_files[i] ? 0 : (word)__ehdr_start), 16);
	}
	if (reason) {
		put(i ? "," : "");
		put(reason);
	}
	put("\n");
	call3(WRITE, 1, line, used);
}

/* --- Chains -------------------------------------------------------------------- */

static noinline long ask(const char *text)
{
	word size = length(text);
	long result;

	NOTE(1);
	call_at(result, "asked", WRITE, file, text, size);
	store_address(truth[0], "asked");
	return result;
}

/* --- Begin --------------------------------------------------------------------- */

/*
 * Register restartable sequences as glibc does: the kernel then writes to the program's memory on
 * the way back from an entry with work. A kernel without CONFIG_RSEQ refuses.
 */
static void register_rseq(void)
{
	static char area[32] __attribute__((aligned(32)));

	call(RSEQ, (word)area, sizeof(area), 0, 0x53053053, 0, 0);
}

static void run(word count, char **arguments);

__attribute__((used)) void begin(word *stack)
{
	word count = stack[0], i;

	NOTE(TO_BEGIN - 1);
	environment = (char *const *)&stack[count + 2];
	for (i = 0, name = (char *)stack[1]; ((char *)stack[1])[i]; i++)
		if (((char *)stack[1])[i] == '/')
			name = (char *)stack[1] + i + 1;
	register_rseq();
	run(count, (char **)&stack[1]);
	call3(EXIT, 0, 0, 0);
}

/* The outermost frame: a frame pointer of 0, or in a program without them any number. */
#ifdef OMIT
#define OUTERMOST "12345"
#else
#define OUTERMOST "0"
#endif
asm(".text\n"
    ".globl _start\n"
    "_start:\n"
#ifdef __x86_64__
    "	mov $" OUTERMOST ", %ebp\n"
    "	mov %rsp, %rdi\n"
    "	and $-16, %rsp\n"
    "	call begin\n"
    "	hlt\n");
#else
    "	mov x29, #" OUTERMOST "\n"
    "	mov x0, sp\n"
    "	bl begin\n"
    "	brk #0\n");
#endif

#endif
