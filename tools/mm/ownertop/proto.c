// SPDX-License-Identifier: GPL-2.0
/* Writes the wire format of protocol buffers. */
#include <stdlib.h>

#include "alloc.h"
#include "proto.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_LENGTH = 2,
};

static void put_bytes(struct proto *p, const void *bytes, size_t len)
{
	while (p->cap - p->len < len)
		p->bytes = grow(p->bytes, p->cap, &p->cap, 1);
	if (len)
		memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

static void put_byte(struct proto *p, unsigned char byte)
{
	put_bytes(p, &byte, 1);
}

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void put_varint(struct proto *p, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(p, v | 0x80);
	put_byte(p, v);
}

static void put_tag(struct proto *p, u32 field, enum wire_type type)
{
	put_varint(p, (u64)field << 3 | type);
}

void proto_int(struct proto *p, u32 field, u64 v)
{
	if (!v)
		return;
	put_tag(p, field, WIRE_VARINT);
	put_varint(p, v);
}

void proto_bytes(struct proto *p, u32 field, const void *bytes, size_t len)
{
	put_tag(p, field, WIRE_LENGTH);
	put_varint(p, len);
	put_bytes(p, bytes, len);
}

void proto_message(struct proto *p, u32 field, const struct proto *message)
{
	proto_bytes(p, field, message->bytes, message->len);
}

void proto_ints(struct proto *p, u32 field, const u64 *v, u32 n)
{
	struct proto packed = { 0 };
	u32 i;

	for (i = 0; i < n; i++)
		put_varint(&packed, v[i]);
	proto_message(p, field, &packed);
	proto_free(&packed);
}

void proto_clear(struct proto *p)
{
	p->len = 0;
}

void proto_free(struct proto *p)
{
	free(p->bytes);
	*p = (struct proto){ 0 };
}
