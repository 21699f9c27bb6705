#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A guest with planted objects panics, its crash kernel runs makedumpfile, and the readers
# report from that dump what the guest's files said before the panic. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
seen="$work/err $work/differ"

# take_kdump DUMP MODULE CMD OPTION...: leaves CMD's output in $work/out
take_kdump()
{
	file=$work/$1
	module=$2
	cmd=$3
	shift 3
	tools/testing/owner/guest/guest.py kdump "$kernel" \
		--append "slab_owner=on init_on_alloc=1 no_hash_pointers" \
		--provokes "no_hash_pointers|tainted|Taint" --output "$file" --smp 4 --mem 256M \
		--timeout 300 --extra "$modules" --cmd "insmod /extra/$module.ko; sleep 3; $cmd; sleep 2" \
		"$@" >"$work/out" 2>"$work/err"
}

# run_drgn DUMP ANSWER SCRIPT ARG...: Debian's drgn needs Debian's python3, which may not be
# the first in PATH.
run_drgn()
{
	file=$work/$1
	answer=$work/$2
	shift 2
	/usr/bin/drgn -q -c "$file" -s "build/$kernel/vmlinux" "$@" >"$answer" 2>"$work/err"
}

# run_crash DUMP COMMAND: crash 8.0 reads dumps of this kernel with --minimal only.
run_crash()
{
	printf '%s\n' "extend $PWD/build/crash/owner.so" "$2" quit >"$work/input"
	timeout 120 crash -s --minimal --kaslr=auto --no_crashrc "build/$kernel/vmlinux" "$work/$1" \
		-i "$work/input" </dev/null >"$work/err" 2>&1
}

# read_dump_word DUMP OFFSET: print a 32-bit number of the dump's headers.
read_dump_word() { od -An -t d4 -j "$2" -N 4 "$work/$1" | tr -d ' '; }

# The dump is of makedumpfile's usual form, which it calls compressed kdump, with the flag
# of a compression (1 zlib, 2 lzo) and the dump level, at which all is left out that can be.
dump_is_compressed() { equals "$(head -c 5 "$work/$1") $(read_dump_word "$1" 424)" "KDUMP $2"; }
dump_level_is() { equals "$(read_dump_word "$1" 4104)" "$2"; }

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

ok "the extension of crash is built" make -s -C tools/mm/crash O="$PWD/build/crash"
ok "a crash kernel saves the memory" take_kdump lzo owner_truth \
	"cd $debug; cat owner_truth; echo ===; cat slab_owner; echo ===; cat owner/caches"
split_output truth live caches
ok "the dump is compressed with lzo" dump_is_compressed lzo 2
ok "the dump has makedumpfile's level 31" dump_level_is lzo 31
ok "the guest's file has the planted objects" records_are_planted live

ok "drgn reads the dump" run_drgn lzo records.drgn tools/mm/slab_owner.py --records
ok "drgn leaves nothing out" file_lacks "$work/records.drgn" '^# note'
ok "drgn has the planted objects" records_are_planted records.drgn
ok "drgn's records of them are those of the live file" records_are_live records.drgn

ok "crash reads the dump" run_crash lzo "owner -r $work/records.crash"
ok "crash leaves nothing out" file_lacks "$work/err" '^note:'
ok "crash has the planted objects" records_are_planted records.crash
ok "crash's records of them are those of the live file" records_are_live records.crash

# This count uses none of the code of the readers.
ok "objects are counted" run_drgn lzo counted "$tests/count_objects.py"
ok "nothing free has an owner" \
	equals "$(awk '{ stray += $4 } END { print stray }' "$work/counted")" 0
grep -v '^#' "$work/caches" | sort >"$work/caches.sorted"
sort "$work/counted" | join -o 0,1.2,1.3,2.2,2.3 - "$work/caches.sorted" >"$work/both"
ok "planted objects are in the dump" \
	equals "$(awk '/^owner_truth/ { print $1, $2, $3, $4, $5 }' "$work/both" | tr '\n' ' ')" \
	"owner_truth 40 40 40 40 owner_truth_acct 19 19 19 19 owner_truth_rcu 12 12 12 12 "
rm -f "$work/lzo"

ok "another crash is saved" take_kdump zlib owner_unreferenced "cat $debug/owner_unreferenced" \
	--compress zlib
mv "$work/out" "$work/truth"
ok "the dump is compressed with zlib" dump_is_compressed zlib 1
ok "drgn searches the dump" run_drgn zlib found tools/mm/slab_owner.py --unreferenced --records
grep -v '^#' "$work/found" >"$work/unreferenced"
ok "objects that nothing references are found" \
	"$tests/check_unreferenced.py" "$work/truth" "$work/unreferenced"
finish_tests
