// SPDX-License-Identifier: GPL-2.0
/*
 * Address ranges of the functions or modules that a comparison names.
 *
 * A rule with func or module is evaluated while memory is allocated, where symbol
 * lookups are too slow. So names are looked up when the rule is written and when a
 * module is loaded or unloaded, and an allocation only compares addresses.
 */

#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "../frame.h"
#include "symbol_ranges.h"

/* Adjacent functions share one range. */
struct symbol_range {
	unsigned long start;
	unsigned long end;		/* exclusive */
};

struct owner_symbol_ranges {
	unsigned int count;
	struct symbol_range range[];	/* sorted, disjoint */
};

/* --- Matching one frame by name ------------------------------------------------ */

/**
 * owner_module_name() - get the name of the module that a frame is in
 * @frame: a return address
 * @name: set to the module's name
 * @size: size of @name
 *
 * Return: false if the frame is not in a loaded module.
 */
bool owner_module_name(unsigned long frame, char *name, size_t size)
{
	bool found = false;
#ifdef CONFIG_MODULES
	struct module *module;

	preempt_disable();
	module = __module_text_address(frame - 1);
	found = module;
	if (module)
		strscpy(name, module->name, size);
	preempt_enable();
#endif
	return found;
}

/**
 * owner_frame_matches() - compare the function or module of a frame by name
 * @s: a sentence
 * @c: one of its comparisons, of func or module
 * @frame: a return address; the call before it decides, as it may be the last
 *	instruction of its function
 */
noinline bool owner_frame_matches(const struct owner_sentence *s,
				  const struct owner_comparison *c, unsigned long frame)
{
	char name[KSYM_NAME_LEN];

	if (c->field == OWNER_FIELD_FUNC ?
	    owner_is_module_data(frame - 1) || lookup_symbol_name(frame - 1, name) :
	    !owner_module_name(frame, name, sizeof(name)))
		return false;
	return owner_lang_word_matches(s, c, name);
}

/* --- Searching for ranges ------------------------------------------------------ */

struct symbol_search {
	const struct owner_sentence *sentence;
	const struct owner_comparison *comparison;
	struct owner_symbol_ranges *ranges;
	unsigned int room;			/* ranges that fit into @ranges */
	bool killable;				/* end if the task is killed */
	unsigned long last_symbol;		/* address of the previous kernel symbol */
	bool last_matches;			/* its name matches the comparison */
	const struct module *last_module;	/* module of the previous module symbol */
};

