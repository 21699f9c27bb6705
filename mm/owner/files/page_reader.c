// SPDX-License-Identifier: GPL-2.0
/*
 * page_owner's records as text, one for each tracked allocation of pages.
 *
 * A read() returns at most one record. The file position is the page frame at which
 * the search for the next record begins.
 */

#include <linux/fs.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/uaccess.h>

#include "../frame.h"
#include "../page/page.h"
#include "page_reader.h"

static void print_page_record(struct seq_buf *text, const struct owner_pages *pages,
			      enum owner_mode mode)
{
	depot_stack_handle_t handle = pages->owner.handle;
	char name[KSYM_SYMBOL_LEN];
	unsigned int i, count = 0;

	seq_buf_clear(text);
	owner_pages_print_head(text, pages);
	if (mode != OWNER_MODE_HANDLE)
		count = stack_depot_copy(handle, NULL, 0);
	for (i = 0; i < count; i++) {
		owner_frame_print(stack_depot_frame(handle, i), name);
		seq_buf_printf(text, " %s\n", name);
	}
	if (mode != OWNER_MODE_STACK)
		seq_buf_printf(text, "handle: %u\n", handle);
	owner_pages_print_tail(text, pages);
	seq_buf_puts(text, "\n");
}

/* Page frames that are looked at between two points at which memory can be hot-removed. */
#define SEARCH_BATCH	4096

/* Find the next record of a page on one of the nodes. Memory does not go offline meanwhile. */
static bool find_record_on_nodes(unsigned long *pfn, unsigned long end, const nodemask_t *nodes,
				 struct owner_pages *found)
{
	while (owner_pages_find_next_tracked(pfn, end, found)) {
		if (node_isset(page_to_nid(found->page), *nodes))
			return true;
		page_owner_put_stack(found->owner.handle);
	}
	return false;
}

/*
 * Find the next record. Return 1 if there is one; the caller then calls put_online_mems().
 * Return 0 if there is none, -EINTR if the task is killed. Other signals do not end the
 * search: after an error read() keeps the file position from before, so that the next read() would
 * begin the search anew.
 */
static int find_next_page_record(loff_t *pos, const nodemask_t *nodes, struct owner_pages *found)
{
	unsigned long pfn = *pos ?: min_low_pfn;

	while (pfn < max_pfn) {
		unsigned long end = min(pfn + SEARCH_BATCH, max_pfn);

		if (fatal_signal_pending(current))
			return -EINTR;
		get_online_mems();
		if (find_record_on_nodes(&pfn, end, nodes, found)) {
			*pos = pfn;
			return 1;
		}
		put_online_mems();
		cond_resched();
	}
	return 0;
}

#define TEXT_SIZE_MAX	SZ_64K

/* Allocate the buffer, or one of twice the size. */
static int grow_record_text(struct owner_page_reader *reader)
{
	size_t size = reader->size ? reader->size * 2 : PAGE_SIZE;
	char *buffer;

	if (size > TEXT_SIZE_MAX)
		return -ENOMEM;
	buffer = kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!buffer)
		return -ENOMEM;
	kvfree(reader->text.buffer);
	seq_buf_init(&reader->text, buffer, size);
	reader->size = size;
	return 0;
}

/*
 * Return 1 if there is another record, 0 if there is none, or an error. To let the buffer grow, the
 * function drops the lock of memory hotplug, and then looks for the record again.
 */
static int print_next_record(struct owner_page_reader *reader, loff_t *pos)
{
	int result, error = reader->size ? 0 : grow_record_text(reader);
	struct owner_pages found;
	bool fits = false;

	while (!error && !fits) {
		result = find_next_page_record(pos, &reader->filter.nodes, &found);
		if (result <= 0)
			return result;
		print_page_record(&reader->text, &found, reader->filter.mode);
		fits = !seq_buf_has_overflowed(&reader->text);
		put_online_mems();
		page_owner_put_stack(found.owner.handle);
		if (!fits) {
			*pos = found.pfn;
			error = grow_record_text(reader);
		}
	}
	return error ?: 1;
}

/**
 * owner_page_reader_read() - read the rest of a record, or the next one
 * @reader: the open file's reader
 * @buf: destination
 * @count: size of @buf
 * @pos: the file position, advanced past the record
 *
 * Return: bytes read, 0 at the end, or an error.
 */
ssize_t owner_page_reader_read(struct owner_page_reader *reader, char __user *buf, size_t count,
			       loff_t *pos)
{
	struct seq_buf *text = &reader->text;
	int result;

	if (!count)
		return 0;
	if (reader->read == seq_buf_used(text)) {
		seq_buf_clear(text);
		reader->read = 0;
		result = print_next_record(reader, pos);
		if (result <= 0) {
			seq_buf_clear(text);
			return result;
		}
	}
	count = min(count, seq_buf_used(text) - reader->read);
	if (copy_to_user(buf, text->buffer + reader->read, count)) {
		/* read() does not store @pos after an error: the next call finds the record. */
		if (!reader->read)
			seq_buf_clear(text);
		return -EFAULT;
	}
	reader->read += count;
	return count;
}

/**
 * owner_page_reader_seek() - move the file position to a page frame
 * @reader: the open file's reader
 * @file: the open file
 * @offset: a page frame, or the number of page frames to move by
 * @whence: SEEK_SET or SEEK_CUR
 */
loff_t owner_page_reader_seek(struct owner_page_reader *reader, struct file *file, loff_t offset,
			      int whence)
{
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	/* The next read() begins with another record. */
	reader->read = seq_buf_used(&reader->text);
	file->f_pos = offset;
	return offset;
}

/**
 * owner_page_reader_init() - initialize a reader of all records
 * @reader: the open file's reader
 */
void owner_page_reader_init(struct owner_page_reader *reader)
{
	reader->filter.mode = OWNER_MODE_STACK;
	nodes_setall(reader->filter.nodes);
	seq_buf_init(&reader->text, NULL, 0);
	reader->size = 0;
	reader->read = 0;
}

/**
 * owner_page_reader_free() - free what a reader has allocated
 * @reader: the open file's reader
 */
void owner_page_reader_free(struct owner_page_reader *reader)
{
	kvfree(reader->text.buffer);
}
