#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that memory grows with groups and not with records: a dump that is a hundred times
# longer must need the same memory, with little tolerance. If almost each record is a group,
# 300,000 of them must need at most 18 MiB, also if they have 60,000 call chains, and 22 MiB in live
# mode.
#
# usage: memory_is_bounded.sh OWNERTOP
set -eu

ownertop=$1
tolerance_kib=1024
limit_kib=18432
live_limit_kib=22528
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_dump()
{
	"$here/../../../testing/owner/bench/make_owner_dump.py" "$@" "$here/input/page_real.txt"
}

make_dump --records 2000 --chains 500 > "$work/once"

# The shorter dump fills all buffers, too; else the number of used buffers would depend on timing.
short=4
long=400

# measure_peak TIMES [FILTER...]: print the KiB that ownertop needs to read the dump TIMES
# times through a pipe, compressed by FILTER
measure_peak()
{
	local times=$1

	shift
	for _ in $(seq "$times"); do
		cat "$work/once"
	done | "${@:-cat}" | command time -o "$work/kib" -f %M "$ownertop" - > /dev/null
	cat "$work/kib"
}

# compare_peaks WHAT SHORT LONG: fail if the long input needed more KiB than the short one
compare_peaks()
{
	echo "$1: $short times: $2 KiB, $long times: $3 KiB"
	[ "$3" -le $(($2 + tolerance_kib)) ]
}

compare_peaks plain "$(measure_peak $short)" "$(measure_peak $long)"
compare_peaks gzip "$(measure_peak $short gzip -1c)" "$(measure_peak $long gzip -1c)"

# zstd needs memory for its window: test the largest window that is accepted.
largest=$(measure_peak $long zstd -qc --long=23)
echo "zstd with a window of 8 MiB: $largest KiB"
[ "$largest" -le $limit_kib ]

# All views, and page_owner_sort, to which all records differ when it sorts by time.
make_dump --records 300000 --depth 6 > "$work/many"
make_dump --records 315000 --depth 6 --chains 60000 > "$work/chains"
while read -r view; do
	# shellcheck disable=SC2086 # a list of words
	command time -o "$work/kib" -f %M "$ownertop" $view > /dev/null
	echo "$view: $(cat "$work/kib") KiB"
	[ "$(cat "$work/kib")" -le $limit_kib ]
done << EOF
table $work/many
table --top 0 $work/many
table --top 0 -g stack,comm,pid -d 0 $work/many
tree $work/many
functions $work/many
explain $work/many
explain $work/once $work/many
table --top 0 -g kind,cache,comm,pid,tgid,stack,user -d 0 $work/many
folded $work/many
pprof $work/many
prom $work/many
--check bytes>100G $work/many
flame $work/many
diff $work/once $work/many
trend --time 0h,1h $work/once $work/many
table --top 0 $work/chains
table --top 0 -g kind,cache,comm,pid,tgid,stack,user -d 0 $work/chains
tree $work/chains
page_owner_sort $work/many $work/out
page_owner_sort -a $work/many $work/out
EOF

# Live mode on a terminal, which keeps the sums of two earlier answers.
live="$ownertop --live=0.1 -c 3 -g stack,comm,pid $work/many"
script -qec "stty cols 80 rows 24; command time -o $work/kib -f %M $live" /dev/null \
	< /dev/null > /dev/null
echo "live: $(cat "$work/kib") KiB"
[ "$(cat "$work/kib")" -le $live_limit_kib ]
