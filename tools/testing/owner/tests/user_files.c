// SPDX-License-Identifier: GPL-2.0
/*
 * A program that calls through code in other files. It plants user chains as user_chains.c
 * does, and measures their cost. The other files are this program too, linked with other
 * build-ids: they have the code of through[] at the same offset.
 *
 *   user_files files FIRST SECOND COPY THIRD FOURTH	one address in different files in turn.
 *			COPY is made, with the content of THIRD and of FOURTH in turn
 *   user_files fill COPY FILES FIFTH			an object through FIFTH, in each of 10
 *			children one through each of FILES new files, which are called COPY, and one
 *			through FIFTH again
 *   user_files cost CALLS OBJECTS HOW FRAMES FILE...	prints instructions of a system call of
 *			OBJECTS, at the end of FRAMES frames with the FILEs among them. HOW:
 *			known: the same stack each time
 *			mapped: an executable mapping was added since
 *			fresh: of known mappings, but another stack each time
 */

#define TO_BEGIN	8
#include "user_program.h"

/* --- Code in other files ------------------------------------------------------- */

#define COPIES		64
#define COPY_SIZE	32
#define FILES		3
#define X32(text)	X16(text) X16(text)
#define X16(text)	X8(text) X8(text)
#define X8(text)	text text text text text text text text

/* Call route->next(route->argument). There are COPIES, each of which has its return address. */
typedef long route_fn(const void *argument);
struct route {
	route_fn *next;
	const void *argument;
};

extern const char through[];
asm(".text\n"
    ".balign 4096\n"
    "through:\n"
    ".rept 64\n"
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	mov %rdi, %rax\n"
    "	mov 8(%rax), %rdi\n"
    "	call *(%rax)\n"
    "	pop %rbp\n"
    "	ret\n"
    "	.balign 32\n"
    ".endr\n"
    ".balign 4096\n");

/* Bytes from the begin of a copy to its return address */
#define THROUGH_RETURNS	13
#define PROT_READ	1
#define PROT_CODE	5
#define PROT_ALL	7
#define MAP_PRIVATE	2
#define MAP_FIXED	0x10
#define MAP_ANONYMOUS	0x20
#define MREMAP_FIXED	3
#define READ_IMPLIES_EXEC 0x400000

/* Map the code of a file. @at: where, or 0. */
static char *map_code(const char *path, const char *at, word protection)
{
	long fd = open_file(path, 0, 0);
	char *code = (char *)call(MMAP, (word)at, PAGE, protection,
				  MAP_PRIVATE | (at ? MAP_FIXED : 0), fd,
				  (word)through - (word)__ehdr_start);

	call3(CLOSE, fd, 0, 0);
	return code;
}

/* Copy the code to memory that has no file. */
static void copy_code(char *to)
{
	word i;

	for (i = 0; i < PAGE; i++)
		to[i] = through[i];
}

/* --- One address in different files -------------------------------------------- */

/* Both calls of plant() have the same stack here. */
static noinline void ask_file(const char *code, const char *text)
{
	struct route route = { (route_fn *)ask, text };

	NOTE(3);
	((route_fn *)code)(&route);
	asm volatile("after_code:");
	store_address(truth[2], "after_code");
}

/* Ask through @code, which is of the file that check_user.py knows as @of. */
static noinline void plant(const char *code, const char *text, const char *of)
{
	word i;

	NOTE(4);
	/* The second time, the stack is known. */
	for (i = 0; i < 2; i++) {
		ask_file(code, text);
		/* Keep the loop: both calls have one return address. */
		asm volatile("" : "+r" (i));
	}
	truth[1] = of ? (word)through - (word)__ehdr_start + THROUGH_RETURNS : 1;
	truth_files[1] = of;
	expect(2 * parse(text), TO_BEGIN, 0);
}

static void rewrite(const char *from, const char *to)
{
	static char content[1 << 16];
	long fd = open_file(from, 0, 0);
	long size = call3(READ, fd, content, sizeof(content));

	call3(CLOSE, fd, 0, 0);
	/* O_WRONLY | O_CREAT */
	fd = open_file(to, 0101, 0600);
	call3(WRITE, fd, content, size);
	call3(CLOSE, fd, 0, 0);
}

