// SPDX-License-Identifier: GPL-2.0
/*
 * The files that user chains name.
 *
 * A file is known by its build-id, or by its device and inode if it has none or is not regular.
 * It stays in the table as long as a chain of the depot names it, so that a chain means something
 * when its process has gone. When the table fills up, files that no chain names are dropped.
 *
 * Reading a build-id takes longer than all else that a user chain needs. A second table knows
 * the index of files that were read before, by their inode and its ctime, which each write
 * changes.
 */

#include <linux/bitmap.h>
#include <linux/build_bug.h>
#include <linux/buildid.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/hugetlb.h>
#include <linux/jhash.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/stackdepot.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "compat.h"
#include "user.h"

static_assert(OWNER_BUILD_ID_MAX == BUILD_ID_SIZE_MAX);

/*
 * Read without a lock below owner_nr_binaries; NULL where a file was dropped. Readers of a memory
 * dump use both.
 */
struct owner_binary **owner_binaries;
unsigned int owner_nr_binaries;

/* Files in the table. Protected by binaries_mutex. */
static unsigned int nr_used;

/* Serializes changes of both tables. */
static DEFINE_MUTEX(binaries_mutex);

/*
 * The content of a file, and the inode that the user sees, which differs in overlayfs. Compared
 * as bytes: no padding.
 */
struct file_key {
	u64 ino;
	u64 user_ino;
	loff_t size;
	s64 ctime_seconds;
	u32 ctime_nanoseconds;
	u32 generation;
	dev_t dev;
	dev_t user_dev;
};

static_assert(sizeof(struct file_key) == 4 * sizeof(u64) + 4 * sizeof(u32));

struct known_file {
	struct file_key key;
	unsigned int index;
	struct rcu_head rcu;
};

#define KNOWN_SETS_BITS		7
#define KNOWN_PLACES		4

/* Sets of KNOWN_PLACES. Read under RCU, written with binaries_mutex held. */
static struct known_file __rcu *known_files[KNOWN_PLACES << KNOWN_SETS_BITS];

/**
 * owner_binaries_init() - allocate the table
 *
 * Idempotent. May sleep. Serialized by the caller.
 *
 * Return: 0 or -ENOMEM.
 */
int owner_binaries_init(void)
{
	if (!owner_binaries)
		owner_binaries = kvcalloc(OWNER_BINARIES_MAX, sizeof(*owner_binaries),
					  GFP_KERNEL | __GFP_NOWARN);
	return owner_binaries ? 0 : -ENOMEM;
}

/*
 * May the build-id of a file be read? Reading a device or a socket has effects, and the kernel
 * can read only by ->read_iter.
 */
static bool may_read_build_id(const struct file *file)
{
	return S_ISREG(file_inode(file)->i_mode) && file->f_op->read_iter && !file->f_op->read;
}

/* --- Files that no chain names ---------------------------------------------------- */

/*
 * A task that interns a chain finds the places of its code first, by a file or by its mm's maps,
 * and saves the chain afterwards if the epoch is still the one in which it found them. A drop
 * begins an epoch, in which no file and no maps of the epochs before are found without a lock.
 * When the tasks that save chains of the epochs before have done so, a file is in use if a chain
 * names it, or if it was looked up in this epoch.
 */
DEFINE_STATIC_SRCU(binaries_srcu);

/* Written with binaries_mutex held. */
static unsigned long binaries_epoch;

/* Files in the table above which those are dropped that no chain names. */
#define DROP_ABOVE	(OWNER_BINARIES_MAX / 4 * 3)

/* Seconds between a file for which there is little room, and a drop: from 1 to 1,024. */
static unsigned int drop_delay = 1;

static void drop_unused_binaries(struct work_struct *work)
{
	WRITE_ONCE(drop_delay, owner_binaries_next_delay(drop_delay, owner_binaries_drop()));
}

static DECLARE_DELAYED_WORK(drop_work, drop_unused_binaries);

/**
 * owner_binaries_epoch() - number of the times that files were dropped
 *
 * A place that was found in one epoch may be another file's in the next.
 */
unsigned long owner_binaries_epoch(void)
{
	/* Pairs with owner_binaries_drop(). */
	return smp_load_acquire(&binaries_epoch);
}

