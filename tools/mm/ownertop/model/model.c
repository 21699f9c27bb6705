// SPDX-License-Identifier: GPL-2.0
/* Group records, and sum up the groups. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "model/record_fields.h"
#include "model/model.h"

static u32 intern_number(struct model *m, s64 number)
{
	return strings_intern(&m->numbers, (struct text_slice){ (char *)&number, sizeof(number) });
}

static s64 get_interned_number(const struct model *m, u32 id)
{
	s64 number;

	memcpy(&number, m->numbers.v[id].s, sizeof(number));
	return number;
}

/*
 * Returns the numeric field of a record as groups show it: unlike record_field_value(), it
 * gives the pid of an object without a task.
 */
static s64 get_field_number(const struct model *m, const struct record *rec,
			    const struct owner_group_field *by)
{
	struct field_value value;

	switch (by->field) {
	case OWNER_FIELD_PID:
		return rec->pid;
	case OWNER_FIELD_TGID:
		return rec->tgid;
	default:
		value = record_field_value(rec, by->field, m->sink.now);
		return value.state == FIELD_KNOWN ? (s64)owner_lang_find_bucket(by, value.number) :
						    NUMBER_NONE;
	}
}

/* Stands for a name that the input does not tell: no name contains a NUL. */
static const struct text_slice unknown_word = { "", 1 };

/* Is the cache of a record known? Sums of slab objects can lack it. */
static bool record_cache_is_known(const struct record *rec)
{
	return rec->cache.len || !rec->summed || rec->kind != KIND_SLAB;
}

static bool word_is_unknown(struct text_slice word)
{
	return word.len == unknown_word.len && !*word.s;
}

/* Returns the number of @word: @guess, if it is right. */
static u32 intern_word(struct model *m, struct text_slice word, u32 guess)
{
	if (guess < m->words.n && !text_slice_compare(m->words.v[guess], word))
		return guess;
	return strings_intern(&m->words, word);
}

/* @guess: the number that the last record with the chain has */
static u32 make_group_key_value(struct model *m, const struct record *rec,
				const struct parsed_chain *chain,
				const struct parsed_user_chain *user,
				const struct owner_group_field *by, u32 guess)
{
	switch (by->field) {
	case OWNER_FIELD_USER:
		return user->chain;
	case OWNER_FIELD_BINARY:
		return user->file;
	case OWNER_FIELD_UFUNC:
		return user->func;
	case OWNER_FIELD_STACK:
		return chain->chain;
	case OWNER_FIELD_FUNC:
		return chain->func;
	case OWNER_FIELD_SYSCALL:
		return chain->syscall;
	case OWNER_FIELD_MODULE:
		return chain->module;
	case OWNER_FIELD_KIND:
		return rec->kind;
	case OWNER_FIELD_CACHE:
		return intern_word(m, record_cache_is_known(rec) ? rec->cache : unknown_word,
				   guess);
	case OWNER_FIELD_COMM:
		return intern_word(m, rec->comm.len || rec->tgid != PID_UNKNOWN ? rec->comm :
				   unknown_word, guess);
	case OWNER_FIELD_CGROUP:
		return intern_word(m, rec->cgroup.len || rec->cgroup_known ? rec->cgroup :
				   unknown_word, guess);
	case OWNER_FIELD_TASK_CGROUP:
		return intern_word(m, rec->task_cgroup.len || rec->task_cgroup_known ?
				   rec->task_cgroup : unknown_word, guess);
	case OWNER_FIELD_GFP:
		return intern_word(m, record_get_gfp(rec), guess);
	default:
		return intern_number(m, get_field_number(m, rec, by));
	}
}

