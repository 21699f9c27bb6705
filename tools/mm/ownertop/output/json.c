// SPDX-License-Identifier: GPL-2.0
/* Write JSON documents, with exact figures. */
#include <json-c/printbuf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "output/json.h"

/*
 * Version of the JSON documents: it is incremented when a change breaks programs that read
 * them.
 */
#define JSON_SCHEMA_VERSION 1

static struct json_object *require_memory(struct json_object *value)
{
	if (!value)
		exit_out_of_memory();
	return value;
}

struct json_object *json_new_count(u64 number)
{
	return require_memory(json_object_new_uint64(number));
}

static struct json_object *new_json_word(const char *s)
{
	return require_memory(json_object_new_string(s));
}

struct json_object *json_new_object(void)
{
	return require_memory(json_object_new_object());
}

void json_add_member(struct json_object *object, const char *name, struct json_object *value)
{
	if (json_object_object_add(object, name, value))
		exit_out_of_memory();
}

struct json_object *json_new_list(void)
{
	return require_memory(json_object_new_array());
}

void json_add_item(struct json_object *list, struct json_object *value)
{
	if (json_object_array_add(list, value))
		exit_out_of_memory();
}

/*
 * Names of tasks and caches can hold any bytes. json-c copies a byte that is not UTF-8,
 * which is not valid JSON; this writes it as the character of the same number. It also
 * escapes "<", so that a name in a page of HTML cannot end the script it is part of.
 */
static int append_escaped(struct printbuf *pb, struct text_slice t)
{
	printbuf_strappend(pb, "\"");
	while (t.len) {
		unsigned char c = t.s[0];
		size_t len = utf8_char_len(t);

		if (!len || c < ' ' || c == 0x7f || c == '<')
			sprintbuf(pb, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			sprintbuf(pb, "\\%c", c);
		else
			printbuf_memappend(pb, t.s, len);
		t.s += len ? len : 1;
		t.len -= len ? len : 1;
	}
	return printbuf_strappend(pb, "\"");
}

static int serialize_text(struct json_object *value, struct printbuf *pb, int level, int flags)
{
	(void)level;
	(void)flags;
	return append_escaped(pb, (struct text_slice){ json_object_get_string(value),
						 json_object_get_string_len(value) });
}

struct json_object *json_from_text(struct text_slice t)
{
	struct json_object *value = require_memory(json_object_new_string_len(t.s, t.len));

	json_object_set_serializer(value, serialize_text, NULL, NULL);
	return value;
}

struct json_object *json_from_real(double v, const char *format)
{
	char buf[32];

	snprintf(buf, sizeof(buf), format, v);
	return require_memory(json_object_new_double_s(v, buf));
}

/*
 * Print a value with a space behind "," and ":". json-c can do so only along with spaces inside
 * brackets.
 */
static void print_value(struct json_object *value, FILE *out)
{
	const char *p = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	bool in_string = false;

	if (!p)
		exit_out_of_memory();
	for (; *p; p++) {
		putc(*p, out);
		if (*p == '"')
			in_string = !in_string;
		else if (in_string && *p == '\\')
			putc(*++p, out);
		else if (!in_string && (*p == ',' || *p == ':'))
			putc(' ', out);
	}
	json_object_put(value);
}

void json_print_text(struct text_slice t, FILE *out)
{
	struct printbuf *pb = printbuf_new();

	if (!pb || append_escaped(pb, t) < 0)
		exit_out_of_memory();
	fwrite(pb->buf, 1, printbuf_length(pb), out);
	printbuf_free(pb);
}

struct json_object *json_from_sum(const struct sum *sum)
{
	struct json_object *object = json_new_object();

	json_add_member(object, "objects", json_new_count(sum->objects));
	json_add_member(object, "bytes", json_new_count(sum->bytes));
	json_add_member(object, "held", json_new_count(sum->held));
	if (!sum_is_estimate(sum))
		return object;
	json_add_member(object, "records", json_new_count(sum->records));
	json_add_member(object, "objects_error", json_new_count(sum_objects_error(sum)));
	json_add_member(object, "bytes_error", json_new_count(sum_bytes_error(sum)));
	return object;
}

static struct json_object *json_from_chain(const struct cell *cell)
{
	struct json_object *array = json_new_list();
	u32 i;

	for (i = 0; i < cell->chain->n; i++)
		json_add_item(array, json_from_text(cell->frames->v[cell->chain->frames[i]]));
	return array;
}

static struct json_object *json_from_sums(const struct sum *sums, u32 n)
{
	struct json_object *array = json_new_list();
	u32 i;

	for (i = 0; i < n; i++)
		json_add_item(array, json_from_sum(&sums[i]));
	return array;
}

static struct json_object *json_from_cell(const struct view_row *row, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_AGE:
	case CELL_TIME:
		return json_new_count(cell->number);
	case CELL_TIMES:
		return json_new_count(cell->part);
	case CELL_NUMBER:
		return require_memory(json_object_new_int64(cell->integer));
	case CELL_PER_HOUR:
	case CELL_FRACTION:
		return json_from_real(cell->real, "%.15g");
	case CELL_WORD:
	case CELL_NAME:
		return json_from_text(cell->name);
	case CELL_CHAIN:
		return json_from_chain(cell);
	case CELL_SUMS:
		return json_from_sums(row->sums, row->nr_sums);
	default:
		return NULL;	/* a null pointer is printed as null */
	}
}

