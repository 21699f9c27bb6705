#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Readers under signals, faults and shortage of memory: they get their answer or an error
# that says what to do, and nobody is killed. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/out $work/console"
mkdir "$work/extra"
# The guest has no libraries.
ok "the program that asks is built" gcc -O2 -Wall -static -o "$work/extra/owner_ask" \
	tools/testing/owner/modules/owner_ask.c

run_reader_guest()
{
	cp "$modules"/*.ko "$work/extra"
	modules=$work/extra run_guest "$@"
}

# --- Signals and faults -----------------------------------------------------------

# Enough for an answer that takes longer than the 20 ms between two looks for a signal.
objects=1000000
[ "$recipe" != debug ] || objects=100000
# Without a memo, each object is found: "cgroup" is not in the records.
ok "reads under signals and faults" run_reader_guest "slab_owner=on kfence.sample_interval=0" \
	"insmod /extra/owner_bench_memory.ko objects=$objects; insmod /extra/owner_truth.ko
	/extra/owner_ask timer 'group=cgroup,cache'; echo ===
	/extra/owner_ask fault 'format=tsv if module == owner_truth'; echo ===
	exec 3<>$debug/owner/query; echo 'format=tsv if module == owner_truth' >&3; cat <&3; echo ===
	grep kmalloc-256 $debug/owner/caches; exec 4<$debug/owner/caches
	insmod /extra/owner_leak.ko requests=20000; grep kmalloc-256 <&4; echo ===
	echo 'if module == owner_truth' >&3; cat <&3 | wc -l
	echo 'if module == owner_truth' >&3
	dd bs=777 <&3 >/tmp/odd 2>/dev/null & dd bs=778 <&3 >/tmp/even 2>/dev/null; wait
	cat /tmp/odd /tmp/even | wc -l; echo ===
	(i=0; while [ \$((i += 1)) -le 300 ]; do echo group=kind; done >&3) &
	while kill -0 \$! 2>/dev/null; do cat <&3 >/dev/null; done; wait
	echo group=kind >&3; cat <&3" --mem 512M
split_output timer fault plain caches shared disturbed
ok "an interrupted answer is continued" file_has "$work/timer" "answered after several signals"
# Ages differ, and with them the time of the answer.
list_objects() { awk -F '\t' '{ $10 = ""; print } /^# total/ { exit }' "$1" | sed 's/, oldest.*//'; }
list_objects "$work/fault" >"$work/after_fault"
list_objects "$work/plain" >"$work/expected"
ok "after a fault no object is missing" cmp "$work/after_fault" "$work/expected"
ok "... and there are some" [ "$(grep -c '^object' "$work/expected")" -gt 30 ]
ok "owner/caches shows the moment of its opening" \
	[ "$(awk '{ print $2 }' "$work/caches" | sort -n | awk 'NR == 1 { least = $1 }
		END { print ($1 - least < 10000) }')" = 1 ]
ok "two tasks that read one open file get the answer once" \
	equals "$(uniq "$work/shared" | wc -l)" 1
ok "a task reads what another one asks at the same open file" \
	file_has "$work/disturbed" "^total: groups "

# The only records are far behind others that no file shows.
ok "files of records are read under signals" run_reader_guest \
	"slab_owner=on page_owner=on kfence.sample_interval=0" \
	"echo 'track=off' >$debug/owner/control
	insmod /extra/owner_bench_memory.ko objects=$objects
	echo 'track=on if comm == insmod' >$debug/owner/control; insmod /extra/owner_truth.ko
	echo track=off >$debug/owner/control
	for file in slab_owner page_owner; do /extra/owner_ask read $debug/\$file; done" --mem 512M
ok "... and each record is found once" equals \
	"$(awk '/ bytes after a signal$/ && $1 == $3 && $1 > 1000' "$work/out" | wc -l)" 2

# --- Memory -------------------------------------------------------------------------

ok "asks for more groups than there is memory for" run_reader_guest \
	"slab_owner=on kfence.sample_interval=0 stack_depot_max=32M" \
	"insmod /extra/owner_bench_memory.ko objects=1 chains=60000
	for file in owner/top slab_owner_stacks/show_handles; do
		/extra/owner_ask open $debug/\$file; done; echo ===
	sed '/^\$/q' $debug/owner/top; sed '1,/^\$/d;/^\$/q' $debug/owner/top; echo ===
	i=3; while [ \$i -lt 9 ]; do eval \"exec \$i<$debug/slab_owner_stacks/show_handles\"
		i=\$((i + 1)); done; while [ \$i -gt 3 ]; do i=\$((i - 1)); eval \"exec \$i<&-\"; done
	exec 3<>$debug/owner/query
	echo 'group=stack.full,cache,comm,pid top=1' >&3; cat <&3 2>&1; echo ===
	echo 'group=func top=1' >&3; cat <&3; echo ===
	stored() { sed -n 's/^refcounted_in_use: //p' $debug/stackdepot/stats; }
	exec 4<$debug/owner/top; before=\$(stored); rmmod owner_bench_memory
	i=0; while [ \$((i += 1)) -le 30 ] && [ \$(stored) -gt \$((before - 12000)) ]; do
		sleep 1; done; echo \$before; stored; exec 4<&-; echo ===
	dmesg | grep -c -i 'out of memory\\|oom'; true" --mem 128M
split_output opened top folded few stored killed
ok "files are opened in spite of signals" [ "$(grep -c "^opened after a signal" "$work/opened")" = 2 ]
ok "owner/top shows what it read" file_has "$work/top" "KiB .*%"
ok "... and not its own memory" file_lacks "$work/top" "open_top|owner_sum_slab_chains"
ok "the last groups are folded without memory for more" \
	file_has "$work/folded" "^other: groups [1-9][0-9]{3}"
ok "... and the answer says so" file_has "$work/folded" "^# other: the groups that were last"
ok "... but not a few groups" file_lacks "$work/few" "other"
# Chains before and after the objects of 16,384 are freed
{ read -r before; read -r after; } <"$work/stored"
echo "# $before, $after chains"
ok "an open owner/top lets the depot free chains" [ "$after" -le $((before - 12000)) ]
ok "nobody was killed" equals "$(cat "$work/killed")" 0

# An answer is charged to its reader, and freed when it has been read.
ok "a reader in a memory cgroup asks for many groups" run_reader_guest \
	"slab_owner=on kfence.sample_interval=0 stack_depot_max=64M" \
	"insmod /extra/owner_bench_memory.ko objects=1 chains=60000 frames=8
	mount -t cgroup2 none /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/reader
	echo 0 >/sys/fs/cgroup/reader/cgroup.procs
	exec 3<>$debug/owner/query
	ask() { echo 'group=stack.full,cache,comm,pid top=1000' >&3; }
	charged() { echo \$((\$(cat /sys/fs/cgroup/reader/memory.current) / 1024)); }
	charged; ask; dd bs=4096 count=1 <&3 >/dev/null 2>&1
	charged; cat <&3 >/dev/null; charged; echo ===
	echo 8M >/sys/fs/cgroup/reader/memory.max
	ask; cat <&3 2>&1 | grep '^[a-z#]'; grep oom_kill /sys/fs/cgroup/reader/memory.events; echo ===
	echo mark >&3 2>/dev/null; cat <&3; echo 'group=func since=mark' >&3 2>/dev/null; cat <&3
	grep oom_kill /sys/fs/cgroup/reader/memory.events; echo ===
	echo max >/sys/fs/cgroup/reader/memory.max; charged; echo mark >&3; charged
	echo 'group=func since=mark' >&3; cat <&3 >/dev/null; charged; exec 3<&-; charged" --mem 640M
split_output charged bounded unmarked marked
# KiB before, within and after the answer
{ read -r before; read -r within; read -r after; } <"$work/charged"
echo "# $before, $within, $after KiB"
ok "the answer is charged to the reader" [ "$within" -gt $((before + 6144)) ]
ok "... and freed after it was read" [ "$after" -lt $((before + 2048)) ]
ok "a reader with less memory gets a shorter answer" \
	file_has "$work/bounded" "^other: groups [1-9][0-9]{4}, "
ok "... which says why" file_has "$work/bounded" \
	"^# other: .* when there were [1-9][0-9]+, as the memory cgroup of the reader was nearly full;"
ok "... and has the whole total" file_has "$work/bounded" \
	"^total: groups 6[0-9]{4}, objects [67][0-9]{4}, "
ok "... and is not killed" file_has "$work/bounded" "^oom_kill 0"
ok "a mark that needs more is refused in words" file_has "$work/unmarked" \
	"^no memory for more than [1-9][0-9]+ groups, as the memory cgroup of the reader was nearly full: "
ok "... so that there is none" file_has "$work/unmarked" "^this open file has no mark"
ok "... and nobody is killed" file_has "$work/unmarked" "^oom_kill 0"
# KiB before, with a mark, after an answer and after the file was closed
{ read -r before; read -r within; read -r answered; read -r after; } <"$work/marked"
echo "# $before, $within, $answered, $after KiB"
ok "a mark is charged to its reader" [ "$within" -gt $((before + 6144)) ]
ok "... in a table that fits" [ "$within" -lt $((before + 12288)) ]
ok "... also after an answer" [ "$answered" -gt $((before + 6144)) ]
ok "... and freed when the file is closed" [ "$after" -lt $((before + 2048)) ]

# --- Failing allocations: only the debug kernel can make them fail ----------------------

if [ "$recipe" = debug ]; then
	# One allocation fails in each read: vmalloc() would warn of a second one, in seq_file.
	# shellcheck disable=SC2016 # for the guest's shell
	ok "allocations of the reader fail" run_reader_guest \
		"slab_owner=on page_owner=on kfence.sample_interval=0" '
		cd /sys/kernel/debug/failslab
		echo N >ignore-gfp-wait; echo 0 >verbose
		insmod /extra/owner_truth.ko
		for file in query top caches stats control slab_stacks page; do
			i=0
			while [ $((i += 1)) -le 50 ]; do
				sh -c "echo $i >/proc/self/fail-nth
					case $file in
					query) exec 3<>/sys/kernel/debug/owner/query
						echo group=stack,cache,comm >&3; read -r line <&3 ;;
					slab_stacks) read -r line </sys/kernel/debug/slab_owner_stacks/show_stacks ;;
					page) read -r line </sys/kernel/debug/page_owner ;;
					*) read -r line </sys/kernel/debug/owner/$file ;;
					esac" >/dev/null 2>&1
			done
		done
		exec 3<>/sys/kernel/debug/owner/query; echo group=kind >&3; cat <&3' --smp 4
	ok "... and readers go on afterwards" file_has "$work/out" "^total: groups 2, "
fi
finish_tests
