// SPDX-License-Identifier: GPL-2.0
/*
 * Read answers with format=tsv, of the kernel or of ownertop: a line with the names of the
 * columns, then a line for each object or each group.
 */
#include <stdio.h>

#include "input/header.h"
#include "base/number.h"
#include "input/octal.h"
#include "input/reading.h"

/*
 * Limits of the text of a name, which may have each byte escaped in octal, and of a call chain.
 */
#define WORD_MAX 2048
#define STACK_MAX (64 * 1024)
#define USER_MAX (8 * 1024)

/* The columns of a group's sums in an answer. */
enum {
	OBJECTS, BYTES, HELD, OLDEST, YOUNGEST,
	RECORDS, OBJECTS_ERROR, BYTES_ERROR,
	NR_SUMS
};

static const char * const sum_names[NR_SUMS] = {
	[OBJECTS] = "objects",
	[BYTES] = "bytes",
	[HELD] = "held",
	[OLDEST] = "oldest_ns",
	[YOUNGEST] = "youngest_ns",
	[RECORDS] = "records",
	[OBJECTS_ERROR] = "objects_error",
	[BYTES_ERROR] = "bytes_error",
};

/*
 * Values that struct answer_columns has beside enum owner_field. COLUMN_SUM + OBJECTS is the
 * column of the first sum.
 */
#define COLUMN_WEIGHT 255
#define COLUMN_SUM 256

static bool is_kernel_answer_column_head(struct text_slice line)
{
	return TEXT_STARTS(line, "row\t");
}

static bool is_answer_line(struct text_slice line)
{
	return is_kernel_answer_column_head(line) || TEXT_STARTS(line, "object\t") ||
	       TEXT_STARTS(line, "group\t");
}

static struct text_slice consume_cell(struct text_slice *line)
{
	const char *tab = memchr(line->s, '\t', line->len);
	struct text_slice cell = { line->s, tab ? (size_t)(tab - line->s) : line->len };
	size_t used = cell.len + !!tab;

	line->s += used;
	line->len -= used;
	return cell;
}

static bool cell_equals(struct text_slice cell, const char *word)
{
	return cell.len == strlen(word) && !memcmp(cell.s, word, cell.len);
}

static int find_answer_column(struct text_slice name, bool of_groups)
{
	int sum = owner_lang_find_name(name.s, name.len, sum_names, NR_SUMS);
	int field = owner_lang_find_name(name.s, name.len, owner_field_names, OWNER_GROUP_FIELDS);

	if (of_groups && sum >= 0)
		return COLUMN_SUM + sum;
	if (cell_equals(name, "held_each"))
		return OWNER_FIELD_HELD;
	if (cell_equals(name, "ts_ns"))
		return OWNER_FIELD_TS;
	if (cell_equals(name, "weight"))
		return COLUMN_WEIGHT;
	return field < 0 ? COLUMN_OTHER : field;
}

/*
 * Parse the names of an answer's columns. Unknown names are ignored: newer kernels may have
 * more.
 */
static const char *parse_column_head(struct answer_columns *c, struct text_slice line)
{
	c->n = 0;
	c->growth = c->sentence_has_mark;
	c->sentence_has_mark = false;
	c->groups = memmem(line.s, line.len, "\tyoungest_ns", 12);
	while (line.len) {
		struct text_slice name = consume_cell(&line);

		if (c->n == COLUMNS_MAX)
			return "the answer has too many columns";
		c->v[c->n++] = find_answer_column(name, c->groups);
	}
	return NULL;
}

/* A row of an answer while it is parsed. The buffers are for texts that must be decoded. */
struct answer_row {
	struct record rec;
	u64 sums[NR_SUMS];
	struct text_slice func;
	struct text_slice module;
	struct text_slice syscall;
	char cache[WORD_MAX];
	char comm[WORD_MAX];
	char cgroup[WORD_MAX];
	char task_cgroup[WORD_MAX];
	struct text_slice binary;
	char stack[STACK_MAX];
	char user[USER_MAX];
	char handle_name[HANDLE_NAME_LEN];
};