/**
 * owner_binaries_lock() - let drops wait for a chain that is saved
 *
 * If owner_binaries_epoch() is the epoch in which the places of the chain were found, their files
 * are not dropped before owner_binaries_unlock().
 *
 * Context: Any but NMI.
 *
 * Return: for owner_binaries_unlock().
 */
int owner_binaries_lock(void)
	__acquires(&binaries_srcu)
{
	return srcu_read_lock(&binaries_srcu);
}

/**
 * owner_binaries_unlock() - let places be dropped that no chain names
 * @lock: from owner_binaries_lock()
 */
void owner_binaries_unlock(int lock)
	__releases(&binaries_srcu)
{
	srcu_read_unlock(&binaries_srcu, lock);
}

/* --- Files that were read before ------------------------------------------------ */

static void read_file_key(const struct file *file, struct file_key *key)
{
	const struct inode *inode = file_inode(file), *user_inode = file_user_inode(file);
	struct timespec64 ctime = inode_get_ctime(inode);

	key->ino = inode->i_ino;
	key->user_ino = user_inode->i_ino;
	key->size = i_size_read(inode);
	key->ctime_seconds = ctime.tv_sec;
	key->ctime_nanoseconds = ctime.tv_nsec;
	key->generation = inode->i_generation;
	key->dev = inode->i_sb->s_dev;
	key->user_dev = user_inode->i_sb->s_dev;
}

/*
 * Will the ctime change when the file does? Not within the resolution of the file system's
 * time, which is two seconds in FAT, nor if the file is mapped for writing: only the first
 * write to a page changes it.
 */
static bool change_will_show(struct file *file)
{
	struct inode *inode = file_inode(file);

	return !inode_is_open_for_write(inode) &&
	       current_time(inode).tv_sec - inode_get_ctime_sec(inode) > 2;
}

/* Find the first place of the set of a file. */
static struct known_file __rcu **find_known_set(const struct file_key *key)
{
	u64 hash = hash_64(key->ino ^ (u64)key->dev << 32 ^ key->ctime_nanoseconds,
			   KNOWN_SETS_BITS);

	return known_files + hash * KNOWN_PLACES;
}

/* Find a file that was read before. Return: its index, -ENOENT. */
static int find_known_file(const struct file_key *key)
{
	struct known_file __rcu **set = find_known_set(key);
	const struct known_file *known;
	int index = -ENOENT;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < KNOWN_PLACES; i++) {
		known = rcu_dereference(set[i]);
		if (!known)
			break;
		if (!memcmp(&known->key, key, sizeof(*key))) {
			index = known->index;
			break;
		}
	}
	rcu_read_unlock();
	return index;
}

/* Remember a file. Without memory, it is read again the next time. */
static void remember_file(const struct file_key *key, unsigned int index)
{
	struct known_file __rcu **set = find_known_set(key);
	struct known_file *known, *old;
	unsigned int i;

	lockdep_assert_held(&binaries_mutex);
	known = kmalloc(sizeof(*known), GFP_KERNEL | __GFP_NOWARN);
	if (!known)
		return;
	known->key = *key;
	known->index = index;
	/* The file that was added last is first in its set, and displaces the oldest. */
	for (i = 0; i < KNOWN_PLACES && known; i++) {
		old = rcu_replace_pointer(set[i], known, lockdep_is_held(&binaries_mutex));
		known = old;
	}
	if (known)
		kfree_rcu(known, rcu);
}

/* --- All files ------------------------------------------------------------------ */

/*
 * Set the build-id, or the device and the inode, of a file. Return: 0, or an error if the
 * build-id cannot be read now.
 */
static int identify_file(struct file *file, struct owner_binary *binary)
{
	const struct inode *inode = file_user_inode(file);
	u32 size = 0;
	int error;

	binary->dev = inode->i_sb->s_dev;
	binary->ino = inode->i_ino;
	binary->generation = inode->i_generation;
	if (!may_read_build_id(file))
		return 0;
	error = build_id_parse_file(file, binary->build_id, &size);
	binary->build_id_size = error ? 0 : size;
	/* -EINVAL: it has none. */
	return error == -EINVAL ? 0 : error;
}

static bool files_are_equal(const struct owner_binary *a, const struct owner_binary *b)
{
	if (a->build_id_size != b->build_id_size)
		return false;
	if (a->build_id_size)
		return !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->dev == b->dev && a->ino == b->ino && a->generation == b->generation;
}

