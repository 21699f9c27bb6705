// SPDX-License-Identifier: GPL-2.0
/* Parse the raw text of call chains and intern the frames that are shown. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "model/stacks.h"

/* Name of the module of built-in functions: the file that has their symbols. */
static const struct text_slice builtin_module = { "vmlinux", 7 };

struct frame_info {
	u32 module;		/* index of the module; 0: none */
	u32 func;		/* index of the function's name; 0: the frame has no function */
	u32 caller;		/* index of the function's name with its module */
	u32 syscall;		/* index of the system call whose entry it is; 0: none */
	u32 shown;		/* the frame that is shown for this one */
	bool skip;		/* matches chain_options.skip */
	bool hide;		/* matches chain_options.hide */
	bool known;		/* matches a known owner that is one function */
	bool backing;		/* allocates pages for slab objects or per-CPU areas */
};

/* Slots of a new table of parsed chains. */
#ifndef SLOTS_AT_FIRST
#define SLOTS_AT_FIRST 1024
#endif

/*
 * A chain that was parsed, in a slot of stacks.slots. Its text is recognised by a hash of 64 bits.
 */
struct parsed_slot {
	u64 hash;		/* of its text; 0: the slot is free */
	struct parsed_chain parsed;
};

void stacks_init(struct stacks *st, const struct chain_options *options,
		 const struct owner_sentence *sentence)
{
	*st = (struct stacks){ .options = options, .sentence = sentence };
	st->known_matched = xcalloc(options->known.n + 1, sizeof(*st->known_matched));
	strings_intern(&st->modules, builtin_module);
	strings_intern(&st->funcs, (struct text_slice){ "", 0 });
}

/*
 * Is @func a function that allocates pages for slab objects or per-CPU areas? The compiler may
 * inline some.
 */
static bool is_backing_function(struct text_slice func)
{
	static const struct text_slice names[] = {
		{ "new_slab", 8 },
		{ "allocate_slab", 13 },
		{ "alloc_slab_page", 15 },
		{ "pcpu_populate_chunk", 19 },
		{ "pcpu_alloc_pages", 16 },
	};
	size_t i;

	func = frame_stem(func);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!text_slice_compare(func, names[i]))
			return true;
	return false;
}

/* Bits of stacks.judged. */
enum {
	JUDGED = 1 << 0,
	JUDGED_SKIP = 1 << 1,
	JUDGED_HIDE = 1 << 2,
	JUDGED_KNOWN = 1 << 3,
};

/* Is a known owner the function @func? */
static bool function_is_known(struct stacks *st, struct text_slice func)
{
	const struct known_owners *known = &st->options->known;
	bool found = false;
	u32 i;

	for (i = 0; i < known->n; i++) {
		if (known->v[i].functions.n == 1 && known_owner_matches(&known->v[i], 0, func)) {
			st->known_matched[i] = true;
			found = true;
		}
	}
	return found;
}

static unsigned char judge_function(struct stacks *st, struct text_slice func)
{
	return JUDGED | (globs_match_function(&st->options->skip, func) ? JUDGED_SKIP : 0) |
	       (globs_match_function(&st->options->hide, func) ? JUDGED_HIDE : 0) |
	       (function_is_known(st, func) ? JUDGED_KNOWN : 0);
}

/* Judge the function interned as @id once: most frames of a dump share their functions. */
static unsigned char judge_interned_function(struct stacks *st, u32 id)
{
	u32 cap = st->judged_cap;

	while (id >= st->judged_cap)
		st->judged = grow_array(st->judged, st->judged_cap, &st->judged_cap, 1);
	memset(st->judged + cap, 0, st->judged_cap - cap);
	if (!st->judged[id])
		st->judged[id] = judge_function(st, st->funcs.v[id]);
	return st->judged[id];
}

static u32 intern_syscall(struct stacks *st, const struct frame *frame)
{
	size_t len = frame->func.len;
	const char *name = frame->module.len ? NULL :
			   owner_lang_syscall_of_function(frame->func.s, &len);

	return name ? strings_intern(&st->funcs, (struct text_slice){ name, len }) : 0;
}

/*
 * Returns the info of a frame that is interned as @id. Only a frame with a name has a function:
 * the kernel prints an address for a function of an unloaded module.
 */
static struct frame_info make_frame_info(struct stacks *st, const struct frame *frame, u32 id)
{
	struct frame_info info = {
		.shown = id,
		.backing = is_backing_function(frame->func),
	};
	unsigned char judged;

	if (frame->module.len)
		info.module = strings_intern(&st->modules, frame->module);
	if (TEXT_STARTS(frame->func, "0x")) {
		judged = judge_function(st, frame->func);
	} else {
		info.func = strings_intern(&st->funcs, frame->func);
		info.caller = stacks_intern_function(&st->funcs, frame);
		info.syscall = intern_syscall(st, frame);
		judged = judge_interned_function(st, info.func);
	}
	info.skip = judged & JUDGED_SKIP;
	info.hide = judged & JUDGED_HIDE;
	info.known = judged & JUDGED_KNOWN;
	return info;
}