struct json_object *json_from_row(const struct column_list *list, const struct view_row *row)
{
	struct json_object *object = json_new_object(), *inner;
	u32 i;

	for (i = 0; i < list->n; i++) {
		const struct column *c = &list->v[i];
		struct cell cell = c->get(row, c->arg);

		if (cell.type == CELL_NONE || cell.is_exact)
			continue;
		inner = object;
		if (c->object && !json_object_object_get_ex(object, c->object, &inner)) {
			inner = json_new_object();
			json_add_member(object, c->object, inner);
		}
		json_add_member(inner, list->name[i], json_from_cell(row, &cell));
	}
	return object;
}

void json_print_member(const char *name, struct json_object *value, FILE *out)
{
	fprintf(out, "  \"%s\": ", name);
	print_value(value, out);
	fputs(",\n", out);
}

void json_begin_list(const char *name, FILE *out)
{
	fprintf(out, "  \"%s\": [", name);
}

void json_print_item(struct json_object *value, bool first, FILE *out)
{
	fputs(first ? "\n    " : ",\n    ", out);
	print_value(value, out);
}

void json_end_list(FILE *out)
{
	fputs("\n  ],\n", out);
}

void json_end_document(bool any, FILE *out)
{
	fputs(any ? "\n  ]\n}\n" : "]\n}\n", out);
}

static void print_group_fields(const struct model *m, FILE *out)
{
	struct json_object *fields = json_new_list();
	const struct group_list *by = &m->select->group;
	char name[32];
	unsigned int i;

	for (i = 0; i < by->n; i++) {
		owner_lang_print_column(&by->v[i], name, sizeof(name));
		if (model_shows_field(m, by->v[i].field))
			json_add_item(fields, new_json_word(name));
	}
	json_print_member("group_by", fields, out);
}

static void print_sort_keys(const struct view_options *view, FILE *out)
{
	struct json_object *keys = json_new_list();
	u32 i;

	for (i = 0; i < view->nr_order; i++)
		json_add_item(keys, new_json_word(owner_sort_names[view->order[i]]));
	json_print_member("order_by", keys, out);
}

static void print_sources(const struct sources *s, FILE *out)
{
	const char *overlaps[SOURCES_OVERLAPS];
	struct json_object *value;
	unsigned int i;

	sources_find_overlaps(s, overlaps);
	if (*overlaps) {
		value = json_new_list();
		for (i = 0; overlaps[i]; i++)
			json_add_item(value, new_json_word(overlaps[i]));
		json_print_member("overlaps", value, out);
	}
	if (s->backing.objects) {
		value = json_new_object();
		json_add_member(value, "objects", json_new_count(s->backing.objects));
		json_add_member(value, "bytes", json_new_count(s->backing.bytes));
		json_print_member("set_aside", value, out);
	}
	if (s->unknown_size)
		json_print_member("unknown_size", json_new_count(s->unknown_size), out);
	if (s->inaccurate)
		json_print_member("inaccurate", json_new_count(s->inaccurate), out);
}

static void print_summary(const struct input_summary *summary, FILE *out)
{
	if (summary->coverage_known) {
		json_print_member("tracked", json_new_count(summary->tracked), out);
		json_print_member("untracked", json_new_count(summary->untracked), out);
	}
}

void json_begin_document(const struct answer *a, const struct output_options *o, FILE *out)
{
	const struct model *m = &a->model;

	fputs("{\n", out);
	json_print_member("schema", new_json_word("ownertop"), out);
	json_print_member("version", json_new_count(JSON_SCHEMA_VERSION), out);
	json_print_member("view", new_json_word(o->view), out);
	json_print_member("complete", json_object_new_boolean(health_is_complete(&a->health)), out);
	json_print_member("damaged", json_new_count(a->health.damaged), out);
	json_print_member("unread_inputs", json_new_count(a->health.unread), out);
	json_print_member("depth", json_new_count(m->select->chains.depth), out);
	if (m->select->chains.by_function)
		json_print_member("by", new_json_word("function"), out);
	json_print_member("sort", new_json_word(measure_name(a->view.measure)), out);
	print_group_fields(m, out);
	if (a->view.nr_order != 1 || !measure_is_sort_key(a->view.order[0]))
		print_sort_keys(&a->view, out);
	json_print_member("newest_ns", json_new_count(m->newest), out);
	print_summary(&m->sink.summary, out);
	print_sources(&m->sources, out);
	if (m->sink.summary.idle_handles)
		json_print_member("idle_handles",
				  json_new_count(m->sink.summary.idle_handles), out);
	json_print_member("filtered_out", json_from_sum(&m->filtered), out);
	if (m->select->chains.known.frame)
		json_print_member("known_owners", json_from_sum(&m->known), out);
	if (m->undecided.objects)
		json_print_member("undecided", json_from_sum(&m->undecided), out);
}
