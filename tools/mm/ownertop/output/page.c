// SPDX-License-Identifier: GPL-2.0
/* Write what all pages of HTML have: the head, and data of the answer. */
#include <string.h>

#include "input/health.h"
#include "output/json.h"
#include "output/notes.h"
#include "output/page.h"

struct json_note_list {
	FILE *out;
	u32 nr_lines;
};

static void print_page_note(void *arg, const char *line)
{
	struct json_note_list *list = arg;

	fputs(list->nr_lines++ ? "," : "", list->out);
	json_print_text((struct text_slice){ line, strlen(line) }, list->out);
}

void page_begin(const struct answer *a, FILE *out)
{
	struct json_note_list list = { .out = out };

	fwrite(_binary_page_html_start, 1, _binary_page_html_end - _binary_page_html_start, out);
	fprintf(out, "{\"complete\":%s,\n\"notes\":[",
		health_is_complete(&a->health) ? "true" : "false");
	notes_print_lines(a, NOTES_ALL, print_page_note, &list);
	fputs("],\n", out);
}

void page_end(const char *view, const char *view_end, FILE *out)
{
	fputs("}</script>\n", out);
	fwrite(view, 1, view_end - view, out);
}
