#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Each cache's objects in a vmcore, counted from the freelists and not by us:
# owner_vmcore.sh KERNEL. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

kernel=${1:?usage: owner_vmcore.sh KERNEL}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen="$work/err $work/differ"

take()
{
	tools/testing/owner/guest/guest.py vmcore "$kernel" --append slab_owner=on --output "$work/core" \
		--smp 4 --mem 256M --timeout 300 --extra "build/$kernel/owner-modules" --cmd "
		insmod /extra/owner_truth.ko; sleep 3; cat /sys/kernel/debug/owner/caches; sleep 3" \
		>"$work/said" 2>"$work/err"
}

count()
{
	# Debian's drgn belongs to Debian's python3, which need not be the first one.
	/usr/bin/drgn -q -c "$work/core" -s "build/$kernel/vmlinux" \
		tools/testing/owner/tests/count_objects.py >"$work/counted" 2>"$work/err"
}

# Caches in which something is not as the awk expression has it, at most MANY.
# shellcheck disable=SC2016 # for awk
none_but()
{
	awk "$1 { print }" "$work/both" >"$work/differ"
	[ "$(wc -l <"$work/both")" -gt 50 ] && [ "$(wc -l <"$work/differ")" -le "$2" ]
}

ok "a vmcore is taken" take
ok "its objects are counted" count
ok "nothing free has an owner" is "$(awk '{ stray += $4 } END { print stray }' "$work/counted")" 0

# cache, then allocated and tracked as counted, objects and tracked as said
grep -v '^#' "$work/said" | sort >"$work/said.sorted"
sort "$work/counted" | join -o 0,1.2,1.3,2.2,2.3 - "$work/said.sorted" >"$work/both"

# All that is allocated has an owner but what holds the records, and the caches.
# shellcheck disable=SC2016 # for awk
{
ok "all that is allocated has an owner" \
	none_but '$2 != $3 && $1 !~ /^(kmem_cache(_node)?|percpu_owner|kmalloc-no-objext-.*)$/' 0
# What printed it has gone since, and what it printed from, most of it nodes of a table.
# RCU takes its time on an idle machine, so some is given to it before and after.
ok "the file says what is counted" \
	none_but '$1 != "radix_tree_node" && ($2 - $4 > 80 || $4 - $2 > 80)' 0
ok "exactly, where who read it has no part" none_but '$2 != $4 || $3 != $5' 40
}
ok "and for what was planted" is "$(awk '/^owner_truth/ { print $1, $2, $3, $4, $5 }' "$work/both" |
	tr '\n' ' ')" \
	"owner_truth 40 40 40 40 owner_truth_acct 19 19 19 19 owner_truth_rcu 12 12 12 12 "
finish
