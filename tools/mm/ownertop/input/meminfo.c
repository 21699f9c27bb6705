// SPDX-License-Identifier: GPL-2.0
/* Read the sizes of a machine's memory. */
#include <stdlib.h>
#include <string.h>

#include "input/machine_file.h"
#include "input/meminfo.h"

/* Find the number of bytes behind @name, which begins a line. Returns 0 if there is none. */
static u64 find_bytes(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	while (line && line != text && line[-1] != '\n')
		line = strstr(line + 1, name);
	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

bool meminfo_read_of_dump(const char *dump, struct meminfo *m)
{
	char *text = machine_file_read(dump, "meminfo");

	if (!text)
		return false;
	m->total = find_bytes(text, "MemTotal:");
	m->slab = find_bytes(text, "Slab:");
	free(text);
	return m->total && m->slab;
}
