#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the functions by name:
# shellcheck disable=SC2317
#
# Measure the longest sections with interrupts or preemption off, and the latency of a real-time
# task, with slab_owner and without it, below the same load. A guest has one CPU and counts
# instructions: one takes 1 ns. A section with slab_owner may be 100 us longer than the longest
# one without it. Prints TAP, and the figures as comments.
usage='KERNEL [ROUNDS]'
. "$(dirname "$0")/prelude.sh"

rounds=${2:-3}
limit=100
tracers="irqsoff preemptoff preemptirqsoff"
cyclictest=$(command -v cyclictest)
test_name="measures sections with slab_owner=off"

if [ ! -e "build/$kernel/arch/x86/boot/bzImage" ]; then
	skip_test "$test_name" "its kernel is not built: make kernel K=$kernel"
	finish_tests
fi
if [ -z "$cyclictest" ]; then
	skip_test "$test_name" "there is no cyclictest; make install-tests"
	finish_tests
fi
seen="$work/out $work/guest.err"

# --- The guest ----------------------------------------------------------------------

# The guest has no libraries: give it those of cyclictest, and the program that loads them.
mkdir "$work/extra" "$work/extra/lib"
cp "$modules/owner_torture.ko" "$modules/owner_bench_memory.ko" "$cyclictest" "$work/extra"
ldd "$cyclictest" | grep -o '/[^ ]*' | while read -r library; do
	cp -L "$library" "$work/extra/lib"
done

# For the guest's shell. Each window of 200 ms prints its longest section:
# "section TRACER PHASE US START END CALLERS". Each phase prints the mean and the greatest latency
# of cyclictest: "cyclictest TRACER PHASE MEAN MAXIMUM", in us.
# shellcheck disable=SC2016 # for the guest's shell
measure='
	cd /sys/kernel/debug
	tracing=/sys/kernel/debug/tracing
	echo 0 >$tracing/options/function-trace
	# Until then timers wait for ticks.
	until grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource; do
		sleep 0.1
	done
	# The kernel prints a line for each time, but not after "4".
	echo 4 >/proc/sys/vm/drop_caches

	# The load: tasks, files, objects of kmalloc() and of caches, in tasks and in timers.
	while :; do (:); cat /proc/self/maps >/dev/null; done &
	while :; do
		find /sys/devices /proc/sys >/dev/null
		echo 2 >/proc/sys/vm/drop_caches
	done &
	insmod /extra/owner_torture.ko &
	# The phases get more of the CPU than the load.
	renice -n -5 $$ >/dev/null

	# The phases. Chains of "chains" come and go, and the CPU cache is flushed of them.
	do_load() { sleep 0.1; }
	do_chains() { insmod /extra/owner_bench_memory.ko chains=4000 && rmmod owner_bench_memory; }
	do_queries()
	{
		[ $mode = on ] || { sleep 0.1; return; }
		for sentence in "group=stack,cache,comm" "group=cgroup,cache" "if cache ~ kmalloc-*" \
			"group=stack.2,comm if age > 1s && cache ~ kmalloc-*" "group=user.4 top=5" \
			"group=stack,order if kind == page" "group=stack if kind == percpu" \
			"format=tsv if module == owner_torture"; do
			(exec 3<>owner/query; echo "$sentence" >&3 && cat <&3 >/dev/null) || echo "refused: $sentence"
		done
	}
	do_files()
	{
		[ $mode = on ] || { sleep 0.1; return; }
		for file in slab_owner slab_owner_stacks/show_* page_owner page_owner_stacks/show_* \
			owner/caches owner/binaries owner/top owner/stats stackdepot/stats; do
			cat $file >/dev/null
		done
	}
	do_rules()
	{
		[ $mode = on ] || { sleep 0.1; return; }
		for rules in "clear" "clear; depth=2; user=on if cache ~ kmalloc-*" \
			"clear; sample=64K" "clear; track=off if func == alloc_left" \
			"clear; track=off" "clear; depth=8 free=on if module == owner_torture"; do
			echo "$rules" >owner/control || echo "refused: $rules"
			cat owner/control >/dev/null
			sleep 0.05
		done
		echo clear >owner/control
	}

	print_section()
	{
		awk -v head="section $1" "/^# latency:/ { us = \$3 }
			/started at:/ { start = \$NF }
			/ended at:/ { end = \$NF }
			/^ => / && n++ < 10 { callers = callers \" < \" \$2 }
			END { if (start) print head, us, start, end callers }" $tracing/trace
	}
	run_phase()
	{
		rm -f /tmp/stop
		(until [ -e /tmp/stop ]; do do_$2; done) &
		worker=$!
		windows=0
		while kill -0 $worker 2>/dev/null; do
			echo 0 >$tracing/tracing_max_latency
			sleep 0.2
			[ $1 = nop ] || print_section "$1 $2"
			[ $((windows += 1)) -lt 4 ] || touch /tmp/stop
		done
		wait $worker
	}
	round=0
	while [ $((round += 1)) -le '$rounds' ]; do
		for tracer in nop '$tracers'; do
			echo $tracer >$tracing/current_tracer
			for phase in load chains queries files rules; do
				# An interval that does not divide a tick: what runs after a tick, as
				# timers do, then meets each moment of it.
				/extra/lib/ld-linux-x86-64.so.2 --library-path /extra/lib \
					/extra/cyclictest -q -m -p 99 -i 211 >/tmp/cyclictest 2>&1 &
				cyclictest=$!
				run_phase $tracer $phase
				kill $cyclictest
				wait $cyclictest
				sed -n "s/^T:.* Avg: *\([0-9]*\) Max: *\([0-9]*\).*/\1 \2/p" /tmp/cyclictest |
					sed "s/^/cyclictest $tracer $phase /"
			done
		done
	done
	echo nop >$tracing/current_tracer
	[ $mode = off ] || cat owner/stats
'

# run_latency_guest MODE WORDS: leaves the guest's output in $work/MODE
run_latency_guest()
{
	mode=$1
	shift
	run_guest "$*" "mode=$mode; $measure" --icount --smp 1 --mem 512M --extra "$work/extra" --timeout 7200
	status=$?
	cp "$work/out" "$work/$mode"
	return "$status"
}

# --- Figures ------------------------------------------------------------------------

# longest MODE TRACER: "US START END CALLERS" of the longest section
longest()
{
	awk -v tracer="$2" '$1 == "section" && $2 == tracer && $4 >= most {
			most = $4; $1 = $2 = ""; sub(/^ +/, ""); line = $0 }
		END { print line }' "$work/$1" | cut -d ' ' -f 2-
}

