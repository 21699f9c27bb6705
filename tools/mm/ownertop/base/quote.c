// SPDX-License-Identifier: GPL-2.0
/* Quote words for a shell. */
#include <ctype.h>
#include <string.h>

#include "base/quote.h"

void quote_print_argument(const char *word, FILE *out)
{
	const char *special = word;

	while (isalnum((unsigned char)*special) || (*special && strchr("%+,-./:=@_", *special)))
		special++;
	putc(' ', out);
	if (*word && !*special) {
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