static const char *decode_word(struct text_slice cell, char word[WORD_MAX],
			       struct text_slice *value)
{
	if (cell.len >= WORD_MAX)
		return "a name is too long";
	*value = octal_decode(cell, word);
	return NULL;
}

static const char *parse_number(struct text_slice cell, u64 *value)
{
	const char *error = consume_number(&cell, value);

	return !error && cell.len ? "a number has more behind it" : error;
}

static const char *parse_pid_number(struct text_slice cell, s64 *value)
{
	bool negative = cell.len && *cell.s == '-';
	const char *error;
	u64 v;

	cell.s += negative;
	cell.len -= negative;
	error = parse_number(cell, &v);
	if (!error && v > PID_MAX)
		return "a number is too large";
	*value = negative ? -(s64)v : (s64)v;
	return error;
}

/*
 * Decode a call chain: turn "one+0x1/0x2;two+0x3/0x4 [ext4]" into lines in @buf, which has room
 * for @size bytes. @head: the beginning of each line.
 */
static const char *decode_chain(struct text_slice cell, const char *head, char *buf, size_t size,
				struct text_slice *lines)
{
	const char *end = cell.s + cell.len;
	size_t head_len = strlen(head);
	char *to = buf, *limit = buf + size - head_len - 2;

	to = mempcpy(to, head, head_len);
	for (; cell.s < end && to < limit; cell.s++) {
		*to++ = *cell.s == ';' ? '\n' : *cell.s;
		if (*cell.s == ';')
			to = mempcpy(to, head, head_len);
	}
	if (cell.s < end)
		return "the call chain is too long";
	*to++ = '\n';
	*lines = (struct text_slice){ buf, to - buf };
	return NULL;
}

static const char *parse_kind(struct text_slice cell, enum record_kind *kind)
{
	int found = owner_lang_find_name(cell.s, cell.len, owner_kind_names, OWNER_KINDS);

	*kind = found;
	return found < 0 ? "a kind that is not known" : NULL;
}

/*
 * Set the field of a cell that is "-": the object does not have it. An object without a cache
 * is a per-CPU area.
 */
static void mark_absent_field(struct record *rec, int column)
{
	switch (column) {
	case OWNER_FIELD_CACHE:
		if (rec->kind != KIND_PAGE)
			rec->kind = KIND_PERCPU;
		break;
	case OWNER_FIELD_COMM:
		rec->comm = (struct text_slice){ "?", 1 };
		break;
	case OWNER_FIELD_PID:
		rec->pid = 0;
		break;
	case OWNER_FIELD_TGID:
		rec->tgid = 0;
		break;
	}
}

