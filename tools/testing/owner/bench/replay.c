// SPDX-License-Identifier: GPL-2.0
/*
 * Replay the walks that modules/owner_record.c has recorded, and print their time.
 *
 *	replay FILE
 *
 * The depot's headers and arch/x86/kernel/stackdepot_orc.c are compiled as they are. Before each
 * walk, the words of its stack are copied into one stack, as a running stack is in the caches; that
 * is not in the time. Each hash is compared with that of the frames that the kernel's unwinder has
 * found.
 *
 * The ways:
 *	walk		stack_depot_hash_running()
 *	find		stack_depot_find_running(), as slab_owner does
 *	list-walk	hash return addresses that are side by side, as on a shadow stack
 *	list-find	the same, and find the ref
 *
 * Prints "replay: WAY TOUCHED MIN MEDIAN" in cycles of the time stamp counter, for KiB of other
 * memory that are touched before each walk, and "count: NAME VALUE".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel copies no structure by vector registers. */
#pragma GCC push_options
#pragma GCC target("general-regs-only")

#include "replay_shim.h"
#include <linux/stackdepot_capture.h>
/* The walk calls a function of this file, which counts, and calls the kernel's. */
#define stack_depot_move_slowly	kernel_move_slowly
#include "arch/x86/kernel/stackdepot_orc.c"
#undef stack_depot_move_slowly
#include "../modules/owner_record.h"

#define ROUNDS		15
#define DEPTH		16
#define CACHE_LINE	64
#define HUGE_PAGE	0x200000UL
#define TOUCHED_MAX	(768 << 10)

/* --- Data and functions of the kernel ------------------------------------------- */

u64 stack_depot_hash_key;
struct stack_depot_capture_counts stack_depot_capture_counts;
struct stack_depot_cpu_cache *stack_depot_cpu_caches;
struct pcpu_hot pcpu_hot;
static struct task_struct task;
static unsigned long slow_moves;

/* As in the kernel, the walk knows nothing of this function's code. */
__attribute__((__noipa__)) bool stack_depot_move_slowly(u64 *steps, unsigned long ip,
							struct stack_depot_running_walk *walk)
{
	slow_moves++;
	return kernel_move_slowly(steps, ip, walk);
}

/* The steps come from the recording. */
void *stack_depot_alloc_table(size_t bytes, int node)
{
	return NULL;
}

void stack_depot_free_table(void *table, size_t bytes)
{
}

bool stack_depot_is_allocator(unsigned long ip)
{
	return false;
}

bool stack_depot_ends_chain(unsigned long ip)
{
	return false;
}

unsigned long stack_depot_recover_ip(unsigned long slot)
{
	return stack_depot_read_stack(slot);
}

static void exit_with_error(const char *what)
{
	fprintf(stderr, "replay: %s\n", what);
	exit(1);
}

/* Memory in huge pages, as the kernel's own. */
static void *alloc_huge(size_t size)
{
	char *memory;

	size = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	memory = aligned_alloc(HUGE_PAGE, size);
	if (!memory)
		exit_with_error("no memory");
	madvise(memory, size, MADV_HUGEPAGE);
	memset(memory, 0, size);
	return memory;
}

/* --- The recording ----------------------------------------------------------------- */

/* A capture, with its words as they are in the stacks of this program. */
struct replayed_capture {
	struct stack_depot_caller caller;
	/* The chain's frames, with the first one at the end. */
	unsigned long list[DEPTH];
	unsigned int count;
	/* The hash of the frames. */
	u64 hash;
	/* Words of the stack, and of the interrupted task's stack. */
	const void *words;
	size_t bytes;
	char *task_end;
	size_t task_bytes;
};

static struct replayed_capture *captures;
static unsigned long nr_captures, nr_interrupts;
static char task_stack[THREAD_SIZE] __attribute__((__aligned__(THREAD_SIZE)));
static char irq_stack[THREAD_SIZE] __attribute__((__aligned__(THREAD_SIZE)));
static unsigned long list_stack[DEPTH];

static void relocate_words(unsigned long *words, size_t bytes, unsigned long from, char *to)
{
	unsigned long *end = words + bytes / sizeof(*words);

	for (; words != end; words++)
		if (*words - from <= THREAD_SIZE)
			*words += (unsigned long)to - from;
}

