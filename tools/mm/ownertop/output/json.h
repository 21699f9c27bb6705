/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write JSON with json-c; ownertop(8) describes the documents. A document is an object whose
 * members are printed one by one, and the rows of its last member, a list, likewise: json-c
 * builds only one of them at a time, so memory does not grow with the document.
 */
#ifndef OWNERTOP_JSON_H
#define OWNERTOP_JSON_H

#include <json-c/json.h>

#include "output/column.h"

/* Create JSON values. The functions that add or print a value take over its reference. */
struct json_object *json_new_object(void);
struct json_object *json_new_list(void);
void json_add_item(struct json_object *list, struct json_object *value);
void json_add_member(struct json_object *object, const char *name, struct json_object *value);
struct json_object *json_new_count(u64 number);
struct json_object *json_from_text(struct text_slice t);
/* Create a JSON number that is printed with the printf() format @format. */
struct json_object *json_from_real(double v, const char *format);
/* Create a JSON object whose members are the figures of a sum. */
struct json_object *json_from_sum(const struct sum *sum);
/*
 * Create a JSON object with the cells of a row; columns that share an inner object are next to
 * each other.
 */
struct json_object *json_from_row(const struct column_list *list, const struct view_row *row);

/* Begin a JSON document with the members that all views have. */
void json_begin_document(const struct answer *a, const struct output_options *o, FILE *out);
void json_print_member(const char *name, struct json_object *value, FILE *out);
/* Begin a member of the document that is a list. */
void json_begin_list(const char *name, FILE *out);
void json_print_item(struct json_object *value, bool first, FILE *out);
/* End a list that has items and is followed by another member of the document. */
void json_end_list(FILE *out);
/* End the list of rows and the document. @any: the list has a row. */
void json_end_document(bool any, FILE *out);

/* Print one JSON string. */
void json_print_text(struct text_slice t, FILE *out);

#endif
