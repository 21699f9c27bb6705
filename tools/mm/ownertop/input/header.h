/* SPDX-License-Identifier: GPL-2.0 */
/* Parse the first line of a record, for example "Page allocated via order 0, ...". */
#ifndef OWNERTOP_HEADER_H
#define OWNERTOP_HEADER_H

#include "input/record.h"

/*
 * The name of a task may contain any character, including ")", "," and newline, so its end
 * is found by the text that follows. Names have at most 15 bytes today, which newer kernels
 * print in up to 60; allow for more.
 */
#define COMM_MAX 64

/* Does @t begin with the header of a page_owner or slab_owner record? If so, set @kind. */
bool header_find_record_kind(struct text_slice t, enum record_kind *kind);

/*
 * Fill @rec from the header at the beginning of @t, and set @end behind its newline.
 * @page_size: bytes of a page, for records of pages; @kind: from header_find_record_kind(). Returns
 * NULL, or what is wrong with the header.
 */
const char *header_parse(struct text_slice t, u64 page_size, enum record_kind kind,
			 struct record *rec, const char **end);

/*
 * Parse the weight of a sampled object, like "8192.123", which is at least 1. Returns NULL, or
 * what is wrong with it.
 */
const char *parse_sampling_weight(struct text_slice value, u64 *weight);

#endif
