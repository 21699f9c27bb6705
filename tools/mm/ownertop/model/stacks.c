// SPDX-License-Identifier: GPL-2.0
/* Call chains: from raw text to an interned prefix. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "names/frame.h"
#include "model/stacks.h"

/* What is in no module, by the name its symbol file has. */
static const struct text builtin_module = { "vmlinux", 7 };

struct frame_info {
	u32 module;
	u32 func;		/* its name alone; 0: it has none */
	u32 caller;		/* the name with its module */
	bool skip;
	bool hide;
	bool backing;
};

/*
 * The chains seen last, known again by 128 bits of hash: a chain that repeats
 * (most do) is neither split into lines nor looked up frame by frame. A fixed
 * number of places keeps memory independent of how many chains a dump has; a
 * chain that lost its place is parsed again.
 */
#define SEEN_PLACES 32768

struct seen_stack {
	XXH128_hash_t hash;
	struct parsed_chain owner;
	bool used;
};

void stacks_init(struct stacks *st, const struct chain_rules *rules,
		 const struct owner_sentence *sentence)
{
	*st = (struct stacks){ .rules = rules, .sentence = sentence };
	st->seen = xcalloc(SEEN_PLACES, sizeof(*st->seen));
	strings_intern(&st->modules, builtin_module);
	strings_intern(&st->funcs, (struct text){ "", 0 });
}

/* Does it ask for pages of slab objects or per-CPU areas? Some of these are inlined. */
static bool is_backing(struct text func)
{
	static const struct text names[] = {
		{ "new_slab", 8 },
		{ "allocate_slab", 13 },
		{ "alloc_slab_page", 15 },
		{ "pcpu_populate_chunk", 19 },
		{ "pcpu_alloc_pages", 16 },
	};
	size_t i;

	func = frame_stem(func);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!text_compare(func, names[i]))
			return true;
	return false;
}

/* As the kernel prints a function, without the place in it. */
static u32 intern_caller(struct stacks *st, const struct frame *f)
{
	u32 id;

	if (f->module.len) {
		char *name = xmalloc(f->func.len + f->module.len + sizeof(" []"));
		int len = sprintf(name, "%.*s [%.*s]", (int)f->func.len, f->func.s,
				  (int)f->module.len, f->module.s);

		id = strings_intern(&st->funcs, (struct text){ name, len });
		free(name);
		return id;
	}
	return strings_intern(&st->funcs, f->func);
}

static bool intern_frame(struct stacks *st, struct text line, u32 *id)
{
	u32 known = st->frames.n;
	struct frame_info info = { 0 };
	struct frame frame;

	/* Before it is interned: damage must not be known the next time. */
	if (!frame_parse(line, &frame))
		return false;
	*id = strings_intern(&st->frames, line);
	if (*id < known)
		return true;

	if (frame.module.len)
		info.module = strings_intern(&st->modules, frame.module);
	/* Of a module that had gone the kernel printed an address. */
	if (!TEXT_STARTS(frame.func, "0x")) {
		info.func = strings_intern(&st->funcs, frame.func);
		info.caller = intern_caller(st, &frame);
	}
	info.skip = globs_match_func(&st->rules->skip, frame.func);
	info.hide = globs_match_func(&st->rules->hide, frame.func);
	info.backing = is_backing(frame.func);
	st->info = grow(st->info, *id, &st->info_cap, sizeof(*st->info));
	st->info[*id] = info;
	return true;
}

static bool same_chain(const void *owner, u32 id, const void *key)
{
	const struct stacks *st = owner;
	const struct chain *a = &st->chains[id], *b = key;

	return a->n == b->n &&
	       (!a->n || !memcmp(a->frames, b->frames, a->n * sizeof(*a->frames)));
}

static u32 intern_chain(struct stacks *st, u32 *frames, u32 n)
{
	struct chain key = { frames, n };
	u64 hash = XXH3_64bits(frames, n * sizeof(*frames));
	u32 id = index_find(&st->chain_index, hash, same_chain, st, &key);

	if (id != INDEX_NONE)
		return id;

	key.frames = xmalloc(n * sizeof(*frames));
	if (n)
		memcpy(key.frames, frames, n * sizeof(*frames));
	st->chains = grow(st->chains, st->nr_chains, &st->chains_cap,
			  sizeof(*st->chains));
	st->chains[st->nr_chains] = key;
	index_add(&st->chain_index, hash, st->nr_chains);
	return st->nr_chains++;
}

