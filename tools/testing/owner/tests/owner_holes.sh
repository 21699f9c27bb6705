#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory has a hole of 2 MiB: walks over pages and over slab objects find what is allocated
# behind it, and agree with the counters of the call chains. arm64-64k has no option that makes
# a hole, but its memory ends within a block of 512 MiB. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

pages=8192 memory=160M
# shellcheck disable=SC2016 # for the kernel
hole='nokaslr memmap=2M$64M'
case $recipe in
arm64*)	pages=512 memory=400M hole= ;;
esac

# Page frames 0x4000 to 0x41ff are the hole. A file takes most of the memory, so that pages
# behind the hole are used. Without KASLR the kernel is not there.
plant_and_show="
	cd /sys/kernel/debug
	dd if=/dev/zero of=/tmp/file bs=1M count=40 2>/dev/null
	insmod /extra/owner_pages.ko chains=$pages; insmod /extra/owner_leak.ko requests=4000
	cat /proc/iomem; echo ===
	cat page_owner; echo ===
	cat page_owner_stacks/show_stacks; echo ===
	cat slab_owner; echo ===
	cat slab_owner_stacks/show_stacks"
run_guest_with_hole()
{
	run_guest "page_owner=on slab_owner=on kfence.sample_interval=0 $hole" \
		"$plant_and_show" --mem "$memory" --smp 2 &&
		split_output iomem pages page_stacks objects object_stacks
}
# count_records FILE FUNCTION: the number of records, or of chains, that have the function
count_records() { awk -v name="$2" 'BEGIN { RS = "" } $0 ~ name { n++ } END { print n }' "$work/$1"; }
# sum_counters FILE COUNTER FUNCTION: the sum of the chains' counters
sum_counters()
{
	awk -v name="$3" -v counter="$2:" 'BEGIN { RS = "" } $0 ~ name {
		for (i = 1; i < NF; i++) if ($i == counter) sum += $(i + 1) } END { print sum }' "$work/$1"
}

ok "boots" run_guest_with_hole
if [ "$hole" ]; then
	ok "the hole is where it should be" file_has "$work/iomem" "^04000000-041fffff : [Rr]eserved"
	ok "nothing in it has an owner" file_lacks "$work/pages" "^PFN 0x4[01]..[ ]"
	ok "pages behind it have owners" file_has "$work/pages" "^PFN 0x4[23]..[ ]"
fi
ok "each planted page is found" equals "$(count_records pages pages_one_of_many)" "$pages"
ok "... and counted" equals "$(sum_counters page_stacks nr_base_pages pages_one_of_many)" "$pages"
ok "each planted slab object is found" equals "$(count_records objects leak_serve_request)" 4000
ok "... and counted" equals "$(sum_counters object_stacks nr_objects leak_serve_request)" 4000
finish_tests