static void store_frame_info(struct stacks *st, u32 id, const struct frame_info *info)
{
	st->info = grow_array(st->info, id, &st->info_cap, sizeof(*st->info));
	st->info[id] = *info;
}

/*
 * Intern the frame "stem [module]" for a frame of a function. It has neither offset and size
 * nor suffixes of the compiler, which differ between builds.
 */
static u32 intern_function_frame(struct stacks *st, const struct frame *frame)
{
	struct frame stem = { .func = frame_stem(frame->func), .module = frame->module };
	u32 nr_frames = st->frames.n;
	u32 id = stacks_intern_function(&st->frames, &stem);
	struct frame_info info;

	if (id < nr_frames)
		return id;
	info = make_frame_info(st, &stem, id);
	store_frame_info(st, id, &info);
	return id;
}

static bool intern_frame(struct stacks *st, struct text_slice line, u32 *id)
{
	struct frame_info info;
	struct frame frame;

	*id = strings_find(&st->frames, line);
	if (*id != HASH_INDEX_NONE)
		return true;
	/* A malformed frame is not interned: it must be reported each time it is read. */
	if (!frame_parse(line, &frame))
		return false;
	*id = strings_intern(&st->frames, line);
	info = make_frame_info(st, &frame, *id);
	store_frame_info(st, *id, &info);
	if (st->options->by_function && info.func) {
		info.shown = intern_function_frame(st, &frame);
		store_frame_info(st, *id, &info);
	}
	return true;
}

/*
 * Append the frame @line, and the functions inlined into it, to the @n frames in
 * st->scratch. Returns false if it is malformed.
 */
static bool append_frames(struct stacks *st, struct text_slice line, u32 *n)
{
	const struct text_slice *frames = &line;
	u32 i, nr = 1;

	if (st->names)
		frames = frame_names_expand(st->names, line, &nr);
	for (i = 0; i < nr; i++) {
		st->scratch = grow_array(st->scratch, *n, &st->scratch_cap,
					 sizeof(*st->scratch));
		if (!intern_frame(st, frames[i], &st->scratch[*n]))
			return false;
		++*n;
	}
	return true;
}

/*
 * Fill st->scratch with the frames of the chain @raw. Returns their number, -1 if one is
 * malformed.
 */
static s64 split_chain_into_frames(struct stacks *st, struct text_slice raw)
{
	const char *p = raw.s, *end = raw.s + raw.len;
	u32 n = 0;

	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);
		struct text_slice line;

		if (!nl)
			nl = end;
		line = (struct text_slice){ p + 1, nl - p - 1 };
		if (line.len && line.s[line.len - 1] == '\r')
			line.len--;
		if (!append_frames(st, line, &n))
			return -1;
		p = nl + 1;
	}
	return n;
}

/*
 * Returns the module of the first frame that is in one: frames below it are helpers of the core
 * kernel.
 */
static u32 find_first_module(const struct stacks *st, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (st->info[st->scratch[i]].module)
			return st->info[st->scratch[i]].module;
	return 0;
}

/* Returns the system call of the outermost frame that is in the entry of one. */
static u32 find_syscall(const struct stacks *st, u32 n)
{
	while (n--)
		if (st->info[st->scratch[n]].syscall)
			return st->info[st->scratch[n]].syscall;
	return 0;
}

static bool frame_matches(const struct stacks *st, u32 frame,
			  const struct owner_comparison *c)
{
	const struct frame_info *info = &st->info[frame];

	if (c->field == OWNER_FIELD_FUNC)
		return info->func && owner_lang_word_matches(st->sentence, c,
							     st->funcs.v[info->func].s);
	return info->module && owner_lang_word_matches(st->sentence, c,
						       st->modules.v[info->module].s);
}

/*
 * Evaluate the query's comparisons of functions, modules and system calls for a chain, with frames
 * that are not shown. Returns a bit for each comparison that holds.
 */
static u32 evaluate_frame_comparisons(const struct stacks *st, u32 n, u32 syscall)
{
	const struct owner_sentence *s = st->sentence;
	u32 matched = 0, c, i;

	for (c = 0; c < s->nr_comparisons; c++) {
		enum owner_field field = s->comparisons[c].field;

		if (field == OWNER_FIELD_SYSCALL && syscall &&
		    owner_lang_word_matches(s, &s->comparisons[c], st->funcs.v[syscall].s))
			matched |= 1U << c;
		if (field != OWNER_FIELD_FUNC && field != OWNER_FIELD_MODULE)
			continue;
		for (i = 0; i < n && !(matched & 1U << c); i++)
			if (frame_matches(st, st->scratch[i], &s->comparisons[c]))
				matched |= 1U << c;
	}
	return matched;
}

static bool any_frame_is_backing(const struct stacks *st, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (st->info[st->scratch[i]].backing)
			return true;
	return false;
}

