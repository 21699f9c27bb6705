// SPDX-License-Identifier: GPL-2.0
/* Encode messages of protocol buffers. */
#include <stdlib.h>

#include "base/alloc.h"
#include "output/proto.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_LENGTH = 2,
};

/* Longest varint in bytes: 64 bits, 7 bits in each byte. */
#define VARINT_MAX 10

static void make_proto_room(struct proto_buffer *p, size_t len)
{
	while (p->cap - p->len < len)
		p->bytes = grow_array(p->bytes, p->cap, &p->cap, 1);
}

static void append_bytes(struct proto_buffer *p, const void *bytes, size_t len)
{
	make_proto_room(p, len);
	if (len)
		memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

/*
 * Append a varint: the lowest 7 bits are first; the top bit of a byte means that another one
 * follows.
 */
static void append_varint(struct proto_buffer *p, u64 v)
{
	make_proto_room(p, VARINT_MAX);
	for (; v >= 0x80; v >>= 7)
		p->bytes[p->len++] = v | 0x80;
	p->bytes[p->len++] = v;
}

static u32 varint_len(u64 v)
{
	u32 n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

static void append_tag(struct proto_buffer *p, u32 field, enum wire_type type)
{
	append_varint(p, (u64)field << 3 | type);
}

void proto_append_int(struct proto_buffer *p, u32 field, u64 v)
{
	if (!v)
		return;
	append_tag(p, field, WIRE_VARINT);
	append_varint(p, v);
}

void proto_append_bytes(struct proto_buffer *p, u32 field, const void *bytes, size_t len)
{
	append_tag(p, field, WIRE_LENGTH);
	append_varint(p, len);
	append_bytes(p, bytes, len);
}

void proto_append_message(struct proto_buffer *p, u32 field, const struct proto_buffer *message)
{
	proto_append_bytes(p, field, message->bytes, message->len);
}

void proto_append_ints(struct proto_buffer *p, u32 field, const u64 *v, u32 n)
{
	u32 len = 0, i;

	for (i = 0; i < n; i++)
		len += varint_len(v[i]);
	append_tag(p, field, WIRE_LENGTH);
	append_varint(p, len);
	for (i = 0; i < n; i++)
		append_varint(p, v[i]);
}

void proto_clear(struct proto_buffer *p)
{
	p->len = 0;
}

void proto_free(struct proto_buffer *p)
{
	free(p->bytes);
	*p = (struct proto_buffer){ 0 };
}
