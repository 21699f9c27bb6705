#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Read a dump of a kernel with KFENCE, which moves an object to an end of its page: crash prints
# the addresses of the live file. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
seen="$work/err $work/differ $work/answer"

# KFENCE has 255 objects. A guest that boots slowly would use all of them if KFENCE served one in
# 10 ms from the beginning.
take_vmcore()
{
	take_dump vmcore "slab_owner=on kfence.sample_interval=1000 kfence.skip_covered_thresh=100 no_hash_pointers" "
		insmod /extra/owner_truth.ko; sleep 3
		cat $debug/owner_truth; echo ===
		echo 10 >/sys/module/kfence/parameters/sample_interval
		insmod /extra/owner_leak.ko requests=1000 fenced=5
		cat $debug/kfence/objects; echo ===
		cat $debug/slab_owner; sleep 1" --smp 2 --mem 512M --timeout 900 &&
		split_output truth kfence live
}

# print_kfence_records FILE: its records of sessions that KFENCE gave out, one a line. Others
# are freed, and allocated, between the file and the dump.
print_kfence_records()
{
	sed -n 's/^kfence-#[0-9]*: 0x\([0-9a-f]*\)-.*/\1/p' "$work/kfence" |
		awk 'NR == FNR { wanted[$1] = 1; next }
			/leak_open_session/ && match($0, /object [0-9a-f]+ index/) &&
			wanted[substr($0, RSTART + 7, RLENGTH - 13)] {
				gsub("\n", ";")
				print
			}' - RS= "$1" | sort
}

has_kfence_records()
{
	print_kfence_records "$work/live" >"$work/kfence.live"
	print_kfence_records "$1" >"$work/kfence.dump"
	echo "# $(wc -l <"$work/kfence.live") sessions of KFENCE"
	diff "$work/kfence.live" "$work/kfence.dump" >"$work/differ" &&
		[ "$(wc -l <"$work/kfence.live")" -ge 5 ]
}

ok "the extension of crash is built" build_crash_extension
ok "a vmcore is taken" take_vmcore
run_crash "owner -r $work/dump"
ok "planted objects are exact" "$tests/check_truth.py" "$work/truth" records "$work/dump"
ok "KFENCE's objects are those of the live file" has_kfence_records "$work/dump"
finish_tests