/*
 * Returns the first frame outside the allocator; the last frame of the chain if all are inside.
 */
static u32 find_first_frame_not_skipped(const struct stacks *st, u32 n)
{
	u32 first = 0;

	while (first + 1 < n && st->info[st->scratch[first]].skip)
		first++;
	return first;
}

/* Is the beginning of a chain, from the frame @first on, that of a known owner? */
static bool chain_begins_with(const struct stacks *st, const struct known_owner *owner, u32 first,
			      u32 n)
{
	u32 i;

	if (n - first < owner->functions.n)
		return false;
	for (i = 0; i < owner->functions.n; i++)
		if (!known_owner_matches(owner, i,
					 st->funcs.v[st->info[st->scratch[first + i]].func]))
			return false;
	return true;
}

/* Is the chain in st->scratch of a known owner? @first: its first frame outside the allocator. */
static bool chain_is_known(struct stacks *st, u32 first, u32 n)
{
	const struct known_owners *known = &st->options->known;
	bool found = false;
	u32 i;

	for (i = 0; i < n; i++)
		found |= st->info[st->scratch[i]].known;
	for (i = 0; i < known->n; i++) {
		if (known->v[i].functions.n > 1 && chain_begins_with(st, &known->v[i], first, n)) {
			st->known_matched[i] = true;
			found = true;
		}
	}
	return found;
}

/*
 * Move the frames of a chain that are shown to the front of st->scratch. Returns their number.
 */
static u32 select_shown_frames(struct stacks *st, u32 from, u32 n)
{
	u32 depth = st->options->depth, shown = 0;

	for (; from < n && (!depth || st->options->outermost || shown < depth); from++)
		if (!st->info[st->scratch[from]].hide)
			st->scratch[shown++] = st->info[st->scratch[from]].shown;
	if (!depth || shown <= depth)
		return shown;
	memmove(st->scratch, st->scratch + shown - depth, depth * sizeof(*st->scratch));
	return depth;
}

static bool parse_chain(struct stacks *st, struct text_slice raw, struct parsed_chain *parsed)
{
	s64 n = split_chain_into_frames(st, raw);
	u32 first;

	if (n < 0)
		return false;
	first = find_first_frame_not_skipped(st, n);
	parsed->syscall = find_syscall(st, n);
	parsed->matched = evaluate_frame_comparisons(st, n, parsed->syscall);
	parsed->backing = any_frame_is_backing(st, n);
	parsed->known = chain_is_known(st, first, n);
	parsed->module = find_first_module(st, n);
	parsed->func = n ? st->info[st->scratch[first]].caller : 0;
	n = select_shown_frames(st, st->options->full ? 0 : first, n);
	parsed->group = GROUP_NONE;
	parsed->chain = chains_intern(&st->chains, n ? st->scratch : NULL, n);
	return true;
}

/* Returns the slot of the chain with this hash, or the free slot for it. */
static struct parsed_slot *find_parsed_slot(const struct stacks *st, u64 hash)
{
	u32 i = hash & st->slot_mask;

	while (st->slots[i].hash && st->slots[i].hash != hash)
		i = (i + 1) & st->slot_mask;
	return &st->slots[i];
}

/* Make room for another parsed chain: at most three quarters of the slots are used. */
static void grow_parsed_slots(struct stacks *st)
{
	struct parsed_slot *old = st->slots;
	u32 slots = old ? st->slot_mask + 1 : 0, i;

	if (st->nr_parsed < slots / 4 * 3)
		return;
	st->slot_mask = (slots ? 2 * slots : SLOTS_AT_FIRST) - 1;
	st->slots = xcalloc(st->slot_mask + 1, sizeof(*st->slots));
	for (i = 0; i < slots; i++)
		if (old[i].hash)
			*find_parsed_slot(st, old[i].hash) = old[i];
	free(old);
}

void stacks_expect_chain(const struct stacks *st, u64 hash)
{
	if (st->slots)
		__builtin_prefetch(&st->slots[hash & st->slot_mask], 1);
}

struct parsed_chain *stacks_parse_chain(struct stacks *st, struct text_slice raw, u64 hash)
{
	struct parsed_slot *slot;

	grow_parsed_slots(st);
	slot = find_parsed_slot(st, hash);
	if (!slot->hash) {
		if (!parse_chain(st, raw, &slot->parsed))
			return NULL;
		slot->hash = hash;
		st->nr_parsed++;
	}
	return &slot->parsed;
}

u32 stacks_get_frame_module(const struct stacks *st, u32 frame)
{
	return st->info[frame].module;
}

void stacks_finish(struct stacks *st)
{
	chains_finish(&st->chains);
	free(st->slots);
	st->slots = NULL;
}

void stacks_free(struct stacks *st)
{
	stacks_finish(st);
	chains_free(&st->chains);
	strings_free(&st->frames);
	strings_free(&st->modules);
	strings_free(&st->funcs);
	free(st->judged);
	free(st->known_matched);
	free(st->info);
	free(st->scratch);
}
