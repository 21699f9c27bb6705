// SPDX-License-Identifier: GPL-2.0
/* Add up what each function allocates, with and without the functions that it calls. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/functions.h"

struct call_key {
	u32 callee;
	u32 caller;
};

static bool call_has_key(const void *owner, u32 id, const void *key)
{
	const struct functions *f = owner;
	const struct call_key *k = key;

	return f->calls[id].callee == k->callee && f->calls[id].caller == k->caller;
}

static struct function_call *find_or_add_call(struct functions *f, u32 callee, u32 caller)
{
	struct call_key key = { callee, caller };
	u64 hash = XXH3_64bits(&key, sizeof(key));
	u32 id = hash_index_find(&f->call_index, hash, call_has_key, f, &key);

	if (id == HASH_INDEX_NONE) {
		id = f->nr_calls;
		f->calls = grow_array(f->calls, id, &f->calls_cap, sizeof(*f->calls));
		f->calls[id] = (struct function_call){ .callee = callee, .caller = caller };
		hash_index_add(&f->call_index, hash, id);
		f->nr_calls++;
	}
	return &f->calls[id];
}

/* Add @sum to a function, once for each group: a function may be in a chain several times. */
static void add_to_function(struct function_sums *function, const struct sum *sum, u32 group)
{
	if (function->last_group == group + 1)
		return;
	function->last_group = group + 1;
	sum_add(&function->cum, sum);
}

static void add_to_call(struct function_call *call, const struct sum *sum, u32 group)
{
	if (call->last_group == group + 1)
		return;
	call->last_group = group + 1;
	sum_add(&call->sum, sum);
}

static void add_group(struct functions *f, u32 id, u32 no_chain)
{
	struct group g = model_get_group(f->m, id);
	const struct chain *chain = model_get_chain(f->m, &g, OWNER_FIELD_STACK);
	u32 i, function = no_chain;

	if (!chain->n)
		add_to_function(&f->v[no_chain], &g.sum, id);
	else
		function = f->of_frames[chain->frames[0]];
	sum_add(&f->v[function].flat, &g.sum);
	for (i = 0; i < chain->n; i++) {
		function = f->of_frames[chain->frames[i]];
		add_to_function(&f->v[function], &g.sum, id);
		if (i + 1 < chain->n)
			add_to_call(find_or_add_call(f, function,
						     f->of_frames[chain->frames[i + 1]]),
				    &g.sum, id);
	}
}

static int compare_functions(const void *a, const void *b, void *arg)
{
	const struct functions *f = arg;
	u32 ia = *(const u32 *)a, ib = *(const u32 *)b;
	u64 va = measure_get_value(&f->v[ia].flat, f->measure);
	u64 vb = measure_get_value(&f->v[ib].flat, f->measure);

	if (va == vb) {
		va = measure_get_value(&f->v[ia].cum, f->measure);
		vb = measure_get_value(&f->v[ib].cum, f->measure);
	}
	if (va != vb)
		return va < vb ? 1 : -1;
	return text_slice_compare(f->names.v[ia], f->names.v[ib]);
}

/* Sort calls by callee, and those of one callee by size. */
static int compare_calls(const void *a, const void *b, void *arg)
{
	const struct functions *f = arg;
	const struct function_call *ca = a, *cb = b;
	u64 va = measure_get_value(&ca->sum, f->measure);
	u64 vb = measure_get_value(&cb->sum, f->measure);

	if (ca->callee != cb->callee)
		return ca->callee < cb->callee ? -1 : 1;
	if (va != vb)
		return va < vb ? 1 : -1;
	return text_slice_compare(f->names.v[ca->caller], f->names.v[cb->caller]);
}

/*
 * Sort the calls by callee, and set first_call of each function. f->call_index has the numbers of
 * calls before sorting, so calls cannot be looked up by it afterwards.
 */
static void sort_calls(struct functions *f)
{
	u32 i;

	if (!f->nr_calls)
		return;
	qsort_r(f->calls, f->nr_calls, sizeof(*f->calls), compare_calls, f);
	for (i = f->nr_calls; i--;) {
		f->v[f->calls[i].callee].first_call = i;
		f->v[f->calls[i].callee].nr_callers++;
	}
}

void functions_build(struct functions *f, const struct answer *a)
{
	static const struct text_slice none = { "(no call chain)", 15 };
	u32 top = a->view.top, n = 0, no_chain, i;

	*f = (struct functions){ .m = &a->model, .measure = a->view.measure };
	f->of_frames = stacks_intern_functions_of_frames(&f->m->stacks, &f->names);
	no_chain = strings_intern(&f->names, none);
	f->v = xcalloc(f->names.n, sizeof(*f->v));
	for (i = 0; i < a->model.groups.n; i++)
		add_group(f, i, no_chain);
	sort_calls(f);
	f->order = xmalloc(f->names.n * sizeof(*f->order));
	/* A function that is in no frame but skipped ones has no sums. */
	for (i = 0; i < f->names.n; i++)
		if (f->v[i].cum.objects)
			f->order[n++] = i;
	qsort_r(f->order, n, sizeof(*f->order), compare_functions, f);
	f->n = n;
	f->shown = top && top < n ? top : n;
	for (i = f->shown; i < n; i++)
		sum_add(&f->not_shown, &f->v[f->order[i]].flat);
}

void functions_free(struct functions *f)
{
	strings_free(&f->names);
	hash_index_free(&f->call_index);
	free(f->of_frames);
	free(f->v);
	free(f->calls);
	free(f->order);
}
