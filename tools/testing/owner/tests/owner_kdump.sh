#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A guest with planted objects panics, its crash kernel runs makedumpfile, and the readers
# report from that dump what the guest's files said before the panic. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
seen="$work/err $work/answer $work/differ"

# A guest with a planting module panics after CMD: take_kdump MODULE CMD [OPTION...]
take_kdump()
{
	module=$1
	cmd=$2
	shift 2
	take_dump kdump "slab_owner=on init_on_alloc=1 no_hash_pointers" \
		"insmod /extra/$module.ko; sleep 3; $cmd; sleep 2" "$@"
}

# ask_drgn ANSWER SCRIPT [ARGUMENT...]
ask_drgn()
{
	answer=$work/$1
	shift
	run_drgn "$@" >"$answer" 2>"$work/err"
}

# read_dump_word OFFSET: print a 32-bit number of the dump's headers.
read_dump_word() { od -An -t d4 -j "$1" -N 4 "$work/core" | tr -d ' '; }

# The dump is of makedumpfile's usual form, which it calls compressed kdump, with the flag
# of a compression (1 zlib, 2 lzo) and the dump level.
dump_is_compressed() { equals "$(head -c 5 "$work/core") $(read_dump_word 424)" "KDUMP $1"; }
dump_level_is() { equals "$(read_dump_word 4104)" "$1"; }

records_are_planted() { "$tests/check_truth.py" "$work/truth" records "$work/$1"; }

# print_planted FILE: the records of planted objects, one a line.
print_planted()
{
	awk 'BEGIN { RS = "" } / truth_/ { gsub("\n", ";"); print }' "$work/$1" | sort
}

# The records of planted objects are those that the guest's file had, to the last character.
records_are_live()
{
	print_planted live >"$work/planted.live"
	print_planted "$1" >"$work/planted.dump"
	[ -s "$work/planted.live" ] && diff "$work/planted.live" "$work/planted.dump" >"$work/differ"
}

ok "the extension of crash is built" build_crash_extension
ok "a crash kernel saves the memory" take_kdump owner_truth \
	"cd $debug; cat owner_truth; echo ===; cat slab_owner; echo ===; cat owner/caches"
split_output truth live caches
ok "the dump is compressed with lzo" dump_is_compressed 2
ok "the dump has the level that was asked for" dump_level_is "$(print_dump_level)"
ok "the guest's file has the planted objects" records_are_planted live

ok "drgn reads the dump" ask_drgn records.drgn tools/mm/slab_owner.py --records
ok "drgn leaves nothing out" file_lacks "$work/records.drgn" '^# note'
ok "drgn has the planted objects" records_are_planted records.drgn
ok "drgn's records of them are those of the live file" records_are_live records.drgn

ok "drgn counts, although page_owner was off" ask_drgn stats tools/mm/slab_owner.py --stats
ok "drgn says that page_owner was off" file_has "$work/err" 'note: 1 counts: page_owner was off'
ok "drgn counts the depot's pools" file_has "$work/stats" '^pools: [1-9]'

ok "crash reads the dump" run_crash "owner -r $work/records.crash"
ok "crash leaves nothing out" file_lacks "$work/answer" '^note:'
ok "crash has the planted objects" records_are_planted records.crash
ok "crash's records of them are those of the live file" records_are_live records.crash

# This count uses none of the code of the readers.
ok "objects are counted" ask_drgn counted "$tests/count_objects.py"
ok "nothing free has an owner" \
	equals "$(awk '{ stray += $4 } END { print stray }' "$work/counted")" 0
grep -v '^#' "$work/caches" | sort >"$work/caches.sorted"
sort "$work/counted" | join -o 0,1.2,1.3,2.2,2.3 - "$work/caches.sorted" >"$work/both"
ok "planted objects are in the dump" \
	equals "$(awk '/^owner_truth/ { print $1, $2, $3, $4, $5 }' "$work/both" | tr '\n' ' ')" \
	"owner_truth 40 40 40 40 owner_truth_acct 19 19 19 19 owner_truth_rcu 12 12 12 12 "

ok "another crash is saved" take_kdump owner_unreferenced "cat $debug/owner_unreferenced" \
	--compress zlib
mv "$work/out" "$work/truth"
ok "the dump is compressed with zlib" dump_is_compressed 1
ok "drgn searches the dump" ask_drgn found tools/mm/slab_owner.py --unreferenced --records
grep -v '^#' "$work/found" >"$work/unreferenced"
ok "objects that nothing references are found" \
	"$tests/check_unreferenced.py" "$work/truth" "$work/unreferenced"
finish_tests
