/* SPDX-License-Identifier: GPL-2.0 */
/* The answer to a sentence about what is held. */
#ifndef _MM_OWNER_QUERY_H
#define _MM_OWNER_QUERY_H

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/types.h>

#include "../cgroup.h"
#include "../walk_memo.h"
#include "../lang/lang.h"
#include "../page.h"

struct file;
struct inode;
struct seq_file;

/* Letters of a name, beyond which groups do not tell names apart. */
#define QUERY_NAME_MAX		63
#define QUERY_NAME_WORDS	((QUERY_NAME_MAX + 1) / sizeof(u64))

/* What a number reads that an object does not have. */
#define QUERY_ABSENT		U64_MAX

/* The longest key: a call chain, a cgroup, and names for all else. */
#define QUERY_KEY_WORDS		(1 + OWNER_FRAMES_MAX + OWNER_CGROUP_MAX / sizeof(u64) + \
				 (OWNER_GROUP_MAX - 2) * QUERY_NAME_WORDS)

/*
 * A call chain, as far as it has been asked about. Many objects share one, so
 * this is looked up once and kept for them.
 */
struct query_chain {
	depot_stack_handle_t handle;	/* with a reference; 0: none */
	unsigned int count;
	unsigned int first;		/* frame that is not the allocator's own */
	unsigned long *frames;
	/* A bit for each comparison of functions or modules, once it was made. */
	u32 asked;
	u32 matched;
};

#define QUERY_CHAIN_BITS	12

/* query_chain.c */
struct query_chain *owner_query_chain(struct query_chain *chains, depot_stack_handle_t handle);
void owner_query_put_chains(struct query_chain *chains);
bool owner_query_chain_matches(struct query_chain *chain, const struct owner_sentence *s,
			       const struct owner_comparison *comparison);
unsigned long owner_query_function(const struct query_chain *chain);
void owner_query_module(const struct query_chain *chain, char *name, size_t size);

/*
 * The key is what the objects have in common, field by field: a number is one
 * word, a name is padded with zeros to whole words, a call chain is the number
 * of its frames and the frames, or one word if it is shown by its handle.
 */
struct query_group {
	struct hlist_node node;
	struct owner_sum sum;
	/* Of one of its objects, with a reference: a handle in the key stays that chain's. */
	depot_stack_handle_t stack;
	u32 hash;
	u32 words;
	u64 key[];
};

struct owner_query {
	struct owner_sentence sentence;
	unsigned int sources;		/* enum owner_source's bits, if the sentence has none */

	/* The object that was found last; it is held until the next is asked for. */
	struct owner_cursor walk;
	struct owner_object object;	/* or pages, as far as they have the same */
	struct owner_pages pages;
	struct owner_task task;
	char cgroup[OWNER_CGROUP_MAX];	/* if it is asked about */
	struct query_chain *chain;	/* NULL until it is asked about */
	struct owner_field_values fields;
	enum owner_source kind;		/* the walk's: slab objects, pages, per-CPU areas */

	/* In place of slab objects, call chains are found, with what they hold. */
	bool counted;
	struct owner_estimate holds;

	/* The sentence's groups, in the order of the answer once all are added up. */
	struct query_group **groups;
	unsigned int nr_groups;
	struct owner_sum other;		/* groups that were beyond groups= */
	struct owner_sum total;
	unsigned int generation;	/* when it began to be answered */
	u32 now;			/* from which ages are counted */

	struct query_chain *chains;
	struct hlist_head *buckets;
	unsigned int bucket_bits;
	u64 key[QUERY_KEY_WORDS];
};

/* What an open file asks and is answered. */
struct query_reader {
	struct mutex lock;		/* guards all this against others with the same file */
	struct owner_query query;
	char *said;			/* what is wrong with the sentence, instead of an answer */
	bool asked;
	bool answering;
	loff_t pos;			/* in the answer */
	bool pending;			/* an object was found, and may not have been shown */
};

/* debugfs_query.c */
int owner_query_open(struct file *file, size_t size, unsigned int sources);
int owner_query_release(struct inode *inode, struct file *file);
void owner_query_forget(struct query_reader *reader);
int owner_query_understand(struct query_reader *reader, const char __user *buf, size_t count);
ssize_t owner_query_answer(struct file *file, char __user *buf, size_t count);

/* query.c */
int owner_query_parse(struct owner_query *query, const char *text, size_t length, char **said);
int owner_query_prepare(struct owner_query *query);
bool owner_query_counts_suffice(const struct owner_query *query);
int owner_query_next(struct owner_query *query);
void owner_query_step_back(struct owner_query *query);
struct query_chain *owner_query_chain_of(struct owner_query *query);
void owner_query_free(struct owner_query *query);
unsigned int owner_query_generation(void);
void owner_query_init(void);

/* query_groups.c */
int owner_query_add_up(struct owner_query *query);
struct owner_sum owner_query_object_sum(const struct owner_query *query);
void owner_query_add(struct owner_sum *sum, const struct owner_sum *more);
void owner_query_free_groups(struct owner_query *query);

/* query_known.c */
void owner_query_begin_memo(struct owner_query *query);
void owner_query_remember(struct owner_query *query, struct query_group *group);
void owner_query_end_memo(struct owner_query *query);

/* query_show.c */
unsigned int owner_query_shown(const struct owner_query *query);
void owner_query_show_head(struct seq_file *m, const struct owner_query *query);
void owner_query_show_group(struct seq_file *m, struct owner_query *query,
			    const struct query_group *group);
void owner_query_show_object(struct seq_file *m, struct owner_query *query);
void owner_query_show_tail(struct seq_file *m, const struct owner_query *query);

/* Is the call chain in a group's key its handle? */
static inline bool owner_query_by_handle(const struct owner_sentence *s)
{
	return s->mode != OWNER_MODE_STACK;
}

#endif /* _MM_OWNER_QUERY_H */