static int compare_range_starts(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_and_merge_ranges(struct owner_symbol_ranges *ranges)
{
	struct symbol_range *range = ranges->range, *merged = range;
	unsigned int i;

	if (!ranges->count)
		return;
	sort(range, ranges->count, sizeof(*range), compare_range_starts, NULL);
	for (i = 1; i < ranges->count; i++) {
		if (range[i].start <= merged->end)
			merged->end = max(merged->end, range[i].end);
		else
			*++merged = range[i];
	}
	ranges->count = merged - range + 1;
}

/* Make room for @room ranges. */
static int resize_ranges(struct symbol_search *search, unsigned int room)
{
	struct owner_symbol_ranges *old = search->ranges, *ranges;

	ranges = kvmalloc(struct_size(ranges, range, room),
			  GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!ranges)
		return -ENOMEM;
	ranges->count = 0;
	if (old)
		memcpy(ranges, old, struct_size(old, range, old->count));
	kvfree(old);
	search->ranges = ranges;
	search->room = room;
	return 0;
}

static int add_symbol_range(struct symbol_search *search, unsigned long start, unsigned long end)
{
	struct owner_symbol_ranges *ranges = search->ranges;
	int error;

	if (ranges->count && ranges->range[ranges->count - 1].end == start) {
		ranges->range[ranges->count - 1].end = end;
		return 0;
	}
	if (ranges->count == search->room) {
		error = resize_ranges(search, 2 * search->room);
		if (error)
			return error;
		ranges = search->ranges;
	}
	ranges->range[ranges->count++] = (struct symbol_range){ start, end };
	return 0;
}

static bool is_killed(const struct symbol_search *search)
{
	return search->killable && fatal_signal_pending(current);
}

/*
 * Called for each kernel symbol in order of addresses. A symbol ends where the
 * next one starts, so this adds the previous symbol, not @name.
 */
static int visit_kernel_symbol(void *data, const char *name, unsigned long address)
{
	struct symbol_search *search = data;
	int error = 0;

	if (is_killed(search))
		return -EINTR;
	/* Only the first name of an address counts, as in lookup_symbol_name(). */
	if (address == search->last_symbol)
		return 0;
	if (search->last_matches)
		error = add_symbol_range(search, search->last_symbol, address);
	search->last_symbol = address;
	search->last_matches = owner_lang_word_matches(search->sentence, search->comparison, name);
	return error;
}

static int search_kernel(struct symbol_search *search)
{
	int error = kallsyms_on_each_symbol(visit_kernel_symbol, search);
	unsigned long size, offset;

	if (!error && search->last_matches &&
	    kallsyms_lookup_size_offset(search->last_symbol, &size, &offset))
		error = add_symbol_range(search, search->last_symbol, search->last_symbol + size);
	return error;
}

#ifdef CONFIG_MODULES

/*
 * Find the module whose text is at @address and stays there. Excludes a module
 * that is being unloaded and the init text of a live module, which is about to be
 * freed. Called from module_kallsyms_on_each_symbol(), which keeps all modules
 * loaded.
 */
static const struct module *find_lasting_module(unsigned long address)
{
	const struct module *module;

	preempt_disable();
	module = __module_address(address);
	preempt_enable();
	if (!module || module->state == MODULE_STATE_GOING)
		return NULL;
	if (module->state == MODULE_STATE_LIVE && within_module_init(address, module))
		return NULL;
	return module;
}

static int visit_module_function(void *data, const char *name, unsigned long address)
{
	struct symbol_search *search = data;
	unsigned long size, offset;

	cond_resched();
	if (is_killed(search))
		return -EINTR;
	/* The second match uses the first name of the address: @name may be an alias. */
	if (!owner_lang_word_matches(search->sentence, search->comparison, name) ||
	    !find_lasting_module(address) ||
	    !owner_frame_matches(search->sentence, search->comparison, address + 1) ||
	    !kallsyms_lookup_size_offset(address, &size, &offset))
		return 0;
	return add_symbol_range(search, address, address + size);
}

static int add_module_text(struct symbol_search *search, const struct module *module,
			   enum mod_mem_type type)
{
	unsigned long start = (unsigned long)module->mem[type].base;

	return start ? add_symbol_range(search, start, start + module->mem[type].size) : 0;
}

/* Called for each module symbol. The first symbol of a module adds all of its text. */
static int visit_module(void *data, const char *name, unsigned long address)
{
	const struct module *module = find_lasting_module(address);
	struct symbol_search *search = data;
	int error;

	if (!module || module == search->last_module)
		return 0;
	search->last_module = module;
	if (!owner_lang_word_matches(search->sentence, search->comparison, module->name))
		return 0;
	error = add_module_text(search, module, MOD_TEXT);
	if (!error && module->state == MODULE_STATE_COMING)
		error = add_module_text(search, module, MOD_INIT_TEXT);
	return error;
}

/* Search the module called @name, or all modules if @name is NULL. */
static int search_modules(struct symbol_search *search, const char *name)
{
	if (search->comparison->field == OWNER_FIELD_FUNC)
		return module_kallsyms_on_each_symbol(name, visit_module_function, search);
	return module_kallsyms_on_each_symbol(name, visit_module, search);
}

#else /* CONFIG_MODULES */

static int search_modules(struct symbol_search *search, const char *name)
{
	return 0;
}

#endif /* CONFIG_MODULES */

static int start_search(struct symbol_search *search, const struct owner_sentence *s,
			const struct owner_comparison *c, unsigned int room)
{
	*search = (struct symbol_search){ .sentence = s, .comparison = c };
	return resize_ranges(search, room);
}

/* Returns the ranges that were found, or @error. */
static struct owner_symbol_ranges *finish_search(struct symbol_search *search, int error)
{
	if (error) {
		kvfree(search->ranges);
		return ERR_PTR(error);
	}
	sort_and_merge_ranges(search->ranges);
	return search->ranges;
}

/* Ranges that a search has room for at first. */
#define ROOM_AT_FIRST	64U

/**
 * owner_symbol_ranges_find() - look up the functions or modules that a comparison names
 * @s: a sentence
 * @c: one of its comparisons, of func or module
 *
 * Return: the ranges, to be freed with kvfree(), -ENOMEM, -EINTR if the task is killed.
 */
struct owner_symbol_ranges *owner_symbol_ranges_find(const struct owner_sentence *s,
						     const struct owner_comparison *c)
{
	struct symbol_search search;
	int error = start_search(&search, s, c, ROOM_AT_FIRST);

	search.killable = true;
	if (!error && c->field == OWNER_FIELD_FUNC)
		error = search_kernel(&search);
	if (!error)
		error = search_modules(&search, NULL);
	return finish_search(&search, error);
}

#ifdef CONFIG_MODULES
/**
 * owner_symbol_ranges_update() - look up one module's symbols anew
 * @old: the ranges without this change; if NULL, all symbols are looked up
 * @s: a sentence
 * @c: one of its comparisons, of func or module
 * @module: a module that is loaded or unloaded, or is about to free its init text
 * @going: the module is being unloaded
 *
 * Return: new ranges, to be freed with kvfree(); NULL without memory: use
 *	owner_frame_matches() instead. The caller frees @old.
 */
struct owner_symbol_ranges *owner_symbol_ranges_update(const struct owner_symbol_ranges *old,
						       const struct owner_sentence *s,
						       const struct owner_comparison *c,
						       const struct module *module, bool going)
{
	struct owner_symbol_ranges *ranges;
	struct symbol_search search;
	unsigned int i;
	int error;

	error = start_search(&search, s, c, old ? max(old->count, ROOM_AT_FIRST) : ROOM_AT_FIRST);
	for (i = 0; !error && old && i < old->count; i++)
		if (!within_module(old->range[i].start, module))
			search.ranges->range[search.ranges->count++] = old->range[i];
	if (!error && !old && c->field == OWNER_FIELD_FUNC)
		error = search_kernel(&search);
	if (!error && (!going || !old))
		error = search_modules(&search, old ? module->name : NULL);
	ranges = finish_search(&search, error);
	return IS_ERR(ranges) ? NULL : ranges;
}
#endif

/* Binary search. @ranges is not empty. */
static __always_inline bool contains_address(const struct owner_symbol_ranges *ranges,
					     unsigned long address)
{
	const struct symbol_range *range = ranges->range;
	unsigned int half, count = ranges->count;

	/* Invariant: the last range that starts at or before @address is in range[0..count). */
	while (count > 1) {
		half = count / 2;
		if (range[half].start <= address)
			range += half;
		count -= half;
	}
	return address >= range->start && address < range->end;
}

/**
 * owner_symbol_ranges_are_empty() - tell whether no symbol has one of the names
 * @ranges: from owner_symbol_ranges_find()
 */
bool owner_symbol_ranges_are_empty(const struct owner_symbol_ranges *ranges)
{
	return !ranges->count;
}

/**
 * owner_symbol_ranges_contain() - test whether a call chain passes one of the ranges
 * @ranges: the ranges
 * @frames: return addresses of the chain
 * @count: number of frames
 *
 * Context: any.
 */
bool owner_symbol_ranges_contain(const struct owner_symbol_ranges *ranges,
				 const unsigned long *frames, unsigned int count)
{
	unsigned long start, span;
	unsigned int i;

	if (!ranges->count)
		return false;
	start = ranges->range[0].start;
	span = ranges->range[ranges->count - 1].end - start;
	for (i = 0; i < count; i++) {
		/* A return address can be the start of the next function; the call is not. */
		unsigned long address = frames[i] - 1;

		/* Most frames are outside of all ranges: skip the binary search. */
		if (address - start < span && contains_address(ranges, address))
			return true;
	}
	return false;
}