static const char *parse_cell(struct answer_row *row, int column, struct text_slice cell)
{
	struct record *rec = &row->rec;

	rec->cgroup_known |= column == OWNER_FIELD_CGROUP;
	rec->task_cgroup_known |= column == OWNER_FIELD_TASK_CGROUP;
	rec->user_known |= column == OWNER_FIELD_USER || column == OWNER_FIELD_BINARY;
	if (cell_equals(cell, "-")) {
		mark_absent_field(rec, column);
		return NULL;
	}
	switch (column) {
	case OWNER_FIELD_KIND:
		return parse_kind(cell, &rec->kind);
	case OWNER_FIELD_SIZE:
		return parse_number(cell, &rec->each_size);
	case OWNER_FIELD_HELD:
		return parse_number(cell, &rec->each_held);
	case OWNER_FIELD_NID:
		return parse_pid_number(cell, &rec->nid);
	case OWNER_FIELD_PID:
		return parse_pid_number(cell, &rec->pid);
	case OWNER_FIELD_TGID:
		return parse_pid_number(cell, &rec->tgid);
	case OWNER_FIELD_TS:
		return parse_number(cell, &rec->ts);
	case OWNER_FIELD_HANDLE:
		return parse_number(cell, &rec->handle);
	case OWNER_FIELD_CACHE:
		return decode_word(cell, row->cache, &rec->cache);
	case OWNER_FIELD_COMM:
		return decode_word(cell, row->comm, &rec->comm);
	case OWNER_FIELD_CGROUP:
		return decode_word(cell, row->cgroup, &rec->cgroup);
	case OWNER_FIELD_TASK_CGROUP:
		return decode_word(cell, row->task_cgroup, &rec->task_cgroup);
	case OWNER_FIELD_STACK:
		return decode_chain(cell, " ", row->stack, STACK_MAX, &rec->stack);
	case OWNER_FIELD_USER:
		return decode_chain(cell, USER_LINE, row->user, USER_MAX, &rec->user);
	case OWNER_FIELD_BINARY:
		row->binary = cell;
		return NULL;
	case COLUMN_WEIGHT:
		return parse_sampling_weight(cell, &rec->weight);
	case OWNER_FIELD_FUNC:
		row->func = cell;
		return NULL;
	case OWNER_FIELD_MODULE:
		row->module = cell;
		return NULL;
	case OWNER_FIELD_SYSCALL:
		row->syscall = cell;
		return NULL;
	default:
		return NULL;
	}
}

/*
 * Fill in a missing call chain: one frame from the handle, the function or the module of the
 * row, and the entry of its system call.
 */
static void fill_missing_stack(struct answer_row *row, struct handle_map *handles)
{
	struct record *rec = &row->rec;
	int len = 0;

	if (rec->stack.len)
		return;
	if (rec->handle != HANDLE_UNKNOWN) {
		rec->stack = handle_map_lookup(handles, rec->handle, row->handle_name);
		return;
	}
	if (row->func.len)
		len = snprintf(row->stack, STACK_MAX, " %.*s\n", (int)row->func.len, row->func.s);
	else if (row->module.len)
		len = snprintf(row->stack, STACK_MAX, " ? [%.*s]\n", (int)row->module.len,
			       row->module.s);
	if (row->syscall.len && len < STACK_MAX)
		len += snprintf(row->stack + len, STACK_MAX - len, " sys_%.*s\n",
				(int)row->syscall.len, row->syscall.s);
	rec->stack = (struct text_slice){ row->stack, len < STACK_MAX ? len : 0 };
}

/* Fill in a missing user chain: one frame from the file name of the row. */
static void fill_missing_user_chain(struct answer_row *row)
{
	int len;

	if (row->rec.user.len || !row->binary.len)
		return;
	len = snprintf(row->user, USER_MAX, USER_LINE "? [%.*s]\n", (int)row->binary.len,
		       row->binary.s);
	row->rec.user = (struct text_slice){ row->user, len < USER_MAX ? len : 0 };
}

static const char *fill_object_record(struct answer_row *row)
{
	struct record *rec = &row->rec;

	if (rec->each_size == SIZE_UNKNOWN || rec->each_held == SIZE_UNKNOWN)
		return "the object has no size";
	rec->objects = 1;
	rec->bytes = rec->each_size;
	rec->held = rec->each_held;
	return NULL;
}

/*
 * Fill the record of a group from its sums. @now: time of the answer, to turn ages into time
 * stamps; 0: unknown. A group that the kernel sums up from counters has no age.
 */
static void fill_group_record(struct answer_row *row, u64 now)
{
	struct record *rec = &row->rec;
	const u64 *sums = row->sums;

	rec->summed = true;
	rec->objects = sums[OBJECTS];
	rec->bytes = sums[BYTES];
	rec->held = sums[HELD];
	rec->records = sums[RECORDS];
	rec->objects_error = sums[OBJECTS_ERROR];
	rec->bytes_error = sums[BYTES_ERROR];
	if (!now || sums[OLDEST] > now || sums[YOUNGEST] > sums[OLDEST])
		return;
	rec->ts = now - sums[OLDEST];
	rec->span = sums[OLDEST] - sums[YOUNGEST];
}

