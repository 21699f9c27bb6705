// SPDX-License-Identifier: GPL-2.0
/* The functions of frames, without the offsets in them. */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/stacks.h"

u32 stacks_intern_function(struct strings *names, const struct frame *f)
{
	char *name;
	int len;
	u32 id;

	if (!f->module.len)
		return strings_intern(names, f->func);
	name = xmalloc(f->func.len + f->module.len + sizeof(" []"));
	len = sprintf(name, "%.*s [%.*s]", (int)f->func.len, f->func.s, (int)f->module.len,
		      f->module.s);
	id = strings_intern(names, (struct text_slice){ name, len });
	free(name);
	return id;
}

u32 *stacks_intern_functions_of_frames(const struct stacks *st, struct strings *names)
{
	u32 *functions = xmalloc(st->frames.n * sizeof(*functions)), i;
	struct frame frame;

	for (i = 0; i < st->frames.n; i++) {
		frame_parse(st->frames.v[i], &frame);
		functions[i] = stacks_intern_function(names, &frame);
	}
	return functions;
}

u64 stacks_hash_functions(const struct stacks *st, const struct chain *chain)
{
	u64 hash = 0;
	u32 i;

	for (i = 0; i < chain->n; i++) {
		struct text_slice line = st->frames.v[chain->frames[i]];
		struct frame frame;

		frame_parse(line, &frame);
		if (!TEXT_STARTS(frame.func, "0x"))
			line = frame_stem(frame.func);
		hash = XXH3_64bits_withSeed(line.s, line.len, hash);
		hash = XXH3_64bits_withSeed(frame.module.s, frame.module.len, hash);
	}
	return hash;
}
