// SPDX-License-Identifier: GPL-2.0
/*
 * Records as mm/owner/query.c sees objects: what they have, what they do not have,
 * and, unlike there, what nobody has said.
 */
#include "model/record_fields.h"
#include "model/model.h"
#include "base/number.h"

static struct field_value number(bool known, u64 v)
{
	return (struct field_value){ .state = known ? FIELD_KNOWN : FIELD_UNKNOWN, .number = v };
}

static struct field_value absent(void)
{
	return (struct field_value){ .state = FIELD_ABSENT };
}

/* The kernel prints "0, tgid 0 (?)" of a task that it has not kept. */
static bool has_task(const struct record *rec)
{
	return rec->kind == KIND_PAGE || rec->pid || rec->tgid || rec->comm.len != 1 ||
	       *rec->comm.s != '?';
}

static struct field_value task_fact(const struct record *rec, enum owner_field field)
{
	s64 id = field == OWNER_FIELD_PID ? rec->pid : rec->tgid;

	if (!has_task(rec))
		return absent();
	if (field != OWNER_FIELD_COMM)
		return number(id != PID_UNKNOWN, id);
	return (struct field_value){
		.state = rec->comm.len || rec->tgid != PID_UNKNOWN ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->comm,
	};
}

/* Pages may have objects in them, and those are of a cache. */
static struct field_value cache_fact(const struct record *rec)
{
	if ((rec->kind == KIND_PAGE && !rec->cache.len) || rec->kind == KIND_PERCPU)
		return absent();
	return (struct field_value){
		.state = rec->cache.len ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->cache,
	};
}

/* Asked about by its path: where only its name is told, that does not tell. */
static struct field_value cgroup_fact(const struct record *rec)
{
	if (!rec->cgroup.len && rec->cgroup_known)
		return absent();
	return (struct field_value){
		.state = rec->cgroup.len && *rec->cgroup.s == '/' ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->cgroup,
	};
}

/* Of pages it is among the flags, if the machine has several: "(lru|node=0|zone=1)". */
static struct field_value nid_fact(const struct record *rec)
{
	const char *found = NULL;
	struct text rest;
	u64 nid = 0;

	if (rec->kind == KIND_PERCPU)
		return absent();
	if (rec->nid != NID_UNKNOWN || !rec->pfn.len)
		return number(rec->nid != NID_UNKNOWN, rec->nid);
	found = memmem(rec->pfn.s, rec->pfn.len, "node=", 5);
	if (!found)
		return number(false, 0);
	rest = (struct text){ found + 5, rec->pfn.s + rec->pfn.len - found - 5 };
	return number(!take_number(&rest, &nid), nid);
}

static struct field_value order_fact(const struct record *rec)
{
	if (rec->kind == KIND_SLAB || rec->kind == KIND_PERCPU)
		return absent();
	return number(rec->kind == KIND_PAGE && !rec->summed, rec->order);
}

struct field_value record_field_value(const struct record *rec, enum owner_field field, u64 now)
{
	u64 size = rec->summed ? rec->each_size : rec->bytes;
	u64 held = rec->summed ? rec->each_held : rec->held;

	switch (field) {
	case OWNER_FIELD_CACHE:
		return cache_fact(rec);
	case OWNER_FIELD_SIZE:
		return number(size != SIZE_UNKNOWN, size);
	case OWNER_FIELD_HELD:
		return number(held != SIZE_UNKNOWN, held);
	case OWNER_FIELD_ORDER:
		return order_fact(rec);
	case OWNER_FIELD_NID:
		return nid_fact(rec);
	case OWNER_FIELD_PID:
	case OWNER_FIELD_TGID:
	case OWNER_FIELD_COMM:
		return task_fact(rec, field);
	case OWNER_FIELD_CGROUP:
		return cgroup_fact(rec);
	case OWNER_FIELD_TS:
		return number(rec->ts != TS_UNKNOWN, rec->ts);
	case OWNER_FIELD_AGE:
		return number(rec->ts != TS_UNKNOWN, rec->ts < now ? now - rec->ts : 0);
	case OWNER_FIELD_KIND:
		return number(rec->kind != KIND_SITE, rec->kind);
	case OWNER_FIELD_HANDLE:
		return number(rec->handle != HANDLE_UNKNOWN, rec->handle);
	case OWNER_FIELD_GFP:
		return (struct field_value){
			.state = rec->gfp.len ? FIELD_KNOWN : FIELD_UNKNOWN,
			.word = rec->gfp,
		};
	default:
		return number(false, 0);
	}
}

/* The language looks at these and hands them back. */
struct facts {
	struct owner_field_values fields;
	struct model *m;
	const struct record *rec;
	const struct parsed_chain *owner;
};

/* Interning ends it with a 0. */
static const char *as_string(struct strings *words, struct text word)
{
	u32 id = strings_intern(words, word);	/* moves words->v when it grows */

	return words->v[id].s;
}

static bool any_flag_matches(const struct facts *f, const struct owner_sentence *s,
			     const struct owner_comparison *c)
{
	const char *flag = f->rec->gfp.s, *end = flag + f->rec->gfp.len;

	while (flag < end) {
		const char *bar = memchr(flag, '|', end - flag);
		struct text name = { flag, (bar ? bar : end) - flag };

		if (owner_lang_word_matches(s, c, as_string(&f->m->words, name)))
			return true;
		flag += name.len + 1;
	}
	return false;
}

static bool any_word_matches(const struct owner_field_values *fields, const struct owner_sentence *s,
			const struct owner_comparison *c)
{
	const struct facts *f = (const struct facts *)fields;

	if (c->field == OWNER_FIELD_GFP)
		return any_flag_matches(f, s, c);
	return f->owner->matched & 1U << (c - s->comparisons);
}

static void know(struct facts *f, enum owner_field field)
{
	struct field_value value = record_field_value(f->rec, field, f->m->sink.now);

	if (value.state == FIELD_UNKNOWN)
		return;
	f->fields.known_fields |= 1U << field;
	if (value.state == FIELD_ABSENT)
		f->fields.absent_fields |= 1U << field;
	else if (owner_field_types[field] == OWNER_TYPE_WORD)
		f->fields.value[field].word = as_string(&f->m->words, value.word);
	else
		f->fields.value[field].number = value.number;
}

enum owner_verdict record_judge(struct model *m, const struct record *rec,
			     const struct parsed_chain *owner, unsigned int *unknown_fields)
{
	const unsigned int chains = 1U << OWNER_FIELD_FUNC | 1U << OWNER_FIELD_MODULE;
	const struct owner_sentence *s = &m->select->sentence;
	struct facts f = {
		.fields = { .known_fields = chains, .any_word_matches = any_word_matches },
		.m = m,
		.rec = rec,
		.owner = owner,
	};
	enum owner_field field;

	if (s->sources && !(s->sources & 1U << rec->kind))
		return OWNER_VERDICT_FALSE;
	*unknown_fields = 0;
	if (!s->fields_used)
		return OWNER_VERDICT_TRUE;
	for (field = 0; field < OWNER_FIELDS; field++)
		if (s->fields_used & ~chains & 1U << field)
			know(&f, field);
	*unknown_fields = s->fields_used & ~f.fields.known_fields;
	if (!*unknown_fields)
		return owner_lang_matches(s, &f.fields) ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE;
	return owner_lang_judge(s, &f.fields);
}
