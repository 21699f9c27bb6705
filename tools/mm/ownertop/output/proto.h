/* SPDX-License-Identifier: GPL-2.0 */
/* Writes the wire format of protocol buffers: as much as a profile needs. */
#ifndef OWNERTOP_PROTO_H
#define OWNERTOP_PROTO_H

#include <stddef.h>

#include "base/text.h"
#include "base/types.h"

struct proto {
	unsigned char *bytes;
	u32 len;
	u32 cap;
};

void proto_clear(struct proto *p);
void proto_free(struct proto *p);

/* 0 is what a reader takes for an integer that is not there. */
void proto_int(struct proto *p, u32 field, u64 v);
void proto_bytes(struct proto *p, u32 field, const void *bytes, size_t len);
void proto_message(struct proto *p, u32 field, const struct proto *message);
void proto_ints(struct proto *p, u32 field, const u64 *v, u32 n);

#endif
