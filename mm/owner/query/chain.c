// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains of a query: their functions, modules and system call, and which frames are the
 * allocator's own.
 *
 * Chains are captured without the allocator's frames where possible. Where that was
 * not possible, a query skips these frames at the start of the chain. It does not
 * skip an allocator function further down, for example below reclaim: a chain has no
 * holes.
 */

#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "../capture.h"
#include "../frame.h"
#include "../rules/symbol_ranges.h"
#include "query.h"

static unsigned long find_function_start(unsigned long frame)
{
	unsigned long size, offset;

	/* Look up the call: it can be the function's last instruction. */
	if (owner_is_module_data(frame - 1) ||
	    !kallsyms_lookup_size_offset(frame - 1, &size, &offset))
		return 0;
	return frame - 1 - offset;
}

/**
 * owner_query_get_chain() - look up a call chain
 * @chains: table of 1 << OWNER_QUERY_CHAIN_BITS chains
 * @handle: of the call chain, referenced by the caller
 *
 * The chain replaces the one with the same hash.
 *
 * Return: the chain, valid until this function is called again.
 */
struct owner_query_chain *owner_query_get_chain(struct owner_query_chain *chains,
						depot_stack_handle_t handle)
{
	struct owner_query_chain *chain = &chains[hash_32(handle, OWNER_QUERY_CHAIN_BITS)];

	if (chain->handle == handle)
		return chain;
	stack_depot_put(chain->handle);
	*chain = (struct owner_query_chain){};
	if (stack_depot_get(handle))
		chain->handle = handle;
	chain->count = stack_depot_copy(chain->handle, NULL, 0);
	chain->first = owner_first_shown_frame(chain->handle, chain->count);
	chain->entry = chain->count;
	cond_resched();
	return chain;
}

/**
 * owner_query_put_chains() - drop the references of a table of call chains
 * @chains: the table, unused from now on
 */
void owner_query_put_chains(struct owner_query_chain *chains)
{
	unsigned int i;

	for (i = 0; i < 1 << OWNER_QUERY_CHAIN_BITS; i++)
		stack_depot_put(chains[i].handle);
}

/**
 * owner_query_print_function() - print the function of a frame, as group=stack.func shows it
 * @frame: the frame
 * @text: gets the name without what the build has added to it, and the module; KSYM_SYMBOL_LEN
 *	bytes
 *
 * Return: false if the function is unknown.
 */
bool owner_query_print_function(unsigned long frame, char *text)
{
	char *end;

	if (!IS_ENABLED(CONFIG_KALLSYMS) || owner_is_module_data(frame - 1))
		return false;
	sprint_symbol_no_offset(text, frame - 1);
	if (!strncmp(text, "0x", 2))
		return false;
	end = strchrnul(text, ' ');
	memmove(text + owner_lang_function_length(text, end - text), end, strlen(end) + 1);
	return true;
}

/**
 * owner_query_chain_syscall() - find the system call that a chain comes from
 * @chain: the call chain
 * @name: gets the system call's name, empty if there is none; KSYM_SYMBOL_LEN bytes
 */
noinline_for_stack void owner_query_chain_syscall(struct owner_query_chain *chain, char *name)
{
	const char *syscall;
	size_t length;

	for (; chain->entry; chain->entry--) {
		if (!owner_query_print_function(stack_depot_frame(chain->handle, chain->entry - 1),
						name) || strchr(name, ' '))
			continue;
		length = strlen(name);
		syscall = owner_lang_syscall_of_function(name, &length);
		if (syscall) {
			memmove(name, syscall, length);
			name[length] = '\0';
			return;
		}
	}
	*name = '\0';
}

/**
 * owner_query_select_frames() - choose the frames of a chain that a field of group= compares
 * @chain: the call chain
 * @by: the field
 * @first: gets the index of the first of these frames
 *
 * Return: how many there are.
 */
unsigned int owner_query_select_frames(const struct owner_query_chain *chain,
				       const struct owner_group_field *by, unsigned int *first)
{
	unsigned int frames;

	*first = by->full ? 0 : chain->first;
	frames = min(chain->count - *first, by->frames ?: OWNER_FRAMES_MAX);
	if (by->outermost)
		*first = chain->count - frames;
	return frames;
}

/* Find the module of a frame, loaded or not. */
static bool find_frame_module(unsigned long frame, char *name, size_t size)
{
	return owner_module_name(frame, name, size) || owner_query_find_unloaded(frame, name, size);
}

/* Does a comparison hold for the function or the module of a frame? */
static bool frame_matches(const struct owner_sentence *s, const struct owner_comparison *c,
			  unsigned long frame)
{
	char name[MODULE_NAME_LEN];

	if (c->field != OWNER_FIELD_MODULE)
		return owner_frame_matches(s, c, frame);
	return find_frame_module(frame, name, sizeof(name)) && owner_lang_word_matches(s, c, name);
}

/* Does a comparison hold for the system call of a chain? */
static noinline_for_stack bool syscall_matches(const struct owner_sentence *s,
					       const struct owner_comparison *c,
					       struct owner_query_chain *chain)
{
	char name[KSYM_SYMBOL_LEN];

	owner_query_chain_syscall(chain, name);
	return *name && owner_lang_word_matches(s, c, name);
}

/**
 * owner_query_chain_matches() - does a comparison hold for a function, a module or the syscall?
 * @chain: the call chain, used with one sentence only
 * @s: the sentence
 * @comparison: a comparison of the sentence, with functions, modules or system calls
 *
 * The comparison is evaluated once for each chain.
 */
bool owner_query_chain_matches(struct owner_query_chain *chain, const struct owner_sentence *s,
			       const struct owner_comparison *comparison)
{
	u32 bit = 1U << (comparison - s->comparisons);
	unsigned int i, count = chain->count;

	if (chain->compared & bit)
		return chain->matched & bit;
	chain->compared |= bit;
	if (comparison->field == OWNER_FIELD_SYSCALL) {
		count = 0;
		if (syscall_matches(s, comparison, chain))
			chain->matched |= bit;
	}
	for (i = 0; i < count && !(chain->matched & bit); i++)
		if (frame_matches(s, comparison, stack_depot_frame(chain->handle, i)))
			chain->matched |= bit;
	cond_resched();
	return chain->matched & bit;
}

/**
 * owner_query_chain_function() - find the function that called the allocator
 * @chain: the call chain
 *
 * Return: its address, 0 if the chain is empty or the function is unknown.
 */
unsigned long owner_query_chain_function(const struct owner_query_chain *chain)
{
	unsigned long frame = stack_depot_frame(chain->handle, chain->first);

	return frame ? find_function_start(frame) : 0;
}

/**
 * owner_query_chain_module() - find the module that is nearest to the allocation
 * @chain: the call chain
 * @name: buffer for the module's name, empty if no frame is in a module
 * @size: of @name
 */
void owner_query_chain_module(const struct owner_query_chain *chain, char *name, size_t size)
{
	unsigned int i;

	for (i = 0; i < chain->count; i++)
		if (find_frame_module(stack_depot_frame(chain->handle, i), name, size))
			return;
	*name = '\0';
}
