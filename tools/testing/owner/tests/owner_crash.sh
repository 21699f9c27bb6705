#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Read a vmcore with crash(8) and tools/mm/crash, and compare with what the files of the same
# guest say. Then damage the vmcore, many times. Prints TAP.
usage='KERNEL [DAMAGED]'
. "$(dirname "$0")/prelude.sh"

seen="$work/err $work/answer $work/differ"
tests=tools/testing/owner/tests
damaged=${2:-50}
# Records of sampled objects have weights.
rules="sample=1/2 if cache == kernfs_node_cache"
export OWNERTOP="$PWD/build/ownertop/ownertop"

# owner_user.ko leaves objects behind when it is unloaded.
take_vmcore()
{
	take_dump vmcore "slab_owner=on,free=on page_owner=on no_hash_pointers owner=\"$rules\"" "
		insmod /extra/owner_truth.ko
		insmod /extra/owner_leak.ko requests=4000
		insmod /extra/owner_user.ko
		rmmod owner_user
		sleep 3
		cat $debug/owner_truth
		echo ===
		cat $debug/owner/stats
		echo ===
		cat $debug/slab_owner
		sleep 3"
}

answer_has() { file_has "$work/answer" "$1"; }
answer_lacks() { file_lacks "$work/answer" "$1"; }

ok "the extension is built" build_crash_extension
ok "ownertop is built" build_ownertop
ok "a vmcore is taken" take_vmcore
split_output truth stats live
$tests/check_dump.py pick "$work/live" >"$work/addresses"
planted=$(tr '\n' ' ' <"$work/addresses")
object=$(grep -A 1 "cache owner_truth," "$work/live" | sed -n 's/.*object \([0-9a-f]*\) .*/\1/p' | head -n 1)
# truth_typesafe() has freed the later half of its objects, some of which are beside the others.
freed=$($tests/check_dump.py beside "$work/live" owner_truth_rcu | tr '\n' ' ')
inside=$(python3 -c "print(f'{0x$object + 77:x}')")

# crash itself writes what a command prints to a file.
ok "crash reads it" run_crash \
	"owner -r $work/records" \
	"owner $planted > $work/objects" \
	"owner $inside > $work/inside" \
	"owner $freed > $work/freed" \
	"owner ffffffff81000000 10 > $work/elsewhere" \
	"owner -t 100000 > $work/top" \
	"owner -t 1 > $work/first" \
	"owner -q \"group=stack,cache format=tsv top=100000 if size >= 0\" > $work/sums" \
	'owner -q "group=cache if age > 1h"' \
	"owner -q \"group=cache if age < 1h\" > $work/young" \
	"owner -s > $work/counts" \
	"owner" "owner -t 0" "owner -s -t 1" "owner -x" \
	"owner -r /nonexistent/records" \
	'owner -q "group=cash"' \
	"help owner > $work/help"

ok "without a note" answer_lacks "^note:"
ok "planted objects are those of the truth" $tests/check_truth.py "$work/truth" records "$work/records"
ok "all records are those of the live file" $tests/compare_records.py "$work/live" "$work/records" 1000
ok "sampled records have the weight of their rate" file_has "$work/records" \
	"cache kernfs_node_cache, weight 2\.000, pid"
ok "owners of objects are those of the live file" $tests/check_dump.py objects "$work/live" "$work/objects"
seen="$work/err $work/inside"
ok "an address inside of an object leads to the object" file_has "$work/inside" "object $object index"
ok "... and to its page" file_has "$work/inside" "^Page allocated via order [0-9], mask 0x[0-9a-f]+, pid [0-9]+, "
ok "... and crash says where it is" file_has "$work/inside" "is 77 bytes after its start"
seen="$work/err $work/freed"
ok "a free object has no owner" file_has "$work/freed" "^It has no owner: it is free"
ok "... but somebody freed it" file_has "$work/freed" "^Freed by pid [0-9]+, tgid [0-9]+ \(insmod\), ts [0-9]+ ns$"
ok "... in a function that is told" file_has "$work/freed" "^ truth_typesafe[.a-z0-9]*\+"
ok "other addresses are not in a slab" equals "$(grep -c "neither in a slab" "$work/elsewhere")" 2
seen="$work/err $work/first"
ok "planted chains hold what the truth says" $tests/check_dump.py top "$work/truth" "$work/top"
ok "the chain that holds most is that of the leak" file_has "$work/first" \
	"^1024000 bytes held .*, 800000 requested, by 4000 objects of"
