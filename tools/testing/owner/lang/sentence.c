// SPDX-License-Identifier: GPL-2.0
/*
 * sentence control|query: read sentences as that file would, write each as it
 * is understood. Stops with status 1 at what is wrong, and says so.
 */
#include <stdio.h>
#include <string.h>

#include "lang.h"

static bool explain(const char *text, size_t length, const struct owner_lang_error *error)
{
	char shown[OWNER_ERROR_TEXT_SIZE];

	owner_lang_render_error(error, text, length, shown, sizeof(shown));
	fputs(shown, stderr);
	return false;
}

static bool read_all(enum owner_dialect dialect, struct owner_lang_text rest)
{
	char printed[OWNER_SENTENCE_MAX + 1];
	struct owner_lang_error error;
	struct owner_sentence s;
	const char *sentence;
	size_t length;

	while (owner_lang_next_sentence(&rest, &sentence, &length)) {
		if (!owner_lang_parse(&s, dialect, sentence, length, &error))
			return explain(sentence, length, &error);
		owner_lang_print(&s, printed, sizeof(printed));
		puts(printed);
	}
	return true;
}

int main(int argc, char *argv[])
{
	bool control = argc == 2 && !strcmp(argv[1], "control");
	static char text[1 << 20];
	size_t length;

	if (!control && (argc != 2 || strcmp(argv[1], "query"))) {
		fputs("usage: sentence control|query < TEXT\n", stderr);
		return 2;
	}
	length = fread(text, 1, sizeof(text), stdin);
	return !read_all(control ? OWNER_CONTROL : OWNER_QUERY,
			 (struct owner_lang_text){ text, length });
}
