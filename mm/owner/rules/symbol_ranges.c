// SPDX-License-Identifier: GPL-2.0
/*
 * Where the functions or modules stand that a comparison is about.
 *
 * A rule that asks for those of a call chain is looked at while memory is
 * allocated. So their names are looked up before, when the rule is made and when
 * a module comes or goes, and what is left to do is to compare addresses.
 */

#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "symbol_ranges.h"

/* From one address to before another. Neighbours are one place. */
struct place {
	unsigned long start;
	unsigned long end;
};

struct owner_symbol_ranges {
	unsigned int count;
	struct place place[];		/* in order of their addresses */
};

/* More than these are not worth their memory: then names are compared. */
#define PLACES_MAX	1024

/* --- One by one, by name ------------------------------------------------------- */

/* Is this return address in a module, and which? False for one that has gone. */
bool owner_module_name(unsigned long frame, char *name, size_t size)
{
	bool found = false;
#ifdef CONFIG_MODULES
	struct module *module;

	preempt_disable();
	module = __module_address(frame - 1);
	found = module;
	if (module)
		strscpy(name, module->name, size);
	preempt_enable();
#endif
	return found;
}

/* Is it in a function or module of this comparison? The call is, not what it returns to. */
noinline bool owner_frame_matches(const struct owner_sentence *s,
				  const struct owner_comparison *c, unsigned long frame)
{
	char name[KSYM_NAME_LEN];

	if (c->field == OWNER_FIELD_FUNC ? lookup_symbol_name(frame - 1, name) :
					  !owner_module_name(frame, name, sizeof(name)))
		return false;
	return owner_lang_word_matches(s, c, name);
}

/* --- Finding them -------------------------------------------------------------- */

struct search {
	const struct owner_sentence *sentence;
	const struct owner_comparison *comparison;
	struct owner_symbol_ranges *places;		/* with room for all */
	unsigned long last;			/* symbol of the kernel that was looked at */
	bool last_matches;
	const struct module *module;		/* that was looked at last */
};

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void put_in_order(struct owner_symbol_ranges *places)
{
	struct place *place = places->place, *kept = place;
	unsigned int i;

	if (!places->count)
		return;
	sort(place, places->count, sizeof(*place), by_start, NULL);
	for (i = 1; i < places->count; i++) {
		if (place[i].start <= kept->end)
			kept->end = max(kept->end, place[i].end);
		else
			*++kept = place[i];
	}
	places->count = kept - place + 1;
}

static int add(struct owner_symbol_ranges *places, unsigned long start, unsigned long end)
{
	if (places->count && places->place[places->count - 1].end == start) {
		places->place[places->count - 1].end = end;
		return 0;
	}
	if (places->count == PLACES_MAX)
		put_in_order(places);
	if (places->count == PLACES_MAX)
		return -E2BIG;
	places->place[places->count++] = (struct place){ start, end };
	return 0;
}

/* Symbols of the kernel come in order. One ends where the next one is. */
static int look_at_symbol(void *data, const char *name, unsigned long address)
{
	struct search *search = data;
	int error = 0;

	/* An address has the first of its names. */
	if (address == search->last)
		return 0;
	if (search->last_matches)
		error = add(search->places, search->last, address);
	search->last = address;
	search->last_matches = owner_lang_word_matches(search->sentence, search->comparison, name);
	return error;
}

static int find_in_kernel(struct search *search)
{
	int error = kallsyms_on_each_symbol(look_at_symbol, search);
	unsigned long size, offset;

	if (!error && search->last_matches &&
	    kallsyms_lookup_size_offset(search->last, &size, &offset))
		error = add(search->places, search->last, search->last + size);
	return error;
}

#ifdef CONFIG_MODULES

/*
 * The module at an address, unless that is about to be somebody else's: of a
 * module that is there to stay, what it began with goes. Called by kallsyms,
 * which keeps modules from going.
 */
static const struct module *module_to_stay(unsigned long address)
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

static int look_at_function(void *data, const char *name, unsigned long address)
{
	struct search *search = data;
	unsigned long size, offset;

	cond_resched();
	/* It may have another name that is the first. */
	if (!owner_lang_word_matches(search->sentence, search->comparison, name) ||
	    !module_to_stay(address) ||
	    !owner_frame_matches(search->sentence, search->comparison, address + 1) ||
	    !kallsyms_lookup_size_offset(address, &size, &offset))
		return 0;
	return add(search->places, address, address + size);
}

static int add_text(struct owner_symbol_ranges *places, const struct module *module,
		    enum mod_mem_type type)
{
	unsigned long start = (unsigned long)module->mem[type].base;

	return start ? add(places, start, start + module->mem[type].size) : 0;
}

