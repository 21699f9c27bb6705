/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of the files that user chains name, for user_kunit.c. */
#ifndef _MM_OWNER_TESTS_USER_FILES_KUNIT_H
#define _MM_OWNER_TESTS_USER_FILES_KUNIT_H

#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/shmem_fs.h>
#include <linux/stackdepot.h>
#include <linux/workqueue.h>

#include "../user/compat.h"
#include "../user/user.h"

static unsigned int file_reads;

static ssize_t fail_read(struct kiocb *iocb, struct iov_iter *to)
{
	file_reads++;
	return -EINTR;
}

static const struct file_operations failing_fops = { .read_iter = fail_read };

/* A device or a socket is not read when it is mapped: that would have effects. */
static void test_device(struct kunit *test)
{
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	int index;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	file_reads = 0;
	index = owner_binary_intern(file);
	KUNIT_EXPECT_EQ(test, file_reads, 0);
	KUNIT_ASSERT_GE(test, index, 0);
	KUNIT_EXPECT_EQ(test, owner_binaries[index]->build_id_size, 0);
	KUNIT_EXPECT_EQ(test, owner_binaries[index]->ino, file_inode(file)->i_ino);
	fput(file);
}

/* A file without a build-id is known by its inode, unless its number was reused. */
static void test_inode(struct kunit *test)
{
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	u32 generation;
	int index;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	index = owner_binary_intern(file);
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), index);
	generation = file_inode(file)->i_generation;
	file_inode(file)->i_generation = generation + 1;
	KUNIT_EXPECT_NE(test, owner_binary_intern(file), index);
	file_inode(file)->i_generation = generation;
	fput(file);
}

/* A regular file that cannot be read now is not taken for one without a build-id. */
static void test_unreadable_file(struct kunit *test)
{
	struct file *file = shmem_kernel_file_setup("owner_kunit", PAGE_SIZE, EMPTY_VMA_FLAGS);
	const struct file_operations *fops;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	fops = file->f_op;
	file->f_op = &failing_fops;
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), -EIO);
	file->f_op = fops;
	/* It has zeros, but it can be read. */
	set_nlink(file_inode(file), 1);
	KUNIT_EXPECT_GE(test, owner_binary_intern(file), 0);
	clear_nlink(file_inode(file));
	fput(file);
}

/* A memfd takes no place in the table of files: a program can make any number of them. */
static void test_generated_code(struct kunit *test)
{
	unsigned int count;
	struct file *file;

	if (!IS_ENABLED(CONFIG_SHMEM))
		kunit_skip(test, "without CONFIG_SHMEM, these files are like others");
	file = shmem_kernel_file_setup("owner_kunit", PAGE_SIZE, EMPTY_VMA_FLAGS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	count = owner_nr_binaries;
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), -ENOENT);
	KUNIT_EXPECT_EQ(test, owner_nr_binaries, count);
	/* A file that is known keeps its name when it is unlinked. */
	set_nlink(file_inode(file), 1);
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), count);
	clear_nlink(file_inode(file));
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), count);
	fput(file);
}

/* Save a user chain that names a file. */
static depot_stack_handle_t save_chain_of(struct kunit *test, unsigned int index)
{
	unsigned long word = owner_user_frame(index + 1, 0x1234);
	depot_stack_handle_t chain =
		stack_depot_save_flags(&word, 1, GFP_KERNEL,
				       STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
				       STACK_DEPOT_FLAG_DATA);

	KUNIT_ASSERT_NE(test, chain, 0);
	return chain;
}

struct drop {
	struct work_struct work;
	struct completion done;
};

static void drop_in_work(struct work_struct *work)
{
	owner_binaries_drop();
	complete(&container_of(work, struct drop, work)->done);
}

/* A file is dropped if no chain names it, and if no task is about to save one that does. */
static void test_drop(struct kunit *test)
{
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	depot_stack_handle_t chain;
	u32 generation, index, other;
	unsigned long epoch;
	struct drop drop;
	int lock;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	generation = file_inode(file)->i_generation;
	file_inode(file)->i_generation = generation + 1000;
	index = owner_binary_intern(file);
	chain = save_chain_of(test, index);
	file_inode(file)->i_generation = generation + 1001;
	other = owner_binary_intern(file);

	INIT_WORK_ONSTACK(&drop.work, drop_in_work);
	init_completion(&drop.done);
	epoch = owner_binaries_epoch();
	lock = owner_binaries_lock();
	schedule_work(&drop.work);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&drop.done, HZ / 5), 0);
	KUNIT_EXPECT_NE(test, owner_binaries_epoch(), epoch);
	KUNIT_EXPECT_NOT_NULL(test, owner_binary_at(other));
	owner_binaries_unlock(lock);
	flush_work(&drop.work);
	destroy_work_on_stack(&drop.work);
	KUNIT_EXPECT_NOT_NULL(test, owner_binary_at(index));
	KUNIT_EXPECT_NULL(test, owner_binary_at(other));
	/* Another file takes the place. */
	file_inode(file)->i_generation = generation + 1002;
	KUNIT_EXPECT_LE(test, owner_binary_intern(file), (int)other);

	/* A file that was looked up since the drop began is kept. */
	lock = owner_binaries_lock();
	INIT_WORK_ONSTACK(&drop.work, drop_in_work);
	reinit_completion(&drop.done);
	epoch = owner_binaries_epoch();
	schedule_work(&drop.work);
	while (owner_binaries_epoch() == epoch)
		fsleep(1000);
	other = owner_binary_intern(file);
	owner_binaries_unlock(lock);
	flush_work(&drop.work);
	destroy_work_on_stack(&drop.work);
	KUNIT_EXPECT_NOT_NULL(test, owner_binary_at(other));

	stack_depot_put(chain);
	KUNIT_EXPECT_GE(test, owner_binaries_drop(), 2);
	KUNIT_EXPECT_NULL(test, owner_binary_at(index));
	KUNIT_EXPECT_NULL(test, owner_binary_at(other));
	file_inode(file)->i_generation = generation;
	fput(file);
}

