/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads page_owner's records as text.
 *
 * page_reader.c	finds the records and prints them for read()
 * page_file.c		/sys/kernel/debug/page_owner
 */
#ifndef _MM_OWNER_PAGE_READER_H
#define _MM_OWNER_PAGE_READER_H

#include <linux/nodemask.h>
#include <linux/seq_buf.h>
#include <linux/types.h>

#include "../lang/kind.h"

/**
 * struct owner_page_filter - how an open file shows pages, and which
 * @mode: how it shows call chains
 * @nodes: nodes whose pages it shows
 */
struct owner_page_filter {
	enum owner_mode mode;
	nodemask_t nodes;
};

/**
 * struct owner_page_reader - state of an open file
 * @filter: mode= and nid= that were written to it
 * @text: the record that is being read
 * @size: size of @text's buffer
 * @read: bytes of @text that have been read
 *
 * The file's lock protects it.
 */
struct owner_page_reader {
	struct owner_page_filter filter;
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
