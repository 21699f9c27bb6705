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

/*
 * Does @t begin with the header of a page_owner or slab_owner record? If so, set @kind, and return
 * the length of the text before the first key. If not, return 0.
 */
size_t header_find_record_kind(struct text_slice t, enum record_kind *kind);

/*
 * Fill @rec from its header, of which rec->kind and rec->header.s are set. @keys: its first key;
 * @eol: the newline of its line; @end: of the text, as the name of a task may contain newlines;
 * @page_size: bytes of a page, for records of pages. Returns NULL, or what is wrong with the
 * header.
 */
const char *header_parse(struct record *rec, const char *keys, const char *eol, const char *end,
			 u64 page_size);

/*
 * Parse the weight of a sampled object, like "8192.123", which is at least 1. Returns NULL, or
 * what is wrong with it.
 */
const char *parse_sampling_weight(struct text_slice value, u64 *weight);

#endif
