#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# Stack ids in trace events: the ftrace selftest, the option on the boot line, traces of the
# depot's own slow paths, ids that start again, and torture with everything traced. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

mkdir "$work/extra"
cp tools/testing/selftests/ftrace/test.d/ftrace/stackmap.tc "$modules"/*.ko "$work/extra"

# trace_guest OUTPUT BOOT-WORDS COMMAND. QEMU without KVM sometimes executes an instruction that
# has been patched meanwhile, with this tracing also in a kernel without our patches: one CPU.
trace_guest()
{
	tools/testing/owner/guest/guest.py run "$kernel" --timeout 400 --smp 1 --append "$2" \
		--extra "$work/extra" --cmd "mount -t tracefs none /sys/kernel/tracing
		cd /sys/kernel/tracing
		$3" >"$work/$1" 2>"$work/err"
}

# read_stat OUTPUT NAME: a line of stack_map_stat
read_stat() { sed -n "s/^$2: //p" "$work/$1"; }

# ftracetest itself needs programs that the guest does not have.
seen="$work/selftest $work/err"
ok "the selftest passes" trace_guest selftest "" "
	exit_fail() { exit 1; }
	TMPDIR=/tmp
	set -e
	. /extra/stackmap.tc"

seen="$work/boot $work/err"
ok "the option is taken at boot" trace_guest boot \
	"trace_event=kmem:kmalloc trace_options=stacktrace,stackmap" "
	echo 0 >tracing_on
	cat stack_map_stat"
ok "... and events before the first process have ids" \
	[ "$(read_stat boot events_with_id)" -gt 1000 ]
ok "... few find no room in the depot" \
	[ "$(($(read_stat boot whole_no_room) * 10))" -lt "$(read_stat boot events_with_id)" ]

# Functions that run under the depot's locks, while the depot is full and tasks and interrupts
# save stacks.
seen="$work/slow $work/err"
ok "the depot's slow paths are traced" trace_guest slow \
	"slab_owner=on page_owner=on stack_depot_max=4M" "
	echo 1 >options/stackmap
	for function in _raw_spin_lock _raw_spin_lock_irqsave '*_state_synchronize_rcu*' \
			irq_work_queue kmem_cache_alloc_noprof; do
		echo \$function >>set_ftrace_filter || echo no \$function
	done
	cat set_ftrace_filter
	echo 1 >options/func_stack_trace
	echo function >current_tracer
	insmod /extra/owner_torture.ko seconds=5
	sleep 2
	rmmod owner_torture
	echo nop >current_tracer
	cat stack_map_stat"
ok "... and have ids" [ "$(read_stat slow events_with_id)" -gt 1000 ]
ok "... also of what they interrupt" [ "$(read_stat slow events_with_two_ids)" -gt 0 ]

# Events with one chain leave out different numbers of frames. Functions of __init have no names.
seen="$work/skip $work/err"
ok "stacks without their first frames are traced" trace_guest skip slab_owner=off "
	insmod /extra/owner_skip.ko
	grep '=>' trace | grep -v '=> 0x'
	rmmod owner_skip
	echo >trace
	echo ===
	echo 1 >options/stackmap
	# The depot gets its pages from a worker.
	sleep 1
	insmod /extra/owner_skip.ko
	grep '=>' trace | grep -v '=> 0x'
	echo ===
	cat stack_map_stat"
cp "$work/skip" "$work/out"
split_output whole ids stat
ok "... half of them have ids" [ "$(read_stat stat events_with_id)" -eq 3 ]
seen="$work/whole $work/ids"
ok "... and the same frames with ids" cmp "$work/whole" "$work/ids"

# Each way to drop a reference: another event of a known stack, a full map, a map that is replaced
# and an instance that is removed. Slots of stacks that were interrupted are used again.
seen="$work/removed $work/err"
ok "an instance with ids is removed" trace_guest removed slab_owner=off "
	mkdir instances/removed
	cd instances/removed
	echo 1 >options/stackmap
	echo 1 >options/stacktrace
	for event in kmem/kmalloc kmem/kfree kmem/kmem_cache_alloc irq/softirq_raise; do
		echo 1 >events/\$event/enable
	done
	i=0
	while [ \$((i += 1)) -le 10 ]; do ls -lR /proc/self >/dev/null; (true) | cat; done
	cat stack_map_stat
	echo 16 >stack_map_size
	ls -lR /proc/self >/dev/null
	sed -n 's/^whole_full/found_full/p' stack_map_stat
	for event in events/*/*/enable; do echo 0 >\$event; done 2>/dev/null
	grep ^refcounted_in_use $debug/stackdepot/stats
	cd ../..
	rmdir instances/removed
	sleep 3
	sed -n 's/^refcounted_in_use/left/p' $debug/stackdepot/stats"