/* The files by their hash. */
static DEFINE_HASHTABLE(binaries_by_hash, 10);

static u32 hash_binary(const struct owner_binary *binary)
{
	if (binary->build_id_size)
		return jhash(binary->build_id, binary->build_id_size, 0);
	return jhash_3words(binary->dev, binary->ino, binary->generation, 0);
}

/* Find a file. Return: its index, -ENOENT. */
static int find_binary(const struct owner_binary *wanted)
{
	const struct owner_binary *binary;

	lockdep_assert_held(&binaries_mutex);
	hash_for_each_possible(binaries_by_hash, binary, node, hash_binary(wanted))
		if (files_are_equal(binary, wanted))
			return binary->index;
	return -ENOENT;
}

/*
 * Return true if a program wrote the code itself: the file is a memfd, or memory that it shares. A
 * program can make thousands of them, and no other program has them.
 */
static bool is_generated(const struct owner_binary *binary, struct file *file)
{
	return !binary->build_id_size && !file_inode(file)->i_nlink &&
	       (shmem_file(file) || is_file_hugepages(file));
}

static void name_binary(struct owner_binary *binary, struct file *file)
{
	const struct path *path = file_user_path(file);
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL | __GFP_NOWARN), *printed;
	struct name_snapshot name;

	take_dentry_name_snapshot(&name, path->dentry);
	strscpy(binary->name, name.name.name);
	release_dentry_name_snapshot(&name);
	if (!buf)
		return;
	printed = d_path(path, buf, PATH_MAX);
	if (!IS_ERR(printed))
		binary->path = kstrdup(printed, GFP_KERNEL | __GFP_NOWARN);
	kfree(buf);
}

/* Find a free place in the table. Return: its index, OWNER_BINARIES_MAX if there is none. */
static unsigned int find_free_place(void)
{
	unsigned int i;

	for (i = 0; i < owner_nr_binaries && owner_binaries[i]; i++)
		;
	return i;
}

/* Add a file that is not in the table. Return: its index, -ENOMEM, -ENOSPC. */
static int add_binary(const struct owner_binary *found, struct file *file)
{
	struct owner_binary *binary;
	unsigned int index;

	lockdep_assert_held(&binaries_mutex);
	if (nr_used >= DROP_ABOVE)
		queue_delayed_work(system_dfl_wq, &drop_work,
				   READ_ONCE(drop_delay) * HZ);
	if (nr_used == OWNER_BINARIES_MAX)
		return -ENOSPC;
	binary = kmemdup(found, sizeof(*found), GFP_KERNEL | __GFP_NOWARN);
	if (!binary)
		return -ENOMEM;
	name_binary(binary, file);
	index = nr_used == owner_nr_binaries ? owner_nr_binaries : find_free_place();
	binary->index = index;
	nr_used++;
	hash_add(binaries_by_hash, &binary->node, hash_binary(binary));
	/* Pairs with owner_binary_at(). */
	smp_store_release(&owner_binaries[index], binary);
	if (index == owner_nr_binaries) {
		/* Pairs with owner_count_binaries(). */
		smp_store_release(&owner_nr_binaries, index + 1);
	}
	return index;
}

/* Read a file, and find or add its binary. Return: its index, or an error. */
static noinline int read_binary(struct file *file, const struct file_key *key)
{
	bool lasting = change_will_show(file);
	struct owner_binary binary = {};
	struct file_key key_now;
	int index;

	if (identify_file(file, &binary))
		return -EIO;
	mutex_lock(&binaries_mutex);
	index = find_binary(&binary);
	if (index < 0 && !is_generated(&binary, file))
		index = add_binary(&binary, file);
	if (index >= 0)
		owner_binaries[index]->used = binaries_epoch;
	read_file_key(file, &key_now);
	if (index >= 0 && lasting && !memcmp(key, &key_now, sizeof(*key)))
		remember_file(key, index);
	mutex_unlock(&binaries_mutex);
	return index;
}

/**
 * owner_binary_intern() - find or add a file that is mapped
 * @file: the file of a mapping
 *
 * Context: may sleep, and may wait for the file system. The mmap lock is not held.
 *
 * Return: the index of the file, -ENOENT if a program made its code, -ENOSPC if the table is full,
 * -ENOMEM, -EIO if the file cannot be read now.
 */
