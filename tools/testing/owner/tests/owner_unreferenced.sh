#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module drops the only pointers to 1,000 objects; slab_owner.py --unreferenced finds them
# in a vmcore. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

check=tools/testing/owner/tests/check_unreferenced.py
seen="$work/err $work/checked"
export PATH="$PWD/build/ownertop:$PATH"

# Debian's kernels have init_on_alloc=1 by default. Without it, memory that is not zeroed has
# copies of pointers, and a single one can lead to all objects of a list.
#
# RCU is slow on an idle machine: the guest sleeps until tasks that exited are freed, and
# their stacks with the copies of pointers.
take_vmcore()
{
	take_dump vmcore "slab_owner=on init_on_alloc=1" "
		insmod /extra/owner_unreferenced.ko stale=1; sleep 3; cat $debug/owner_unreferenced; sleep 2" &&
		mv "$work/out" "$work/truth"
}

# search_dump OUT [ARGUMENT...]
search_dump()
{
	out=$1
	shift
	run_drgn tools/mm/slab_owner.py --unreferenced "$@" >"$out" 2>"$work/err"
}

found_what_was_dropped()
{
	grep -v '^#' "$1" >"$work/found"
	"$check" "$work/truth" "$work/found" >"$work/checked"
}

# A module of this name hides Debian's.
run_without_numpy()
{
	mkdir -p "$work/without"
	echo 'raise ImportError("hidden")' >"$work/without/numpy.py"
	PYTHONPATH="$work/without" search_dump "$@"
}

# The table's sum line says how many objects there are.
table_has_all() { file_has "$work/table" "^$(grep -c '^Slab object' "$work/records") objects of "; }

ok "a vmcore is taken" take_vmcore
ok "it is searched" search_dump "$work/records" --records
ok "the objects are found that were dropped, and no others" \
	found_what_was_dropped "$work/records"
ok "the answer says how much was searched" \
	file_has "$work/err" 'note: [0-9]+ KiB outside of slabs: searched for pointers'
ok "it counts objects that old words of a freelist may lead to" \
	file_has "$work/err" 'note: [0-9]+ objects: not reported'
ok "all of it could be read" file_lacks "$work/err" 'not in the dump'

ok "it is searched without numpy" run_without_numpy "$work/plain" --records
ok "the answer is the same" cmp "$work/records" "$work/plain"

ok "a table is printed" search_dump "$work/table"
ok "the table has these objects" table_has_all
ok "the table has call chains" file_has "$work/table" '^ truth_drop_ring\+'

ok "ownertop is built" build_ownertop
ok "ownertop groups these objects" search_dump "$work/grouped" 'group=cache if cache == "owner_unref"'
ok "these are of the module's cache" file_has "$work/grouped" '150 .*owner_unref'
finish_tests