/* The places of files that were dropped are used again, and lead to the files that have them. */
static void test_places_after_a_drop(struct kunit *test)
{
	struct file *file = anon_inode_getfile("owner_kunit", &failing_fops, NULL, O_RDONLY);
	struct inode *inode = file_inode(file);
	struct timespec64 ctime = inode_get_ctime(inode);
	u32 generation = inode->i_generation, i;
	unsigned int count;
	int index;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	/* Let the files be known. */
	inode_set_ctime(inode, current_time(inode).tv_sec - 1000, 0);
	for (i = 0; i < 8; i++) {
		inode->i_generation = generation + 2000 + i;
		KUNIT_EXPECT_GE(test, owner_binary_intern(file), 0);
	}
	count = owner_count_binaries();
	KUNIT_EXPECT_GE(test, owner_binaries_drop(), 8);
	/* The files come in another order: a place leads to the file that has it now. */
	while (i--) {
		inode->i_generation = generation + 2000 + i;
		index = owner_binary_intern(file);
		KUNIT_ASSERT_GE(test, index, 0);
		KUNIT_ASSERT_NOT_NULL(test, owner_binary_at(index));
		KUNIT_EXPECT_EQ(test, owner_binary_at(index)->generation, inode->i_generation);
		KUNIT_EXPECT_EQ(test, owner_binary_intern(file), index);
	}
	KUNIT_EXPECT_EQ(test, owner_count_binaries(), count);
	inode_set_ctime_to_ts(inode, ctime);
	inode->i_generation = generation;
	fput(file);
}

/* A drop that makes little room doubles the time until the next one. */
static void test_drop_delay(struct kunit *test)
{
	const unsigned int enough = OWNER_BINARIES_MAX / 16;

	KUNIT_EXPECT_EQ(test, owner_binaries_next_delay(1, 0), 2);
	KUNIT_EXPECT_EQ(test, owner_binaries_next_delay(2, enough - 1), 4);
	KUNIT_EXPECT_EQ(test, owner_binaries_next_delay(1024, 0), 1024);
	KUNIT_EXPECT_EQ(test, owner_binaries_next_delay(1024, enough), 1);
}

static const struct file_operations *counted_fops;

static ssize_t count_read(struct kiocb *iocb, struct iov_iter *to)
{
	file_reads++;
	return counted_fops->read_iter(iocb, to);
}

/* Look up the file again. Return how often it was read for that. */
static unsigned int count_reads(struct kunit *test, struct file *file, int index)
{
	file_reads = 0;
	KUNIT_EXPECT_EQ(test, owner_binary_intern(file), index);
	return file_reads;
}

/* A file is read once, until it may have changed. */
static void test_known_file(struct kunit *test)
{
	static const struct file_operations counting_fops = { .read_iter = count_read };
	struct file *file = shmem_kernel_file_setup("owner_kunit", PAGE_SIZE, EMPTY_VMA_FLAGS);
	struct timespec64 now;
	struct inode *inode;
	time64_t past;
	int index, i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, owner_user_start(), 0);
	counted_fops = file->f_op;
	file->f_op = &counting_fops;
	inode = file_inode(file);
	set_nlink(inode, 1);
	/* No fixed time is in the past: a machine without a clock boots in 1970. */
	past = current_time(inode).tv_sec - 1000;
	inode_set_ctime(inode, past, 0);
	index = owner_binary_intern(file);
	KUNIT_ASSERT_GE(test, index, 0);
	KUNIT_EXPECT_EQ(test, count_reads(test, file, index), 0);
	inode_set_ctime(inode, past, 1);
	KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
	KUNIT_EXPECT_EQ(test, count_reads(test, file, index), 0);
	i_size_write(inode, 2 * PAGE_SIZE);
	KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
	KUNIT_EXPECT_EQ(test, count_reads(test, file, index), 0);
	/* Another file with the same inode number. */
	inode->i_generation++;
	file_reads = 0;
	KUNIT_EXPECT_NE(test, owner_binary_intern(file), index);
	KUNIT_EXPECT_GT(test, file_reads, 0);
	inode->i_generation--;

	/* A file is not known if a write could leave its ctime as it is. */
	inode_set_ctime(inode, past, 2);
	KUNIT_EXPECT_EQ(test, get_write_access(inode), 0);
	KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
	KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
	put_write_access(inode);
	now = current_time(inode);
	for (i = 0; i < 2; i++) {
		/* It has just changed; or the clock was set back. */
		inode_set_ctime(inode, now.tv_sec + 1000 * i, 0);
		KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
		KUNIT_EXPECT_GT(test, count_reads(test, file, index), 0);
	}

	/* More files than the table has places. */
	for (now.tv_nsec = 0; now.tv_nsec < 2000; now.tv_nsec++) {
		inode_set_ctime(inode, past + 1, now.tv_nsec);
		KUNIT_ASSERT_EQ(test, owner_binary_intern(file), index);
	}
	KUNIT_EXPECT_EQ(test, count_reads(test, file, index), 0);
	file->f_op = counted_fops;
	clear_nlink(inode);
	fput(file);
}

#endif /* _MM_OWNER_TESTS_USER_FILES_KUNIT_H */
