// SPDX-License-Identifier: GPL-2.0
/* Parse the raw text of user chains and intern the frames that are shown. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "input/octal.h"
#include "input/record.h"
#include "model/user_chains.h"

/* Limits of damaged input: the kernel keeps 16 frames. */
#define FRAMES_MAX 64
#define FILE_NAME_MAX 1024

struct user_frame_info {
	u32 shown;		/* number of the frame that is shown for the line */
	u32 file;		/* number of the file name; 0: the frame is in no file */
	u32 func;		/* number of the function; 0: unknown */
	bool is_of_libc;
};

/* A slot of the table of the last parsed chains: see struct parsed_chain_slot. */
#ifndef PARSED_SLOTS
#define PARSED_SLOTS 4096
#endif

struct parsed_user_slot {
	u64 hash;
	struct parsed_user_chain chain;
	bool used;
};

void user_chains_init(struct user_chains *u, const struct user_chain_options *options,
		      const struct owner_sentence *sentence, struct binaries *binaries)
{
	static const struct text_slice none = { "", 0 };

	*u = (struct user_chains){
		.options = options,
		.sentence = sentence,
		.binaries = binaries,
	};
	strings_intern(&u->funcs, none);
	strings_intern(&u->files, none);
	chains_intern(&u->chains, NULL, 0);
}

static u32 intern_file(struct user_chains *u, struct text_slice escaped)
{
	char decoded[FILE_NAME_MAX];

	if (escaped.len > sizeof(decoded))
		escaped.len = sizeof(decoded);
	return strings_intern(&u->files, octal_decode(escaped, decoded));
}

/* Intern the frame "func+0xoffset [file]", or "func [file]" if frames are functions. */
static u32 intern_named_frame(struct user_chains *u, const struct user_frame *frame,
			      struct text_slice func, u64 offset)
{
	char *text;
	int len;
	u32 id;

	if (u->options->by_function || !offset)
		len = asprintf(&text, "%.*s [%.*s]", (int)func.len, func.s, (int)frame->file.len,
			       frame->file.s);
	else
		len = asprintf(&text, "%.*s+0x%llx [%.*s]", (int)func.len, func.s, offset,
			       (int)frame->file.len, frame->file.s);
	if (len < 0)
		exit_out_of_memory();
	id = strings_intern(&u->frames, (struct text_slice){ text, len });
	free(text);
	return id;
}

/* Answers that only tell the file of a frame have "?" for its function. */
static bool is_unknown_function(struct text_slice func)
{
	return func.len == 1 && *func.s == '?';
}

static struct user_frame_info make_frame_info(struct user_chains *u, struct text_slice line,
					      const struct user_frame *frame)
{
	struct text_slice func = frame->func;
	struct user_frame_info info = { .is_of_libc = user_frame_is_of_libc(frame) };
	u64 offset = frame->offset;

	/* "[vdso]" and "[anon]" are no files. */
	if (frame->file.len && (frame->id.len || frame->func.len))
		info.file = intern_file(u, frame->file);
	if (u->binaries && !func.len)
		func = binaries_find_function(u->binaries, frame, &offset);
	if (func.len && !is_unknown_function(func)) {
		info.func = strings_intern(&u->funcs, func);
		info.shown = intern_named_frame(u, frame, func, offset);
	} else {
		info.shown = strings_intern(&u->frames, line);
	}
	return info;
}

static void store_frame_info(struct user_chains *u, u32 id, const struct user_frame_info *info)
{
	u->info = grow_array(u->info, id, &u->info_cap, sizeof(*u->info));
	u->info[id] = *info;
}

static bool intern_line(struct user_chains *u, struct text_slice line, u32 *id)
{
	u32 nr_lines = u->lines.n;
	struct user_frame_info info;
	struct user_frame frame;

	/* A malformed frame must be reported each time it is read. */
	if (!user_frame_parse(line, &frame))
		return false;
	*id = strings_intern(&u->lines, line);
	if (*id < nr_lines)
		return true;
	info = make_frame_info(u, line, &frame);
	store_frame_info(u, *id, &info);
	return true;
}

/* Returns the number of lines, which are in @lines; -1 if one is malformed. */
static int split_chain_into_lines(struct user_chains *u, struct text_slice raw,
				  u32 lines[FRAMES_MAX])
{
	const size_t head = strlen(USER_LINE);
	struct text_slice line;
	const char *p = raw.s, *end = raw.s + raw.len;
	int n = 0;

	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);

		line = (struct text_slice){ p, nl - p };
		if (!TEXT_STARTS(line, USER_LINE))
			return -1;
		line = (struct text_slice){ p + head, nl - p - head };
		if (line.len && line.s[line.len - 1] == '\r')
			line.len--;
		if (n == FRAMES_MAX || !intern_line(u, line, &lines[n]))
			return -1;
		n++;
		p = nl + 1;
	}
	return n;
}

/*
 * Returns the first frame that is in a file other than the C library, which makes the system
 * calls of programs; or else the first frame in a file, or the first frame.
 */
