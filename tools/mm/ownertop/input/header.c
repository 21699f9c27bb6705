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

static const struct text_slice heads[NR_KINDS] = {
	[KIND_PAGE] = { "Page allocated via ", 19 },
	[KIND_SLAB] = { "Slab object allocated via ", 26 },
	[KIND_PERCPU] = { "Per-CPU area allocated via ", 27 },
};

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
	u64 order;
	unsigned int has;
};

bool header_find_record_kind(struct text_slice t, enum record_kind *kind)
{
	unsigned int i;

	if (!t.len || (*t.s != 'P' && *t.s != 'S'))
		return false;
	for (i = 0; i < NR_KINDS; i++) {
		if (heads[i].len && text_starts_with(t, heads[i].s, heads[i].len)) {
			*kind = i;
			return true;
		}
	}
	return false;
}

static const char *parse_number(struct header_parser *h, u64 *value)
{
	const char *p = h->p;
	u64 v = 0;

	/* The loop stops at the newline at h->eol at the latest. */
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v))
			return "a number is too large";
	if (p == h->p)
		return "a number is missing";
	h->p = p;
	*value = v;
	return NULL;
}

static const char *parse_pid(struct header_parser *h, s64 *pid)
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

static const char *parse_size(struct header_parser *h, u64 *size)
{
	const char *error = parse_number(h, size);

	if (!error && *size > SIZE_MAX_BYTES)
		return "a size is too large";
	return error;
}

static const char *parse_order(struct header_parser *h)
{
	const char *error = parse_number(h, &h->order);

	if (!error && h->order > ORDER_MAX)
		return "the order is too large";
	return error;
}

/* Parse the name of a task, "(comm)". It ends at the last ")" that is followed by ", ts ". */
static const char *parse_comm(struct header_parser *h)
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
	h->eol = memchr(h->p, '\n', h->end - h->p);
	return h->eol ? NULL : "the header has no end";
}

static const char *parse_tgid(struct header_parser *h)
{
	const char *error = parse_pid(h, &h->rec->tgid);

	return error ? error : parse_comm(h);
}

static const char *parse_ts(struct header_parser *h)
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
static struct text_slice consume_header_value(struct header_parser *h)
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

static const char *parse_cache(struct header_parser *h)
{
	h->rec->cache = consume_header_value(h);
	return h->rec->cache.len ? NULL : "the cache name is missing";
}

/* Parse the names of gfp flags in "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)". */
static const char *parse_mask(struct header_parser *h)
{
	struct text_slice value = consume_header_value(h);
	const char *open = memchr(value.s, '(', value.len);

	if (open && value.s[value.len - 1] == ')')
		h->rec->gfp = (struct text_slice){ open + 1, value.s + value.len - open - 2 };
	return NULL;
}

static const char *parse_nid(struct header_parser *h)
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

static bool key_equals(struct text_slice key, const char *name, size_t len)
{
	return key.len == len && !memcmp(key.s, name, len);
}

#define KEY_IS(key, literal) key_equals(key, literal, sizeof(literal) - 1)

static const char *parse_value_of_key(struct header_parser *h, struct text_slice key)
{
	if (KEY_IS(key, "order")) {
		h->has |= HAS_ORDER;
		return parse_order(h);
	}
	if (KEY_IS(key, "pid")) {
		h->has |= HAS_PID;
		return parse_pid(h, &h->rec->pid);
	}
	if (KEY_IS(key, "tgid")) {
		h->has |= HAS_TGID;
		return parse_tgid(h);
	}
	if (KEY_IS(key, "ts"))
		return parse_ts(h);
	if (KEY_IS(key, "size")) {
		h->has |= HAS_SIZE;
		return parse_size(h, &h->rec->bytes);
	}
	if (KEY_IS(key, "slab")) {
		h->has |= HAS_SLAB;
		return parse_size(h, &h->rec->held);
	}
	if (KEY_IS(key, "cache")) {
		h->has |= HAS_CACHE;
		return parse_cache(h);
	}
	if (KEY_IS(key, "weight"))
		return parse_sampling_weight(consume_header_value(h), &h->rec->weight);
	if (KEY_IS(key, "nid"))
		return parse_nid(h);
	if (KEY_IS(key, "mask"))
		return parse_mask(h);
	consume_header_value(h);
	return NULL;
}

static const char *parse_keys_and_values(struct header_parser *h)
{
	for (;;) {
		const char *error, *p = h->p;
		struct text_slice key;

		while (p < h->eol && *p != ' ' && *p != ',')
			p++;
		key = (struct text_slice){ h->p, p - h->p };
		h->p = p + (*p == ' ');
		error = parse_value_of_key(h, key);
		if (error)
			return error;

		if (h->p < h->eol && *h->p == '\r')
			h->p++;
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

const char *header_parse(struct text_slice t, u64 page_size, enum record_kind kind,
			 struct record *rec, const char **end)
{
	unsigned int needs = kind == KIND_PAGE ? PAGE_NEEDS : OBJECT_NEEDS;
	struct header_parser h = {
		.rec = rec,
		.p = t.s + heads[kind].len,
		.end = t.s + t.len,
	};
	const char *error;

	*rec = (struct record){
		.kind = kind,
		.objects = 1,
		.ts = TS_UNKNOWN,
		.nid = NID_UNKNOWN,
		.pid = PID_UNKNOWN,
		.tgid = PID_UNKNOWN,
		.comm.s = "",
		.printed_comm.s = "",
		.cache.s = "",
		.cgroup.s = "",
		.gfp.s = "",
	};
	h.eol = memchr(h.p, '\n', h.end - h.p);
	if (!h.eol)
		return "the header has no end";
	error = parse_keys_and_values(&h);
	if (error)
		return error;
	if ((h.has & needs) != needs)
		return find_missing_key(h.has);
	if (kind == KIND_PAGE) {
		rec->bytes = page_size << h.order;
		rec->held = rec->bytes;
	}
	rec->order = h.order;
	*end = h.eol + 1;
	rec->header = (struct text_slice){ t.s, *end - t.s };
	return NULL;
}
