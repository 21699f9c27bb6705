#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let the kernel's own tool page_owner_filter write filters to page_owner, as Linux 7.3 has them:
# each filter must leave exactly what a module has planted. Each open file has a filter of its
# own. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

check=tools/testing/owner/tests/check_pages.py
extra=$work/extra
# User-mode Linux has one node. The nodes of other guests are 0 and 1.
nodes=
cpus=
case $recipe in
um) all_nodes=0 no_node=1 ;;
*) all_nodes=0-1 no_node=2 nodes="numa=fake=2" cpus="--smp 2" ;;
esac

reports_pages() { "$check" "$@" >"$work/err" 2>&1; }
count_matching_lines() { grep -cE -e "$2" "$work/$1"; }

mkdir "$extra" || exit 1
cp "$modules"/owner_pages.ko "$extra" || exit 1
ok "the kernel's tool is built" \
	gcc -O1 -static -o "$extra/filter" "${vmlinux%/*/vmlinux}/tree/tools/mm/page_owner_filter.c"

# run_filter_guest CMD
run_filter_guest()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" $cpus --timeout 900 \
		--append "kfence.sample_interval=0 page_owner=on $nodes" --extra "$extra" \
		--console "$work/console" --cmd "$1" >"$work/out" 2>"$work/err"
}

# shellcheck disable=SC2016 # for the guest's shell
ok "filters are written" run_filter_guest '
	insmod /extra/owner_pages.ko
	cd /sys/kernel/debug
	cat owner_pages; echo ===
	cat page_owner_stacks/show_handles; echo ===
	/extra/filter -m handle; echo ===
	cat page_owner_stacks/show_stacks_handles; echo ===
	/extra/filter -m stack_handle; echo ===
	/extra/filter -m stack -n '"$all_nodes"'; echo ===
	/extra/filter -m handle -n 0 >/tmp/first
	[ '"$all_nodes"' = 0 ] || /extra/filter -m handle -n 1 >/tmp/second
	cat /tmp/first; echo ===; cat /tmp/second 2>/dev/null; echo ===
	/extra/filter -n '"$no_node"' 2>&1; echo "status $?"; echo ===
	exec 3<>page_owner 4<>page_owner
	echo mode=handle >&3
	echo mode=stack >&4
	# A word that is not understood leaves the filter as it was.
	echo "mode=stack nid=0,77" >&3 2>/dev/null || echo refused >/tmp/refused
	cat <&3; echo ===; cat <&4; echo ===; cat /tmp/refused'
split_output truth handles by_handle chains both stacks first second no_node own_handle own_stack \
	refused
ok "mode=handle shows what is planted" \
	reports_pages handles "$work/truth" "$work/by_handle" "$work/handles" "$work/chains"
ok "mode=stack_handle does" reports_pages truth "$work/truth" "$work/both"
ok "... and has a handle in each record" equals "$(count_matching_lines both '^handle: [1-9]')" \
	"$(count_matching_lines both '^Page allocated')"
ok "mode=stack with all nodes does" reports_pages truth "$work/truth" "$work/stacks"
ok "... and has no handle" equals "$(count_matching_lines stacks '^handle:')" 0
cat "$work/first" "$work/second" >"$work/nodes"
ok "nid= of each node: together they do" \
	reports_pages handles "$work/truth" "$work/nodes" "$work/handles" "$work/chains"
ok "node 0 has pages of its own" [ "$(count_matching_lines first '^Page allocated')" -gt 0 ]
ok "... and none of another's" file_lacks "$work/first" "node=[1-9]"
if [ -n "$nodes" ]; then
	ok "node 1 has pages of its own" [ "$(count_matching_lines second 'node=1')" -gt 0 ]
	ok "... and none of another's" equals "$(count_matching_lines second 'node=1')" \
		"$(count_matching_lines second '^PFN ')"
fi
ok "a node without memory is refused" file_has "$work/no_node" "^Error: Kernel rejected"
ok "... as is said" file_has "$work/no_node" "^status 1$"
ok "an open file has a filter of its own" \
	reports_pages handles "$work/truth" "$work/own_handle" "$work/handles" "$work/chains"
ok "... and so has another" reports_pages truth "$work/truth" "$work/own_stack"
ok "words that are not understood are refused" equals "$(cat "$work/refused")" refused

finish_tests
