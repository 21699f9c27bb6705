#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Planted truth: what a module is known to hold, reported exactly by each of our
# files: owner_truth.sh KERNEL [WORD...], with the words on each guest's boot
# line. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

kernel=${1:?usage: owner_truth.sh KERNEL [WORD...]}
shift
words=$*
check=tools/testing/owner/tests/check_truth.py
debug=/sys/kernel/debug
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/seen
# User-mode Linux has one processor.
cpus="--smp 4"
[ "$kernel" != um ] || cpus=

# In a memory cgroup, so that accounted objects are charged and have its vector.
plant="mount -t cgroup2 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/planter &&
	echo \$\$ >/sys/fs/cgroup/planter/cgroup.procs && insmod /extra/owner_truth.ko"

# guest APPEND CMD FILE...: what CMD prints is cut into files where it prints "==="
guest()
{
	append=$1 cmd=$2
	shift 2
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "$append $words" --cmd "$cmd" $cpus \
		--timeout 300 --extra "build/$kernel/owner-modules" --console "$work/console" \
		>"$work/out" 2>"$seen" || return 1
	cat "$work/console" >>"$work/consoles"
	awk -v names="$*" -v place="$work/" 'BEGIN { split(names, name, " "); i = 1 }
		/^===$/ { i++; next } { print >(place name[i]) }' "$work/out"
}

reports() { "$check" "$work/truth" "$@" >"$seen" 2>&1; }

views()
{
	make -s -C tools/mm/ownertop O="$PWD/build/ownertop" >"$seen" 2>&1 &&
		tools/testing/owner/tests/check_views.py build/ownertop/ownertop \
			"$work/truth" "$@" >"$seen" 2>&1
}

# Each cache's line adds up; the planter's own cache shows what was planted there.
caches_add_up()
{
	awk '/^#/ { next } $2 != $3 + $4 { print; bad = 1 } END { exit bad || NR < 20 }' \
		"$work/$1" >"$seen"
}

# Read again in pieces of an odd size: the same objects, none twice, none left out.
same_in_pieces()
{
	for file in records pieces; do
		grep -A1 'cache owner_truth' "$work/$file" | grep '^PFN' | sort >"$work/$file.planted"
	done
	diff "$work/records.planted" "$work/pieces.planted" >"$seen" &&
		[ "$(wc -l <"$work/pieces.planted")" = 71 ]
}

# page_owner_sort of 6.12 takes what it finds; later ones end at the first block without a
# name of at most 15 bytes, or a time. Comments before the first record are in its block.
every_sort_reads()
{
	fields='order [0-9]+, .*pid [0-9]+, tgid [0-9]+ \(.{0,15}\), ts [0-9]{1,20} ns$'
	is "$(grep -cE "$fields" "$work/$1")" "$(awk 'BEGIN { RS = "" } END { print NR }' "$work/$1")"
}

ok "plants and is read" guest slab_owner=on "$plant
	cat $debug/owner_truth; echo ===
	cat $debug/slab_owner; echo ===
	dd if=$debug/slab_owner bs=777 2>/dev/null; echo ===
	cat $debug/slab_owner_stacks/show_stacks; echo ===
	cat $debug/slab_owner_stacks/show_handles; echo ===
	cat $debug/slab_owner_stacks/show_stacks_handles; echo ===
	echo 20 >$debug/slab_owner_stacks/count_threshold
	cat $debug/slab_owner_stacks/show_stacks; echo ===
	cat $debug/owner/caches; echo ===
	cat $debug/owner/stats; echo ===
	rmmod owner_truth; cat $debug/slab_owner; echo ===; cat $debug/owner/caches" \
	truth records pieces stacks handles chains threshold caches stats gone gone_caches
ok "at least twenty chains and caches" [ "$(wc -l <"$work/truth")" -ge 20 ]
ok "each record" reports records "$work/records"
ok "each view of ownertop" views "$work/records"
ok "the same records in pieces" same_in_pieces
ok "has in each block what later page_owner_sorts insist on" every_sort_reads records
ok "show_stacks" reports stacks "$work/stacks"
ok "show_handles with show_stacks_handles" reports handles "$work/handles" "$work/chains"

