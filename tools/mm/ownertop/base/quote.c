// SPDX-License-Identifier: GPL-2.0
/* Quote words for a shell. */
#include <string.h>

#include "base/quote.h"

void quote_print_argument(const char *word, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	putc(' ', out);
	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		putc(*word, out);
	}
	putc('\'', out);
}
