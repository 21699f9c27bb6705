/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A query: a sentence in, groups or single objects out.
 *
 * Each file uses only files above it in this list:
 *
 * modules.c	counts loaded and unloaded modules, remembers the names of the last unloaded ones
 * chain.c	frames, functions, modules and system call of a call chain, looked up once
 * user.c	binaries of a user chain
 * parse.c	parses a sentence, and refuses one that cannot be answered
 * mark.c	finds what groups held at the mark, to be subtracted
 * values.c	field values of an object, for the sentence's comparisons
 * memo.c	what the walk's memo has to know of a sentence
 * address.c	which addresses does the expression require?
 * find.c	finds the objects that the expression holds for, or call chains by their counters
 * groups.c	the table of groups
 * answer.c	sums up all groups, and keeps them as a mark
 * show.c	prints groups, objects and totals, as text or as rows
 * file.c	the file owner/query
 */
#ifndef _MM_OWNER_QUERY_H
#define _MM_OWNER_QUERY_H

#include <linux/gfp_types.h>
#include <linux/list.h>
#include <linux/types.h>

#include "../cgroup.h"
#include "../lang/lang.h"
#include "../sum.h"
#include "../totals.h"
#include "../user/user.h"
#include "../walk.h"

struct seq_file;

/* Characters of a name in a group's key. Longer names are cut, and may share a group. */
#define OWNER_QUERY_NAME_MAX	255
#define OWNER_QUERY_NAME_WORDS	((OWNER_QUERY_NAME_MAX + 1) / sizeof(u64))

/* Stands in a key for a number that the object does not have. */
#define OWNER_QUERY_ABSENT	U64_MAX

/* The longest key: a call chain, a user chain, a cgroup, and names for all other fields. */
#define OWNER_QUERY_KEY_WORDS	(1 + OWNER_FRAMES_MAX + 1 + OWNER_USER_WORDS + \
				 OWNER_CGROUP_MAX / sizeof(u64) + \
				 (OWNER_GROUP_MAX - 2) * OWNER_QUERY_NAME_WORDS)

/**
 * struct owner_query_chain - a call chain, kept because many objects share it
 * @handle: of the chain, with a reference; 0 if the entry is empty
 * @count: number of frames
 * @first: index of the first frame that is not a function of the allocator
 * @entry: number of frames up to the entry of the system call, 0 if there is none; until somebody
 *	asks, the number of all frames
 * @compared: a bit for each comparison with functions or modules that was evaluated
 * @matched: a bit for each of them that holds
 */
struct owner_query_chain {
	depot_stack_handle_t handle;
	unsigned int count;
	unsigned int first;
	unsigned int entry;
	u32 compared;
	u32 matched;
};

#define OWNER_QUERY_CHAIN_BITS	12

/**
 * struct owner_query_group - objects that agree in all fields of group=
 * @node: in the bucket of @hash, while objects are added
 * @lead: after that, if the sentence has each=: the first group in the order of the answer that has
 *	the same value of this field
 * @shown: after that, if the sentence has each=: the group is shown
 * @sum: of the objects
 * @stack: chain of one of the objects, with a reference, so that a handle in the key
 *	stays that chain's
 * @task: task or context of one of the objects, with a reference, so that the words of a user
 *	chain in the key stay valid
 * @hash: of the key
 * @words: length of the key
 * @key: the values of the fields, one after the other. A number is one word. A name is
 *	padded with zeros to whole words, with at least one zero. A call chain is its
 *	handle, or the number of its frames and the frames, or hashes of their functions' names.
 *	If the sentence sorts by slabs, two words follow: how many slabs have an object of the
 *	group, and the page frame of the last of them
 */
struct owner_query_group {
	union {
		struct hlist_node node;
		struct {
			struct owner_query_group *lead;
			bool shown;
		};
	};
	struct owner_sum sum;
	depot_stack_handle_t stack;
	depot_stack_handle_t task;
	u32 hash;
	u32 words;
	u64 key[];
};

/* The two words behind the key, if the sentence sorts by slabs. */
static inline const u64 *owner_query_group_slabs(const struct owner_query_group *group)
{
	return &group->key[group->words];
}

