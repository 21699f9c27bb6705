// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of a user stack -> user chain.
 *
 * The mappings of the addresses are found under the mmap lock. Code that was found before is
 * known without that lock: maps.c.
 */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/stackdepot.h>

#include "user.h"

/* The mappings to which the addresses of a stack point, copied under the mmap lock. */
struct located_mappings {
	/* The mm's maps, with a reference, or NULL */
	struct owner_user_maps *known;
	unsigned int count;
	/* The word of a range is the offset in its file, if it has one. */
	struct owner_user_range range[OWNER_USER_FRAMES];
	/* The file of each mapping, with a reference; NULL without a file */
	struct file *file[OWNER_USER_FRAMES];
};

/* Locate the mapping of an address, under the mmap lock. False if it has no code. */
static bool locate_mapping(struct mm_struct *mm, unsigned long address,
			   struct owner_user_range *range, struct file **file)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);

	if (!vma || !(vma->vm_flags & VM_EXEC))
		return false;
	range->start = vma->vm_start;
	range->size = vma->vm_end - vma->vm_start;
	*file = NULL;
	if (range->start == (unsigned long)mm->context.vdso) {
		range->word = owner_user_frame(OWNER_USER_PLACE_VDSO, 0);
	} else if (!vma->vm_file) {
		range->word = owner_user_frame(OWNER_USER_PLACE_ANON, 0);
	} else {
		range->word = vma->vm_pgoff << PAGE_SHIFT;
		*file = get_file(vma->vm_file);
	}
	return true;
}

/* Find the mapping of an address among those that are located. Return: its index, or the count. */
static unsigned int find_located(const struct located_mappings *maps, unsigned long address)
{
	unsigned int i;

	for (i = 0; i < maps->count; i++)
		if (owner_user_range_has(&maps->range[i], address))
			break;
	return i;
}

/*
 * Locate the mappings of all addresses, up to the first without code. Sets @of to the index of
 * the mapping of each. Return: the number of addresses with code.
 */
static unsigned int locate_mappings(const struct owner_user_raw *raw,
				    struct located_mappings *maps, u8 of[OWNER_USER_FRAMES])
{
	struct owner_user_maps *made = NULL;
	struct mm_struct *mm = current->mm;
	unsigned int i;

	if (!owner_user_current_maps_id())
		made = owner_user_alloc_maps();
	maps->count = 0;
	mmap_read_lock(mm);
	maps->known = owner_user_get_maps(mm, made);
	for (i = 0; i < raw->count; i++) {
		of[i] = find_located(maps, raw->frame[i]);
		if (of[i] < maps->count)
			continue;
		if (!locate_mapping(mm, raw->frame[i], &maps->range[of[i]], &maps->file[of[i]]))
			break;
		maps->count++;
	}
	mmap_read_unlock(mm);
	owner_user_put_maps(made);
	return i;
}

/* Intern the file of a mapping, and complete its word. */
static void intern_file(struct owner_user_range *range, struct file *file)
{
	enum owner_user_reason reason;
	int binary = owner_binary_intern(file);

	if (binary >= 0) {
		range->word = owner_user_frame(binary + 1, range->word);
		return;
	}
	if (binary == -ENOENT) {
		range->word = owner_user_frame(OWNER_USER_PLACE_ANON, 0);
		return;
	}
	reason = binary == -ENOSPC ? OWNER_USER_BINARIES_FULL :
		 binary == -ENOMEM ? OWNER_USER_NO_MEMORY : OWNER_USER_FAULT;
	range->word = owner_user_frame(OWNER_USER_PLACE_REASON, reason);
}

/*
 * Resolve all addresses. Files are read without the mmap lock: a file system may wait for a
 * task that waits for it. Return: the number of words.
 */
