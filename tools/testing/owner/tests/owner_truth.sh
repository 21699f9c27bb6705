#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module plants a known number of objects of known sizes from known call chains. Each of
# our files must report exactly those. The words are added to each guest's command line.
# Prints TAP.
usage='KERNEL [WORD...]'
. "$(dirname "$0")/prelude.sh"

shift
words=$*
check=tools/testing/owner/tests/check_truth.py
seen=$work/seen

# Plant in a memory cgroup, so that accounted objects are charged and have an obj_cgroup.
plant="mount -t cgroup2 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/planter &&
	echo \$\$ >/sys/fs/cgroup/planter/cgroup.procs && insmod /extra/owner_truth.ko"

# run_truth_guest APPEND CMD FILE...: run CMD and split its output into files at lines "==="
run_truth_guest()
{
	# shellcheck disable=SC2086 # two words or none
	run_guest "$1 $words" "$2" $cpus || return 1
	shift 2
	split_output "$@"
}

reports_truth() { "$check" "$work/truth" "$@" >"$seen" 2>&1; }

check_ownertop_views()
{
	build_ownertop >"$seen" 2>&1 &&
		tools/testing/owner/tests/check_views.py build/ownertop/ownertop \
			"$work/truth" "$@" >"$seen" 2>&1
}

# In each line of owner/caches, tracked and untracked objects add up to all objects.
caches_add_up()
{
	awk '/^#/ { next } $2 != $3 + $4 { print; bad = 1 } END { exit bad || NR < 20 }' \
		"$work/$1" >"$seen"
}

# Reading in pieces of an odd size gives each planted object exactly once.
reading_in_pieces_is_exact()
{
	for file in records pieces; do
		grep -A1 'cache owner_truth' "$work/$file" | grep '^PFN' | sort >"$work/$file.planted"
	done
	diff "$work/records.planted" "$work/pieces.planted" >"$seen" &&
		[ "$(wc -l <"$work/pieces.planted")" = 71 ]
}

# page_owner_sort of 6.12 accepts any block; later versions stop at the first block without
# a task name of at most 15 bytes or without a time. Comment lines before the first record
# belong to its block.
every_sort_reads()
{
	fields='order [0-9]+, .*pid [0-9]+, tgid [0-9]+ \(.{0,15}\), ts [0-9]{1,20} ns$'
	equals "$(grep -cE "$fields" "$work/$1")" "$(awk 'BEGIN { RS = "" } END { print NR }' "$work/$1")"
}

ok "plants and is read" run_truth_guest slab_owner=on "$plant
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
ok "each record" reports_truth records "$work/records"
ok "each view of ownertop" check_ownertop_views "$work/records"
ok "the same records in pieces" reading_in_pieces_is_exact
ok "has in each block what later page_owner_sorts insist on" every_sort_reads records
ok "show_stacks" reports_truth stacks "$work/stacks"
ok "show_handles with show_stacks_handles" reports_truth handles "$work/handles" "$work/chains"

# ownertop_reports READER FILE...: ownertop reports the truth when it reads these files
ownertop_reports()
{
	reader=$1
	shift
	build_ownertop >"$seen" 2>&1 &&
		(cd "$work" && "$OLDPWD/build/ownertop/ownertop" --json --no-skip -d 0 "$@") \
			>"$work/report" 2>"$seen" && reports_truth "$reader" "$work/report"
}
ok "ownertop: each record" ownertop_reports report ./records
ok "ownertop: show_stacks" ownertop_reports sums stacks
ok "ownertop: show_handles with show_stacks_handles" ownertop_reports sums handles chains
awk '$3 >= 20' "$work/truth" >"$work/many"
ok "count_threshold leaves out what is less" \
	equals "$(grep -c '^ truth_typesafe\|^ truth_accounted' "$work/threshold")" 0
ok "and nothing else" \
	equals "$(grep -c '^ truth_own_cache' "$work/threshold")" "$(grep -c '^ truth_own_cache' "$work/stacks")"
ok "each cache adds up" caches_add_up caches
# KASAN's quarantine delays frees: SLUB counts the objects as allocated, we as untracked.
show_counts_of_own_cache() { awk -v kasan="$1" '$1 == "owner_truth" {
	found = $3 == 40 && $5 == 8000 && (kasan ? $2 >= 40 && $2 <= 48 : $2 == 40) }
	END { exit !found }' "$work/caches"; }
ok "the planter's cache" show_counts_of_own_cache "$([ "$recipe" != debug ] || echo 1)"
ok "a task that has gone has its name" equals \
	"$(awk 'BEGIN { RS = "" } / truth_thread[.+]/ && /\(truth\/planter\)/' "$work/records" | grep -c ^PFN)" 24
ok "nothing was lost but what came too early" \
	equals "$(grep '^lost' "$work/stats" | grep -v lost_early | grep -vc ': 0$')" 0
ok "nobody owns what the module freed" owners_have_gone "$work/records" "$work/gone" ' truth_'
ok "its caches have gone" equals "$(grep -c owner_truth "$work/gone_caches")" 0

ok "made ready, then switched on" run_truth_guest slab_owner=ready "
	cat $debug/owner/stats; echo ===
	echo track=on >$debug/owner/control && $plant
	cat $debug/owner_truth; echo ===
	cat $debug/slab_owner; echo ===
	cat $debug/owner/caches; echo ===
	echo track=off >$debug/owner/control; rmmod owner_truth; insmod /extra/owner_truth.ko
	cat $debug/slab_owner" before truth records caches after
ok "nothing was tracked before" file_has "$work/before" '^tracked: 0$'
ok "... at no cost" equals \
	"$(grep -v '^unwind_\|^page_failures\|: 0$\|: 0\.00$' "$work/before")" ""
ok "each record since" reports_truth records "$work/records"
ok "what was there before is untracked, and counted" caches_add_up caches
ok "some are" [ "$(awk '$1 == "kmalloc-64" { print $4 }' "$work/caches")" -gt 50 ]
ok "switched off, nothing new is tracked and nothing stays" equals "$(grep -c ' truth_' "$work/after")" 0

ok "with who freed what" run_truth_guest slab_owner=on,free=on "$plant
	cat $debug/owner_truth; echo ===; cat $debug/slab_owner; echo ===
	rmmod owner_truth; cat $debug/slab_owner" truth records gone
ok "each record is as without" reports_truth records "$work/records"
ok "and gone as without" owners_have_gone "$work/records" "$work/gone" ' truth_'
finish_tests
