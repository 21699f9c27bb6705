#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test paths that objects rarely take: cache destruction with live objects, a cgroup's
# limit, module unload, KFENCE, CPU and memory hotplug. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

# KFENCE, which serves any object at times, reports it in its own form.
options=
run_corner_guest()
{
	append="kfence.sample_interval=0 $1"
	cmd=$2
	shift 2
	# shellcheck disable=SC2086 # words or none
	run_guest "$append" "$cmd" $options "$@"
}

# show_lines_between FIRST LAST: lines of the output between two patterns
show_lines_between() { sed -n "/$1/,/$2/p" "$work/out"; }
count_output_lines() { grep -c "$1" "$work/out"; }

ok "somebody asks about an object" run_corner_guest slab_owner=on,free=on \
	"insmod /extra/owner_corners.ko corner=dump; dmesg"
show_lines_between 'corner: live' 'corner: freed' >"$work/live"
show_lines_between 'corner: freed' 'corner: end' >"$work/freed"
ok "which cache, and who allocated it" file_has "$work/live" 'kmalloc-512.*size 512'
ok "as what task, how much, how long ago" \
	file_has "$work/live" 'allocated by pid [0-9]+, tgid [0-9]+ \(insmod\), size 500, [0-9]+ ms ago:'
ok "by which chain" file_has "$work/live" '^ +corner_alloc\+'
ok "nobody has freed it" file_lacks "$work/live" 'freed by'
ok "afterwards nobody holds it" file_lacks "$work/freed" 'allocated by'
ok "and who freed it" file_has "$work/freed" 'freed by pid [0-9]+, tgid [0-9]+ \(insmod\), size 500'
ok "by which chain" file_has "$work/freed" '^ +corner_free\+'

ok "without free=on" run_corner_guest slab_owner=on "insmod /extra/owner_corners.ko corner=dump; dmesg"
show_lines_between 'corner: freed' 'corner: end' >"$work/freed"
ok "the freed object has no owner" file_lacks "$work/freed" 'freed by|allocated by'

ok "a cache goes before its objects" run_corner_guest slab_owner=on "
	insmod /extra/owner_corners.ko corner=busy 2>&1
	dmesg; echo ===; cat $debug/slab_owner $debug/owner/caches >/dev/null && echo read" \
	--provokes "BUG corner_busy .*Objects remaining|(__slab_err|kmem_cache_destroy).*\+0x|Call Trace"
ok "each object's owner is named" equals "$(count_output_lines 'allocated by pid .*(insmod), size 500')" 3
ok "with its chain" equals "$(count_output_lines '^ *corner_alloc+')" 3
ok "and reading goes on" equals "$(count_output_lines '^read$')" 1