# ownertop READER FILE...: does it report the truth out of these?
ownertop_reports()
{
	reader=$1
	shift
	make -s -C tools/mm/ownertop O="$PWD/build/ownertop" >"$seen" 2>&1 &&
		(cd "$work" && "$OLDPWD/build/ownertop/ownertop" --json --no-skip -d 0 "$@") \
			>"$work/report" 2>"$seen" && reports "$reader" "$work/report"
}
ok "ownertop: each record" ownertop_reports report ./records
ok "ownertop: show_stacks" ownertop_reports sums stacks
ok "ownertop: show_handles with show_stacks_handles" ownertop_reports sums handles chains
awk '$3 >= 20' "$work/truth" >"$work/many"
ok "count_threshold leaves out what is less" \
	is "$(grep -c '^ truth_typesafe\|^ truth_accounted' "$work/threshold")" 0
ok "and nothing else" \
	is "$(grep -c '^ truth_own_cache' "$work/threshold")" "$(grep -c '^ truth_own_cache' "$work/stacks")"
ok "each cache adds up" caches_add_up caches
# KASAN keeps what was freed for a while: allocated to SLUB, nobody's to us.
own_cache() { awk -v kasan="$1" '$1 == "owner_truth" {
	found = $3 == 40 && $5 == 8000 && (kasan ? $2 >= 40 && $2 <= 48 : $2 == 40) }
	END { exit !found }' "$work/caches"; }
ok "the planter's cache" own_cache "$([ "$kernel" != debug ] || echo 1)"
ok "a task that has gone has its name" is \
	"$(awk 'BEGIN { RS = "" } / truth_thread[.+]/ && /\(truth\/planter\)/' "$work/records" | grep -c ^PFN)" 24
ok "nothing was lost but what came too early" \
	is "$(grep '^lost' "$work/stats" | grep -v lost_early | grep -vc ': 0$')" 0
ok "nobody owns what the module freed" is "$(grep -c ' truth_' "$work/gone")" 0
ok "its caches have gone" is "$(grep -c owner_truth "$work/gone_caches")" 0

ok "made ready, then switched on" guest slab_owner=ready "
	cat $debug/owner/stats; echo ===
	echo track=on >$debug/owner/control && $plant
	cat $debug/owner_truth; echo ===
	cat $debug/slab_owner; echo ===
	cat $debug/owner/caches; echo ===
	echo track=off >$debug/owner/control; rmmod owner_truth; insmod /extra/owner_truth.ko
	cat $debug/slab_owner" before truth records caches after
ok "nothing was tracked before, at no cost" is "$(grep -v '^unwind_\|^page_failures' "$work/before" | tr '\n' ' ')" \
	"tracked: 0 percpu: 0 slabs: 0 bytes: 0 lost_nmi: 0 lost_early: 0 lost_no_records: 0 lost_no_stack: 0 degraded_no_task: 0 degraded_shorter: 0 degraded_no_stack: 0 "
ok "each record since" reports records "$work/records"
ok "what was there before is untracked, and counted" caches_add_up caches
ok "some are" [ "$(awk '$1 == "kmalloc-64" { print $4 }' "$work/caches")" -gt 50 ]
ok "switched off, nothing new is tracked and nothing stays" is "$(grep -c ' truth_' "$work/after")" 0

ok "with who freed what" guest slab_owner=on,free=on "$plant
	cat $debug/owner_truth; echo ===; cat $debug/slab_owner; echo ===
	rmmod owner_truth; cat $debug/slab_owner" truth records gone
ok "each record is as without" reports records "$work/records"
ok "and gone as without" is "$(grep -c ' truth_' "$work/gone")" 0
ok "the kernel complained of nothing" \
	lacks "$work/consoles" "BUG:|WARNING:|Oops|Call Trace|possible recursive|inconsistent lock"
finish
