/* SPDX-License-Identifier: GPL-2.0 */
/* Encode messages of protocol buffers, as far as profile.proto needs it. */
#ifndef OWNERTOP_PROTO_H
#define OWNERTOP_PROTO_H

#include <stddef.h>

#include "base/text.h"
#include "base/types.h"

struct proto_buffer {
	unsigned char *bytes;
	u32 len;
	u32 cap;
};

void proto_clear(struct proto_buffer *p);
void proto_free(struct proto_buffer *p);

/*
 * Append an integer as field number @field. An integer of 0 is left out, because readers take a
 * missing field as 0.
 */
void proto_append_int(struct proto_buffer *p, u32 field, u64 v);
void proto_append_bytes(struct proto_buffer *p, u32 field, const void *bytes, size_t len);
void proto_append_message(struct proto_buffer *p, u32 field, const struct proto_buffer *message);
void proto_append_ints(struct proto_buffer *p, u32 field, const u64 *v, u32 n);

#endif
