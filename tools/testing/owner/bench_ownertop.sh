#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Time and memory of ownertop beside page_owner_sort, on the same dump, in
# turns, so that a busy machine hurts both.
#
# usage: bench_ownertop.sh KERNEL_TREE [DUMP]
#
# KERNEL_TREE is where page_owner_sort.c is taken from. Without DUMP, one of
# 300,000 records is made.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 KERNEL_TREE [DUMP]" >&2
	exit 2
fi
here=$(dirname "$(readlink -f "$0")")
ownertop_dir=$here/../../mm/ownertop
rounds=5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -w -o "$work/page_owner_sort" "$1/tools/mm/page_owner_sort.c"
make -s -C "$ownertop_dir" O="$work"
dump=${2:-$work/dump}
if [ $# -eq 1 ]; then
	"$here/make_owner_dump.py" --records 300000 --depth 6 \
		"$ownertop_dir/tests/input/page.txt" > "$dump"
fi

# run NAME COMMAND...: adds "seconds KiB" to what is known of NAME
run()
{
	local name=$1

	shift
	/usr/bin/time -a -o "$work/$name.times" -f '%e %M' "$@" > /dev/null
}

for _ in $(seq "$rounds"); do
	run page_owner_sort "$work/page_owner_sort" --cull stacktrace "$dump" "$work/out"
	run ownertop "$work/ownertop" "$dump"
	# shellcheck disable=SC2016 # the inner shell expands it
	run ownertop_pipe sh -c 'cat "$1" | "$2" -' sh "$dump" "$work/ownertop"
done

# Medians: the best run flatters, the mean believes every disturbance.
median()
{
	cut -d ' ' -f "$2" "$work/$1.times" | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

base=$(median page_owner_sort 1)
printf 'dump\t%s bytes\n' "$(stat -L -c %s "$dump")"
printf 'tool\tseconds\ttimes faster\tpeak KiB\n'
for name in page_owner_sort ownertop ownertop_pipe; do
	seconds=$(median "$name" 1)
	printf '%s\t%s\t%s\t%s\n' "$name" "$seconds" \
		"$(awk -v a="$base" -v b="$seconds" 'BEGIN { printf "%.1f", a / b }')" \
		"$(median "$name" 2)"
done
