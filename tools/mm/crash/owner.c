// SPDX-License-Identifier: GPL-2.0
/*
 * An extension of crash(8): the command "owner", which tells who allocated slab objects.
 *
 *	make -C tools/mm/crash owner.so
 *	crash [--minimal] vmlinux vmcore
 *	extend owner.so
 */

#include "owner.h"

static char *help_owner[] = {
	"owner",
	"who allocated slab objects",
	"ADDR... | -t N | -q \"sentence\" | -s | -r FILE",
	"  This command reads the records of slab_owner and of page_owner.",
	"",
	"         ADDR  the owner of the slab object at this address, or around it: its",
	"               cache, size, time, task and call chain, and its last free if the",
	"               kernel recorded it (slab_owner=on,free=on). ADDR can also be a",
	"               per-CPU area. If page_owner tracks the page, its record follows.",
	"         -t N  the N call chains that hold most memory.",
	"  -q sentence  run ownertop on all records. OWNERTOP in the environment is its",
	"               path, if it is not in PATH. The sentence is as for owner/query. Use",
	"               double quotes: crash does not know single ones.",
	"           -s  statistics, named as in owner/stats.",
	"      -r FILE  write all records to FILE, as /sys/kernel/debug/slab_owner has them,",
	"               for ownertop.",
	"",
	"  A dump may be damaged. What could not be read is counted in notes after the",
	"  answer.",
	"",
	"  The command works in full mode and with \"crash --minimal\". On kernels from",
	"  6.10 on, crash before 8.0.6 opens a dump with --minimal only, and needs",
	"  --kaslr=auto, too. crash 8.0.6 stops in full mode at the kernel's exception",
	"  stacks (\"invalid size request: 0\") if the kernel lacks",
	"  CONFIG_AMD_MEM_ENCRYPT: use --minimal there, or crash 9.",
	"\nEXAMPLES",
	"  Who allocated an object, given an address inside of it:",
	"",
	"    %s> owner ffff888003a4b358",
	"    ffff888003a4b340: object 13 of 64 in a slab of kmalloc-64, 64 bytes each;",
	"    ffff888003a4b358 is 24 bytes after its start",
	"",
	"    Slab object allocated via order 0, size 40, slab 64, cache kmalloc-64, pid 1,",
	"    tgid 1 (init), ts 260000000 ns",
	"    PFN 0x3a4b object ffff888003a4b340 index 13",
	"     seq_open+0x2e/0x80",
	"     do_dentry_open+0x1c1/0x4a0",
	"",
	"  The call chains that hold most of what tasks named \"kworker\" allocated:",
	"",
	"    %s> owner -q \"group=stack.4 top=5 if comm ~ kworker*\"",
	NULL
};

static void forget_everything(void)
{
	owner_memory_reset();
	owner_names_reset();
	owner_depot_reset();
	owner_walk_reset();
	owner_records_reset();
}

/* Join the words of a sentence that was not in double quotes. Freed by crash. */
static char *join_sentence(const char *first)
{
	char *sentence = GETBUF(BUFSIZE);

	snprintf(sentence, BUFSIZE, "%s", first);
	for (; args[optind]; optind++) {
		size_t length = strlen(sentence);

		snprintf(sentence + length, BUFSIZE - length, " %s", args[optind]);
	}
	if (*sentence == '\'') {
		memmove(sentence, sentence + 1, strlen(sentence));
		sentence[strcspn(sentence, "'")] = '\0';
	}
	return sentence;
}

static void answer_addresses(void)
{
	for (; args[optind]; optind++)
		owner_answer_address(fp, htol(args[optind], FAULT_ON_ERROR, NULL));
}

static void cmd_owner(void)
{
	const char *sentence = NULL, *path = NULL;
	bool statistics = false, wrong = false;
	ulong rows = 0;
	int option;

	while ((option = getopt(argcnt, args, "t:q:r:s")) != EOF) {
		switch (option) {
		case 't':
			rows = stol(optarg, FAULT_ON_ERROR, NULL);
			wrong |= !rows;
			break;
		case 'q':
			sentence = join_sentence(optarg);
			break;
		case 'r':
			path = optarg;
			break;
		case 's':
			statistics = true;
			break;
		default:
			wrong = true;
		}
	}
	if (wrong || !!rows + !!sentence + !!path + statistics + !!args[optind] != 1)
		cmd_usage(pc->curcmd, SYNOPSIS);

	forget_everything();
	if (!owner_layout_init())
		return;
	if (rows)
		owner_answer_top(fp, rows);
	else if (sentence)
		owner_ask(sentence);
	else if (path)
		owner_write_records(path);
	else if (statistics)
		owner_answer_statistics(fp);
	else
		answer_addresses();
	owner_print_notes(fp);
	forget_everything();
}

static struct command_table_entry command_table[] = {
	{ "owner", cmd_owner, help_owner, MINIMAL },
	{ NULL }
};

static void __attribute__((constructor)) register_owner(void)
{
	register_extension(command_table);
}
