// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the header line of a page_owner or slab_owner record: pairs of a key and a value with
 * ", " between them. Unknown keys are ignored, so that output of newer kernels can be read.
 */
#include "input/header.h"
#include "base/number.h"

/* No kernel allocates blocks of 2^20 pages: a larger order is damage. */
#define ORDER_MAX 20

/* Upper limit of the size of a slab object, 1 TiB: a larger size in an input is damage. */
#define SIZE_MAX_BYTES (1024ULL << 30)

/* Upper limit of a weight: the kernel samples at least one of 2^32 objects. */
#define WEIGHT_MAX 0x100000000ULL

enum {
	HAS_ORDER = 1 << 0,
	HAS_PID = 1 << 1,
	HAS_TGID = 1 << 2,	/* parse_tgid() also requires comm and ts */
	HAS_SIZE = 1 << 3,
	HAS_SLAB = 1 << 4,
	HAS_CACHE = 1 << 5,

	/* Linux 5.10 prints no task and no time, 5.11 to 5.17 print pid and time. */
	PAGE_NEEDS = HAS_ORDER,
	OBJECT_NEEDS = HAS_ORDER | HAS_PID | HAS_TGID | HAS_SIZE | HAS_SLAB | HAS_CACHE,
};

struct header_parser {
	struct record *rec;
	const char *p;		/* next byte of the header to parse */
	const char *eol;	/* the newline at the end of the header */
	const char *end;	/* end of the text in the buffer */
	unsigned int has;
};

size_t header_find_record_kind(struct text_slice t, enum record_kind *kind)
{
	const char *start = t.s;

	if (consume_word(&t, "Page allocated via "))
		*kind = KIND_PAGE;
	else if (consume_word(&t, "Slab object allocated via "))
		*kind = KIND_SLAB;
	else if (consume_word(&t, "Per-CPU area allocated via "))
		*kind = KIND_PERCPU;
	return t.s - start;
}

static __always_inline const char *parse_number(struct header_parser *h, u64 *value)
{
	struct text_slice digits = { h->p, h->eol - h->p };
	const char *p = h->p;
	unsigned char digit;
	u64 v = 0;

	/* The loop stops at the newline at h->eol at the latest. */
	for (; (digit = *p - '0') <= 9; p++)
		v = v * 10 + digit;
	if (p == h->p)
		return "a number is missing";
	h->p = p;
	*value = v;
	/* A number of 19 digits cannot overflow. */
	return p - digits.s > 19 ? consume_number(&digits, value) : NULL;
}

static __always_inline const char *parse_pid(struct header_parser *h, s64 *pid)
{
	bool negative = h->p < h->eol && *h->p == '-';
	const char *error;
	u64 v;

	h->p += negative;
	error = parse_number(h, &v);
	if (error)
		return error;
	if (v > PID_MAX)
		return "a process number is too large";
	*pid = negative ? -(s64)v : (s64)v;
	return NULL;
}

static __always_inline const char *parse_size(struct header_parser *h, u64 *size)
{
	const char *error = parse_number(h, size);

	if (!error && *size > SIZE_MAX_BYTES)
		return "a size is too large";
	return error;
}

static __always_inline const char *parse_order(struct header_parser *h)
{
	u64 order = 0;
	const char *error = parse_number(h, &order);

	if (!error && order > ORDER_MAX)
		return "the order is too large";
	h->rec->order = order;
	return error;
}

/* Parse the name of a task, "(comm)". It ends at the last ")" that is followed by ", ts ". */
static __always_inline const char *parse_comm(struct header_parser *h)
{
	static const char after[] = "), ts ";
	const size_t after_len = sizeof(after) - 1;
	const char *start, *last;

	if (h->end - h->p < 2 || h->p[0] != ' ' || h->p[1] != '(')
		return "the task name is missing";
	start = h->p + 2;
	last = h->end - start > COMM_MAX ? start + COMM_MAX : h->end;
	for (;;) {
		last = memrchr(start, ')', last - start);
		if (!last)
			return "no task name with a time stamp after it";
		if (text_starts_with((struct text_slice){ last, h->end - last }, after, after_len))
			break;
	}
	h->rec->printed_comm = (struct text_slice){ start, last - start };
	h->rec->comm = h->rec->printed_comm;
	h->p = last + 1;
	if (h->eol < h->p)	/* the name has a newline in it */
		h->eol = memchr(h->p, '\n', h->end - h->p);
	return h->eol ? NULL : "the header has no end";
}

static __always_inline const char *parse_tgid(struct header_parser *h)
{
	const char *error = parse_pid(h, &h->rec->tgid);

	return error ? error : parse_comm(h);
}