/* Any of its symbols will do. */
static int look_at_module(void *data, const char *name, unsigned long address)
{
	const struct module *module = module_to_stay(address);
	struct search *search = data;
	int error;

	if (!module || module == search->module)
		return 0;
	search->module = module;
	if (!owner_lang_word_matches(search->sentence, search->comparison, module->name))
		return 0;
	error = add_text(search->places, module, MOD_TEXT);
	if (!error && module->state == MODULE_STATE_COMING)
		error = add_text(search->places, module, MOD_INIT_TEXT);
	return error;
}

/* In one module, or in all if @name is NULL. */
static int find_in_modules(struct search *search, const char *name)
{
	if (search->comparison->field == OWNER_FIELD_FUNC)
		return module_kallsyms_on_each_symbol(name, look_at_function, search);
	return module_kallsyms_on_each_symbol(name, look_at_module, search);
}

static bool is_in_module(const struct place *place, const struct module *module)
{
	return within_module(place->start, module);
}

#else /* CONFIG_MODULES */

static int find_in_modules(struct search *search, const char *name)
{
	return 0;
}

#endif /* CONFIG_MODULES */

static bool begin(struct search *search, const struct owner_sentence *s,
		  const struct owner_comparison *c)
{
	*search = (struct search){ .sentence = s, .comparison = c };
	search->places = kvmalloc(struct_size(search->places, place, PLACES_MAX), GFP_KERNEL);
	if (!search->places)
		return false;
	search->places->count = 0;
	return true;
}

/* In no more memory than it takes. */
static struct owner_symbol_ranges *end(struct search *search, int error)
{
	struct owner_symbol_ranges *found = search->places, *places = NULL;

	if (!error) {
		put_in_order(found);
		places = kmemdup(found, struct_size(found, place, found->count), GFP_KERNEL);
	}
	kvfree(found);
	return places;
}

/**
 * owner_symbol_ranges_find - find out where the functions or modules of a comparison are
 * @s: a sentence
 * @c: one of its comparisons, of func or module
 *
 * Return: to be freed by kfree(); NULL if there is no memory for it, or there are
 *	too many: then owner_frame_matches() has to be asked.
 */
struct owner_symbol_ranges *owner_symbol_ranges_find(const struct owner_sentence *s,
				       const struct owner_comparison *c)
{
	struct search search;
	int error = 0;

	if (!begin(&search, s, c))
		return NULL;
	if (c->field == OWNER_FIELD_FUNC)
		error = find_in_kernel(&search);
	if (!error)
		error = find_in_modules(&search, NULL);
	return end(&search, error);
}

#ifdef CONFIG_MODULES
/**
 * owner_symbol_ranges_change - a module has come, or is about to go
 * @places: where they were so far; may be NULL
 * @s: a sentence
 * @c: one of its comparisons, of func or module
 * @module: the module
 * @going: does it go?
 *
 * Return: as owner_symbol_ranges_find()
 */
struct owner_symbol_ranges *owner_symbol_ranges_change(const struct owner_symbol_ranges *places,
					 const struct owner_sentence *s,
					 const struct owner_comparison *c,
					 const struct module *module, bool going)
{
	struct search search;
	unsigned int i;
	int error = 0;

	if (!places || !begin(&search, s, c))
		return NULL;
	for (i = 0; i < places->count; i++)
		if (!is_in_module(&places->place[i], module))
			search.places->place[search.places->count++] = places->place[i];
	if (!going)
		error = find_in_modules(&search, module->name);
	return end(&search, error);
}
#endif

/* Of one place at least. */
static __always_inline bool have(const struct owner_symbol_ranges *places, unsigned long address)
{
	const struct place *place = places->place;
	unsigned int half, count = places->count;

	/* The last one that starts there or before is among @count from @place on. */
	while (count > 1) {
		half = count / 2;
		if (place[half].start <= address)
			place += half;
		count -= half;
	}
	return address >= place->start && address < place->end;
}

/**
 * owner_symbol_ranges_contain - is a call of a chain in one of them?
 * @places: the places
 * @frames: the addresses to which the calls return
 * @count: of @frames
 *
 * Context: any.
 */
bool owner_symbol_ranges_contain(const struct owner_symbol_ranges *places, const unsigned long *frames,
		       unsigned int count)
{
	unsigned long start, span;
	unsigned int i;

	if (!places->count)
		return false;
	start = places->place[0].start;
	span = places->place[places->count - 1].end - start;
	for (i = 0; i < count; i++) {
		/* What a call returns to may be the next function. */
		unsigned long address = frames[i] - 1;

		/* Most frames are elsewhere. */
		if (address - start < span && have(places, address))
			return true;
	}
	return false;
}
