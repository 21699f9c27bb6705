#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Count the calls that write to records of the depot, which all CPUs share, while each
# context allocates and frees 100,000 objects. In steady state a CPU counts references and
# objects in its own cache, so few calls are left. Prints TAP.
#
# A CPU gives back what it keeps once in a second. The guest counts instructions, so the
# captures take less than a second of its time, and it waits before each context.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

captures=100000
# Each of 1,024 chains is given back once, and taken again: four calls.
allowed=4500
functions=stack_depot_save_flags,stack_depot_get,stack_depot_get_many,stack_depot_put
functions=$functions,stack_depot_put_many,stack_depot_count
contexts="task kworker hrtimer timer tasklet irq_work untraced kretprobe init"
contexts="$contexts chains-1 chains-16 chains-64 chains-256 chains-1024"

# Each context repeats its measurement 13 times.
pairs=$((captures / 13 + 1))
ok "counts calls" run_guest slab_owner=on "
	for context in $contexts; do
		sleep 3
		insmod /extra/owner_bench_contexts.ko only=kmalloc contexts=\$context \\
			pairs=$pairs count=$functions
		rmmod owner_bench_contexts
	done
	dmesg | grep owner_bench:" --icount

# sum_calls CONTEXT: all calls of a context, or nothing if a function was not counted.
sum_calls()
{
	awk -v context="kmalloc-64/$1" -v wanted="$(echo $functions | tr , '\n' | wc -l)" '
		{ sub(/.*owner_bench: /, "") }
		$1 == context { calls += $4; found++ }
		END { if (found == wanted) print calls }' "$work/out"
}
calls_are_few() { [ -n "$1" ] && [ "$1" -le "$allowed" ]; }

for context in $contexts; do
	calls=$(sum_calls "$context")
	echo "# $context: ${calls:-no figure}"
	ok "$captures captures of $context make at most $allowed calls" calls_are_few "$calls"
done
finish_tests
