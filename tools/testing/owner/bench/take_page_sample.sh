#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Take a small sample of a real page_owner dump: take_page_sample.sh [KERNEL]. A guest runs
# a mixed load. Print one record for each of the call chains that own the most pages, and
# one for each kind of last line. The sample is the input of make_owner_dump.py, and is kept
# in tools/mm/ownertop/tests/input/page_real.txt.
set -eu
cd "$(dirname "$0")/../../../.."

kernel=${1:-x86_64}
chains=48
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Files, pipes, processes, kernel memory; a cgroup that is removed before its pages are
# freed; fragmented memory for compaction.
# shellcheck disable=SC2016 # for the guest's shell
load='
	cgroup=/sys/fs/cgroup
	mount -t cgroup2 none $cgroup
	echo +memory >$cgroup/cgroup.subtree_control
	mkdir $cgroup/work $cgroup/gone
	(echo 0 >$cgroup/gone/cgroup.procs; dd if=/dev/zero of=/tmp/left bs=64k count=8)
	sleep 1
	rmdir $cgroup/gone
	echo 0 >$cgroup/work/cgroup.procs
	dd if=/dev/zero of=/tmp/all bs=1M count=100
	rm /tmp/all
	mkdir /tmp/files
	for i in $(seq 200); do
		seq 10000 >/tmp/files/$i
		ln -s $i /tmp/files/link$i
	done
	rm /tmp/files/*[13579]
	cat /tmp/files/*2 | sort | tail >/tmp/sorted
	tar -c /tmp/files | gzip >/tmp/files.gz
	mkfifo /tmp/pipe
	sleep 1000 <>/tmp/pipe &
	seq 10000 >/tmp/pipe &
	awk "BEGIN { for (i = 0; i < 100000; i++) a[i] = i; system(\"sleep 1000\") }" &
	find / -xdev
	ls -lR /sys
	sleep 1
	echo 1 >/proc/sys/vm/compact_memory'

tools/testing/owner/guest/guest.py run "$kernel" --append page_owner=on --mem 256M --cmd "
	{ $load; } >/dev/null 2>&1
	cat /sys/kernel/debug/page_owner" >"$work/dump"

awk -v chains="$chains" '
	BEGIN { RS = ""; ORS = "\n\n" }
	{
		chain = $0
		sub(/^[^\n]*\n[^\n]*\n/, "", chain)
		gsub(/\+0x[0-9a-f]+\/0x[0-9a-f]+/, "", chain)
		if (!pages[chain]++)
			record[chain] = $0
		kind = chain
		sub(/^( [^\n]*\n?)+/, "", kind)
		if (pages[chain] > pages[most[kind]])
			most[kind] = chain
	}
	function show(chain) {
		print record[chain]
		delete pages[chain]
	}
	END {
		for (kind in most)
			show(most[kind])
		while (chains-- > 0) {
			next_one = ""
			for (chain in pages)
				if (pages[chain] > pages[next_one])
					next_one = chain
			show(next_one)
		}
	}' "$work/dump"