int owner_binary_intern(struct file *file)
{
	struct file_key key;
	int index;

	read_file_key(file, &key);
	index = find_known_file(&key);
	return index >= 0 ? index : read_binary(file, &key);
}

/**
 * owner_binary_of() - find the file of a word of a user chain
 * @frame: the word
 *
 * Return: the file, NULL if the word names none.
 */
const struct owner_binary *owner_binary_of(u64 frame)
{
	unsigned int place = owner_user_place(frame);

	if (!place || place > owner_count_binaries())
		return NULL;
	return owner_binary_at(place - 1);
}

/* --- Dropping files ---------------------------------------------------------------- */

/* Forget all files that were read before. */
static void forget_files(void)
{
	struct known_file *known;
	unsigned int i;

	lockdep_assert_held(&binaries_mutex);
	for (i = 0; i < ARRAY_SIZE(known_files); i++) {
		known = rcu_replace_pointer(known_files[i], NULL, lockdep_is_held(&binaries_mutex));
		if (known)
			kfree_rcu(known, rcu);
	}
}

/* Set a bit for each place that a user chain of the depot names. Other words set more of them. */
static void find_named_places(unsigned long *named)
{
	unsigned long words[OWNER_USER_WORDS];
	depot_stack_handle_t handle;
	unsigned int i, count, place;
	bool more = true;
	u64 pos = 0;

	while (more) {
		rcu_read_lock_sched();
		more = stack_depot_peek(&pos, STACK_DEPOT_FLAG_DATA, &handle);
		count = handle ? stack_depot_copy(handle, words, OWNER_USER_WORDS) : 0;
		rcu_read_unlock_sched();
		for (i = 0; i < min(count, OWNER_USER_WORDS); i++) {
			place = owner_user_place(words[i]);
			if (place && place <= OWNER_BINARIES_MAX)
				__set_bit(place - 1, named);
		}
		cond_resched();
	}
}

/* Take a file out of the table if nothing uses it. Return: the file, or NULL. */
static struct owner_binary *take_unused_binary(unsigned int index, const unsigned long *named)
{
	struct owner_binary *binary = owner_binaries[index];

	lockdep_assert_held(&binaries_mutex);
	if (!binary || binary->used == binaries_epoch || test_bit(index, named))
		return NULL;
	hash_del(&binary->node);
	WRITE_ONCE(owner_binaries[index], NULL);
	nr_used--;
	return binary;
}

/* Drop the files that are not in use, and return how many. */
static unsigned int drop_binaries(const unsigned long *named)
{
	struct owner_binary *binary;
	unsigned int i, count = 0;
	struct hlist_node *next;
	HLIST_HEAD(dropped);

	mutex_lock(&binaries_mutex);
	for (i = 0; i < owner_nr_binaries; i++) {
		binary = take_unused_binary(i, named);
		if (!binary)
			continue;
		hlist_add_head(&binary->node, &dropped);
		count++;
	}
	mutex_unlock(&binaries_mutex);
	/* Readers of owner/binaries. */
	synchronize_rcu();
	hlist_for_each_entry_safe(binary, next, &dropped, node) {
		kfree(binary->path);
		kfree(binary);
	}
	return count;
}

/**
 * owner_binaries_drop() - drop the files that no chain of the depot names
 *
 * May sleep.
 *
 * Return: how many were dropped.
 */
unsigned int owner_binaries_drop(void)
{
	static DEFINE_MUTEX(drop_mutex);
	unsigned long *named = bitmap_zalloc(OWNER_BINARIES_MAX, GFP_KERNEL | __GFP_NOWARN);
	unsigned int dropped;

	if (!named)
		return 0;
	mutex_lock(&drop_mutex);
	mutex_lock(&binaries_mutex);
	forget_files();
	/* Pairs with owner_binaries_epoch(): the files are forgotten before. */
	smp_store_release(&binaries_epoch, binaries_epoch + 1);
	mutex_unlock(&binaries_mutex);
	/* Stacks that are known by maps of the epochs before would keep their chains. */
	owner_user_cache_clear();
	/* Tasks that have found places in an epoch before this one, and save a chain of them. */
	synchronize_srcu(&binaries_srcu);
	find_named_places(named);
	dropped = drop_binaries(named);
	mutex_unlock(&drop_mutex);
	bitmap_free(named);
	return dropped;
}
