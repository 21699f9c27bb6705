#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Free, allocate, demote and free gigantic pages, whose records are in several sections of
# memory. Walks and counters must agree with what is allocated, and KASAN finds no write
# behind the records of a section. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

# Two gigantic pages are allocated at boot. The first write frees one of them, the second
# allocates another from the page allocator, and the third demotes both.
# shellcheck disable=SC2016 # for the guest's shell
commands='
	cd /sys/kernel/mm/hugepages
	big=hugepages-1048576kB; small=hugepages-2048kB; debug=/sys/kernel/debug
	look()
	{
		echo "pools $(cat $big/nr_hugepages) $(cat $small/nr_hugepages)"
		for planter in alloc_gigantic_folio register_early_stack; do
			exec 3<>$debug/owner/query
			echo "format=tsv group=order if kind == page && func ~ $planter*" >&3
			awk -v name=$planter "/^group/ { print name, \"order\", \$NF, \$3 }
				/^total/ { print name, \"pages\", \$4 / 4096 }" <&3
			awk -v name=" $planter" "BEGIN { RS = \"\" } \$0 ~ name { pages += \$NF }
				END { print name, \"counted\", pages + 0 }" \
				$debug/page_owner_stacks/show_stacks
		done
	}
	look; echo ===
	echo 1 >$big/nr_hugepages; echo 2 >$big/nr_hugepages; look; echo ===
	echo 2 >$big/demote; look; echo ===
	echo 0 >$small/nr_hugepages; look'

run_huge_guest()
{
	run_guest "page_owner=on hugepagesz=1G hugepages=2 kfence.sample_interval=0" "$commands" \
		--mem 5G --smp 2 && split_output boot allocated demoted freed
}

# counters_agree FILE FUNCTION: a walk found as many pages as the chains' counters have
counters_agree()
{
	equals "$(sed -n "s/^ $2 counted //p" "$work/$1")" \
		"$(sed -n "s/^$2 pages //p" "$work/$1")"
}
# shows FILE LINE: the file has the line
shows() { grep -qxF -e "$2" "$work/$1" || { sed 's/^/# /' "$work/$1"; return 1; }; }

ok "gigantic pages are allocated, demoted and freed" run_huge_guest
ok "two are allocated at boot" shows boot "pools 2 0"
ok "their pages have the chain of boot" counters_agree boot register_early_stack
ok "one is allocated from the page allocator" shows allocated "pools 2 0"
ok "... which has one owner" shows allocated "alloc_gigantic_folio order 18 1"
ok "... of all pages" shows allocated " alloc_gigantic_folio counted 262144"
ok "both are demoted" shows demoted "pools 0 1024"
ok "the owner has 512 huge pages" shows demoted "alloc_gigantic_folio order 9 512"
ok "... and as many pages as before" shows demoted " alloc_gigantic_folio counted 262144"
ok "all are freed" shows freed "pools 0 0"
ok "no huge page has an owner" shows freed "alloc_gigantic_folio pages 0"
ok "... and none is counted" shows freed " alloc_gigantic_folio counted 0"
ok "pages of boot are counted as a walk finds them" counters_agree freed register_early_stack
finish_tests