/* Prepare a capture of the recording for replays. Return: where the next one begins. */
static void *load_capture(struct replayed_capture *capture, const struct record_capture *from)
{
	bool interrupt = from->task_words;
	char *stack = interrupt ? irq_stack : task_stack;
	void *words = (void *)(from + 1);
	unsigned int i;

	if (from->count <= RECORD_OWN_FRAMES)
		exit_with_error("a capture has no chain");
	nr_interrupts += interrupt;
	capture->words = words;
	capture->bytes = from->stack + THREAD_SIZE - from->slot + sizeof(long);
	capture->task_bytes = interrupt ? from->task_stack + THREAD_SIZE - from->task_words : 0;
	relocate_words(words, capture->bytes + capture->task_bytes, from->stack, stack);
	if (interrupt)
		relocate_words(words, capture->bytes + capture->task_bytes, from->task_stack,
			       task_stack);
	capture->caller.slot = (unsigned long)stack + from->slot - from->stack;
	capture->caller.bp_slot = capture->caller.slot - sizeof(long);
	capture->count = from->count - RECORD_OWN_FRAMES;
	for (i = 0; i < capture->count; i++)
		capture->list[DEPTH - 1 - i] = from->frames[RECORD_OWN_FRAMES + i];
	capture->hash = stack_depot_hash_frames(from->frames + RECORD_OWN_FRAMES, capture->count);
	return words + capture->bytes + capture->task_bytes;
}

static void load_recording(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct record_header *header;
	struct stat status;
	unsigned long i;
	void *next;

	if (fd < 0 || fstat(fd, &status))
		exit_with_error("the recording cannot be read");
	header = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, fd,
		      0);
	if (header == MAP_FAILED)
		exit_with_error("the recording cannot be mapped");
	stack_depot_steps = alloc_huge(STACK_DEPOT_STEPS * sizeof(u64));
	memcpy(stack_depot_steps, header + 1, STACK_DEPOT_STEPS * sizeof(u64));
	next = (void *)(header + 1) + STACK_DEPOT_STEPS * sizeof(u64);
	nr_captures = header->captures;
	captures = calloc(nr_captures, sizeof(*captures));
	for (i = 0; i < nr_captures; i++)
		next = load_capture(&captures[i], next);
	if (next != (void *)header + status.st_size)
		exit_with_error("the recording is damaged");
	printf("count: captures %lu\ncount: interrupts %lu\ncount: other-stacks %lu\n"
	       "count: missed %lu\n", nr_captures, nr_interrupts, header->other_stacks,
	       header->missed);
}

/* Copy the capture's words into the stacks. */
static void put_stack(const struct replayed_capture *capture)
{
	memcpy((void *)capture->caller.bp_slot, capture->words, capture->bytes);
	memcpy(task_stack + THREAD_SIZE - capture->task_bytes, capture->words + capture->bytes,
	       capture->task_bytes);
}

/* --- The CPU cache ------------------------------------------------------------------ */

static struct stack_depot_ref *find_unused_ref(struct stack_depot_cpu_cache *cpu,
					       depot_stack_handle_t handle)
{
	struct stack_depot_ref *ref;
	unsigned int i;

	for (i = 0; i < STACK_DEPOT_REF_CHOICES * STACK_DEPOT_REFS_SET; i++) {
		ref = stack_depot_ref_set(cpu, handle, i / STACK_DEPOT_REFS_SET) +
		      i % STACK_DEPOT_REFS_SET;
		if (!ref->references)
			return ref;
	}
	return NULL;
}

static void fill_cpu_cache(struct stack_depot_cpu_cache *cpu)
{
	unsigned long i, chains = 0, left_out = 0;
	struct stack_depot_ref *ref;
	unsigned int place;
	u32 *entry;
	u64 hash;

	for (i = 0; i < STACK_DEPOT_INDEX; i++)
		cpu->index[i] = STACK_DEPOT_INDEX_UNUSED;
	for (i = 0; i < nr_captures; i++) {
		hash = captures[i].hash;
		if (stack_depot_find_hashed_ref(cpu, hash))
			continue;
		ref = find_unused_ref(cpu, ++chains);
		entry = stack_depot_index_set(cpu, hash);
		for (place = 0; place < STACK_DEPOT_INDEX_SET; place++, entry++)
			if (*entry == STACK_DEPOT_INDEX_UNUSED)
				break;
		if (!ref || place == STACK_DEPOT_INDEX_SET) {
			left_out++;
			continue;
		}
		*ref = (struct stack_depot_ref){
			.hash = hash, .handle = chains, .references = STACK_DEPOT_REF_BATCH,
		};
		*entry = stack_depot_index_tag(hash) | (ref - cpu->ref);
	}
	printf("count: chains %lu\ncount: without-ref %lu\n", chains - left_out, left_out);
}

/* --- Measuring ---------------------------------------------------------------------- */

/* The empty way has the cost of reading the counter. */
enum way { EMPTY, WALK, FIND, LIST_WALK, LIST_FIND, WAYS };

static const char *const way_names[WAYS] = {
	"empty", "walk", "find", "list-walk", "list-find",
};

static const unsigned int touched_sizes[] = { 0, SZ_64K, TOUCHED_MAX };
#define NR_TOUCHED	(sizeof(touched_sizes) / sizeof(*touched_sizes))

static char *touched_memory;
static unsigned long wrong;

static __always_inline u64 read_cycles(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

static void touch_memory(unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i += CACHE_LINE)
		READ_ONCE(*(unsigned long *)(touched_memory + i));
}

