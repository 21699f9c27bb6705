/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads page_owner's records as text.
 *
 * page_reader.c	finds the records and prints them for read()
 * page_file.c		/sys/kernel/debug/page_owner
 */
#ifndef _MM_OWNER_PAGE_READER_H
#define _MM_OWNER_PAGE_READER_H

#include <linux/seq_buf.h>
#include <linux/types.h>

/**
 * struct owner_page_reader - what an open file has read
 * @text: the record that is being read
 * @size: size of @text's buffer
 * @read: bytes of @text that have been read
 *
 * The file's lock protects it.
 */
struct owner_page_reader {
	struct seq_buf text;
	size_t size;
	size_t read;
};

void owner_page_reader_init(struct owner_page_reader *reader);
void owner_page_reader_free(struct owner_page_reader *reader);
ssize_t owner_page_reader_read(struct owner_page_reader *reader, char __user *buf, size_t count,
			       loff_t *pos);
loff_t owner_page_reader_seek(struct owner_page_reader *reader, struct file *file, loff_t offset,
			      int whence);

#endif /* _MM_OWNER_PAGE_READER_H */