/* Fill @key for a record. Returns false if it is not the key of the last group of the chain. */
static bool make_group_key(struct model *m, const struct record *rec,
			   const struct parsed_chain *chain,
			   const struct parsed_user_chain *user, u32 *key)
{
	const struct group_list *by = &m->select->group;
	bool has_last = chain->group != GROUP_NONE, same = has_last;
	u32 last = U32_MAX, i;

	for (i = 0; i < m->key_words; i++) {
		if (has_last)
			last = packed_get(&m->groups, chain->group, GROUP_KEY + i);
		key[i] = i < by->n ? make_group_key_value(m, rec, chain, user, &by->v[i], last) :
				     intern_number(m, rec->handle);
		same &= key[i] == last;
	}
	return same;
}

static bool group_has_key(const void *owner, u32 id, const void *key)
{
	const struct model *m = owner;
	const u32 *words = key;
	u32 i;

	for (i = 0; i < m->key_words; i++)
		if (packed_get(&m->groups, id, GROUP_KEY + i) != words[i])
			return false;
	return true;
}

/*
 * Returns the number of the group with @key, which is added if it is new: the number is then the
 * number of groups before.
 */
static u32 find_or_add_group(struct model *m, const u32 *key)
{
	u64 hash = XXH3_64bits(key, m->key_words * sizeof(*key));
	u32 id = hash_index_find(&m->group_index, hash, group_has_key, m, key), i;

	if (id != HASH_INDEX_NONE)
		return id;
	id = packed_add_row(&m->groups);
	for (i = 0; i < m->key_words; i++)
		packed_set(&m->groups, id, GROUP_KEY + i, key[i]);
	hash_index_add(&m->group_index, hash, id);
	return id;
}

struct group model_get_group(const struct model *m, u32 i)
{
	struct group g = {
		.sum = sum_load(&m->groups, i),
		.oldest = model_get_oldest(m, i),
		.newest = model_get_newest(m, i),
	};
	u32 word;

	for (word = 0; word < m->key_words; word++)
		g.key[word] = packed_get(&m->groups, i, GROUP_KEY + word);
	return g;
}

void update_newest_time(u64 *newest, u64 ts)
{
	if (*newest == TS_UNKNOWN || (ts != TS_UNKNOWN && ts > *newest))
		*newest = ts;
}

/* Extend a span of time stamps by another one. If one is unknown, the result is, too. */
static void extend_time_span(u64 *oldest, u64 *newest, u64 more_oldest, u64 more_newest)
{
	if (*oldest == TS_UNKNOWN || more_oldest == TS_UNKNOWN) {
		*oldest = TS_UNKNOWN;
		*newest = TS_UNKNOWN;
		return;
	}
	if (more_oldest < *oldest)
		*oldest = more_oldest;
	if (more_newest > *newest)
		*newest = more_newest;
}

void group_totals_add(struct group_totals *to, const struct sum *sum, u64 oldest, u64 newest)
{
	if (to->groups) {
		extend_time_span(&to->oldest, &to->newest, oldest, newest);
	} else {
		to->oldest = oldest;
		to->newest = newest;
	}
	sum_add(&to->sum, sum);
	to->groups++;
}

/* Add a sum, of objects allocated from @oldest to @newest, to a group. */
static void add_to_group(struct model *m, u32 id, const struct sum *sum, u64 oldest, u64 newest,
			 bool is_first)
{
	u64 group_oldest = model_get_oldest(m, id), group_newest = model_get_newest(m, id);

	sum_add_to_row(&m->groups, id, sum);
	if (is_first) {
		group_oldest = oldest;
		group_newest = newest;
	} else {
		extend_time_span(&group_oldest, &group_newest, oldest, newest);
	}
	packed_set_all(&m->groups, id, GROUP_OLDEST, 2,
		       (u64[]){ group_oldest + 1, group_newest - group_oldest });
}

static void add_record_to_its_group(struct model *m, const struct record *rec,
				    struct parsed_chain *chain,
				    const struct parsed_user_chain *user, const struct sum *sum)
{
	u32 key[GROUP_KEY_MAX], nr_groups = m->groups.n;

	sum_add(&m->total, sum);
	m->sampled |= sum_is_estimate(sum);
	m->with_user += user->chain ? sum->objects : 0;
	if (m->histograms)
		histograms_add(m->histograms, rec, sum, m->sink.now);
	if (m->histograms && user->file)
		user_chains_count(&m->user, user->file,
				  &(struct file_count){ sum->objects, sum->bytes, sum->held });
	if (!make_group_key(m, rec, chain, user, key))
		chain->group = find_or_add_group(m, key);
	add_to_group(m, chain->group, sum, rec->ts, rec->ts + rec->span,
		     chain->group == nr_groups);
}

