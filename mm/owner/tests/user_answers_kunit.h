/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of answers that name files while these come and go, for user_kunit.c. */
#ifndef _MM_OWNER_TESTS_USER_ANSWERS_KUNIT_H
#define _MM_OWNER_TESTS_USER_ANSWERS_KUNIT_H

#include <linux/seq_file.h>
#include <linux/uio.h>

#include "../query/query.h"
#include "plant.h"
#include "user_files_kunit.h"

/* Replace the task of an object by a context whose chain names a file. */
static void set_context(struct kunit *test, void *object, unsigned int binary)
{
	struct owner_record *record = find_object_record(object);
	depot_stack_handle_t context, chain = save_chain_of(test, binary);
	unsigned long words[OWNER_CONTEXT_WORDS];
	unsigned int i;

	for (i = 0; i < OWNER_TASK_WORDS; i++)
		words[i] = owner_task_read_word(i);
	words[OWNER_TASK_WORDS] = chain;
	context = stack_depot_save_linked(words, ARRAY_SIZE(words), GFP_KERNEL,
					  STACK_DEPOT_FLAG_CAN_ALLOC);
	stack_depot_put(chain);
	KUNIT_ASSERT_NE(test, context, 0);
	KUNIT_ASSERT_NOT_NULL(test, record);
	stack_depot_put(record->task);
	record->task = context;
}

/* An answer keeps the files that it names after the last object of their chains is freed. */
static void test_answer_keeps_files(struct kunit *test)
{
	static const char sentence[] = "group=user if cache == owner_kunit";
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	struct owner_query *query = kunit_kzalloc(test, sizeof(*query), GFP_KERNEL);
	char answer[256], *error_text = NULL;
	struct seq_file m = { .buf = answer, .size = sizeof(answer) - 1 };
	struct kmem_cache *cache = create_test_cache(test, 0);
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);
	u32 generation;
	int index;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_TRUE(test, query && object);
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	generation = file_inode(file)->i_generation;
	file_inode(file)->i_generation = generation + 4000;
	index = owner_binary_intern(file);
	file_inode(file)->i_generation = generation;
	KUNIT_ASSERT_GE(test, index, 0);
	set_context(test, object, index);
	KUNIT_ASSERT_EQ(test, owner_query_parse(query, sentence, strlen(sentence), &error_text), 0);
	KUNIT_ASSERT_EQ(test, owner_query_sum_groups(query), 0);
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);

	kmem_cache_free(cache, object);
	stack_depot_cpu_caches_flush();
	owner_binaries_drop();
	KUNIT_EXPECT_NOT_NULL(test, owner_binary_at(index));
	owner_query_show_group(&m, query, query->groups[0]);
	answer[m.count] = '\0';
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(answer, "owner_kunit+0x1234@"), "%s", answer);

	owner_query_reset(query);
	stack_depot_cpu_caches_flush();
	owner_binaries_drop();
	KUNIT_EXPECT_NULL(test, owner_binary_at(index));
	kmem_cache_destroy(cache);
	fput(file);
}

/* Read the next bytes of a file of sequences. Return how many. */
static ssize_t read_piece(struct file *file, char *to, size_t size)
{
	struct kvec kvec = { to, size };
	struct iov_iter iter;
	struct kiocb kiocb;
	ssize_t length;

	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = file->f_pos;
	iov_iter_kvec(&iter, ITER_DEST, &kvec, 1, size);
	length = seq_read_iter(&kiocb, &iter);
	file->f_pos = kiocb.ki_pos;
	return length;
}

#define LISTED		300
#define LISTED_INO	1000000000ULL
#define LIST_SIZE	SZ_64K

/* Check that a list has the files of that many numbers, in their order and each of them once. */
static void expect_listed(struct kunit *test, const char *list, unsigned int files)
{
	unsigned int major, minor, next = 0;
	unsigned long long ino;

	for (; *list; list = strchr(list, '\n') + 1) {
		/* The lines of other files begin with a build-id, or have a smaller number. */
		if (sscanf(list, "%u:%u:%llu ", &major, &minor, &ino) == 3 && ino >= LISTED_INO)
			KUNIT_ASSERT_EQ(test, ino, LISTED_INO + next++);
		KUNIT_ASSERT_NOT_NULL(test, strchr(list, '\n'));
	}
	KUNIT_EXPECT_EQ(test, next, files);
}

/* owner/binaries is read in pieces while files come, with a buffer of one page. */
static void test_list_of_files(struct kunit *test)
{
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	struct file *list = anon_inode_getfile("owner_kunit", &owner_binaries_fops, NULL, O_RDONLY);
	char *text = kunit_kzalloc(test, LIST_SIZE, GFP_KERNEL);
	struct inode *inode = file_inode(file);
	unsigned int files = 0, length = 0;
	u64 number = inode->i_ino;
	ssize_t piece;
	int index = 0;

	KUNIT_ASSERT_TRUE(test, !IS_ERR(file) && !IS_ERR(list) && text);
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	KUNIT_ASSERT_EQ(test, list->f_op->open(file_inode(list), list), 0);
	owner_binaries_drop();
	for (inode->i_ino = LISTED_INO; files < LISTED; files++, inode->i_ino++)
		index = owner_binary_intern(file);
	/* No place is free: other files come behind these. */
	KUNIT_EXPECT_EQ(test, owner_count_binaries(), index + 1);
	do {
		piece = read_piece(list, text + length, 100);
		length += max(piece, 0);
		if (files == 2 * LISTED)
			continue;
		KUNIT_EXPECT_EQ(test, owner_binary_intern(file), ++index);
		files++;
		inode->i_ino++;
	} while (piece > 0 && length + 100 < LIST_SIZE);
	inode->i_ino = number;
	KUNIT_EXPECT_EQ(test, piece, 0);
	KUNIT_EXPECT_LE(test, ((struct seq_file *)list->private_data)->size, PAGE_SIZE);
	expect_listed(test, text, files);
	fput(list);
	fput(file);
}

#endif /* _MM_OWNER_TESTS_USER_ANSWERS_KUNIT_H */