static noinline void test_files(char *const *paths)
{
	const char *first = paths[0], *second = paths[1], *copy = paths[2];
	char *heap, *code = map_code(first, 0, PROT_CODE), *other;
	word i;

	NOTE(5);
	plant(code, "1", "first");
	map_code(second, code, PROT_CODE);
	plant(code, "2", "second");
	call(MMAP, (word)code, PAGE, PROT_ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	copy_code(code);
	plant(code, "3", 0);
	other = map_code(first, 0, PROT_CODE);
	call(MREMAP, (word)other, PAGE, PAGE, MREMAP_FIXED, (word)code, 0);
	plant(code, "4", "first");
	map_code(second, code, PROT_READ);
	call3(MPROTECT, code, PAGE, PROT_CODE);
	plant(code, "5", "second");

	/* Two files that have the name of the copy, written in the same tick of the clock. */
	for (i = 0; i < 20; i++) {
		rewrite(paths[3 + i % 2], copy);
		call3(MUNMAP, code, PAGE, 0);
		map_code(copy, code, PROT_CODE);
		plant(code, "1", i % 2 ? "copy:fourth" : "copy:third");
	}

	/* The heap grows to where a file was. */
	heap = (char *)((call3(BRK, 0, 0, 0) + PAGE - 1) & -PAGE);
	call3(BRK, heap, 0, 0);
	map_code(first, heap, PROT_CODE);
	plant(heap, "6", "first");
	call3(MUNMAP, heap, PAGE, 0);
	call3(PERSONALITY, READ_IMPLIES_EXEC, 0, 0);
	call3(BRK, heap + PAGE, 0, 0);
	copy_code(heap);
	plant(heap, "7", 0);
}

/* --- Files that come and go ------------------------------------------------------ */

#define NANOSLEEP	35
#define UNLINK		87
#define CHILDREN	10

/* Let the chain of an object that is freed at once name a file. */
static noinline void name_file(const char *code)
{
	struct route route = { (route_fn *)ask, "1" };

	((route_fn *)code)(&route);
	ask("free 1");
}

static void name_new_files(const char *path, word count)
{
	char *code;
	long fd;

	for (; count; count--) {
		/* O_RDWR | O_CREAT */
		fd = open_file(path, 0102, 0700);
		call3(WRITE, fd, through, PAGE);
		code = (char *)call(MMAP, 0, PAGE, PROT_CODE, MAP_PRIVATE, fd, 0);
		call3(CLOSE, fd, 0, 0);
		name_file(code);
		call3(MUNMAP, code, PAGE, 0);
		call3(UNLINK, path, 0, 0);
	}
}

/*
 * The children have mappings of their own. When they have ended, this program's are as before, but
 * the kernel has dropped the file, and others have taken its place.
 */
static noinline void fill(char *const *arguments)
{
	const char *code = map_code(arguments[2], 0, PROT_CODE);
	static const word two_seconds[] = { 2, 0 };
	word i;
	long child;

	NOTE(5);
	name_file(code);
	for (i = 0; i < CHILDREN; i++) {
		child = fork_task();
		if (!child) {
			name_new_files(arguments[0], parse(arguments[1]));
			call3(EXIT, 0, 0, 0);
		}
		call(WAIT4, child, 0, 0, 0, 0, 0);
		/* The kernel drops files a second after the table is three quarters full. */
		call3(NANOSLEEP, two_seconds, 0, 0);
	}
	plant(code, "1", "fifth");
}

/* --- Cost ---------------------------------------------------------------------- */

static struct route routes[FRAMES];
static const char *codes[FILES] = { through };
static word nr_codes = 1;

static inline word read_ticks(void)
{
	unsigned int low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (word)high << 32 | low;
}

/* Prepare calls through @count frames that end in ask(). Return: the first function. */
static route_fn *prepare_route(word count, word number, const char *text)
{
	word i, copies[2] = { number % COPIES, number / COPIES % COPIES };
	const char *code;

	routes[0].next = (route_fn *)ask;
	routes[0].argument = text;
	for (i = 1; i <= count; i++) {
		code = codes[i % nr_codes] + (i <= 2 ? copies[i - 1] * COPY_SIZE : 0);
		routes[i].next = (route_fn *)code;
		routes[i].argument = &routes[i - 1];
	}
	return routes[count].next;
}

static noinline void measure(word calls, const char *text, const char *how, word frames)
{
	char *page = (char *)call(MMAP, 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* The other frames are those of ask(), measure(), run(), begin() and _start. */
	word i, began, took, length = frames - 5, least = -1UL, sum = 0;
	int mapped = equal(how, "mapped"), fresh = equal(how, "fresh");
	route_fn *first;

	for (i = 0; i < calls; i++) {
		if (mapped || fresh) {
			call3(MPROTECT, page, PAGE, PROT_READ);
			call3(MPROTECT, page, PAGE, PROT_CODE);
		}
		if (fresh) {
			first = prepare_route(length, 0, "0001");
			first(&routes[length - 1]);
		}
		first = prepare_route(length, equal(how, "new") ? i : fresh, text);
		began = read_ticks();
		first(&routes[length - 1]);
		took = read_ticks() - began;
		least = took < least ? took : least;
		sum += took;
		if (i % 16 == 15)
			ask("free");
	}
	used = 0;
	put("ticks ");
	put(how);
	put(" ");
	put_number(frames, 10);
	put(" ");
	put_number(nr_codes, 10);
	put(" ");
	put(text);
	put(" ");
	put_number(least, 10);
	put(" ");
	put_number(sum / calls, 10);
	put("\n");
	call3(WRITE, 1, line, used);
}

/* --- Begin --------------------------------------------------------------------- */

static noinline void run(word count, char **arguments)
{
	if (count < 5)
		return;
	NOTE(6);
	file = open_file(PLACE, 1, 0);
	if (equal(arguments[1], "fill")) {
		fill(arguments + 2);
		return;
	}
	if (equal(arguments[1], "files")) {
		test_files(arguments + 2);
		return;
	}
	for (; nr_codes < FILES && count > nr_codes + 5; nr_codes++)
		codes[nr_codes] = map_code(arguments[nr_codes + 5], 0, PROT_CODE);
	measure(parse(arguments[2]), arguments[3], arguments[4], parse(arguments[5]));
}
