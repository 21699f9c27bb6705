// SPDX-License-Identifier: GPL-2.0
/*
 * sentence control|query: parse the sentences on stdin and print each in its canonical
 * form. Prints the first error and exits with status 1.
 */
#include <stdio.h>
#include <string.h>

#include "lang.h"

static bool print_error(const char *text, size_t length, const struct owner_lang_error *error)
{
	char shown[OWNER_ERROR_TEXT_SIZE];

	owner_lang_render_error(error, text, length, shown, sizeof(shown));
	fputs(shown, stderr);
	return false;
}

static bool print_sentences(enum owner_dialect dialect, struct owner_lang_text text)
{
	char printed[OWNER_SENTENCE_MAX + 1];
	struct owner_lang_error error;
	struct owner_sentence s;
	const char *sentence;
	size_t length;

	while (owner_lang_next_sentence(&text, &sentence, &length)) {
		if (!owner_lang_parse(&s, dialect, sentence, length, &error))
			return print_error(sentence, length, &error);
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
	return !print_sentences(control ? OWNER_CONTROL : OWNER_QUERY,
			 (struct owner_lang_text){ text, length });
}
