// SPDX-License-Identifier: GPL-2.0
/* Groups of records and their sums. */
#include <fnmatch.h>
#include <stdlib.h>
#include <xxhash.h>

#include "alloc.h"
#include "model.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MINUTE (60 * NS_PER_SECOND)

void model_init(struct model *m, const struct selection *select)
{
	*m = (struct model){ .select = select };
	stacks_init(&m->stacks, &select->chains);
	m->stacks.names = select->names;
}

/* Names are short, and interning terminates them for fnmatch(). */
static bool name_passes(struct strings *st, const char *glob, struct text name)
{
	u32 id;

	if (!glob)
		return true;
	id = strings_intern(st, name);	/* moves st->v when it grows */
	return !fnmatch(glob, st->v[id].s, 0);
}

static bool pid_passes(const struct filter *f, s64 pid)
{
	u32 i;

	for (i = 0; i < f->nr_pids; i++)
		if (f->pids[i] == pid)
			return true;
	return !f->nr_pids;
}

static bool age_passes(const struct model *m, u64 ts)
{
	u64 older = m->select->filter.older;

	return !older || (ts != TS_UNKNOWN && ts <= m->now && m->now - ts >= older);
}

static bool passes(struct model *m, const struct record *rec)
{
	const struct filter *f = &m->select->filter;

	return pid_passes(f, rec->pid) &&
	       age_passes(m, rec->ts) &&
	       name_passes(&m->caches, f->cache, rec->cache) &&
	       name_passes(&m->comms, f->comm, rec->comm);
}

static struct group_key key_of(struct model *m, const struct record *rec,
			       const struct owner *owner)
{
	const struct field_list *by = &m->select->group;
	struct group_key key = { 0 };
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		switch (by->v[i]) {
		case FIELD_STACK:
			key.chain = owner->chain;
			break;
		case FIELD_CACHE:
			key.cache = strings_intern(&m->caches, rec->cache);
			break;
		case FIELD_COMM:
			key.comm = strings_intern(&m->comms, rec->comm);
			break;
		case FIELD_PID:
			key.pid = rec->pid;
			break;
		case FIELD_TGID:
			key.tgid = rec->tgid;
			break;
		case FIELD_MODULE:
			key.module = owner->module;
			break;
		case FIELD_KIND:
			key.kind = rec->kind;
			break;
		case FIELD_AGE:
			key.minute = rec->ts / NS_PER_MINUTE;
			break;
		case NR_FIELDS:
			break;
		}
	}
	return key;
}

static bool same_group(const void *owner, u32 id, const void *key)
{
	const struct model *m = owner;

	return !memcmp(&m->groups[id].key, key, sizeof(struct group_key));
}

static struct group *group_of(struct model *m, const struct group_key *key)
{
	u64 hash = XXH3_64bits(key, sizeof(*key));
	u32 id = index_find(&m->group_index, hash, same_group, m, key);

	if (id == INDEX_NONE) {
		id = m->nr_groups++;
		m->groups = grow(m->groups, id, &m->groups_cap, sizeof(*m->groups));
		m->groups[id] = (struct group){
			.key = *key,
			.oldest = TS_UNKNOWN,
			.newest = TS_UNKNOWN,
		};
		index_add(&m->group_index, hash, id);
	}
	return &m->groups[id];
}

void sum_add(struct sum *to, const struct sum *sum)
{
	to->objects += sum->objects;
	to->bytes += sum->bytes;
	to->held += sum->held;
}

/* Every other sum is at most this one's. */
static bool sum_would_overflow(const struct model *m, const struct record *rec)
{
	u64 objects = m->total.objects + m->filtered.objects;
	u64 bytes = m->total.bytes + m->filtered.bytes;
	u64 held = m->total.held + m->filtered.held;

	return rec->objects > U64_MAX - objects || rec->bytes > U64_MAX - bytes ||
	       rec->held > U64_MAX - held;
}

/* No time stamp is the greatest of all, and must not win. */
static void take_newest(u64 *newest, u64 ts)
{
	if (*newest == TS_UNKNOWN || (ts != TS_UNKNOWN && ts > *newest))
		*newest = ts;
}

const char *model_add(struct model *m, const struct record *rec)
{
	struct sum one = { rec->objects, rec->bytes, rec->held };
	struct group_key key;
	struct owner owner;
	struct group *g;

	if (m->take)
		return m->take(m->taker, rec);
	if (sum_would_overflow(m, rec))
		return "the sum of sizes overflows";
	if (!stacks_owner(&m->stacks, rec->stack, &owner))
		return "a frame is malformed";
	if (!sources_take(&m->sources, rec))
		return NULL;
	take_newest(&m->newest, rec->ts);
	if (!owner.passes || !passes(m, rec)) {
		sum_add(&m->filtered, &one);
		return NULL;
	}

	key = key_of(m, rec, &owner);
	g = group_of(m, &key);
	sum_add(&g->sum, &one);
	sum_add(&m->total, &one);
	if (rec->ts < g->oldest)
		g->oldest = rec->ts;
	take_newest(&g->newest, rec->ts);
	return NULL;
}

u64 model_age(const struct model *m, const struct group *g)
{
	return g->oldest == TS_UNKNOWN ? TS_UNKNOWN : m->newest - g->oldest;
}

void model_coverage(struct model *m, u64 tracked, u64 untracked)
{
	m->coverage_known = true;
	m->tracked += tracked;
	m->untracked += untracked;
}

struct text model_frame(const struct model *m, const struct chain *chain, u32 i)
{
	return m->stacks.frames.v[chain->frames[i]];
}

bool model_known(const struct model *m, const struct group *g, enum field field)
{
	switch (field) {
	case FIELD_PID:
		return g->key.pid != PID_UNKNOWN;
	case FIELD_TGID:
		return g->key.tgid != PID_UNKNOWN;
	case FIELD_AGE:
		return model_age(m, g) != TS_UNKNOWN;
	default:
		return true;
	}
}

s64 model_number(const struct model *m, const struct group *g, enum field field)
{
	switch (field) {
	case FIELD_PID:
		return g->key.pid;
	case FIELD_TGID:
		return g->key.tgid;
	default:
		return model_age(m, g) / NS_PER_SECOND;
	}
}

struct text model_name(const struct model *m, const struct group *g, enum field field)
{
	static const struct text kinds[NR_KINDS] = {
		[KIND_PAGE] = { "page", 4 },
		[KIND_SLAB] = { "slab", 4 },
		[KIND_PERCPU] = { "percpu", 6 },
		[KIND_SITE] = { "site", 4 },
	};

	switch (field) {
	case FIELD_CACHE:
		return m->caches.v[g->key.cache];
	case FIELD_COMM:
		return m->comms.v[g->key.comm];
	case FIELD_MODULE:
		return m->stacks.modules.v[g->key.module];
	default:
		return kinds[g->key.kind];
	}
}

void model_free(struct model *m)
{
	stacks_free(&m->stacks);
	strings_free(&m->caches);
	strings_free(&m->comms);
	free(m->groups);
	index_free(&m->group_index);
}
