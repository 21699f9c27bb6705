/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types that all parts of the owner subsystem share, and its words.
 *
 * record		16 bytes that describe an owner (struct owner_record, page_owner)
 * owner		who holds an object: call chain, task, size and time
 * object		a slab object, a per-CPU area, or an allocation of pages
 * chain, call chain	return addresses, interned in the stack depot
 * frame		one return address of a chain
 * depth		number of frames that are kept of a chain
 * task			pid, tgid, comm and cgroup as they were when the record was filled
 * user chain		the call chain in the program that made a system call (user/user.h)
 * context		a task and its user chain, or why it has none
 * entry		from a system call or a fault to the return to the program
 * binary		a file whose code is in user chains
 * handle		depot_stack_handle_t of a chain, a user chain, a task or a context
 * capture		walk the running stack and intern the chain
 * walk			of a stack: read its return addresses; of a source: find its objects
 * hash			64 bits by which a CPU knows a chain, from stack_depot_hash_frames()
 * intern		look words up in the depot, or store them, and take a reference
 * ref			references to one handle that a CPU keeps (struct stack_depot_ref)
 * CPU cache		all refs of a CPU (struct stack_depot_cpu_cache)
 * flush		put all references of refs, and move their counts to the depot
 * counters		what a chain holds, per chain in the depot (enum owner_counter)
 * charge		what one object adds to the counters (struct owner_charge)
 * cache		a kmem_cache, never a CPU cache
 * slab records		the array of records beside a slab
 * source		one kind of object to walk: slab, page or percpu; or chains, for slab
 * cursor		a reader's position in a source (struct owner_cursor)
 * memo			records that a walk has judged already (struct owner_walk_memo)
 * sentence		a rule or a query, as text: settings [if expression]
 * setting, field	left side of "=" before the "if"; left side of a comparison
 * rule			a sentence in owner/control: which allocations are tracked, and how
 * choice		how one allocation is tracked (struct owner_choice)
 * rate			cost of a byte and of an object, by which it is sampled (struct owner_rate)
 * sample credit	cost that a CPU may still spend before it takes a sample
 * weight		number of objects that one sampled record stands for
 * estimate		what sampled records add up to (struct owner_estimate)
 * group, sum		a query's result: objects that share a key, and what they add up to
 * symbol range		addresses of the functions or modules that a rule names
 * loss			an object left untracked, or a record cut short, and why
 */
#ifndef _MM_OWNER_H
#define _MM_OWNER_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/instruction_pointer.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_capture.h>
#include <linux/types.h>

/* Default and maximum depth of a chain. */
#define OWNER_DEPTH		16
#define OWNER_DEPTH_MAX		STACK_DEPOT_CAPTURE_MAX

/**
 * struct owner_record - who holds an object, or who freed it
 * @stack: handle of the chain
 * @task: handle of the task, 0 if the depot had no room for it
 * @handle_pair: @stack and @task as one word, each with a reference; 0 if there is no
 *	owner. Written last on allocation and taken out with one atomic operation on
 *	free, so a double free puts each handle once.
 * @size_and_rate: requested bytes, and the number of the rate at which the object was
 *	sampled: see owner_record_requested() and owner_record_rate()
 * @time: time of the allocation or free, in ticks of OWNER_TICK_NS
 * @details: @size_and_rate and @time as one word
 */
struct owner_record {
	union {
		struct {
			depot_stack_handle_t stack;
			depot_stack_handle_t task;
		};
		u64 handle_pair;
	};
	union {
		struct {
			u32 size_and_rate;
			u32 time;
		};
		u64 details;
	};
};

static_assert(sizeof(struct owner_record) == 16);

/* A task as it was when a record was filled. */
struct owner_task {
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	u64 cgroup;			/* owner_cgroup_of_task(); 0: none */
};

/* The depot's counters of a chain. A sample counts as all objects that it stands for. */
enum owner_counter {
	OWNER_OBJECTS,			/* slab objects, in units of 2^-OWNER_WEIGHT_SHIFT */
	OWNER_BYTES,			/* requested bytes of these objects */
	OWNER_HELD,			/* bytes in their slabs */
	OWNER_PAGES,			/* allocated pages */
};

static_assert(OWNER_PAGES + 1 == STACK_DEPOT_COUNTERS);

/* Bits of the fraction of a weight. A weight up to OWNER_SAMPLE_*_MAX fits into 64 bits. */
#define OWNER_WEIGHT_SHIFT		16

#endif /* _MM_OWNER_H */
