#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test sampling through its files: rules, estimates and their errors, weights. A KUnit
# test shows that estimates are right on average. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

objects=60000
seen=$work/seen
# The objects that the module plants. When it is gone, no frame has its name any more.
planted='group=comm format=tsv if comm == insmod && cache == kmalloc-64 && size == 64'
ask="ask() { exec 3<>$debug/owner/query; echo \"\$1\" >&3; cat <&3; exec 3>&-; }"

run_sampling_guest()
{
	tools/testing/owner/guest/guest.py run "$kernel" --mem 1G --console "$work/console" \
		--append "slab_owner=ready owner=sample=4K kfence.sample_interval=0" \
		--extra "$modules" --cmd "
	$ask
	cat $debug/owner/control
	insmod /extra/owner_bench_memory.ko objects=$objects
	echo ==text; ask 'group=module if module == owner_bench_memory'
	echo ==tsv; ask 'group=module format=tsv if module == owner_bench_memory'
	echo ==rows; ask 'format=tsv if module == owner_bench_memory'
	echo ==stacks; grep -A 12 'owner_bench_memory' $debug/slab_owner_stacks/show_stacks
	echo ==record; grep -m 1 weight $debug/slab_owner
	echo ==there; ask '$planted'
	rmmod owner_bench_memory; sleep 1
	echo ==gone; ask '$planted'
	echo 'sample=1/16 if cache ~ kmalloc-*' >$debug/owner/control
	insmod /extra/owner_bench_memory.ko objects=$objects
	echo ==part; ask 'group=module format=tsv if module == owner_bench_memory'
	rmmod owner_bench_memory
	echo ==control; cat $debug/owner/control
	echo 'clear; sample=all' >$debug/owner/control
	insmod /extra/owner_bench_memory.ko objects=1000
	echo ==all; ask 'group=module if module == owner_bench_memory'" >"$work/out" 2>"$seen"
}

show_output_section() { sed -n "/^==$1\$/,/^==/p" "$work/out" | grep -v '^=='; }
# show_group_column PART NUMBER: of the group's line. The columns are rank, groups, objects, bytes,
# held, waste, oldest, youngest, records and the two errors.
show_group_column() { show_output_section "$1" | awk -F'\t' -v n="$2" '$1 == "group" { print $n }'; }
# sum_row_weights PART: the sum of the weights of all rows
sum_row_weights()
{
	show_output_section "$1" | awk -F'\t' '$1 == "row" { while ($++i != "weight" && i < NF) continue; weight = i }
		$1 == "object" { objects += $weight } END { printf "%.0f\n", objects }'
}
# is_near_truth VALUE TRUTH ERROR: within five errors, which fails once in two million runs
is_near_truth() { [ "$1" -ge $(($2 - 5 * $3)) ] && [ "$1" -le $(($2 + 5 * $3)) ]; }
output_section_matches() { show_output_section "$1" | tee "$seen" | grep -qE "$2"; }

ok "a kernel that samples runs" run_sampling_guest
ok "the rule is as it was said" grep -q '^sample=4K	# 1: ' "$work/out"
echo "# $(show_group_column tsv 9) samples of $objects objects: $(show_group_column tsv 3) +-$(show_group_column tsv 10)"
ok "some were sampled, not all" is_near_truth "$(show_group_column tsv 9)" $((objects / 64)) 32
ok "the objects are estimated" is_near_truth "$(show_group_column tsv 3)" $objects "$(show_group_column tsv 10)"
ok "and their bytes" is_near_truth "$(show_group_column tsv 4)" $((objects * 64)) "$(show_group_column tsv 11)"
ok "to some percent" [ "$(show_group_column tsv 10)" -lt $((objects / 20)) ]
ok "a text says that it is an estimate" output_section_matches text 'from [0-9]+ samples: \+-[0-9]+ objects, \+-[0-9]+ bytes'
ok "call chains are estimated" output_section_matches stacks '^nr_objects: [0-9]{5}$'
ok "a record has its weight" output_section_matches record ', weight [0-9]+\.[0-9]{3}, pid '
ok "and in a row, to be added up" is_near_truth "$(sum_row_weights rows)" "$(show_group_column tsv 3)" 1
ok "the module's samples are found without its name" \
	[ "$(show_group_column there 9)" -ge "$(show_group_column tsv 9)" ]
ok "no sample is left when they are freed" equals "$(show_output_section gone | awk -F'\t' '$1 == "total" { print $3, $9 }')" "0 0"
echo "# one in 16: $(show_group_column part 9) samples, $(show_group_column part 3) +-$(show_group_column part 10)"
ok "one object in 16 is sampled" is_near_truth "$(show_group_column part 9)" $((objects / 16)) 62
ok "and stands for 16" is_near_truth "$(show_group_column part 3)" $objects "$(show_group_column part 10)"
ok "both rules are shown" output_section_matches control '^sample=1/16 if cache ~ kmalloc-\*	# 2: '
ok "all is all again" output_section_matches all '^objects 1000, bytes 64000, [^+]*$'
finish_tests
