// SPDX-License-Identifier: GPL-2.0
/*
 * Build, print and compare the text of blocks. Most headers differ only in their numbers, so
 * they are interned with placeholders for the numbers, and the numbers are kept in the block.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "page_owner_sort/blocks.h"

/* Placeholders: characters of an interned header that replace a number of the block. */
enum {
	PLACEHOLDER_PID = 1,
	PLACEHOLDER_TGID = 2,
	PLACEHOLDER_TIME = 3,
	/* First character of an interned header that is kept as it is, with its numbers. */
	PLACEHOLDER_NONE = 4,
};

#define NUMBER_LEN 24	/* characters of an s64 in decimal */

void text_buffer_append(struct text_buffer *buf, struct text_slice t)
{
	while (buf->cap - buf->len < t.len)
		buf->s = grow_array(buf->s, buf->cap, &buf->cap, 1);
	if (t.len)
		memcpy(buf->s + buf->len, t.s, t.len);
	buf->len += t.len;
}

static struct text_slice format_number(char room[NUMBER_LEN], s64 number)
{
	char *end = room + NUMBER_LEN, *p = end;
	u64 v = number < 0 ? -number : number;

	for (; v || p == end; v /= 10)
		*--p = '0' + v % 10;
	if (number < 0)
		*--p = '-';
	return (struct text_slice){ p, end - p };
}

/* Remove "@before@number" from the end of @t. Returns false if @t does not end with it. */
static bool remove_number_from_end(struct text_slice *t, s64 number, const char *before)
{
	char room[NUMBER_LEN];
	struct text_slice digits = format_number(room, number);
	size_t len = strlen(before);

	if (t->len < digits.len + len ||
	    memcmp(t->s + t->len - digits.len, digits.s, digits.len) ||
	    memcmp(t->s + t->len - digits.len - len, before, len))
		return false;
	t->len -= digits.len + len;
	return true;
}

static void append_number_placeholder(struct text_buffer *buf, const char *before,
				      char placeholder)
{
	text_buffer_append(buf, (struct text_slice){ before, strlen(before) });
	text_buffer_append(buf, (struct text_slice){ &placeholder, 1 });
}

/*
 * Append the part of a header that begins with the name of the task. The name may contain
 * newlines.
 */
static void append_from_task_name(struct blocks *b, const struct record *rec,
				  struct text_slice text)
{
	size_t to_time = rec->printed_comm.len + strlen(" (), ts ");
	char room[NUMBER_LEN];
	struct text_slice digits = format_number(room, rec->ts);

	if (!blocks_have_times(b) || text.len < to_time + digits.len ||
	    memcmp(text.s + to_time, digits.s, digits.len)) {
		text_buffer_append(&b->packed, text);
		return;
	}
	text_buffer_append(&b->packed, (struct text_slice){ text.s, to_time });
	append_number_placeholder(&b->packed, "", PLACEHOLDER_TIME);
	to_time += digits.len;
	text_buffer_append(&b->packed, (struct text_slice){ text.s + to_time, text.len - to_time });
}

static bool contains_placeholder_bytes(struct text_slice t)
{
	int placeholder;

	for (placeholder = PLACEHOLDER_PID; placeholder <= PLACEHOLDER_NONE; placeholder++)
		if (memchr(t.s, placeholder, t.len))
			return true;
	return false;
}

u32 block_intern_header(struct blocks *b, const struct record *rec, size_t header_len)
{
	size_t to_name = rec->tgid == PID_UNKNOWN ? 0 :
			 rec->printed_comm.s - rec->header.s - strlen(" (");
	struct text_slice header = { b->text.s, header_len }, front = { b->text.s, to_name };
	u32 nr_headers = b->headers.n, id;

	b->packed.len = 0;
	if (!contains_placeholder_bytes(header) &&
	    remove_number_from_end(&front, rec->tgid, ", tgid ") &&
	    remove_number_from_end(&front, rec->pid, ", pid ")) {
		text_buffer_append(&b->packed, front);
		append_number_placeholder(&b->packed, ", pid ", PLACEHOLDER_PID);
		append_number_placeholder(&b->packed, ", tgid ", PLACEHOLDER_TGID);
		append_from_task_name(b, rec, (struct text_slice){
			header.s + to_name,
			header_len - to_name,
		});
	} else {
		append_number_placeholder(&b->packed, "", PLACEHOLDER_NONE);
		text_buffer_append(&b->packed, header);
	}
	id = strings_intern(&b->headers, (struct text_slice){ b->packed.s, b->packed.len });
	if (id == nr_headers) {
		b->header_comm = grow_array(b->header_comm, id, &b->header_comm_cap,
					    sizeof(*b->header_comm));
		b->header_comm[id] = strings_intern(&b->names, rec->printed_comm);
	}
	return id;
}

