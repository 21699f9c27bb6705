/* SPDX-License-Identifier: GPL-2.0 */
/* Tests of the reader of page_owner's records, for page_kunit.c. */
#ifndef _MM_OWNER_TESTS_PAGE_READER_KUNIT_H
#define _MM_OWNER_TESTS_PAGE_READER_KUNIT_H

#include <kunit/test.h>
#include <linux/uaccess.h>

#include "../files/page_reader.h"
#include "kill.h"

/*
 * Read a record into memory that is not there, so that read() fails, and keeps the file position
 * from before. Return: the error.
 */
static ssize_t read_nowhere(struct owner_page_reader *reader)
{
	loff_t pos = 0;
	ssize_t error;

	/* The test may have no mm. */
	pagefault_disable();
	error = owner_page_reader_read(reader, NULL, 1, &pos);
	pagefault_enable();
	return error;
}

/* A record that no read() got is not kept: the next one finds it again. */
static void test_fault(struct kunit *test)
{
	struct owner_page_reader reader;

	owner_page_reader_init(&reader);
	KUNIT_EXPECT_EQ(test, read_nowhere(&reader), -EFAULT);
	KUNIT_EXPECT_EQ(test, seq_buf_used(&reader.text), 0);
	owner_page_reader_free(&reader);
}

/* Only a signal that kills the task ends the search for a record. */
static void test_signal(struct kunit *test)
{
	struct owner_page_reader reader;
	ssize_t after_signal, killed;

	owner_page_reader_init(&reader);
	set_thread_flag(TIF_SIGPENDING);
	after_signal = read_nowhere(&reader);
	clear_thread_flag(TIF_SIGPENDING);
	set_fatal_signal(true);
	killed = read_nowhere(&reader);
	set_fatal_signal(false);
	/* The record was found. */
	KUNIT_EXPECT_EQ(test, after_signal, -EFAULT);
	KUNIT_EXPECT_EQ(test, killed, -EINTR);
	owner_page_reader_free(&reader);
}

#endif /* _MM_OWNER_TESTS_PAGE_READER_KUNIT_H */
