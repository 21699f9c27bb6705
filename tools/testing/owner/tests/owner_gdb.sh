#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Ask gdb for owners, in a live guest and in a vmcore of one, both with KASLR, and compare
# with what the files of the guest say. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/err $work/answer"
tests=tools/testing/owner/tests
boot="slab_owner=on,free=on page_owner=on no_hash_pointers"
plant="
	insmod /extra/owner_truth.ko
	sleep 3
	cat $debug/owner_truth
	echo ===
	cat $debug/slab_owner"

# The guest waits until the test ends it.
start_guest()
{
	tools/testing/owner/guest/guest.py run "$kernel" --append "$boot" --gdb "$work/gdb" \
		--smp 4 --mem 256M --timeout 600 \
		--extra "$modules" --cmd "$plant
		echo ===
		grep ' _text$' /proc/kallsyms
		sleep 600" >"$work/out" 2>"$work/err" &
	guest=$!
	for _ in $(seq 300); do
		grep -q ' _text$' "$work/out" && return
		sleep 1
	done
	return 1
}

# run_gdb TARGET OFFSET COMMAND...: in $work/answer is what they print. "@" is a space.
run_gdb()
{
	target=$1
	offset=$2
	shift 2
	for command; do
		shift
		set -- "$@" -ex "$(echo "$command" | tr @ ' ')"
	done
	timeout -s KILL 600 gdb -batch -nx -iex "set auto-load no" -iex "set debuginfod enabled off" \
		-ex "symbol-file -o $offset build/$kernel/vmlinux" -ex "$target" \
		-ex "source build/$kernel/vmlinux-gdb.py" "$@" >"$work/answer" 2>"$work/err"
}

# check_answers TARGET OFFSET
check_answers()
{
	guest_target=$1
	guest_offset=$2
	$tests/check_dump.py pick "$work/live" >"$work/addresses"
	object=$(head -n 1 "$work/addresses")
	pfn=$(grep -A 1 "cache owner_truth," "$work/live" | sed -n 's/^PFN 0x\([0-9a-f]*\) .*/\1/p' | head -n 1)
	# shellcheck disable=SC2046 # one argument for each address
	ok "gdb answers" run_gdb "$guest_target" "$guest_offset" $(sed 's/^/lx-slabowner@0x/' "$work/addresses" | tr '\n' ' ') \
		"lx-slabowner@0x$object+3" "lx-slabowner-top@100000" "lx-dump-page-owner@--pfn@$((0x$pfn))"
	ok "owners of objects are those of the file" $tests/check_dump.py objects "$work/live" "$work/answer"
	ok "planted chains hold what the truth says" $tests/check_dump.py top "$work/truth" "$work/answer"
	ok "an address inside of an object leads to it" \
		equals "$(grep -c "^$object: object" "$work/answer")" 2
	ok "a page's owner is told" file_has "$work/answer" "^ *0x[0-9a-f]+ <truth_own_cache|page_owner tracks the page as allocated"
	ok "without a note" file_lacks "$work/answer" "^note:"
	for wrong in "lx-slabowner" "lx-slabowner@0xffffffff81000000" "lx-slabowner-top@x"; do
		ok "$wrong is refused" command_fails run_gdb "$guest_target" "$guest_offset" "$wrong"
		ok "... with a word" file_has "$work/err" "usage: lx-slabowner|is not in a slab"
	done
}

if [ ! -x /usr/bin/gdb ]; then
	skip_test "gdb tells owners" "no gdb; apt-get install gdb"
	finish_tests
fi

label="vmcore"
ok "it is taken" take_dump vmcore "$boot" "$plant"
split_output truth live
offset=0x$(grep -aom 1 'KERNELOFFSET=[0-9a-f]*' "$work/core" | cut -d = -f 2)
check_answers "core-file $work/core" "$offset"
ok "a newer format" $tests/damage_core.py set "$work/core" "build/$kernel/vmlinux" owner_format 4
ok "... is refused" command_fails run_gdb "core-file $work/core" "$offset" "lx-slabowner-top"
ok "... with that message" file_has "$work/err" "owner_format is version 4, and these scripts know 3"
$tests/damage_core.py undo "$work/core"
# The end of memory is not a bound for a walk: 2^31 page frames.
$tests/damage_core.py set "$work/core" "build/$kernel/vmlinux" max_pfn 2147483647
ok "a damaged max_pfn" run_gdb "core-file $work/core" "$offset" "lx-slabowner-top@100000"
ok "... changes no answer" $tests/check_dump.py top "$work/truth" "$work/answer"
$tests/damage_core.py undo "$work/core"
for seed in 1 2 3 4 5; do
	$tests/damage_core.py pages "$work/core" $seed 20
	run_gdb "core-file $work/core" "$offset" "lx-slabowner-top@3" "print@6*7"
	ok "damaged copy $seed: gdb lives" file_has "$work/answer" "= 42$"
	ok "... and tells no traceback" file_lacks "$work/err" "Traceback"
	$tests/damage_core.py undo "$work/core"
done
rm "$work/core"

label="live guest"
ok "it waits" start_guest
split_output truth live kallsyms
linked=$(nm "build/$kernel/vmlinux" | sed -n 's/ T _text$//p')
running=$(sed -n 's/ T _text$//p' "$work/kallsyms")
offset=$(python3 -c "print(hex(0x$running - 0x$linked))")
check_answers "target remote $work/gdb" "$offset"
kill "$guest"
wait "$guest"
finish_tests
