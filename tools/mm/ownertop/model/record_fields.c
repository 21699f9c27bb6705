// SPDX-License-Identifier: GPL-2.0
/* The fields of a record. Unlike in the kernel, the value of a field can be unknown. */
#include "base/number.h"
#include "model/record_fields.h"

static struct field_value make_number_value(bool known, u64 v)
{
	return (struct field_value){ .state = known ? FIELD_KNOWN : FIELD_UNKNOWN, .number = v };
}

static struct field_value make_absent_value(void)
{
	return (struct field_value){ .state = FIELD_ABSENT };
}

/*
 * Does the record have a task? The kernel prints "0, tgid 0 (?)" for an object without a task.
 */
static bool has_task(const struct record *rec)
{
	return rec->kind == KIND_PAGE || rec->pid || rec->tgid || rec->comm.len != 1 ||
	       *rec->comm.s != '?';
}

static struct field_value get_task_value(const struct record *rec, enum owner_field field)
{
	s64 id = field == OWNER_FIELD_PID ? rec->pid : rec->tgid;

	if (!has_task(rec))
		return make_absent_value();
	if (field != OWNER_FIELD_COMM)
		return make_number_value(id != PID_UNKNOWN, id);
	return (struct field_value){
		.state = rec->comm.len || rec->tgid != PID_UNKNOWN ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->comm,
	};
}

/* Returns the cache of a record. A page has one only if it holds slab objects. */
static struct field_value get_cache_value(const struct record *rec)
{
	if ((rec->kind == KIND_PAGE && !rec->cache.len) || rec->kind == KIND_PERCPU)
		return make_absent_value();
	return (struct field_value){
		.state = rec->cache.len ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->cache,
	};
}

/* Returns the cgroup of a record. Queries compare its path, so a bare name is not enough. */
static struct field_value get_cgroup_value(const struct record *rec)
{
	if (!rec->cgroup.len && rec->cgroup_known)
		return make_absent_value();
	return (struct field_value){
		.state = rec->cgroup.len && *rec->cgroup.s == '/' ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->cgroup,
	};
}

static struct field_value get_task_cgroup_value(const struct record *rec)
{
	if (!rec->task_cgroup.len && rec->task_cgroup_known)
		return make_absent_value();
	return (struct field_value){
		.state = rec->task_cgroup.len ? FIELD_KNOWN : FIELD_UNKNOWN,
		.word = rec->task_cgroup,
	};
}

/*
 * Returns the node of a record. The node of a page is among its flags, "(lru|node=0|zone=1)",
 * if the machine has several nodes.
 */
static struct field_value get_nid_value(const struct record *rec)
{
	const char *found = NULL;
	struct text_slice digits;
	u64 nid = 0;

	if (rec->kind == KIND_PERCPU)
		return make_absent_value();
	if (rec->nid != NID_UNKNOWN || !rec->pfn.len)
		return make_number_value(rec->nid != NID_UNKNOWN, rec->nid);
	found = memmem(rec->pfn.s, rec->pfn.len, "node=", 5);
	if (!found)
		return make_number_value(false, 0);
	digits = (struct text_slice){ found + 5, rec->pfn.s + rec->pfn.len - found - 5 };
	return make_number_value(!consume_number(&digits, &nid), nid);
}

static struct field_value get_order_value(const struct record *rec)
{
	if (rec->kind == KIND_SLAB || rec->kind == KIND_PERCPU)
		return make_absent_value();
	return make_number_value(rec->kind == KIND_PAGE && !rec->summed, rec->order);
}

struct text_slice record_get_gfp(const struct record *rec)
{
	const struct text_slice mask = rec->mask;
	const char *open = memchr(mask.s, '(', mask.len);

	if (!open || mask.s[mask.len - 1] != ')')
		return (struct text_slice){ "", 0 };
	return (struct text_slice){ open + 1, mask.s + mask.len - open - 2 };
}

struct field_value record_field_value(const struct record *rec, enum owner_field field, u64 now)
{
	u64 size = rec->summed ? rec->each_size : rec->bytes;
	u64 held = rec->summed ? rec->each_held : rec->held;
	struct text_slice gfp;