ok "... which wrote two ids" [ "$(read_stat removed events_with_two_ids)" -gt 0 ]
ok "... and found its map full" [ "$(read_stat removed found_full)" -gt 0 ]
ok "... whose stacks the depot had" [ "$(read_stat removed refcounted_in_use)" -gt 0 ]
ok "... and no longer has" equals "$(read_stat removed left)" 0

# The epoch has 12 bits. The buffer and the snapshot have ids of epoch 1.
seen="$work/wrap $work/err"
ok "4,096 maps are replaced" trace_guest wrap slab_owner=off "
	echo 1 >/sys/kernel/rcu_expedited
	echo 1 >options/stacktrace
	echo 1 >options/stackmap
	echo 16 >stack_map_size
	echo 1 >events/kmem/kmalloc/enable
	ls /proc/self >/dev/null
	echo 1 >snapshot
	ls /proc/self >/dev/null
	echo 0 >tracing_on
	i=1
	while [ \$i -lt 4096 ]; do
		[ \$i -lt 4095 ] || for file in trace snapshot; do
			echo \$file before: \$(grep -c 'the stack map no longer has' \$file)
		done
		echo 0 >stack_map || exit
		i=\$((i + 1))
	done
	for file in trace snapshot; do
		echo \$file after: \$(grep -c 'stack trace' \$file)
	done
	echo 1 >tracing_on
	ls /proc/self >/dev/null
	echo 0 >tracing_on
	cat stack_map_stat
	grep ^refcounted_in_use $debug/stackdepot/stats
	echo 0 >stack_map
	sleep 3
	sed -n 's/^refcounted_in_use/left/p' $debug/stackdepot/stats"
for file in trace snapshot; do
	ok "... old ids in $file stay unknown" [ "$(read_stat wrap "$file before")" -gt 0 ]
	ok "... and are dropped when the ids start again" equals \
		"$(read_stat wrap "$file after")" 0
done
ok "... and events have ids again" [ "$(read_stat wrap events_with_id)" -gt 0 ]
ok "... the depot has their stacks" [ "$(read_stat wrap refcounted_in_use)" -gt 0 ]
ok "... until the map is replaced" equals "$(read_stat wrap left)" 0

# Maps and buffers are replaced and read while tasks and interrupts of two CPUs write events.
# Code is patched before the second CPU has work.
seen="$work/torture $work/err"
torture_guest()
{
	tools/testing/owner/guest/guest.py run "$kernel" --timeout 570 --smp 2 --mem 1G \
		--append "slab_owner=on page_owner=on" --extra "$work/extra" --cmd "
		mount -t tracefs none /sys/kernel/tracing
		cd /sys/kernel/tracing
		echo 1 >options/stackmap
		echo 1 >options/stacktrace
		echo 512 >buffer_size_kb
		echo 0 >tracing_on
		for event in events/kmem/*/enable; do echo 1 >\$event; done
		mkdir instances/functions
		echo 1 >instances/functions/options/stackmap
		echo 512 >instances/functions/buffer_size_kb
		echo 0 >instances/functions/tracing_on
		echo '$1' >instances/functions/set_ftrace_filter
		echo 1 >instances/functions/options/func_stack_trace
		echo function >instances/functions/current_tracer
		echo 1 >tracing_on
		echo 1 >instances/functions/tracing_on
		insmod /extra/owner_torture.ko seconds=5 || exit
		i=0
		while [ \$i -lt 8 ]; do
			sleep 1
			for map in . instances/functions; do
				cat \$map/stack_map_stat
				cat \$map/stack_map >/dev/null
				head -n 3000 \$map/trace >/dev/null
				echo \$((100 << i)) >\$map/stack_map_size
				echo \$((256 + i % 3 * 256)) >\$map/buffer_size_kb
				echo 0 >\$map/stack_map
			done
			i=\$((i + 1))
		done
		echo 0 >tracing_on
		echo nop >instances/functions/current_tracer
		rmdir instances/functions || exit
		rmmod owner_torture
		dmesg | grep -o 'torture: [0-9].*'" >"$work/torture" 2>"$work/err"
}
# Each function takes the guest too long.
ok "torture with all kmem events and many functions traced" \
	torture_guest '*alloc* *free* *slab* irq_work_* try_to_wake_up *_lock_irqsave'
count_torture_events() { read_stat torture "$1" | awk '{ n += $1 } END { print n + 0 }'; }
ok "... has events with ids" [ "$(count_torture_events events_with_id)" -gt 10000 ]
ok "... and with two" [ "$(count_torture_events events_with_two_ids)" -gt 100 ]
finish_tests