static void expect_chain_in_model(void *arg, u64 stack_hash)
{
	const struct model *m = arg;

	stacks_expect_chain(&m->stacks, stack_hash);
}

/*
 * Add a record of a known owner to the group of all. It has one frame and no other field, but a
 * name in one that is grouped by.
 */
static void add_record_to_known_owners(struct model *m, const struct record *rec,
				       const struct sum *sum)
{
	const struct text_slice text = { m->select->chains.known.frame,
					 strlen(m->select->chains.known.frame) };
	struct parsed_user_chain no_user = { 0 };
	const struct text_slice name = { "known_owners", 12 };
	const struct group_list *by = &m->select->group;
	struct record known = RECORD_UNKNOWN;

	if (field_is_listed(by, OWNER_FIELD_CACHE) && !field_is_listed(by, OWNER_FIELD_STACK))
		known.cache = name;
	else
		known.comm = name;
	known.kind = rec->kind;
	known.cgroup_known = true;
	known.ts = rec->ts;
	known.span = rec->span;
	sum_add(&m->known, sum);
	add_record_to_its_group(m, &known,
				stacks_parse_chain(&m->stacks, text, record_hash_stack(text)),
				&no_user, sum);
}

static const char *add_record_to_model(void *arg, const struct record *rec)
{
	struct model *m = arg;
	enum owner_verdict verdict = OWNER_VERDICT_TRUE;
	struct parsed_user_chain user;
	unsigned int unknown_fields;
	struct parsed_chain *chain;
	struct sum one;

	/* No other sum can overflow before that of all records. */
	if (!sum_from_record(&one, rec) || sum_overflows(&m->counted, &one))
		return "the sum of sizes overflows";
	chain = stacks_parse_chain(&m->stacks, rec->stack, rec->stack_hash ? rec->stack_hash :
				   record_hash_stack(rec->stack));
	if (!chain)
		return "a frame is malformed";
	if (!user_chains_parse_if_any(&m->user, rec->user, &user))
		return "a user frame is malformed";
	if (chain->group != GROUP_NONE)
		packed_expect_row(&m->groups, chain->group);
	m->sources.slabs_listed |= m->sink.summary.slabs_listed;
	if (!sources_count_record(&m->sources, rec, chain->backing))
		return NULL;
	update_newest_time(&m->newest, rec->ts + rec->span);
	sum_add(&m->counted, &one);
	if (m->select->sentence.fields_used)
		verdict = record_evaluate(rec, chain, &user, &m->select->sentence, &m->words,
					  m->sink.now, &unknown_fields);
	switch (verdict) {
	case OWNER_VERDICT_TRUE:
		if (chain->known)
			add_record_to_known_owners(m, rec, &one);
		else
			add_record_to_its_group(m, rec, chain, &user, &one);
		break;
	case OWNER_VERDICT_FALSE:
		sum_add(&m->filtered, &one);
		break;
	case OWNER_VERDICT_UNDECIDED:
		sum_add(&m->undecided, &one);
		m->unknown_fields |= unknown_fields;
		break;
	}
	return NULL;
}

void model_init(struct model *m, const struct record_selection *select)
{
	*m = (struct model){
		.sink = {
			.add_record = add_record_to_model,
			.expect_chain = expect_chain_in_model,
			.arg = m,
		},
		.select = select,
		.sources.only_pages =
			owner_lang_asked_kinds(&select->sentence) == 1U << OWNER_KIND_PAGE,
		.key_words = select->group.n + select->by_handle,
	};
	packed_init(&m->groups, GROUP_KEY + m->key_words);
	stacks_init(&m->stacks, &select->chains, &select->sentence);
	m->stacks.names = select->names;
	user_chains_init(&m->user, &select->user, &select->sentence, select->binaries);
}

