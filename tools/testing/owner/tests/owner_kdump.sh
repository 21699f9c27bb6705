#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A guest with planted objects panics, its crash kernel runs makedumpfile, and readers find
# these objects in the dump. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
seen="$work/err $work/differ"

# take_kdump OPTION...: leaves $work/kdump, and the guest's files in $work
take_kdump()
{
	tools/testing/owner/guest/guest.py kdump "$kernel" --append slab_owner=on \
		--output "$work/kdump" --console "$work/console" --smp 4 --mem 256M \
		--timeout 300 --extra "$modules" --cmd "
		insmod /extra/owner_truth.ko; sleep 3
		cd $debug; cat owner_truth; echo ===; cat slab_owner; echo ===; cat owner/caches
		sleep 3" "$@" >"$work/out" 2>"$work/err"
}

# run_drgn FILE ARG...: Debian's drgn needs Debian's python3, which may not be the first in
# PATH.
run_drgn()
{
	out=$1
	shift
	/usr/bin/drgn -q -c "$work/kdump" -s "build/$kernel/vmlinux" "$@" >"$out" 2>"$work/err"
}

# read_dump_word OFFSET: print a 32-bit number of the dump's headers.
read_dump_word() { od -An -t d4 -j "$1" -N 4 "$work/kdump" | tr -d ' '; }

# The dump is of makedumpfile's usual form, which it calls compressed kdump, with the flag
# of lzo and the dump level, at which all that no reader needs is left out.
dump_is_lzo() { equals "$(head -c 5 "$work/kdump") $(read_dump_word 424)" "KDUMP 2"; }
dump_level_is() { equals "$(read_dump_word 4104)" "$1"; }

ok "a crash kernel saves the memory" take_kdump
split_output truth records caches
ok "the dump is compressed with lzo" dump_is_lzo
ok "the dump has makedumpfile's level 31" dump_level_is 31
ok "the guest's file has the truth" "$tests/check_truth.py" "$work/truth" records "$work/records"

# No reader of ours has a part in this count.
ok "its objects are counted" run_drgn "$work/counted" "$tests/count_objects.py"
ok "nothing free has an owner" equals "$(awk '{ stray += $4 } END { print stray }' "$work/counted")" 0
grep -v '^#' "$work/caches" | sort >"$work/caches.sorted"
sort "$work/counted" | join -o 0,1.2,1.3,2.2,2.3 - "$work/caches.sorted" >"$work/both"
ok "planted objects are in the dump" \
	equals "$(awk '/^owner_truth/ { print $1, $2, $3, $4, $5 }' "$work/both" | tr '\n' ' ')" \
	"owner_truth 40 40 40 40 owner_truth_acct 19 19 19 19 owner_truth_rcu 12 12 12 12 "
finish_tests