static int find_frame_of_program(const struct user_chains *u, const u32 *lines, int n)
{
	int i, library = -1;

	for (i = 0; i < n; i++) {
		const struct user_frame_info *info = &u->info[lines[i]];

		if (info->file && !info->is_of_libc)
			return i;
		if (info->file && library < 0)
			library = i;
	}
	return library < 0 ? 0 : library;
}

static bool frame_matches(const struct user_chains *u, u32 line, const struct owner_comparison *c)
{
	const struct user_frame_info *info = &u->info[line];

	if (c->field == OWNER_FIELD_BINARY)
		return info->file && owner_lang_word_matches(u->sentence, c,
							     u->files.v[info->file].s);
	return info->func && owner_lang_word_matches(u->sentence, c, u->funcs.v[info->func].s);
}

static u32 evaluate_comparisons(const struct user_chains *u, const u32 *lines, int n)
{
	const struct owner_sentence *s = u->sentence;
	u32 matched = 0, c;
	int i;

	for (c = 0; c < s->nr_comparisons; c++) {
		enum owner_field field = s->comparisons[c].field;

		if (field != OWNER_FIELD_BINARY && field != OWNER_FIELD_UFUNC)
			continue;
		for (i = 0; i < n && !(matched & 1U << c); i++)
			if (frame_matches(u, lines[i], &s->comparisons[c]))
				matched |= 1U << c;
	}
	return matched;
}

static bool has_only_unnamed_frames(const struct user_chains *u, const u32 *lines, int n)
{
	bool any = false;
	int i;

	for (i = 0; i < n; i++) {
		if (u->info[lines[i]].func)
			return false;
		any |= u->info[lines[i]].file;
	}
	return any;
}

static bool parse_chain(struct user_chains *u, struct text_slice raw,
			struct parsed_user_chain *parsed)
{
	u32 lines[FRAMES_MAX], depth = u->options->depth, i;
	int n = split_chain_into_lines(u, raw, lines);
	const struct user_frame_info *first;

	if (n <= 0)
		return false;
	parsed->matched = evaluate_comparisons(u, lines, n);
	first = &u->info[lines[find_frame_of_program(u, lines, n)]];
	parsed->file = first->file;
	parsed->func = first->func;
	parsed->functions_unknown = has_only_unnamed_frames(u, lines, n);
	if (depth && depth < (u32)n)
		n = depth;
	for (i = 0; i < (u32)n; i++)
		lines[i] = u->info[lines[i]].shown;
	parsed->chain = chains_intern(&u->chains, lines, n);
	return true;
}

bool user_chains_parse(struct user_chains *u, struct text_slice raw,
		       struct parsed_user_chain *parsed)
{
	struct parsed_user_slot *slot;
	XXH128_hash_t hash;

	if (!u->parsed)
		u->parsed = xcalloc(PARSED_SLOTS, sizeof(*u->parsed));
	hash = XXH3_128bits(raw.s, raw.len);
	slot = &u->parsed[hash.low64 % PARSED_SLOTS];
	if (!slot->used || slot->hash != hash.high64) {
		if (!parse_chain(u, raw, parsed))
			return false;
		*slot = (struct parsed_user_slot){ hash.high64, *parsed, true };
	}
	*parsed = slot->chain;
	return true;
}

u32 *user_chains_intern_functions_of_frames(const struct user_chains *u, struct strings *names)
{
	u32 *ids = xcalloc(u->frames.n + 1, sizeof(*ids)), i;

	for (i = 0; i < u->frames.n; i++) {
		struct user_frame frame;
		char *name;
		int len;

		user_frame_parse(u->frames.v[i], &frame);
		if (frame.func.len)
			len = asprintf(&name, "user %.*s [%.*s]", (int)frame.func.len, frame.func.s,
				       (int)frame.file.len, frame.file.s);
		else
			len = asprintf(&name, "user %s", u->frames.v[i].s);
		if (len < 0)
			exit_out_of_memory();
		ids[i] = strings_intern(names, (struct text_slice){ name, len });
		free(name);
	}
	return ids;
}

void user_chains_count(struct user_chains *u, u32 file, const struct file_count *more)
{
	while (u->nr_counts <= file) {
		u->counts = grow_array(u->counts, u->nr_counts, &u->counts_cap,
				       sizeof(*u->counts));
		u->counts[u->nr_counts++] = (struct file_count){ 0 };
	}
	u->counts[file].objects += more->objects;
	u->counts[file].bytes += more->bytes;
	u->counts[file].held += more->held;
}

void user_chains_clear_counts(struct user_chains *u)
{
	u->nr_counts = 0;
}

void user_chains_finish(struct user_chains *u)
{
	chains_finish(&u->chains);
	free(u->parsed);
	u->parsed = NULL;
}

void user_chains_free(struct user_chains *u)
{
	user_chains_finish(u);
	chains_free(&u->chains);
	strings_free(&u->lines);
	strings_free(&u->frames);
	strings_free(&u->funcs);
	strings_free(&u->files);
	free(u->info);
	free(u->counts);
}
