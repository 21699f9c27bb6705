#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory has a hole of 2 MiB: walks over pages and over slab objects find what is allocated
# behind it, and agree with the counters of the call chains. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

check=tools/testing/owner/tests/check_pages.py
seen=$work/seen

# Page frames 0x4000 to 0x41ff are the hole. Enough pages are planted to use those behind it.
# shellcheck disable=SC2016 # for the guest's shell
plant_and_show='
	cd /sys/kernel/debug
	insmod /extra/owner_pages.ko chains=8192; insmod /extra/owner_leak.ko requests=4000
	cat /proc/iomem; echo ===
	cat owner_pages; echo ===
	cat page_owner; echo ===
	cat page_owner_stacks/show_stacks; echo ===
	awk "/owner_leak/ { found++ } END { print found + 0 }" RS= slab_owner
	awk "/owner_leak/ { found += \$NF } END { print found + 0 }" RS= slab_owner_stacks/show_stacks'
run_guest_with_hole()
{
	run_guest "page_owner=on slab_owner=on kfence.sample_interval=0 memmap=2M\$64M" \
		"$plant_and_show" --mem 160M --smp 2 &&
		split_output iomem truth records stacks slabs
}
reports_pages() { "$check" "$@" >"$seen" 2>&1; }

ok "boots with a hole in its memory" run_guest_with_hole
ok "the hole is where it should be" file_has "$work/iomem" "^04000000-041fffff : [Rr]eserved"
ok "nothing in it has an owner" file_lacks "$work/records" "^PFN 0x4[01]..[ ]"
ok "pages behind it have owners" file_has "$work/records" "^PFN 0x4[23]..[ ]"
ok "each planted page is found" reports_pages truth "$work/truth" "$work/records"
ok "... and counted" reports_pages stacks "$work/truth" "$work/stacks"
ok "the sum of all records is the sum of all stacks" reports_pages sums "$work/records" "$work/stacks"
ok "a walk finds as many slab objects as are counted" \
	equals "$(sed -n 1p "$work/slabs")" "$(sed -n 2p "$work/slabs")"
ok "... which are planted" [ "$(sed -n 1p "$work/slabs")" -ge 4000 ]
finish_tests