static __always_inline u64 hash_list(unsigned int count)
{
	u64 hash = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		hash = stack_depot_mix_frame(hash, list_stack[DEPTH - 1 - i]);
	return hash;
}

/* Replay a capture in one way, and check it. Return: the cycles. */
static __always_inline u64 replay_capture(const struct replayed_capture *capture, enum way way,
					  unsigned int touched)
{
	struct stack_depot_cpu_cache *cpu = stack_depot_cpu_caches;
	struct stack_depot_caller caller = capture->caller;
	u64 hash = capture->hash, began, cycles;
	unsigned int count = capture->count;
	struct stack_depot_ref *ref = NULL;

	touch_memory(touched);
	put_stack(capture);
	memcpy(list_stack, capture->list, sizeof(list_stack));
	began = read_cycles();
	if (way == WALK)
		hash = stack_depot_hash_running(DEPTH, 1, caller);
	else if (way == FIND)
		ref = stack_depot_find_running(cpu, DEPTH, 1, caller);
	else if (way == LIST_WALK || way == LIST_FIND)
		hash = hash_list(count);
	if (way == LIST_FIND)
		ref = stack_depot_find_hashed_ref(cpu, hash);
	/* The result is needed before the counter is read. */
	asm volatile("" : : "r" (hash), "r" (ref) : "memory");
	cycles = read_cycles() - began;
	wrong += hash != capture->hash || (ref && ref->hash != capture->hash);
	return cycles;
}

static __always_inline u64 replay_way(enum way way, unsigned int touched)
{
	u64 cycles = 0;
	unsigned long i;

	for (i = 0; i < nr_captures; i++)
		cycles += replay_capture(&captures[i], way, touched);
	return cycles;
}

/* Replay all captures. Return: the cycles. */
static noinline u64 replay_round(enum way way, unsigned int touched)
{
	switch (way) {
	case EMPTY:
		return replay_way(EMPTY, touched);
	case WALK:
		return replay_way(WALK, touched);
	case FIND:
		return replay_way(FIND, touched);
	case LIST_WALK:
		return replay_way(LIST_WALK, touched);
	default:
		return replay_way(LIST_FIND, touched);
	}
}

#pragma GCC pop_options

static int compare_means(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The ways take turns, so that other load on the host affects them all. */
static void measure_ways(unsigned int touched)
{
	static double means[WAYS][ROUNDS];
	unsigned int round, way;

	for (round = 0; round < ROUNDS; round++)
		for (way = 0; way < WAYS; way++)
			means[way][round] = (double)replay_round(way, touched) / nr_captures;
	if (wrong)
		exit_with_error("hashes are wrong");
	for (way = 0; way < WAYS; way++) {
		qsort(means[way], ROUNDS, sizeof(double), compare_means);
		printf("replay: %s %u %.2f %.2f\n", way_names[way], touched >> 10,
		       means[way][0] - (way ? means[EMPTY][0] : 0),
		       means[way][ROUNDS / 2] - (way ? means[EMPTY][0] : 0));
	}
}

/* Replay all captures, check them all, and print how often a walk calls the function. */
static void check_walks(void)
{
	slow_moves = 0;
	replay_round(WALK, 0);
	printf("count: wrong %lu\ncount: slow-moves %.2f\n", wrong,
	       (double)slow_moves / nr_captures);
	if (wrong)
		exit_with_error("hashes of walks are not those of their frames");
}

/* Print how long the chains are, and how large their stacks. */
static void count_frames(void)
{
	unsigned long i, frames = 0, whole = 0, bytes = 0;

	for (i = 0; i < nr_captures; i++) {
		frames += captures[i].count;
		whole += captures[i].count == DEPTH;
		bytes += captures[i].bytes;
	}
	printf("count: frames %.2f\ncount: of-16-frames %.3f\ncount: stack-bytes %.0f\n",
	       (double)frames / nr_captures, (double)whole / nr_captures,
	       (double)bytes / nr_captures);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 2)
		exit_with_error("replay FILE");
	setvbuf(stdout, NULL, _IOLBF, 0);
	srandom(37);
	stack_depot_hash_key = ((u64)random() << 33 ^ (u64)random() << 11 ^ random()) | 1;
	task.stack = task_stack;
	pcpu_hot.current_task = &task;
	pcpu_hot.hardirq_stack_ptr = irq_stack + IRQ_STACK_SIZE - sizeof(long);
	stack_depot_cpu_caches = alloc_huge(sizeof(*stack_depot_cpu_caches));
	touched_memory = alloc_huge(TOUCHED_MAX);
	load_recording(argv[1]);
	fill_cpu_cache(stack_depot_cpu_caches);
	count_frames();
	check_walks();
	for (i = 0; i < NR_TOUCHED; i++)
		measure_ways(touched_sizes[i]);
	return 0;
}