static __always_inline const char *parse_ts(struct header_parser *h)
{
	const char *start = h->p, *error = parse_number(h, &h->rec->ts);

	if (error)
		return error;
	h->rec->printed_ts = (struct text_slice){ start, h->p - start };
	if (!TEXT_STARTS(((struct text_slice){ h->p, h->eol - h->p }), " ns"))
		return "the time stamp is not in ns";
	h->p += 3;
	return NULL;
}

/* Returns the value of a header's key, and moves to the next pair. */
static __always_inline struct text_slice consume_header_value(struct header_parser *h)
{
	struct text_slice value = { h->p, 0 };
	const char *p = h->p;

	/* Reading p[1] is safe: the newline at h->eol follows. */
	while ((p = memchr(p, ',', h->eol - p)) && p[1] != ' ')
		p++;
	if (p)
		value.len = p - h->p;
	else
		value.len = h->eol - h->p;
	h->p += value.len;
	return value;
}

static __always_inline const char *parse_cache(struct header_parser *h)
{
	h->rec->cache = consume_header_value(h);
	return h->rec->cache.len ? NULL : "the cache name is missing";
}

static __always_inline const char *parse_nid(struct header_parser *h)
{
	const char *error = parse_pid(h, &h->rec->nid);

	return error ? "the memory node is no number" : NULL;
}

const char *parse_sampling_weight(struct text_slice value, u64 *weight)
{
	u64 integer, thousandths;

	if (consume_number(&value, &integer) || !consume_word(&value, ".") || value.len != 3 ||
	    consume_number(&value, &thousandths) || value.len)
		return "the weight is no number with three decimals";
	if (!integer || integer > WEIGHT_MAX)
		return "the weight is not 1 to 2^32";
	*weight = integer * WEIGHT_ONE + thousandths;
	return NULL;
}

/* Consume @key, which ends at a space or with its pair. Returns false if another key is next. */
static __always_inline bool consume_key(struct header_parser *h, const char *key)
{
	struct text_slice t = { h->p, h->eol - h->p };

	if (!consume_word(&t, key))
		return false;
	if (*t.s == ' ')
		t.s++;
	else if (t.len && *t.s != ',')
		return false;
	h->p = t.s;
	return true;
}

static __always_inline const char *parse_key_and_value(struct header_parser *h)
{
	if (consume_key(h, "order")) {
		h->has |= HAS_ORDER;
		return parse_order(h);
	}
	if (consume_key(h, "mask")) {
		h->rec->mask = consume_header_value(h);
		return NULL;
	}
	if (consume_key(h, "pid")) {
		h->has |= HAS_PID;
		return parse_pid(h, &h->rec->pid);
	}
	if (consume_key(h, "tgid")) {
		h->has |= HAS_TGID;
		return parse_tgid(h);
	}
	if (consume_key(h, "ts"))
		return parse_ts(h);
	if (consume_key(h, "size")) {
		h->has |= HAS_SIZE;
		return parse_size(h, &h->rec->bytes);
	}
	if (consume_key(h, "slab")) {
		h->has |= HAS_SLAB;
		return parse_size(h, &h->rec->held);
	}
	if (consume_key(h, "cache")) {
		h->has |= HAS_CACHE;
		return parse_cache(h);
	}
	if (consume_key(h, "weight"))
		return parse_sampling_weight(consume_header_value(h), &h->rec->weight);
	if (consume_key(h, "nid"))
		return parse_nid(h);
	consume_header_value(h);
	return NULL;
}

static __always_inline const char *parse_keys_and_values(struct header_parser *h)
{
	for (;;) {
		const char *error = parse_key_and_value(h);

		if (error)
			return error;
		h->p += *h->p == '\r';
		if (h->p == h->eol)
			return NULL;
		if (h->p[0] != ',' || h->p[1] != ' ')
			return "the header has unexpected text in it";
		h->p += 2;
	}
}

static const char *find_missing_key(unsigned int has)
{
	if (!(has & HAS_ORDER))
		return "the header has no order";
	if (!(has & HAS_PID))
		return "the header has no pid";
	if (!(has & HAS_TGID))
		return "the header has no tgid";
	if (!(has & HAS_SIZE))
		return "the header has no size";
	if (!(has & HAS_SLAB))
		return "the header has no slab size";
	return "the header has no cache";
}

const char *header_parse(struct record *rec, const char *keys, const char *eol, const char *end,
			 u64 page_size)
{
	unsigned int needs = rec->kind == KIND_PAGE ? PAGE_NEEDS : OBJECT_NEEDS;
	struct header_parser h = { .rec = rec, .p = keys, .eol = eol, .end = end };
	const char *error = parse_keys_and_values(&h);

	if (error)
		return error;
	if ((h.has & needs) != needs)
		return find_missing_key(h.has);
	if (rec->kind == KIND_PAGE) {
		rec->bytes = page_size << rec->order;
		rec->held = rec->bytes;
	}
	rec->header.len = h.eol + 1 - rec->header.s;
	return NULL;
}
