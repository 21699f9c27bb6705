// SPDX-License-Identifier: GPL-2.0
/* Keep figures of groups over the updates of live mode. */
#include <xxhash.h>

#include "ui/history.h"

/* Limit of the groups that are kept, which bounds memory to some 2 MB. */
#define GROUPS_MAX 16384

/* The columns of a group's row. Three of them are arrays, with a figure for each measure. */
enum {
	COLUMN_HASH,
	COLUMN_UPDATE,		/* number of the last update that had the group */
	COLUMN_START,		/* figures at the start of live mode */
	COLUMN_BEFORE = COLUMN_START + NR_MEASURES,	/* at the previous update */
	COLUMN_NOW = COLUMN_BEFORE + NR_MEASURES,	/* at the last update */
	NR_COLUMNS = COLUMN_NOW + NR_MEASURES,
};

void history_init(struct history *h)
{
	*h = (struct history){ .start = time(NULL) };
	packed_init(&h->rows, NR_COLUMNS);
}

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

static u32 find_row(const struct history *h, u64 hash)
{
	return hash_index_find(&h->index, hash, row_has_hash, &h->rows, &hash);
}

static void note_group(struct history *h, const struct model *m, const struct group *g)
{
	u64 hash = history_hash_group(m, g);
	u32 row = find_row(h, hash), i;
	bool was_there;

	if (row == HASH_INDEX_NONE) {
		if (h->rows.n == GROUPS_MAX)
			return;
		row = packed_add_row(&h->rows);
		packed_set(&h->rows, row, COLUMN_HASH, hash);
		hash_index_add(&h->index, hash, row);
	}
	was_there = packed_get(&h->rows, row, COLUMN_UPDATE) == h->updates - 1;
	packed_set(&h->rows, row, COLUMN_UPDATE, h->updates);
	for (i = 0; i < NR_MEASURES; i++) {
		u64 now = measure_get_value(&g->sum, i);
		u64 before = was_there ? packed_get(&h->rows, row, COLUMN_NOW + i) : 0;

		if (h->updates == 1) {
			packed_set(&h->rows, row, COLUMN_START + i, now);
			before = now;
		}
		packed_set(&h->rows, row, COLUMN_BEFORE + i, before);
		packed_set(&h->rows, row, COLUMN_NOW + i, now);
	}
}

void history_update(struct history *h, const struct report *r)
{
	u32 i;

	h->total_before = h->updates ? h->total_now : r->model->total;
	h->total_now = r->model->total;
	if (!h->updates)
		h->total_start = h->total_now;
	h->updates++;
	for (i = 0; i < r->n && i < GROUPS_MAX; i++) {
		struct group g = report_get_group(r, i);

		note_group(h, r->model, &g);
	}
}

struct history_change history_find(const struct history *h, const struct model *m,
				   const struct group *g, enum measure measure)
{
	u32 row = find_row(h, history_hash_group(m, g));
	u64 now = measure_get_value(&g->sum, measure);

	if (row == HASH_INDEX_NONE)
		return (struct history_change){ 0 };
	return (struct history_change){
		.known = true,
		.tick = change_between(packed_get(&h->rows, row, COLUMN_BEFORE + measure), now),
		.start = change_between(packed_get(&h->rows, row, COLUMN_START + measure), now),
	};
}

struct history_change history_of_total(const struct history *h, enum measure measure)
{
	u64 now = measure_get_value(&h->total_now, measure);

	return (struct history_change){
		.known = true,
		.tick = change_between(measure_get_value(&h->total_before, measure), now),
		.start = change_between(measure_get_value(&h->total_start, measure), now),
	};
}

void history_free(struct history *h)
{
	packed_free(&h->rows);
	hash_index_free(&h->index);
}
