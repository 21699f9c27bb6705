// SPDX-License-Identifier: GPL-2.0
/*
 * User chains: which code of a program asked for the memory. A handle of a task can be that of a
 * context, whose last word is the handle of a user chain, or says why there is none. See
 * mm/owner/user/user.h.
 */

#include "escape.h"
#include "owner.h"

#define WORDS_MAX	64
#define BUILD_ID_MAX	64
#define NAME_MAX_BYTES	256

/* enum owner_user_place */
#define PLACE_REASON	0xfffd
#define PLACE_ANON	0xfffe
#define PLACE_VDSO	0xffff

/* The numbers of enum owner_user_reason do not change. */
static const char * const reasons[] = {
	"not-asked", "kernel-thread", "user-worker", "exiting", "exec", "32-bit", "interrupt",
	"no-frame-pointers", "fault", "cycle", "binaries-full", "no-memory", "pending",
};

static void print_reason(FILE *out, uint64_t reason)
{
	if (reason < OWNER_LENGTH(reasons))
		fprintf(out, " user (%s)\n", reasons[reason]);
	else
		fprintf(out, " user (reason-%llu)\n", (unsigned long long)reason);
}

/* Does the debug information have all members? Without one, its offset or size is -1. */
static bool has_binary_layout(void)
{
	const struct owner_layout *l = &owner_layout;

	return l->binary_size > 0 && l->binary_size <= OWNER_BINARY_ROOM &&
	       l->binary_id >= 0 && l->binary_id_room >= 0 && l->binary_id_size >= 0 &&
	       l->binary_dev >= 0 && l->binary_ino >= 0 &&
	       l->binary_name >= 0 && l->binary_name_room >= 0;
}

/* Copy the structure of a file of user chains, by its place. Return: false if there is none. */
static bool read_binary(unsigned int place, unsigned char *binary)
{
	const struct owner_layout *l = &owner_layout;
	uint32_t count = 0;
	ulong array = 0, address = 0;

	if (!symbol_exists("owner_binaries") || !symbol_exists("owner_nr_binaries") ||
	    !has_binary_layout())
		return false;
	owner_read_u32(symbol_value("owner_nr_binaries"), &count);
	owner_read_ulong(symbol_value("owner_binaries"), &array);
	return array && place && place <= count &&
	       owner_read_ulong(array + (place - 1) * sizeof(address), &address) &&
	       owner_read(address, binary, l->binary_size);
}

static void print_binary_frame(FILE *out, unsigned int place, uint64_t offset)
{
	const struct owner_layout *l = &owner_layout;
	char name[NAME_MAX_BYTES] = "", shown[4 * NAME_MAX_BYTES];
	unsigned char binary[OWNER_BINARY_ROOM];
	uint32_t size, i, dev;

	if (!read_binary(place, binary)) {
		owner_note(NOTE_BINARY);
		fprintf(out, " user ?+0x%llx@0:0:0\n", (unsigned long long)offset);
		return;
	}
	memcpy(name, binary + l->binary_name, MIN(l->binary_name_room, NAME_MAX_BYTES - 1));
	owner_escape_name(shown, sizeof(shown), name, " ,;");
	fprintf(out, " user %s+0x%llx@", shown, (unsigned long long)offset);
	size = owner_get_u32(binary, l->binary_id_size);
	for (i = 0; i < size && i < l->binary_id_room; i++)
		fprintf(out, "%02x", binary[l->binary_id + i]);
	dev = owner_get_u32(binary, l->binary_dev);
	if (!size)
		fprintf(out, "%u:%u:%llu", dev >> 20, dev & ((1U << 20) - 1),
			(unsigned long long)owner_get_u64(binary, l->binary_ino));
	fputs("\n", out);
}

static void print_frame(FILE *out, uint64_t word)
{
	unsigned int place = word >> owner_formats.user_place_shift;
	uint64_t offset = word & ((1ULL << owner_formats.user_place_shift) - 1);

	switch (place) {
	case PLACE_REASON:
		print_reason(out, offset);
		break;
	case PLACE_ANON:
		fputs(" user [anon]\n", out);
		break;
	case PLACE_VDSO:
		fprintf(out, " user [vdso]+0x%llx\n", (unsigned long long)offset);
		break;
	default:
		print_binary_frame(out, place, offset);
	}
}

static void print_user_chain(FILE *out, uint32_t handle)
{
	uint64_t words[WORDS_MAX];
	uint32_t count = owner_depot_words(handle, words, WORDS_MAX), i;

	if (!count)
		owner_note(NOTE_CHAIN);
	for (i = 0; i < count; i++)
		print_frame(out, words[i]);
}

/*
 * Return the lines of the user chain of a task's handle, to be freed; without any if no rule
 * asked for it. NULL if memory is short.
 */
char *owner_make_user_text(uint32_t handle)
{
	const struct owner_formats *f = &owner_formats;
	uint64_t words[WORDS_MAX], last;
	uint32_t count = handle && f->context_words ?
			 owner_depot_words(handle, words, WORDS_MAX) : 0;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	if (count && count == f->context_words) {
		last = words[count - 1];
		if (last >> f->user_reason_shift)
			print_reason(out, last >> f->user_reason_shift);
		else
			print_user_chain(out, last);
	}
	fclose(out);
	return text;
}