ok "... in its module" file_has "$work/first" "^ leak_open_session[.a-z0-9]*\+0x[0-9a-f]+/0x[0-9a-f]+ \[owner_leak\]$"
# The caller of owner_leak_open() is in a module that is gone: its frame is a number.
ok "frames of an unloaded module are numbers" equals "$(grep -A 1 "^ owner_leak_open" "$work/top" |
	grep -cE '^ 0x[0-9a-f]{16}$')" 1
sed -n '/^row/,$p' "$work/sums" >"$work/query"
seen="$work/err $work/answer"
ok "ownertop adds up what the truth says" $tests/check_truth.py "$work/truth" query "$work/query"
ok "nothing is older than the dump" answer_has "no object matches"
ok "... and all is younger" file_has "$work/young" "filtered out: 0 |kernfs_node_cache"
ok "a sentence with an error has a caret under it" answer_has "^ +\^"

stat_of() { sed -n "s/^$1: //p" "$2"; }
for name in lost_nmi lost_early lost_no_records lost_no_stack degraded_no_task degraded_no_stack; do
	ok "$name is that of the live file" equals "$(stat_of $name "$work/counts")" "$(stat_of $name "$work/stats")"
done
ok "slow is not below the live file's" [ "$(stat_of slow "$work/counts")" -ge "$(stat_of slow "$work/stats")" ]
# Processes that wrote the file have ended since.
is_near() { [ $(($1 - $2)) -lt "$3" ] && [ $(($2 - $1)) -lt "$3" ]; }
ok "tracked is about that" is_near "$(stat_of tracked "$work/counts")" "$(stat_of tracked "$work/stats")" 600
ok "... percpu, too" is_near "$(stat_of percpu "$work/counts")" "$(stat_of percpu "$work/stats")" 20

ok "wrong arguments are told how it is used" equals "$(grep -c "owner ADDR... | -t N" "$work/answer")" 4
ok "a file that cannot be written is an error" answer_has "/nonexistent/records: No such file"
ok "there is help" file_has "$work/help" "who allocated slab objects"

for format in owner_format stack_depot_format; do
	case $format in owner_format) known=3 ;; *) known=1 ;; esac
	newer=$((known + 1))
	ok "$format becomes newer" $tests/damage_core.py set "$work/core" "$vmlinux" $format $newer
	ok "... which crash opens" run_crash "owner -s"
	ok "... and the extension refuses" answer_has "$format is version $newer, this reader knows $known"
	ok "... and tells nothing else" answer_lacks "^tracked"
	"$tests/damage_core.py" undo "$work/core"
done
ok "a kernel without owner_format" objcopy --strip-symbol=owner_format "$vmlinux" "$work/vmlinux"
vmlinux=$work/vmlinux
ok "... is opened" run_crash "owner -s"
ok "... and refused" answer_has "the kernel has no owner_format"
vmlinux=build/$kernel/vmlinux
rm "$work/vmlinux"

# Of each damaged copy, all commands have to end, and crash has to live until "quit".
read_damaged_core()
{
	"$tests/damage_core.py" pages "$work/core" "$1" "$2" || return
	run_crash "owner -r $work/records" "owner $planted" "owner -t 3" \
		"owner -s" "eval 6 * 7"
	status=$?
	"$tests/damage_core.py" undo "$work/core"
	if ! grep -q "shared object loaded" "$work/answer"; then
		# crash itself did not open the dump.
		unopened=$((unopened + 1))
		return 0
	fi
	grep -q "^note: " "$work/answer" && noted=$((noted + 1))
	[ "$status" -lt 124 ] && answer_has "decimal: 42" && answer_lacks "segmentation|corrupt"
}
unopened=0
noted=0
seed=1
while [ $seed -le "$damaged" ]; do
	ok "damaged copy $seed" read_damaged_core $seed $((1 + seed % 5 * 10))
	seed=$((seed + 1))
done
ok "crash opened most of them" [ $((unopened * 3)) -lt "$damaged" ]
ok "damage was noted in most of them" [ $((noted * 2)) -gt "$damaged" ]
finish_tests
