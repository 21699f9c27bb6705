/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs have in common that plant user chains: system calls, printing, functions that
 * know the chains of their calls, and the begin. The program has a function run().
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
/* The file of a frame if it is not the program: truth[] is the offset in it. */
static const char *truth_files[FRAMES];
static long file;
static char *const *environment;
static const char *name;

enum { READ, WRITE, OPEN, CLOSE, MMAP = 9, MPROTECT, MUNMAP, SIGACTION = 13, SIGRETURN = 15,
	MADVISE = 28, GETPID = 39, FORK = 57, VFORK, EXECVE, EXIT, WAIT4, KILL, UNLINK = 87,
	SETITIMER = 38, MREMAP = 25, BRK = 12, PERSONALITY = 135 };

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

/* The system call has a label behind it. */
static noinline long ask(const char *text)
{
	long result;

	NOTE(1);
	asm volatile("syscall\n"
		     "asked:"
		     : "=a" (result) : "a" (WRITE), "D" (file), "S" (text), "d" (length(text))
		     : "rcx", "r11", "memory");
	asm volatile("lea asked(%%rip), %0" : "=r" (truth[0]));
	return result;
}

/* --- Begin --------------------------------------------------------------------- */

static void run(word count, char **arguments);

__attribute__((used)) void begin(word *stack)
{
	word count = stack[0], i;

	NOTE(TO_BEGIN - 1);
	environment = (char *const *)&stack[count + 2];
	for (i = 0, name = (char *)stack[1]; ((char *)stack[1])[i]; i++)
		if (((char *)stack[1])[i] == '/')
			name = (char *)stack[1] + i + 1;
	run(count, (char **)&stack[1]);
	call3(EXIT, 0, 0, 0);
}

/* The outermost frame: a frame pointer of 0, or in a program without them any number. */
asm(".text\n"
    ".globl _start\n"
    "_start:\n"
#ifdef OMIT
    "	mov $12345, %ebp\n"
#else
    "	xor %ebp, %ebp\n"
#endif
    "	mov %rsp, %rdi\n"
    "	and $-16, %rsp\n"
    "	call begin\n"
    "	hlt\n");

#endif