static const char *parse_cells(const struct answer_columns *c, struct answer_row *row,
			       struct text_slice line)
{
	const char *error = NULL;
	u32 i;

	for (i = 0; i < c->n && !error; i++) {
		struct text_slice cell;

		if (!memchr(line.s, '\t', line.len) && i + 1 < c->n)
			return "the row has too few columns";
		cell = consume_cell(&line);
		if (c->v[i] < COLUMN_SUM)
			error = parse_cell(row, c->v[i], cell);
		else if (!cell_equals(cell, "-"))
			error = parse_number(cell, &row->sums[c->v[i] - COLUMN_SUM]);
	}
	return !error && line.len ? "the row has too many columns" : error;
}

static const char *parse_row(struct input_reading *r, struct answer_row *row,
			     struct text_slice line)
{
	struct text_slice name = line;
	const char *error;

	name = consume_cell(&name);
	if (cell_equals(name, "total"))
		return NULL;
	if (!r->columns.n)
		return "a row before the names of its columns";
	if (r->columns.growth)
		return "the row is growth since a mark, not memory that is held";
	error = parse_cells(&r->columns, row, line);
	if (error)
		return error;
	if (cell_equals(name, "not_shown") || cell_equals(name, "other"))
		return row->sums[OBJECTS] ? "the answer leaves objects out" : NULL;
	if (row->rec.kind == KIND_PERCPU)
		row->rec.cache = (struct text_slice){ PERCPU_NAME, strlen(PERCPU_NAME) };
	row->rec.slab_page = row->rec.kind == KIND_PAGE && row->rec.cache.len;
	fill_missing_stack(row, r->handles);
	fill_missing_user_chain(row);
	if (r->columns.groups)
		fill_group_record(row, r->sink->now);
	else
		error = fill_object_record(row);
	if (!error)
		reading_submit_record(r, &row->rec, r->line);
	return error;
}

/* Clear the fields of a row, but not the buffers, which are large. */
static struct answer_row *clear_row(struct answer_row *row)
{
	row->rec = RECORD_UNKNOWN;
	memset(row->sums, 0, sizeof(row->sums));
	row->sums[OLDEST] = TS_UNKNOWN;
	row->sums[YOUNGEST] = TS_UNKNOWN;
	row->func = (struct text_slice){ "", 0 };
	row->module = (struct text_slice){ "", 0 };
	row->syscall = (struct text_slice){ "", 0 };
	row->binary = (struct text_slice){ "", 0 };
	return row;
}

static const char *parse_answer_line(struct input_reading *r, struct text_slice line)
{
	struct answer_row row;

	if (is_kernel_answer_column_head(line))
		return parse_column_head(&r->columns, line);
	if (!TEXT_STARTS(line, "#"))
		return parse_row(r, clear_row(&row), line);
	/* The sentence stands above the generation and the names of the columns. */
	if (!TEXT_STARTS(line, "# generation "))
		r->columns.sentence_has_mark = memmem(line.s, line.len, " since=mark", 11);
	return NULL;
}

static void read_answer(struct input_reading *r, struct text_scan *c)
{
	reading_read_line(r, c, parse_answer_line);
}

/* An answer that lists slab objects is assumed to list all that the user wants. */
static bool find_kind_of_answer(struct input_reading *r, enum record_kind *kind)
{
	struct text_scan c = reading_begin_scan(r);
	struct text_slice line;

	*kind = KIND_SLAB;
	while (scan_next_line(&c, &line))
		if (TEXT_STARTS(line, "object\tslab\t"))
			return true;
	return false;
}

const struct input_format format_answer = {
	.recognise = is_answer_line,
	.find_kind = find_kind_of_answer,
	.record_begins = is_answer_line,
	.read = read_answer,
};