# print_sections MODE TRACER: the longest sections by name, each once, and how often they were
# the longest one of a window
print_sections()
{
	awk -v tracer="$2" '$1 == "section" && $2 == tracer {
			name = $5 " to " $6; times[name]++
			if ($4 >= most[name]) {
				most[name] = $4; phase[name] = $3
				$1 = $2 = $3 = $4 = $5 = $6 = ""; sub(/^ +/, "")
				callers[name] = $0
			} }
		END { for (name in most)
			printf "%6d us  %s, %d x, %s  %s\n", most[name], name, times[name], phase[name],
				callers[name] }' "$work/$1" | sort -rn | head -n 8 | cut -c 1-220 |
		sed "s/^/# slab_owner=$1, $2: /"
}

# print_own_section MODE TRACER: the longest section that a function of slab_owner begins or ends
print_own_section()
{
	awk -v tracer="$2" 'NR == FNR { own[$1]; next }
		$1 == "section" && $2 == tracer && ($5 in own || $6 in own) && $4 > most {
			most = $4; name = $5 " to " $6 }
		END { if (most) printf "%d us, %s\n", most, name
			else print "never the longest one of a window" }' "$work/own" "$work/$1" |
		sed "s/^/# slab_owner=$1, $2, a function of slab_owner: /"
}

# print_cyclictest MODE TRACER
print_cyclictest()
{
	awk -v tracer="$2" '$1 == "cyclictest" && $2 == tracer {
			n++; sum += $4; if ($5 > most) { most = $5; phase = $3 } }
		END { printf "mean %.1f us, maximum %d us in %s", n ? sum / n : 0, most, phase }' "$work/$1"
}

find "build/$kernel/mm/owner" "build/$kernel/lib/stackdepot" -name '*.o' -exec nm {} + 2>/dev/null |
	awk '$2 ~ /^[tT]$/ { print $3 }' >"$work/own"
ok "$test_name" run_latency_guest off slab_owner=off
ok "... with slab_owner=on, free=on and page_owner=on" \
	run_latency_guest on slab_owner=on,free=on page_owner=on
ok "... while objects got owners" file_has "$work/on" "^tracked: +[1-9][0-9]{3}"
ok "... and no sentence was refused" file_lacks "$work/on" "^refused"
for mode in off on; do
	ok "each tracer ran with slab_owner=$mode" equals \
		"$(awk '$1 == "cyclictest" { print $2, $3 }' "$work/$mode" | sort -u | wc -l)" 20
	for tracer in nop $tracers; do
		echo "# slab_owner=$mode, cyclictest, tracer $tracer: $(print_cyclictest $mode "$tracer")"
	done
	for tracer in $tracers; do
		print_sections $mode "$tracer"
		print_own_section $mode "$tracer"
	done
done

# is_within_limit TRACER
is_within_limit()
{
	without=$(longest off "$1")
	with=$(longest on "$1")
	echo "# $1: ${without%% *} us without slab_owner, ${with%% *} us with it"
	[ "${with%% *}" -le $((${without%% *} + limit)) ] && return
	echo "# too long: $with"
	return 1
}
seen=
for tracer in $tracers; do
	ok "no section of $tracer is $limit us longer with slab_owner" is_within_limit "$tracer"
done
finish_tests
