// SPDX-License-Identifier: GPL-2.0
/* Keep what groups held at the mark and at the update before the last. */
#include <xxhash.h>

#include "ui/history.h"

/* A row of struct past has a sum, and behind it the hash of the group. */
#define COLUMN_HASH SUM_COLUMNS

static u64 hash_text(u64 hash, struct text_slice text)
{
	return XXH3_64bits_withSeed(text.s, text.len, hash);
}

u64 history_hash_group(const struct model *m, const struct group *g)
{
	const struct group_list *by = &m->select->group;
	u64 hash = 0;
	u32 i, j;

	for (i = 0; i < by->n; i++) {
		enum owner_field field = by->v[i].field;
		const struct chain *chain;
		s64 number;

		hash++;
		if (field_is_chain(field)) {
			chain = model_get_chain(m, g, field);
			for (j = 0; j < chain->n; j++)
				hash = hash_text(hash, model_get_frame(m, field, chain, j));
		} else if (!model_field_is_known(m, g, field)) {
			continue;
		} else if (field_is_number(field)) {
			number = model_get_number(m, g, field);
			hash = XXH3_64bits_withSeed(&number, sizeof(number), hash);
		} else {
			hash = hash_text(hash, model_get_name(m, g, field));
		}
	}
	return hash;
}

static bool row_has_hash(const void *array, u32 id, const void *key)
{
	return packed_get(array, id, COLUMN_HASH) == *(const u64 *)key;
}

static void past_free(struct past *p)
{
	packed_free(&p->rows);
	hash_index_free(&p->index);
	*p = (struct past){ 0 };
}

static void past_take(struct past *p, const struct model *m)
{
	u32 i, row;
	u64 hash;

	past_free(p);
	p->total = m->total;
	packed_init(&p->rows, COLUMN_HASH + 1);
	for (i = 0; i < m->groups.n; i++) {
		struct group g = model_get_group(m, i);

		hash = history_hash_group(m, &g);
		row = packed_add_row(&p->rows);
		sum_store(&p->rows, row, &g.sum);
		packed_set(&p->rows, row, COLUMN_HASH, hash);
		hash_index_add(&p->index, hash, row);
	}
}

static struct sum past_find(const struct past *p, u64 hash)
{
	u32 row = hash_index_find(&p->index, hash, row_has_hash, &p->rows, &hash);

	return row == HASH_INDEX_NONE ? (struct sum){ 0 } : sum_load(&p->rows, row);
}

struct figures history_find(const struct history *h, const struct model *m, const struct group *g)
{
	u64 hash = history_hash_group(m, g);

	return (struct figures){ g->sum, past_find(&h->before, hash), past_find(&h->mark, hash) };
}

struct figures history_get_total(const struct history *h, const struct model *m)
{
	return (struct figures){ m->total, h->before.total, h->mark.total };
}

void figures_add(struct figures *to, const struct figures *f)
{
	sum_add(&to->now, &f->now);
	sum_add(&to->before, &f->before);
	sum_add(&to->mark, &f->mark);
}

void history_mark(struct history *h, const struct model *m, time_t now)
{
	past_take(&h->mark, m);
	h->start = now;
}

void history_keep(struct history *h, const struct model *m)
{
	if (h->start)
		past_take(&h->before, m);
}

void history_begin(struct history *h, const struct model *m, time_t now)
{
	if (h->start)
		return;
	history_mark(h, m, now);
	past_take(&h->before, m);
}

void history_free(struct history *h)
{
	past_free(&h->mark);
	past_free(&h->before);
	h->start = 0;
}
