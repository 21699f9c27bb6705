#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# SLUB's user tracking has the stacks that it has without our patches, and recognizes them.
# Prints TAP.
usage='KERNEL VANILLA'
. "$(dirname "$0")/prelude.sh"

requests=3000

# track KERNEL: the traces of kmalloc-256, then the depot's statistics
track()
{
	tools/testing/owner/guest/guest.py run "$1" --append "slab_debug=U" --timeout 900 \
		--extra "build/$1/owner-modules" --cmd "
		insmod /extra/owner_leak.ko requests=$requests || exit
		cat $debug/slab/kmalloc-256/alloc_traces
		cat $debug/stackdepot/stats
		dmesg | grep 'stackdepot.*hash table'" >"$work/$1" 2>"$work/err"
}

# The functions of the trace that has all sessions, without offsets, which compilers choose.
list_functions()
{
	awk -v want="$requests" 'NF && $1 !~ /[^0-9]/ { show = $1 == want; next }
		!NF { show = 0 } show { sub(/^ */, ""); sub(/\+0x.*/, ""); print }' "$work/$1"
}

read_depot_figure() { sed -n "s/^$1: //p" "$work/$kernel"; }

track "$2"
ok "the kernel without our patches runs" equals $? 0
track "$kernel"
ok "the kernel with them runs" equals $? 0
list_functions "$2" >"$work/wanted"
list_functions "$kernel" >"$work/got"
seen="$work/wanted $work/got"
ok "the sessions have a trace" grep -q leak_serve "$work/wanted"
ok "both kernels have the same one" cmp -s "$work/wanted" "$work/got"
seen="$work/$kernel"
# slab_debug never evicts a stack.
ok "there is no hash table of stacks that are evicted" file_lacks "$work/$kernel" "evictable hash table"
ok "... but the one of other stacks is there" file_has "$work/$kernel" "stackdepot hash table entries"
# Before the CPU caches exist, and again after a CPU has given one back, each stack is walked.
ok "stacks are recognized" \
	[ "$(read_depot_figure walked_saves)" -le $((4 * $(read_depot_figure persistent_count))) ]
finish_tests
