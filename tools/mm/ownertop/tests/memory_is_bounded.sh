#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The promise is that memory grows with groups and not with records: a dump a
# hundred times as long must not need more than a little noise more.
#
# usage: memory_is_bounded.sh OWNERTOP
set -eu

ownertop=$1
noise_kib=512
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/../../../testing/owner/make_owner_dump.py" --records 2000 --chains 500 \
	"$here/input/page.txt" > "$work/once"

# peak TIMES: KiB for the dump read so many times over through a pipe
peak()
{
	for _ in $(seq "$1"); do
		cat "$work/once"
	done | command time -o "$work/kib" -f %M "$ownertop" - > /dev/null
	cat "$work/kib"
}

short=$(peak 1)
long=$(peak 100)
echo "2,000 records: $short KiB, 200,000 records: $long KiB"
[ "$long" -le $((short + noise_kib)) ]
