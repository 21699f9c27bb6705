#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Count each cache's objects in a vmcore from SLUB's freelists, without our code, and
# compare with owner/caches. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/err $work/differ"

take_vmcore()
{
	take_dump vmcore slab_owner=on "
		insmod /extra/owner_truth.ko; sleep 3; cat $debug/owner/caches; sleep 3"
}

count_objects_of_vmcore()
{
	run_drgn tools/testing/owner/tests/count_objects.py >"$work/counted" 2>"$work/err"
}

# few_lines_meet_condition CONDITION MANY: the awk condition holds for at most MANY caches.
# shellcheck disable=SC2016 # for awk
few_lines_meet_condition()
{
	awk "$1 { print }" "$work/both" >"$work/differ"
	[ "$(wc -l <"$work/both")" -gt 50 ] && [ "$(wc -l <"$work/differ")" -le "$2" ]
}

ok "a vmcore is taken" take_vmcore
ok "its objects are counted" count_objects_of_vmcore
ok "nothing free has an owner" equals "$(awk '{ stray += $4 } END { print stray }' "$work/counted")" 0

# Columns: cache; allocated and tracked as counted; objects and tracked as owner/caches
# reports them; allocated objects that are sheaves
grep -v '^#' "$work/out" | sort >"$work/caches.sorted"
sort "$work/counted" | join -o 0,1.2,1.3,2.2,2.3,1.5 - "$work/caches.sorted" >"$work/both"

# Every allocated object has an owner, except the arrays of records, and SLUB's own: caches
# and sheaves.
# shellcheck disable=SC2016 # for awk
{
ok "all that is allocated has an owner" \
	few_lines_meet_condition \
		'$2 - $6 != $3 && $1 !~ /^(kmem_cache(_node)?|percpu_owner|(owner_records|kmalloc-no-objext)-.*)$/' 0
# The process that printed owner/caches has exited and its table, mostly radix tree nodes,
# is freed. RCU is slow on an idle machine, so the guest sleeps before and after.
ok "the file says what is counted" \
	few_lines_meet_condition '$1 != "radix_tree_node" && ($2 - $4 > 200 || $4 - $2 > 200)' 0
ok "exactly, where who read it has no part" few_lines_meet_condition '$2 != $4 || $3 != $5' 40
}
ok "and for what was planted" equals "$(awk '/^owner_truth/ { print $1, $2, $3, $4, $5 }' "$work/both" |
	tr '\n' ' ')" \
	"owner_truth 40 40 40 40 owner_truth_acct 19 19 19 19 owner_truth_rcu 12 12 12 12 "
finish_tests
