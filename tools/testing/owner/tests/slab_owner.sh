#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Find a leak of known size in a guest. The words are added to each guest's command line.
# Prints TAP.
usage='KERNEL [WORD...]'
. "$(dirname "$0")/prelude.sh"

shift
words=$*
seen=$work/err
# More objects than any other chain holds after boot.
requests=8000

# run_leak_guest APPEND CMD: leaves $work/out and $work/console
run_leak_guest() { run_guest "$1 $words" "$2"; }

# sum_objects_of_frame FRAME N: "objects bytes" of the records whose Nth frame is FRAME.
# The position excludes objects that page_owner allocates for itself below the same
# function.
sum_objects_of_frame()
{
	awk -v frame="^ $1[+]" -v n="$2" 'BEGIN { RS = ""; FS = "\n"; objects = bytes = 0 }
		$(2 + n) ~ frame { objects++; match($0, /size [0-9]+/)
			     bytes += substr($0, RSTART + 5, RLENGTH - 5) }
		END { print objects, bytes }' "$work/out"
}

records_are_well_formed()
{
	awk 'BEGIN { RS = ""; FS = "\n" }
	     $1 !~ /^(Slab object|Per-CPU area) allocated via order 0, size [0-9]+, slab [0-9]+, cache [^ ,]+, pid [0-9]+, tgid [0-9]+ \(.*\), ts [0-9]+ ns$/ ||
	     $2 !~ /^PFN 0x[0-9a-f]+ object [0-9a-f]+ index [0-9]+$/ || NF < 3 { bad++; print }
	     END { if (bad || NR < 1000) exit 1 }' "$work/out" >"$work/err"
}

chain_starts_at_allocator()
{
	awk 'BEGIN { RS = ""; FS = "\n" }
	     $3 ~ /save_stack_trace|stack_trace_save|__slab_owner_alloc/ { bad = 1; print; exit }
	     END { exit bad }' "$work/out" >"$work/err"
}

ok "boots, leaks and is read" run_leak_guest slab_owner=on \
	"insmod /extra/owner_leak.ko requests=$requests && cat /sys/kernel/debug/slab_owner"
ok "each record is well formed" records_are_well_formed
ok "no chain starts with the tracker itself" chain_starts_at_allocator
ok "the leak's objects and bytes are exact" \
	equals "$(sum_objects_of_frame leak_open_session 1)" "$requests $((requests * 200))"
ok "the chain says who asked" \
	equals "$(sum_objects_of_frame leak_serve_request 2)" "$requests $((requests * 200))"
ok "what was freed has no owner" equals "$(sum_objects_of_frame leak_write_log 1)" "0 0"

build_ownertop >"$seen" 2>&1
build/ownertop/ownertop --top 1 --sort objects --json "$work/out" >"$work/top" 2>"$seen"
ok "ownertop puts the leak first" file_has "$work/top" 'leak_open_session'
ok "ownertop counts it as we do" file_has "$work/top" "\"objects\": *${requests}[,}[:space:]]"

ok "page_owner_sort is built" build_page_owner_sort
build/sorter/page_owner_sort --cull stacktrace "$work/out" "$work/sorted" >"$seen" 2>&1
ok "page_owner_sort reads it" file_has "$work/sorted" "^$requests times"

ok "unloading frees all" run_leak_guest slab_owner=on \
	"insmod /extra/owner_leak.ko requests=$requests && cat /sys/kernel/debug/slab_owner && echo === &&
	rmmod owner_leak && cat /sys/kernel/debug/slab_owner"
split_output leaked freed
ok "nobody owns what was freed" owners_have_gone "$work/leaked" "$work/freed" ' leak_open_session[+]'

# Reading from an offset gives the text that a sequential read has there, after a seek
# forward or back and in pieces that end within a record. Objects are allocated and freed
# meanwhile, so try several times.
# shellcheck disable=SC2016 # for the guest's shell
ok "any part of it can be sought" run_leak_guest slab_owner=on 'cd /sys/kernel/debug; mkdir /t
	part() { dd if=slab_owner bs=1000 skip=$1 count=5 2>/dev/null; }
	for try in 1 2 3 4 5 6 7 8; do
		dd if=slab_owner bs=333 count=100 of=/t/all 2>/dev/null
		part 20 >/t/far; part 3 >/t/near
		dd if=/t/all bs=1000 skip=20 count=5 of=/t/far.right 2>/dev/null
		dd if=/t/all bs=1000 skip=3 count=5 of=/t/near.right 2>/dev/null
		if cmp /t/far /t/far.right && cmp /t/near /t/near.right; then
			wc -c </t/far; exit 0
		fi
	done
	exit 1'
ok "and is as long as was asked for" equals "$(cat "$work/out")" 5000

ok "off is the default" run_leak_guest "" "ls /sys/kernel/debug/slab_owner /sys/kernel/debug/owner/caches 2>&1; true"
ok "and leaves no file" equals "$(grep -c 'No such file' "$work/out")" 2
ok "a word that is not understood is named" run_leak_guest slab_owner=maybe "dmesg | grep 'slab_owner: .*maybe'"
ok "with what would be right" file_has "$work/out" "not understood: say on, ready or off"
finish_tests