static void append_number(struct text_buffer *buf, s64 number)
{
	char room[NUMBER_LEN];

	text_buffer_append(buf, format_number(room, number));
}

static s64 get_number_of_placeholder(const struct block *block, char placeholder)
{
	if (placeholder == PLACEHOLDER_TIME)
		return block->ts;
	return placeholder == PLACEHOLDER_PID ? block->pid : block->tgid;
}

static bool is_number_placeholder(char c)
{
	return c >= PLACEHOLDER_PID && c <= PLACEHOLDER_TIME;
}

struct text_slice block_format_header(const struct blocks *b, const struct block *block,
				      struct text_buffer *buf)
{
	struct text_slice packed = b->headers.v[block->header];
	size_t from = 0, i;

	buf->len = 0;
	if (*packed.s == PLACEHOLDER_NONE)
		return (struct text_slice){ packed.s + 1, packed.len - 1 };
	for (i = 0; i < packed.len; i++) {
		if (!is_number_placeholder(packed.s[i]))
			continue;
		text_buffer_append(buf, (struct text_slice){ packed.s + from, i - from });
		from = i + 1;
		append_number(buf, get_number_of_placeholder(block, packed.s[i]));
	}
	text_buffer_append(buf, (struct text_slice){ packed.s + from, packed.len - from });
	return (struct text_slice){ buf->s, buf->len };
}

struct text_slice block_get_stack(const struct blocks *b, const struct block *block)
{
	return b->stacks.v[block->stack];
}

static u32 count_digits(u64 v)
{
	u32 n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* Compare two numbers as text. @after: the character that follows both. */
static int compare_numbers_as_text(s64 l, s64 r, unsigned char after)
{
	char left[NUMBER_LEN], right[NUMBER_LEN];
	struct text_slice lt, rt;
	size_t common;
	int order;

	if (l == r)
		return 0;
	if (l >= 0 && r >= 0 && count_digits(l) == count_digits(r))
		return l < r ? -1 : 1;
	lt = format_number(left, l);
	rt = format_number(right, r);
	common = lt.len < rt.len ? lt.len : rt.len;
	order = memcmp(lt.s, rt.s, common);
	if (order || lt.len == rt.len)
		return order;
	return lt.len < rt.len ? after - rt.s[common] : lt.s[common] - after;
}

/*
 * Compare the interned headers of two blocks without formatting their numbers. Returns false if
 * that is not possible because one has text, or nothing, where the other has a number.
 */
static bool compare_packed_headers(const struct blocks *b, const struct block *l,
				   const struct block *r, int *order)
{
	struct text_slice left = b->headers.v[l->header], right = b->headers.v[r->header];
	size_t i, r_first;

	if (*left.s == PLACEHOLDER_NONE || *right.s == PLACEHOLDER_NONE)
		return false;
	i = (char *)memchr(left.s, PLACEHOLDER_PID, left.len) - left.s;
	r_first = (char *)memchr(right.s, PLACEHOLDER_PID, right.len) - right.s;
	if (i > r_first)
		i = r_first;
	*order = memcmp(left.s, right.s, i);
	for (; !*order && left.s[i] == right.s[i] && left.s[i] != '\n'; i++)
		if (is_number_placeholder(left.s[i]))
			*order = compare_numbers_as_text(get_number_of_placeholder(l, left.s[i]),
							 get_number_of_placeholder(r, left.s[i]),
							 left.s[i + 1]);
	if (*order)
		return true;
	*order = (unsigned char)left.s[i] - (unsigned char)right.s[i];
	return !is_number_placeholder(left.s[i]) && !is_number_placeholder(right.s[i]);
}

/*
 * Compare the text of two blocks. A header ends with its only newline, so no header is a prefix
 * of another one.
 */
int block_compare_texts(struct blocks *b, const struct block *l, const struct block *r)
{
	int order;

	if (!compare_packed_headers(b, l, r, &order))
		order = text_slice_compare(block_format_header(b, l, &b->left),
					   block_format_header(b, r, &b->right));
	return order ? order : text_slice_compare(block_get_stack(b, l), block_get_stack(b, r));
}