/**
 * struct owner_query - a sentence and the state of its answer
 * @sentence: the sentence
 * @ops: the sources to read, in this order
 * @nr_ops: how many
 * @current_ops: index of the source that the cursor reads
 * @addresses: if @nr_addresses is not 0, only objects with one of these are looked for
 * @nr_addresses: how many
 * @next_address: index of the one to look for next in the current source
 * @no_object: why there is no object at the only address, NULL if it is not known
 * @counted: what owner_chain_source finds, if the sentence can be answered from counters
 * @mark: what groups held when "mark" was written, NULL if it was not
 * @cursor: holds the object that was found last until the next is asked for
 * @object: the object that was found last
 * @task: its task, to which @fields points
 * @cgroup: path of its cgroup, to which @fields points; empty if unknown or not asked for
 * @task_cgroup: path of the cgroup of its task: owner_query_task_cgroup()
 * @task_cgroup_number: the cgroup whose path @task_cgroup has
 * @chain: its call chain, NULL until somebody asks
 * @fields: its field values
 * @compared: a bit for each comparison with names that was evaluated
 * @unmatched: a bit for each comparison with names that has held for no object yet
 * @now: the time from which ages are measured
 * @now_ns: @now as the clock of pages
 * @generation: owner_query_generation() when the answer was begun
 * @chains: 1 << OWNER_QUERY_CHAIN_BITS call chains, by hash of the handle
 * @groups: the groups, in the order of the answer once all objects are added
 * @nr_groups: how many
 * @nr_shown: how many of them are shown, from the first on
 * @room: how many fit into @groups and @buckets
 * @buckets: hash table of the groups
 * @bucket_bits: its size
 * @memory: bytes that the groups and their table take
 * @memory_max: bound on @memory for a test; 0: the default
 * @memory_bound: bound on @memory of this answer, smaller once memory was short
 * @short_of: why there was no memory for more groups, NULL if there was
 * @short_at: for how many groups there was memory
 * @objcg: the cgroup to which @memory is charged, with a reference, NULL if there is none
 * @key: buffer for the key of @object
 * @key_words: its length
 * @key_hash: its hash
 * @other: sum of the groups that were folded, because @memory_max was reached
 * @total: sum of everything
 * @has_leads: the groups have @lead and @shown
 * @slabs: as in &struct owner_query_group, of all objects
 * @last_slab: page frame of the slab that was counted last
 *
 * A query is used by one reader at a time.
 */
struct owner_query {
	struct owner_sentence sentence;

	const struct owner_source_ops *ops[OWNER_KINDS + 1];
	unsigned int nr_ops;
	unsigned int current_ops;
	u64 addresses[OWNER_VALUES_MAX];
	unsigned int nr_addresses;
	unsigned int next_address;
	const char *no_object;
	struct owner_chain_totals counted;
	struct owner_query *mark;
	struct owner_cursor cursor;

	struct owner_object object;
	struct owner_task task;
	char cgroup[OWNER_CGROUP_MAX];
	char task_cgroup[OWNER_CGROUP_MAX];
	u64 task_cgroup_number;
	struct owner_query_chain *chain;
	struct owner_field_values fields;
	u32 compared;
	u32 unmatched;

	u32 now;
	u64 now_ns;
	unsigned int generation;
	struct owner_query_chain *chains;

	struct owner_query_group **groups;
	unsigned int nr_groups;
	unsigned int nr_shown;
	unsigned int room;
	struct hlist_head *buckets;
	unsigned int bucket_bits;
	size_t memory;
	size_t memory_max;
	size_t memory_bound;
	const char *short_of;
	unsigned int short_at;
	struct obj_cgroup *objcg;
	u64 key[OWNER_QUERY_KEY_WORDS];
	unsigned int key_words;
	u32 key_hash;
	struct owner_sum other;
	struct owner_sum total;
	bool has_leads;
	u64 slabs;
	u64 last_slab;
};

/* modules.c: of how many unloaded modules the names are kept */
#define OWNER_QUERY_UNLOADED	64

void owner_query_watch_modules(void);
void owner_query_forget_unloaded(unsigned long start, unsigned long size);
void owner_query_remember_unloaded(const char *name, unsigned long start, unsigned long size);
bool owner_query_find_unloaded(unsigned long frame, char *name, size_t size);
unsigned int owner_query_generation(void);

/* chain.c */
struct owner_query_chain *owner_query_get_chain(struct owner_query_chain *chains,
						depot_stack_handle_t handle);