static unsigned int resolve_addresses(const struct owner_user_raw *raw,
				      unsigned long words[OWNER_USER_WORDS],
				      unsigned long *maps_id)
{
	enum owner_user_reason reason = raw->reason;
	struct located_mappings maps;
	u8 of[OWNER_USER_FRAMES];
	unsigned int located = locate_mappings(raw, &maps, of), i;

	for (i = 0; i < maps.count; i++) {
		if (maps.file[i]) {
			intern_file(&maps.range[i], maps.file[i]);
			fput(maps.file[i]);
		}
		if (owner_user_place(maps.range[i].word) != OWNER_USER_PLACE_REASON)
			owner_user_add_range(maps.known, &maps.range[i]);
	}
	*maps_id = owner_user_maps_id(maps.known);
	owner_user_put_maps(maps.known);
	for (i = 0; i < located; i++) {
		words[i] = owner_user_range_word(&maps.range[of[i]], raw->frame[i]);
		if (owner_user_place(words[i]) == OWNER_USER_PLACE_REASON)
			return i + 1;
	}
	if (located < raw->count)
		reason = located ? OWNER_USER_NO_FRAME_POINTERS : OWNER_USER_FAULT;
	if (reason)
		words[i++] = owner_user_frame(OWNER_USER_PLACE_REASON, reason);
	return i;
}

/* May the next stack with these addresses get the same chain? */
static bool chain_is_lasting(const struct owner_user_raw *raw, unsigned long last)
{
	if (raw->reason == OWNER_USER_FAULT)
		return false;
	return owner_user_place(last) != OWNER_USER_PLACE_REASON ||
	       (owner_user_offset(last) != OWNER_USER_FAULT &&
		owner_user_offset(last) != OWNER_USER_BINARIES_FULL &&
		owner_user_offset(last) != OWNER_USER_NO_MEMORY);
}

static depot_stack_handle_t save_chain(unsigned long words[OWNER_USER_WORDS],
				       unsigned int count, gfp_t flags)
{
	return stack_depot_save_flags(words, count, flags | __GFP_NOWARN,
				      STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET |
				      STACK_DEPOT_FLAG_DATA);
}

/*
 * Save a chain whose places were found in an epoch, without a lock that drops wait for: a file
 * system can take any time to read a file. Return: false if files were dropped since.
 */
static bool save_resolved(unsigned long words[OWNER_USER_WORDS], unsigned int count,
			  unsigned long epoch, depot_stack_handle_t *chain)
{
	int lock = owner_binaries_lock();
	bool valid = owner_binaries_epoch() == epoch;

	if (valid)
		*chain = save_chain(words, count, GFP_KERNEL);
	owner_binaries_unlock(lock);
	return valid;
}

/* Attempts to resolve a user stack between two drops of files. */
#define RESOLVE_ATTEMPTS	3

/**
 * owner_user_intern_chain() - intern the user chain of the current task
 * @reason: set to why there is none, or to OWNER_USER_NO_REASON
 *
 * Context: may sleep, and may fault on user memory.
 *
 * Return: a handle with a reference, or 0.
 */
depot_stack_handle_t owner_user_intern_chain(enum owner_user_reason *reason)
{
	unsigned long words[OWNER_USER_WORDS], maps_id;
	unsigned int count, attempts = 0;
	unsigned long epoch;
	struct owner_user_raw raw;
	depot_stack_handle_t chain;

	owner_user_walk(&raw);
	*reason = OWNER_USER_NO_REASON;
	do {
		/* There is at most one drop in a second. */
		if (attempts++ == RESOLVE_ATTEMPTS) {
			*reason = OWNER_USER_BINARIES_FULL;
			return 0;
		}
		epoch = owner_binaries_epoch();
		count = resolve_addresses(&raw, words, &maps_id);
	} while (!save_resolved(words, count, epoch, &chain));
	if (!chain)
		*reason = OWNER_USER_NO_MEMORY;
	if (chain && chain_is_lasting(&raw, words[count - 1]))
		owner_user_cache_add(&raw, maps_id, chain);
	return chain;
}

/**
 * owner_user_intern_known() - intern a user stack all of whose code is known
 * @raw: the user stack, without a fault
 * @flags: flags of the allocation that is tracked
 *
 * Context: as the allocation.
 *
 * Return: a handle with a reference, 0 if the code of a frame is not known or without room.
 */
depot_stack_handle_t owner_user_intern_known(const struct owner_user_raw *raw, gfp_t flags)
{
	unsigned long words[OWNER_USER_WORDS], maps_id;
	unsigned int count = raw->count;
	depot_stack_handle_t chain = 0;
	int lock = owner_binaries_lock();

	if (owner_user_find_places(raw, words, &maps_id)) {
		if (raw->reason)
			words[count++] = owner_user_frame(OWNER_USER_PLACE_REASON, raw->reason);
		chain = save_chain(words, count, flags);
	}
	owner_binaries_unlock(lock);
	if (chain)
		owner_user_cache_add(raw, maps_id, chain);
	return chain;
}