u64 model_compute_age(const struct model *m, u64 ts)
{
	u64 now = m->sink.now ? m->sink.now : m->newest;

	if (ts == TS_UNKNOWN)
		return TS_UNKNOWN;
	return ts < now ? now - ts : 0;
}

const struct strings *model_get_frames(const struct model *m, enum owner_field field)
{
	return field == OWNER_FIELD_USER ? &m->user.frames : &m->stacks.frames;
}

struct text_slice model_get_frame(const struct model *m, enum owner_field field,
				  const struct chain *chain, u32 i)
{
	return model_get_frames(m, field)->v[chain->frames[i]];
}

static u32 get_field_key(const struct model *m, const struct group *g, enum owner_field field)
{
	const struct owner_group_field *by = field_find(&m->select->group, field);

	return by ? g->key[by - m->select->group.v] : 0;
}

const struct chain *model_get_chain(const struct model *m, const struct group *g,
				    enum owner_field field)
{
	u32 key = get_field_key(m, g, field);

	return field == OWNER_FIELD_USER ? m->user.chains.v[key] : m->stacks.chains.v[key];
}

bool model_shows_field(const struct model *m, enum owner_field field)
{
	return field != OWNER_FIELD_USER || !m->select->user.if_any || m->with_user;
}

bool model_field_is_known(const struct model *m, const struct group *g, enum owner_field field)
{
	s64 number;

	if (field == OWNER_FIELD_COMM || field == OWNER_FIELD_CGROUP ||
	    field == OWNER_FIELD_TASK_CGROUP || field == OWNER_FIELD_CACHE)
		return !word_is_unknown(m->words.v[get_field_key(m, g, field)]);
	if (!field_is_number(field))
		return true;
	number = get_interned_number(m, get_field_key(m, g, field));
	return number != PID_UNKNOWN && number != NUMBER_NONE;
}

s64 model_get_number(const struct model *m, const struct group *g, enum owner_field field)
{
	return get_interned_number(m, get_field_key(m, g, field));
}

const char *model_format_number(char buf[HUMAN_LEN], const struct model *m, const struct group *g,
				enum owner_field field)
{
	return field_format_number(field_find(&m->select->group, field),
				   model_get_number(m, g, field), buf, HUMAN_LEN);
}

struct text_slice model_get_name(const struct model *m, const struct group *g,
				 enum owner_field field)
{
	static const struct text_slice kinds[NR_KINDS] = {
		[KIND_PAGE] = { "page", 4 },
		[KIND_SLAB] = { "slab", 4 },
		[KIND_PERCPU] = { "percpu", 6 },
		[KIND_SITE] = { "site", 4 },
	};
	u32 key = get_field_key(m, g, field);

	switch (field) {
	case OWNER_FIELD_MODULE:
		return m->stacks.modules.v[key];
	case OWNER_FIELD_FUNC:
	case OWNER_FIELD_SYSCALL:
		return m->stacks.funcs.v[key];
	case OWNER_FIELD_BINARY:
		return m->user.files.v[key];
	case OWNER_FIELD_UFUNC:
		return m->user.funcs.v[key];
	case OWNER_FIELD_KIND:
		return kinds[key];
	default:
		return word_is_unknown(m->words.v[key]) ? (struct text_slice){ "", 0 } :
							  m->words.v[key];
	}
}

u64 model_get_handle(const struct model *m, const struct group *g)
{
	return get_interned_number(m, g->key[m->select->group.n]);
}

void model_finish(struct model *m)
{
	stacks_finish(&m->stacks);
	user_chains_finish(&m->user);
	hash_index_free(&m->group_index);
}

void model_free(struct model *m)
{
	model_finish(m);
	stacks_free(&m->stacks);
	user_chains_free(&m->user);
	strings_free(&m->words);
	strings_free(&m->numbers);
	packed_free(&m->groups);
}