void owner_query_put_chains(struct owner_query_chain *chains);
bool owner_query_chain_matches(struct owner_query_chain *chain, const struct owner_sentence *s,
			       const struct owner_comparison *comparison);
unsigned long owner_query_chain_function(const struct owner_query_chain *chain);
void owner_query_chain_module(const struct owner_query_chain *chain, char *name, size_t size);
void owner_query_chain_syscall(struct owner_query_chain *chain, char *name);
bool owner_query_print_function(unsigned long frame, char *text);
unsigned int owner_query_select_frames(const struct owner_query_chain *chain,
				       const struct owner_group_field *by, unsigned int *first);

/* user.c */
bool owner_query_user_matches(depot_stack_handle_t task, const struct owner_sentence *s,
			      const struct owner_comparison *comparison);

/* parse.c */
int owner_query_parse(struct owner_query *query, const char *text, size_t length,
		      char **error_text);
unsigned int owner_query_fields(const struct owner_sentence *s);
bool owner_query_keeps_name(enum owner_field field);
unsigned int owner_query_count_key_words(const struct owner_sentence *s,
					 const struct owner_group_field *by, const u64 *key);
bool owner_query_sorts_by_objects(const struct owner_sentence *s);

/* Fields that are the same for all slab objects of a call chain. */
#define OWNER_CHAIN_FIELDS	(BIT(OWNER_FIELD_FUNC) | BIT(OWNER_FIELD_MODULE) | \
				 BIT(OWNER_FIELD_SYSCALL) | BIT(OWNER_FIELD_KIND) | \
				 BIT(OWNER_FIELD_HANDLE))

/* values.c */
void owner_query_fill_values(struct owner_query *query);
struct owner_query_chain *owner_query_object_chain(struct owner_query *query);
depot_stack_handle_t owner_query_object_task(const struct owner_query *query);
const char *owner_query_task_cgroup(struct owner_query *query);
struct owner_sum owner_query_object_sum(const struct owner_query *query);

/* address.c */
void owner_query_collect_addresses(struct owner_query *query);
bool owner_query_has_address(const struct owner_query *query);
bool owner_query_address_matches(const struct owner_query *query,
				 const struct owner_comparison *comparison);

/* memo.c */
void owner_query_begin_memo(struct owner_query *query);
void owner_query_add_to_memo(struct owner_query *query, struct owner_query_group *group);
void owner_query_end_memo(struct owner_query *query);

/* mark.c */
extern const struct owner_source_ops owner_query_mark_source;
void owner_query_fill_marked_values(struct owner_query *query);

/* find.c */
int owner_query_prepare(struct owner_query *query);
void owner_query_rewind(struct owner_query *query);
void owner_query_set_now(struct owner_query *query);
int owner_query_use_counters(struct owner_query *query);
int owner_query_find_next_match(struct owner_query *query);

/* groups.c */
struct owner_query_group *owner_query_find_group(struct owner_query *query);
struct owner_query_group *owner_query_make_group(struct owner_query *query, gfp_t flags);
bool owner_query_has_room(const struct owner_query *query);
int owner_query_make_room(struct owner_query *query);
int owner_query_make_do(struct owner_query *query);
void owner_query_trim_table(struct owner_query *query);
void owner_query_sort_groups(struct owner_query *query);
void owner_query_drop_unchanged(struct owner_query *query);
void owner_query_free_groups(struct owner_query *query);

/* answer.c */
int owner_query_sum_groups(struct owner_query *query);
void owner_query_reset(struct owner_query *query);
int owner_query_set_mark(struct owner_query *query);
void owner_query_free_mark(struct owner_query *query);

/* show.c */
void owner_query_show_head(struct seq_file *m, const struct owner_query *query);
void owner_query_show_group(struct seq_file *m, struct owner_query *query,
			    const struct owner_query_group *group);
void owner_query_show_object(struct seq_file *m, struct owner_query *query);
void owner_query_show_tail(struct seq_file *m, const struct owner_query *query);

/* Is the answer a difference of two sums, or one of the two? */
static inline bool owner_query_is_growth(const struct owner_sentence *s)
{
	return s->since_mark || s->command == OWNER_MARK;
}

/* Does a group's key have the handle of a call chain, and not its frames? */
static inline bool owner_query_keyed_by_handle(const struct owner_sentence *s)
{
	return s->mode != OWNER_MODE_STACK;
}

#endif /* _MM_OWNER_QUERY_H */