/* Adds what @line stands for to the @n frames in st->scratch; false on damage. */
static bool add_frames(struct stacks *st, struct text line, u32 *n)
{
	const struct text *frames = &line;
	u32 i, nr = 1;

	if (st->names)
		frames = names_frames(st->names, line, &nr);
	for (i = 0; i < nr; i++) {
		st->scratch = grow(st->scratch, *n, &st->scratch_cap,
				   sizeof(*st->scratch));
		if (!intern_frame(st, frames[i], &st->scratch[*n]))
			return false;
		++*n;
	}
	return true;
}

/* Splits @raw into frames in st->scratch; returns their number, -1 on damage. */
static s64 split(struct stacks *st, struct text raw)
{
	const char *p = raw.s, *end = raw.s + raw.len;
	u32 n = 0;

	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);
		struct text line;

		if (!nl)
			nl = end;
		line = (struct text){ p + 1, nl - p - 1 };
		if (line.len && line.s[line.len - 1] == '\r')
			line.len--;
		if (!add_frames(st, line, &n))
			return -1;
		p = nl + 1;
	}
	return n;
}

/* The module nearest to the allocation: what runs below it only lends a hand. */
static u32 module_of(const struct stacks *st, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (st->info[st->scratch[i]].module)
			return st->info[st->scratch[i]].module;
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

/* Asked of the whole chain: what is not shown may still be looked for. */
static u32 matched_by(const struct stacks *st, u32 n)
{
	const struct owner_sentence *s = st->sentence;
	u32 matched = 0, c, i;

	for (c = 0; c < s->nr_comparisons; c++) {
		enum owner_field field = s->comparisons[c].field;

		if (field != OWNER_FIELD_FUNC && field != OWNER_FIELD_MODULE)
			continue;
		for (i = 0; i < n && !(matched & 1U << c); i++)
			if (frame_matches(st, st->scratch[i], &s->comparisons[c]))
				matched |= 1U << c;
	}
	return matched;
}

static bool any_backing(const struct stacks *st, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (st->info[st->scratch[i]].backing)
			return true;
	return false;
}

/* The first frame that is not the allocator's: of @n, one stays, or nobody is named. */
static u32 first_caller(const struct stacks *st, u32 n)
{
	u32 first = 0;

	while (first + 1 < n && st->info[st->scratch[first]].skip)
		first++;
	return first;
}

/* Moves the frames to show to the front of st->scratch; returns their number. */
static u32 keep_shown(struct stacks *st, u32 from, u32 n)
{
	u32 depth = st->rules->depth, shown = 0;

	for (; from < n && (!depth || shown < depth); from++)
		if (!st->info[st->scratch[from]].hide)
			st->scratch[shown++] = st->scratch[from];
	return shown;
}

static bool parse_stack(struct stacks *st, struct text raw, struct parsed_chain *owner)
{
	s64 n = split(st, raw);
	u32 first;

	if (n < 0)
		return false;
	first = first_caller(st, n);
	owner->matched = matched_by(st, n);
	owner->backing = any_backing(st, n);
	owner->module = module_of(st, n);
	owner->func = n ? st->info[st->scratch[first]].caller : 0;
	n = keep_shown(st, st->rules->full ? 0 : first, n);
	owner->chain = intern_chain(st, n ? st->scratch : NULL, n);
	return true;
}

bool stacks_parse(struct stacks *st, struct text raw, struct parsed_chain *owner)
{
	XXH128_hash_t hash = XXH3_128bits(raw.s, raw.len);
	struct seen_stack *seen = &st->seen[hash.low64 % SEEN_PLACES];

	if (!seen->used || memcmp(&seen->hash, &hash, sizeof(hash))) {
		if (!parse_stack(st, raw, owner))
			return false;
		*seen = (struct seen_stack){ hash, *owner, true };
	}
	*owner = seen->owner;
	return true;
}

u32 stacks_frame_module(const struct stacks *st, u32 frame)
{
	return st->info[frame].module;
}

void stacks_free(struct stacks *st)
{
	u32 i;

	for (i = 0; i < st->nr_chains; i++)
		free(st->chains[i].frames);
	free(st->chains);
	index_free(&st->chain_index);
	strings_free(&st->frames);
	strings_free(&st->modules);
	strings_free(&st->funcs);
	free(st->info);
	free(st->scratch);
	free(st->seen);
}
