// SPDX-License-Identifier: GPL-2.0
/*
 * Find the call chain of each record of a dump, hash its text, and count the chains: the least that
 * any program does that groups records by their chains. bench_ownertop.sh compares ownertop to it.
 *
 * Lines with a leading space are a chain, and a line without one ends it. Nothing else is read or
 * checked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BUFFER_SIZE (512 * 1024)
#define SLOTS (1 << 17)

struct slot {
	XXH64_hash_t hash;
	unsigned long long records;
};

static struct slot slots[SLOTS];
static unsigned long long records, chains;

static void count_chain(const char *chain, size_t len)
{
	XXH64_hash_t hash = XXH3_64bits(chain, len);
	size_t i = hash % SLOTS;

	while (slots[i].records && slots[i].hash != hash)
		i = (i + 1) % SLOTS;
	chains += !slots[i].records;
	if (chains == SLOTS) {
		fputs("the dump has too many chains\n", stderr);
		exit(1);
	}
	slots[i].hash = hash;
	slots[i].records++;
	records++;
}

/* Count the chains that end in the @len bytes at @text. Returns the bytes up to the last one. */
static size_t count_chains_in_buffer(const char *text, size_t len)
{
	const char *p = text, *end = text + len, *chain = NULL, *rest = text, *nl;

	for (; (nl = memchr(p, '\n', end - p)); p = nl + 1) {
		if (*p == ' ') {
			if (!chain)
				chain = p;
			continue;
		}
		if (chain)
			count_chain(chain, p - chain);
		chain = NULL;
		rest = nl + 1;
	}
	return rest - text;
}

int main(int argc, char **argv)
{
	static char buf[BUFFER_SIZE];
	size_t len = 0, done;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : STDIN_FILENO;
	ssize_t n;

	if (fd < 0 || argc > 2) {
		fprintf(stderr, "usage: %s [DUMP]\n", argv[0]);
		return 2;
	}
	while ((n = read(fd, buf + len, sizeof(buf) - len)) > 0) {
		len += n;
		done = count_chains_in_buffer(buf, len);
		len -= done;
		memmove(buf, buf + done, len);
	}
	printf("%llu records, %llu chains\n", records, chains);
	return n < 0;
}