	switch (field) {
	case OWNER_FIELD_CACHE:
		return get_cache_value(rec);
	case OWNER_FIELD_SIZE:
		return make_number_value(size != SIZE_UNKNOWN, size);
	case OWNER_FIELD_HELD:
		return make_number_value(held != SIZE_UNKNOWN, held);
	case OWNER_FIELD_ORDER:
		return get_order_value(rec);
	case OWNER_FIELD_NID:
		return get_nid_value(rec);
	case OWNER_FIELD_PID:
	case OWNER_FIELD_TGID:
	case OWNER_FIELD_COMM:
		return get_task_value(rec, field);
	case OWNER_FIELD_CGROUP:
		return get_cgroup_value(rec);
	case OWNER_FIELD_TASK_CGROUP:
		return get_task_cgroup_value(rec);
	case OWNER_FIELD_TS:
		return make_number_value(rec->ts != TS_UNKNOWN, rec->ts);
	case OWNER_FIELD_AGE:
		return make_number_value(rec->ts != TS_UNKNOWN, rec->ts < now ? now - rec->ts : 0);
	case OWNER_FIELD_KIND:
		return make_number_value(rec->kind != KIND_SITE, rec->kind);
	case OWNER_FIELD_HANDLE:
		return make_number_value(rec->handle != HANDLE_UNKNOWN, rec->handle);
	case OWNER_FIELD_GFP:
		gfp = record_get_gfp(rec);
		return (struct field_value){
			.state = gfp.len ? FIELD_KNOWN : FIELD_UNKNOWN,
			.word = gfp,
		};
	default:
		return make_number_value(false, 0);
	}
}

/* any_word_matches() casts its argument to this struct, so fields must be first. */
struct record_fields {
	struct owner_field_values fields;
	const struct record *rec;
	const struct parsed_chain *chain;
	const struct parsed_user_chain *user;
	struct strings *words;
};

/* Intern @word to get a copy that ends with NUL, as the language needs it. */
static const char *intern_terminated_word(struct strings *words, struct text_slice word)
{
	u32 id = strings_intern(words, word);	/* this can move words->v */

	return words->v[id].s;
}

static bool any_flag_matches(const struct record_fields *f, const struct owner_sentence *s,
			     const struct owner_comparison *c)
{
	struct text_slice gfp = record_get_gfp(f->rec);
	const char *flag = gfp.s, *end = flag + gfp.len;

	while (flag < end) {
		const char *bar = memchr(flag, '|', end - flag);
		struct text_slice name = { flag, (bar ? bar : end) - flag };

		if (owner_lang_word_matches(s, c, intern_terminated_word(f->words, name)))
			return true;
		flag += name.len + 1;
	}
	return false;
}

static bool any_word_matches(const struct owner_field_values *fields,
			     const struct owner_sentence *s, const struct owner_comparison *c)
{
	const struct record_fields *f = (const struct record_fields *)fields;

	if (c->field == OWNER_FIELD_GFP)
		return any_flag_matches(f, s, c);
	return (f->chain->matched | f->user->matched) & 1U << (c - s->comparisons);
}

static void fill_field(struct record_fields *f, enum owner_field field, u64 now)
{
	struct field_value value = record_field_value(f->rec, field, now);

	if (value.state == FIELD_UNKNOWN)
		return;
	f->fields.known_fields |= 1U << field;
	if (value.state == FIELD_ABSENT)
		f->fields.absent_fields |= 1U << field;
	else if (owner_field_types[field] == OWNER_TYPE_WORD)
		f->fields.value[field].word = intern_terminated_word(f->words, value.word);
	else
		f->fields.value[field].number = value.number;
}

enum owner_verdict record_evaluate(const struct record *rec, const struct parsed_chain *chain,
				   const struct parsed_user_chain *user,
				   const struct owner_sentence *s, struct strings *words, u64 now,
				   unsigned int *unknown_fields)
{
	/* The comparisons of the fields of both chains have been evaluated. */
	const unsigned int of_chain = 1U << OWNER_FIELD_FUNC | 1U << OWNER_FIELD_MODULE |
				      1U << OWNER_FIELD_SYSCALL;
	const unsigned int of_user = 1U << OWNER_FIELD_BINARY | 1U << OWNER_FIELD_UFUNC;
	struct record_fields f = {
		.fields = { .known_fields = of_chain, .any_word_matches = any_word_matches },
		.rec = rec,
		.chain = chain,
		.user = user,
		.words = words,
	};
	enum owner_field field;

	if (rec->user_known)
		f.fields.known_fields |= of_user;
	if (user->functions_unknown)
		f.fields.known_fields &= ~(1U << OWNER_FIELD_UFUNC);
	for (field = 0; field < OWNER_FIELDS; field++)
		if (s->fields_used & ~of_chain & ~of_user & 1U << field)
			fill_field(&f, field, now);
	*unknown_fields = s->fields_used & ~f.fields.known_fields;
	if (*unknown_fields)
		return owner_lang_evaluate_known_fields(s, &f.fields);
	return owner_lang_matches(s, &f.fields) ? OWNER_VERDICT_TRUE : OWNER_VERDICT_FALSE;
}
