// SPDX-License-Identifier: GPL-2.0
/*
 * The text of a block, in less room than it takes: headers are alike but for their
 * numbers, and what follows is the same for many.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "page_owner_sort/blocks.h"

/* Stand for a number of the block's. */
enum {
	MARK_PID = 1,
	MARK_TGID = 2,
	MARK_TIME = 3,
	/* Stands first if there are no marks, as a number is not written as we would. */
	MARK_NONE = 4,
};

#define NUMBER_LEN 24

void buffer_add(struct buffer *buf, struct text t)
{
	while (buf->cap - buf->len < t.len)
		buf->s = grow(buf->s, buf->cap, &buf->cap, 1);
	if (t.len)
		memcpy(buf->s + buf->len, t.s, t.len);
	buf->len += t.len;
}

static struct text write_number(char room[NUMBER_LEN], s64 number)
{
	char *end = room + NUMBER_LEN, *p = end;
	u64 v = number < 0 ? -number : number;

	for (; v || p == end; v /= 10)
		*--p = '0' + v % 10;
	if (number < 0)
		*--p = '-';
	return (struct text){ p, end - p };
}

/* Takes the number, as we would write it, off the end of @t, and then @before that. */
static bool take_off_end(struct text *t, s64 number, const char *before)
{
	char room[NUMBER_LEN];
	struct text digits = write_number(room, number);
	size_t len = strlen(before);

	if (t->len < digits.len + len ||
	    memcmp(t->s + t->len - digits.len, digits.s, digits.len) ||
	    memcmp(t->s + t->len - digits.len - len, before, len))
		return false;
	t->len -= digits.len + len;
	return true;
}

static void add_mark(struct buffer *buf, const char *before, char mark)
{
	buffer_add(buf, (struct text){ before, strlen(before) });
	buffer_add(buf, (struct text){ &mark, 1 });
}

/* The time stands behind the task's name, of which there may be several lines. */
static void add_rest(struct blocks *b, const struct record *rec, struct text rest)
{
	size_t to_time = rec->comm.len + strlen(" (), ts ");
	char room[NUMBER_LEN];
	struct text digits = write_number(room, rec->ts);

	if (!blocks_timed(b) || rest.len < to_time + digits.len ||
	    memcmp(rest.s + to_time, digits.s, digits.len)) {
		buffer_add(&b->packed, rest);
		return;
	}
	buffer_add(&b->packed, (struct text){ rest.s, to_time });
	add_mark(&b->packed, "", MARK_TIME);
	to_time += digits.len;
	buffer_add(&b->packed, (struct text){ rest.s + to_time, rest.len - to_time });
}

static bool has_marks(struct text t)
{
	int mark;

	for (mark = MARK_PID; mark <= MARK_NONE; mark++)
		if (memchr(t.s, mark, t.len))
			return true;
	return false;
}

u32 block_pack_header(struct blocks *b, const struct record *rec, size_t header_len)
{
	size_t to_name = rec->comm.s - rec->header.s - strlen(" (");
	struct text header = { b->text.s, header_len }, front = { b->text.s, to_name };
	u32 known = b->headers.n, id;

	b->packed.len = 0;
	if (!has_marks(header) && take_off_end(&front, rec->tgid, ", tgid ") &&
	    take_off_end(&front, rec->pid, ", pid ")) {
		buffer_add(&b->packed, front);
		add_mark(&b->packed, ", pid ", MARK_PID);
		add_mark(&b->packed, ", tgid ", MARK_TGID);
		add_rest(b, rec, (struct text){ header.s + to_name, header_len - to_name });
	} else {
		add_mark(&b->packed, "", MARK_NONE);
		buffer_add(&b->packed, header);
	}
	id = strings_intern(&b->headers, (struct text){ b->packed.s, b->packed.len });
	if (id == known) {
		b->header_comm = grow(b->header_comm, id, &b->header_comm_cap,
				      sizeof(*b->header_comm));
		b->header_comm[id] = strings_intern(&b->names, rec->comm);
	}
	return id;
}

static void add_number(struct buffer *buf, s64 number)
{
	char room[NUMBER_LEN];

	buffer_add(buf, write_number(room, number));
}

static s64 number_of(const struct block *block, char mark)
{
	if (mark == MARK_TIME)
		return block->ts;
	return mark == MARK_PID ? block->pid : block->tgid;
}

static bool is_number(char c)
{
	return c >= MARK_PID && c <= MARK_TIME;
}

struct text block_header(const struct blocks *b, const struct block *block, struct buffer *buf)
{
	struct text packed = b->headers.v[block->header];
	size_t from = 0, i;

	buf->len = 0;
	if (*packed.s == MARK_NONE)
		return (struct text){ packed.s + 1, packed.len - 1 };
	for (i = 0; i < packed.len; i++) {
		if (!is_number(packed.s[i]))
			continue;
		buffer_add(buf, (struct text){ packed.s + from, i - from });
		from = i + 1;
		add_number(buf, number_of(block, packed.s[i]));
	}
	buffer_add(buf, (struct text){ packed.s + from, packed.len - from });
	return (struct text){ buf->s, buf->len };
}

struct text block_stack(const struct blocks *b, const struct block *block)
{
	return b->stacks.v[block->stack];
}

static u32 digits(u64 v)
{
	u32 n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* As text; @after is what stands behind either. */
static int compare_numbers(s64 l, s64 r, unsigned char after)
{
	char left[NUMBER_LEN], right[NUMBER_LEN];
	struct text lt, rt;
	size_t common;
	int order;

	if (l == r)
		return 0;
	if (l >= 0 && r >= 0 && digits(l) == digits(r))
		return l < r ? -1 : 1;
	lt = write_number(left, l);
	rt = write_number(right, r);
	common = lt.len < rt.len ? lt.len : rt.len;
	order = memcmp(lt.s, rt.s, common);
	if (order || lt.len == rt.len)
		return order;
	return lt.len < rt.len ? after - rt.s[common] : lt.s[common] - after;
}

/*
 * Compares headers as they are packed: numbers where both have one, and text. Returns
 * false if that does not tell, as one has a number where the other has text, or none.
 */
static bool compare_packed(const struct blocks *b, const struct block *l,
			   const struct block *r, int *order)
{
	struct text left = b->headers.v[l->header], right = b->headers.v[r->header];
	size_t i, r_first;

	if (*left.s == MARK_NONE || *right.s == MARK_NONE)
		return false;
	i = (char *)memchr(left.s, MARK_PID, left.len) - left.s;
	r_first = (char *)memchr(right.s, MARK_PID, right.len) - right.s;
	if (i > r_first)
		i = r_first;
	*order = memcmp(left.s, right.s, i);
	for (; !*order && left.s[i] == right.s[i] && left.s[i] != '\n'; i++)
		if (is_number(left.s[i]))
			*order = compare_numbers(number_of(l, left.s[i]),
						 number_of(r, left.s[i]), left.s[i + 1]);
	if (*order)
		return true;
	*order = (unsigned char)left.s[i] - (unsigned char)right.s[i];
	return !is_number(left.s[i]) && !is_number(right.s[i]);
}

/* The header has one line feed, at its end: none is the beginning of another. */
int block_compare_text(struct blocks *b, const struct block *l, const struct block *r)
{
	int order;

	if (!compare_packed(b, l, r, &order))
		order = text_compare(block_header(b, l, &b->left),
				     block_header(b, r, &b->right));
	return order ? order : text_compare(block_stack(b, l), block_stack(b, r));
}
