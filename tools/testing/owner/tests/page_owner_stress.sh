#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Allocate, split, free, compact and migrate pages and take memory offline while
# page_owner is read. Afterwards the depot's reference counts must match the records.
# Prints TAP.
usage='KERNEL SECONDS'
. "$(dirname "$0")/prelude.sh"

seconds=$2
check=tools/testing/owner/tests/check_pages.py
seen=$work/seen

# fragment creates files of movable pages and removes every other one, which gives
# compaction work. Compaction and memory hotplug take turns: 6.12 does not serialise them,
# and isolate_migratepages_block() crashes on the struct pages of a block that was just
# removed. A block that cannot be taken offline is left: dump_page() of a page that changes
# meanwhile crashes as well.
# shellcheck disable=SC2016 # for the guest's shell
work_load='
	debug=/sys/kernel/debug
	until_done() { while [ ! -e /tmp/done ]; do "$@"; done; }
	fragment()
	{
		mkdir -p /tmp/$1
		for i in $(seq 150); do dd if=/dev/zero of=/tmp/$1/$i bs=64k count=4; done
		for i in $(seq 1 2 150); do rm /tmp/$1/$i; done
		for i in $(seq 150); do dd if=/dev/zero of=/tmp/$1/$i bs=4k count=5; done
		rm -r /tmp/$1
	}
	plant() { insmod /extra/owner_pages.ko; rmmod owner_pages; }
	look()
	{
		cat $debug/page_owner; cat $debug/page_owner_stacks/show_handles
		exec 3<>$debug/owner/query; echo "group=cache,stack.3 if kind == page" >&3; cat <&3; exec 3<&-
	} >/dev/null
	replug()
	{
		[ -e /tmp/done ] || ! echo offline >$1/state || { echo $1 >>/tmp/offline; sleep 0.2; }
		echo online >$1/state
	}
	# On a slow machine, the first block is offline late.
	await_offline()
	{
		for _ in $(seq 120); do
			[ ! -e /tmp/offline ] || return
			sleep 1
		done
	}
	move()
	{
		for _ in 1 2 3 4 5; do echo 1 >/proc/sys/vm/compact_memory; sleep 0.2; done
		for block in /sys/devices/system/memory/memory*; do
			! grep -q Movable $block/valid_zones || replug $block
		done
	}
	rules()
	{
		echo "depth=5 if kind == page && order == 0" >$debug/owner/control; sleep 0.3
		echo "track=off if kind == page && comm == dd" >$debug/owner/control; sleep 0.3
		echo clear >$debug/owner/control; sleep 0.3
	}'

run_stress_guest()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" $cpus --mem 1G --timeout $((seconds + 1500)) \
		--append "page_owner=on movablecore=512M nokaslr kfence.sample_interval=0 \
			kunit.enable=1 kunit.filter_glob=owner_page" \
		--console "$work/console" --extra "$modules" --cmd "$work_load
	{
		echo 0 >/proc/sys/vm/compaction_proactiveness
		until_done fragment a & until_done fragment b & until_done move &
		until_done plant & until_done look & until_done rules &
		sleep $seconds; await_offline; : >/tmp/done; wait
	} 2>/dev/null >/dev/null
	dmesg -n 5
	# RCU and workqueues free memory of the load a while later.
	sleep 10
	insmod /extra/owner_pages.ko
	cat \$debug/owner_pages; echo ===; cat \$debug/page_owner; echo ===
	cat \$debug/page_owner_stacks/show_stacks; echo ===
	for i in 1 2 3; do
		echo 1 >\$debug/kunit/owner_page/run; cat \$debug/kunit/owner_page/results
		grep refcounted_in_use \$debug/stackdepot/stats
	done
	echo ===
	sed -n 's/^Page has been migrated, last migrate reason: //p' \$debug/page_owner | sort | uniq -c
	echo offline \$(sort -u /tmp/offline 2>/dev/null | wc -l); cat \$debug/owner/stats" \
		>"$work/out" 2>"$seen" || return 1
	awk -v place="$work/" 'BEGIN { split("truth records stacks kunit figures", name, " "); i = 1 }
		/^===$/ { i++; next } { print >(place name[i]) }' "$work/out"
}

ok "it runs for $seconds s" run_stress_guest
sed 's/^ */# /' "$work/figures" | head -n 4
if [ "$recipe" != um ]; then
	ok "pages were migrated, and say so" file_has "$work/figures" " [1-9][0-9]* compaction"
	ok "memory went and came" file_has "$work/figures" "^offline [1-9]"
fi
ok "each reference is where it should be" equals "$(grep -c 'ok [0-9]* test_references' "$work/kunit") \
$(grep -c 'not ok' "$work/kunit")" "3 0"
# Reading the depot's statistics allocates pages, too.
references_match_records()
{
	awk '/chains: [0-9]+/ { held = $NF } /^refcounted_in_use/ { runs++; print held, $2
		if (!held || $2 < held - 20 || $2 > held + 20) bad++ }
		END { exit bad || runs != 3 }' "$work/kunit" >"$seen"
}
ok "the depot has no chain that nothing holds" references_match_records
ok "what is planted then is shown exactly" "$check" truth "$work/truth" "$work/records"
ok "... and counted exactly" "$check" stacks "$work/truth" "$work/stacks"
ok "the sum of all records is the sum of all stacks" "$check" sums "$work/records" "$work/stacks"
finish_tests
