#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The promise is that memory grows with groups and not with records: a dump a
# hundred times as long must not need more than a little noise more. And where
# almost each record is a group of its own, 300,000 fit into 16 MiB.
#
# usage: memory_is_bounded.sh OWNERTOP
set -eu

ownertop=$1
noise_kib=1024
most_kib=16384
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_dump()
{
	"$here/../../../testing/owner/bench/make_owner_dump.py" "$@" "$here/input/page_real.txt"
}

make_dump --records 2000 --chains 500 > "$work/once"

# The shorter one fills all buffers, too: else their number depends on who is faster.
short=4
long=400

# peak TIMES [FILTER...]: KiB for the dump read so many times over through a
# pipe, compressed by FILTER
peak()
{
	local times=$1

	shift
	for _ in $(seq "$times"); do
		cat "$work/once"
	done | "${@:-cat}" | command time -o "$work/kib" -f %M "$ownertop" - > /dev/null
	cat "$work/kib"
}

# check WHAT SHORT LONG: fails if the long one took more
check()
{
	echo "$1: $short times: $2 KiB, $long times: $3 KiB"
	[ "$3" -le $(($2 + noise_kib)) ]
}

check plain "$(peak $short)" "$(peak $long)"
check gzip "$(peak $short gzip -1c)" "$(peak $long gzip -1c)"

# zstd grows up to the window it may use: the largest that is read.
largest=$(peak $long zstd -qc --long=23)
echo "zstd with a window of 8 MiB: $largest KiB"
[ "$largest" -le $most_kib ]

# Views, and the sorts of page_owner_sort: by time, no two records are alike.
make_dump --records 300000 --depth 6 > "$work/many"
while read -r view; do
	# shellcheck disable=SC2086 # words
	command time -o "$work/kib" -f %M "$ownertop" $view > /dev/null
	echo "$view: $(cat "$work/kib") KiB"
	[ "$(cat "$work/kib")" -le $most_kib ]
done << EOF
table $work/many
table --top 0 $work/many
table --top 0 -g stack,comm,pid -d 0 $work/many
tree $work/many
records $work/many
records --top 0 $work/many
folded $work/many
pprof $work/many
flame $work/many
diff $work/once $work/many
trend --time 0h,1h $work/once $work/many
page_owner_sort $work/many $work/out
page_owner_sort -a $work/many $work/out
EOF