ok "a memory cgroup refuses" run_corner_guest slab_owner=on "
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/small && echo 4M >/sys/fs/cgroup/small/memory.max
	(exec sh -c 'echo \$\$ >/sys/fs/cgroup/small/cgroup.procs
		insmod /extra/owner_corners.ko corner=charge')
	dmesg | grep corner:
	grep -c 'cache corner_charge,' $debug/slab_owner; grep corner_charge $debug/owner/caches"
charged=$(sed -n 's/.*corner: \([0-9]*\) charged, 100 refused.*/\1/p' "$work/out")
ok "after some" [ "${charged:-0}" -gt 1000 ]
ok "those have owners, the refused have not" \
	equals "$(sed -n '2p' "$work/out")" "$charged"
# KASAN's quarantine delays frees: SLUB counts the objects as allocated, we as untracked.
kept=0
[ "$recipe" = debug ] && kept=$(awk '/^corner_charge/ { print $4 }' "$work/out")
ok "and are counted so" equals "$(awk '/^corner_charge/ { print $2, $3, $4 }' "$work/out")" \
	"$((charged + kept)) $charged $kept"
ok "the refused at most are left" [ "$kept" -le 100 ]

ok "a module goes, its objects stay" run_corner_guest slab_owner=on "
	insmod /extra/owner_corners.ko corner=leave && rmmod owner_corners
	insmod /extra/owner_leak.ko requests=10
	awk 'BEGIN { RS = \"\" } /size 500,/ && /insmod/' $debug/slab_owner"
ok "each still has its record" equals "$(count_output_lines 'size 500')" 3
ok "and no frame that is somebody else's" file_lacks "$work/out" 'corner_|owner_corners'

# Init text allocates 10,000 objects before the module is live, and 10,000 before the text is freed.
ok "init text runs when the module is live" run_corner_guest slab_owner=on "
	count_slow() { sed -n 's/^slow: //p' $debug/owner/stats; }
	slow=\$(count_slow)
	insmod /extra/owner_corners.ko corner=init || exit
	echo slow \$((\$(count_slow) - slow))"
slow=$(sed -n 's/slow //p' "$work/out")
if [ "$recipe" = um ]; then
	ok "frame pointers need not be learned" [ "${slow:-20000}" -lt 1000 ]
else
	ok "no walk learns init text of a live module" [ "${slow:-0}" -ge 10000 ]
	ok "walks have learned it before" [ "${slow:-20000}" -lt 15000 ]
fi

if [ "$recipe" = debug ]; then
	# A slow boot would use all of KFENCE's objects if KFENCE served one in 10 ms from the beginning.
	ok "KFENCE serves an object" run_corner_guest "slab_owner=on kfence.sample_interval=1000" "
		echo 10 >/sys/module/kfence/parameters/sample_interval
		insmod /extra/owner_corners.ko corner=kfence
		pfn=\$(dmesg | sed -n 's/.*corner: //p'); echo pfn \${pfn:-none}
		find_it() { grep -B 1 \"^PFN \$pfn \" $debug/slab_owner; }
		find_it; rmmod owner_corners; echo ===; find_it || :"
	ok "its owner is shown" file_has "$work/out" 'size 500, slab [0-9]+, cache kmalloc-512, .*\(insmod\)'
	ok "until it is freed" equals "$(sed '1,/^===/d' "$work/out")" ""
fi

ok "the last word on the boot line" run_corner_guest "slab_owner=on,free=on slab_owner=ready" \
	"grep tracked $debug/owner/stats; echo track=on >$debug/owner/control
	insmod /extra/owner_leak.ko requests=10; grep -c leak_open_session $debug/slab_owner"
ok "is what counts" equals "$(tr '\n' ' ' <"$work/out")" "tracked: 0 10 "

# User-mode Linux has one processor and no memory hotplug.
if [ "$recipe" = um ]; then
	skip_test "CPUs and memory come and go" "there is one CPU"
	finish_tests
fi
# KASLR can place the kernel in movable memory, at the end of one block and the beginning of the
# next: both blocks, and those with other reserved pages, then stay online.
options="$cpus --mem 1G"
ok "CPUs and memory come and go under it all" run_corner_guest "slab_owner=on movablecore=512M nokaslr" "
	cpus=0 blocks=0 rounds=0
	insmod /extra/owner_torture.ko &
	torture=\$!
	until { [ \$rounds -ge 3 ] && [ \$blocks -ge 1 ]; } || [ \$rounds -ge 30 ]; do
		kill -0 \$torture || exit
		for state in 0 1; do
			echo \$state >/sys/devices/system/cpu/cpu2/online && cpus=\$((cpus + 1))
		done
		for block in /sys/devices/system/memory/memory*; do
			[ \"\$(cat \$block/valid_zones)\" = Movable ] || continue
			# A block with unmovable pages stays online.
			echo offline >\$block/state || continue
			blocks=\$((blocks + 1))
			cat $debug/slab_owner >/dev/null
			echo online_movable >\$block/state
			break
		done 2>>/tmp/refused
		cat $debug/slab_owner $debug/owner/caches >/dev/null
		rounds=\$((rounds + 1))
	done
	kill \$torture; wait \$torture
	[ \$blocks -ge 1 ] || { sort /tmp/refused; grep . /sys/devices/system/memory/*/valid_zones; }
	echo cpus \$cpus; echo blocks \$blocks
	rmmod owner_torture
	dmesg | grep torture: | tail -n 3"
ok "CPUs went" [ "$(sed -n 's/^cpus //p' "$work/out")" -ge 2 ]
ok "memory went" [ "$(sed -n 's/^blocks //p' "$work/out")" -ge 1 ]
ok "no handle of it is left" equals "$(show_torture_left)" "0 chains and 0 tasks"
finish_tests
