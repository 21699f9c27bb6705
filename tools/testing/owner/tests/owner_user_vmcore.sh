#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# Read user chains from a memory dump with drgn, crash and gdb: they are those that programs
# planted, and those of the live file of the same guest. ownertop names their functions. Prints
# TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
programs=$work/programs
mkdir "$programs" || exit 1
export OWNERTOP="$PWD/build/ownertop/ownertop"
# The reader of drgn searches PATH.
export PATH="$PWD/build/ownertop:/usr/bin:$PATH"
by_chain='group=user format=tsv if cache == owner_program'
by_binary='group=binary format=tsv if cache == owner_program'

# build_program NAME FLAG...: a program that plants chains, and knows them
build_program()
{
	program=$programs/$1
	shift
	gcc -O1 -Wall -static -nostdlib -ffreestanding -fno-optimize-sibling-calls \
		-fno-stack-protector -fcf-protection=none -Wl,--build-id "$@" \
		-o "$program" "$tests/user_chains.c"
}

build_programs()
{
	# The guest has no shared libraries, so copy those of ownertop.
	cp "$modules"/owner_program.ko build/ownertop/ownertop "$programs" &&
		ldd build/ownertop/ownertop | grep -o '/[^ ]*' | xargs -I{} cp {} "$programs" &&
		build_program frames -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer &&
		build_program no_frames -DOMIT -fomit-frame-pointer
}

take_planted_dump()
{
	take_dump vmcore "slab_owner=ready no_hash_pointers nokaslr" "
		insmod /extra/owner_program.ko
		echo 'user=on if cache == owner_program' >$debug/owner/control
		/extra/frames /extra/no_frames
		sleep 2
		echo ===
		cat $debug/slab_owner
		echo ===
		ownertop() { /extra/ld-linux-x86-64.so.2 --library-path /extra /extra/ownertop \"\$@\"; }
		ownertop '$by_chain'
		echo ===
		ownertop tree 'if cache == owner_program && ufunc == test_children'
		echo ===
		ownertop -g ufunc,binary 'if ufunc == test_childre'
		ownertop --csv -g binary 'if cache == owner_program && binary ~ no_*'
		sleep 2" --extra "$programs" && split_output truth live sums tree words
}

show_build_id() { readelf -n "$programs/$1" | awk '/Build ID/ { print $3 }'; }

# Each chain with its number of objects is as the programs say.
chains_are_exact()
{
	"$tests/check_user.py" "$work/truth" "$1" frames="$(show_build_id frames)" \
		no_frames="$(show_build_id no_frames)"
}

# print_user_records FILE: the records of planted objects
print_user_records() { awk 'BEGIN { RS = "" } /cache owner_program,/ { print; print "" }' "$1"; }
has_live_records()
{
	print_user_records "$work/live" | sort >"$work/live.user"
	print_user_records "$1" | sort >"$work/dump.user"
	[ -s "$work/live.user" ] && diff "$work/live.user" "$work/dump.user" >"$work/differ"
}

ask_drgn() { run_drgn tools/mm/slab_owner.py "$@" >"$work/got" 2>"$work/err"; }
# Programs that ownertop cannot name are a note on stderr, too.
drgn_had_no_note() { file_lacks "$work/err" "note:"; }

# An object of each planted chain
pick_objects()
{
	awk 'BEGIN { RS = "" } /cache owner_program,/ && match($0, /object ffff[0-9a-f]+/) {
		address = substr($0, RSTART + 7, RLENGTH - 7)
		chain = $0
		if (!sub(/^.*\n user /, "", chain) || seen[$NF chain]++)
			next
		print address }' "$work/live"
}

# answers_are_live FILE: records of the picked objects are those of the live file.
answers_are_live()
{
	awk 'BEGIN { RS = "" } /cache owner_program,/' ORS='\n\n' "$1" | sed '/: object .* in a slab of /d' \
		>"$work/answers"
	for object in $(pick_objects); do
		awk -v object="$object" 'BEGIN { RS = "" } $0 ~ "object " object " index"' "$work/live" >"$work/one.live"
		awk -v object="$object" 'BEGIN { RS = "" } /allocated via/ && $0 ~ "object " object " index"' \
			"$work/answers" >"$work/one.dump"
		[ -s "$work/one.live" ] && diff "$work/one.live" "$work/one.dump" >"$work/differ" || return 1
	done
}

run_gdb()
{
	timeout -s KILL 300 gdb -batch -nx -iex "set auto-load no" -iex "set debuginfod enabled off" \
		"$vmlinux" -ex "core-file $work/core" -ex "source build/$kernel/vmlinux-gdb.py" \
		"$@" >"$work/answer" 2>"$work/err"
}

# ask_gdb_for_objects: lx-slabowner for an object of each chain
ask_gdb_for_objects()
{
	set --
	for object in $(pick_objects); do
		set -- "$@" -ex "lx-slabowner 0x$object"
	done
	run_gdb "$@"
}

ok "ownertop is built" build_ownertop
ok "programs are built" build_programs
ok "a vmcore is taken" take_planted_dump

label=live
seen="$work/err $work/sums $work/tree $work/words"
ok "ownertop adds up as many objects of each chain as are planted" \
	equals "$(awk -F'\t' '$1 == "group" { print $3 }' "$work/sums" | sort -n | tr '\n' ' ')" \
	"$(awk '$1 == "chain" { n[$2 $4] += $3 } END { for (c in n) print n[c] }' "$work/truth" |
		sort -n | tr '\n' ' ')"
ok "the kernel tells ownertop where the programs are" file_has "$work/sums" \
	"	ask\+0x[0-9a-f]+ \[frames\];middle\+0x"
ok "trees have both halves" equals "$(sed 's/ \[.*//; s/.* //' "$work/tree" |
	grep -xE 'begin|run|test_children|outer|middle|ask|do_syscall_64|program_write' | head -n 8 |
	tr '\n' ' ')" "begin run test_children outer middle ask do_syscall_64 program_write "
ok "it compares functions, which the kernel cannot" file_has "$work/tree" "user test_children \[frames\]"
ok "and knows similar names" file_has "$work/words" "did you mean '\*test_childre\*'"
ok "the kernel compares binaries" file_has "$work/words" '^group,1,18,.*"no_frames"'

label=drgn
seen="$work/err $work/got"
ok "it prints records" ask_drgn --records
cp "$work/got" "$work/records"
ok "without a note" drgn_had_no_note
seen="$work/differ"
ok "the records are those of the live file" has_live_records "$work/records"
ok "it adds them up" ask_drgn "$by_chain"
seen="$work/got"
ok "chains and their objects are as planted" chains_are_exact "$work/got"
ok "it groups by binary" ask_drgn "$by_binary"
ok "binaries have as many objects as planted" equals "$(awk -F'\t' '$1 == "group" && $NF != "-" {
	print $NF, $3 }' "$work/got" | sort | tr '\n' ' ')" "$(awk '$1 == "chain" &&
	$4 ~ /(^|,)0x/ { n[$2] += $3 } END { for (name in n) print name, n[name] }' "$work/truth" |
	sort | tr '\n' ' ')"
seen="$work/err $work/got"
# Other objects may have a reason in place of a chain.
object=$(awk 'BEGIN { RS = "" } /cache owner_program,/ && /\n user (no_)?frames/ &&
	match($0, /object ffff[0-9a-f]+/) { print substr($0, RSTART + 7, RLENGTH - 7); exit }' "$work/live")
ok "it prints an object" ask_drgn --object "0x$object"
ok "with its user chain" file_has "$work/got" "^ user (no_)?frames\+0x[0-9a-f]+@[0-9a-f]{40}"

# ask_damaged PLACE=NUMBER -- ARGUMENT...
ask_damaged()
{
	run_drgn "$tests/with_damage.py" "$1" -- tools/mm/slab_owner.py --records --source slab \
		>"$work/got" 2>"$work/err"
}
seen="$work/err"
for damage in 'prog["owner_binaries"]=0x1234' 'prog["owner_binaries"][0]=0x1234' \
	'prog["owner_nr_binaries"]=0' 'prog["owner_nr_binaries"]=0x7fffffff'; do
	ok "damage is noted: $damage" ask_damaged "$damage"
	ok "... with what it hides" file_has "$work/err" \
		"note: [0-9]+ (user frames: their files|user chains: the array of files) cannot be read"
	ok "... and records have the rest" file_has "$work/got" "^ user (\?|no_frames)\+0x[0-9a-f]+@"
done

label=ownertop
seen="$work/err $work/got"
name_frames()
{
	"$OWNERTOP" -v -g user --top 0 --binary "$programs/frames" --binary "$programs/no_frames" \
		'if cache == owner_program' "$work/records" >"$work/got" 2>"$work/err"
}
ok "it reads the records" name_frames
# Code in assembly behind local labels is in no function.
frames_have_names()
{
	labels=$(nm "$programs/frames" | awk '/ (leaf_[a-z]*|restore)$/ {
		sub(/^0*40*/, "", $1); printf "%s%s", bar, $1; bar = "|" }')
	grep -E 'user (no_)?frames\+0x' "$work/got" | grep -vE "\+0x($labels)@" >"$work/unnamed"
	[ ! -s "$work/unnamed" ]
}
ok "each frame in a function has its name" frames_have_names
ok "and the name is that of the program's function" file_has "$work/got" \
	"user begin\+0x[0-9a-f]+ \[frames\]"

label=crash
seen="$work/answer $work/differ"
ok "the extension is built" build_crash_extension
# shellcheck disable=SC2046 # one argument for each address
ok "crash answers" run_crash "owner -r $work/crash.records" \
	"owner -q \"$by_chain\" > $work/crash.sums" "owner $(pick_objects | tr '\n' ' ') > $work/crash.objects"
ok "without a note" file_lacks "$work/answer" "^note:"
ok "the records are those of the live file" has_live_records "$work/crash.records"
ok "chains and their objects are as planted" chains_are_exact "$work/crash.sums"
ok "objects have the chain of the live file" answers_are_live "$work/crash.objects"

# crash has to live until "quit".
read_damaged_core()
{
	"$tests/damage_core.py" pages "$work/core" "$1" 200 || return
	run_crash "owner -r $work/crash.damaged" "owner -t 3" "eval 6 * 7"
	status=$?
	"$tests/damage_core.py" undo "$work/core"
	[ "$status" -lt 124 ] && { ! grep -q "shared object loaded" "$work/answer" ||
		file_has "$work/answer" "decimal: 42"; }
}
for seed in 1 2 3 4 5; do
	ok "damaged copy $seed" read_damaged_core $seed
done

label=gdb
if [ ! -x /usr/bin/gdb ]; then
	skip_test "gdb tells user chains" "no gdb; apt-get install gdb"
	finish_tests
fi
seen="$work/err $work/answer $work/differ"
ok "gdb answers" ask_gdb_for_objects
ok "without a note" file_lacks "$work/answer" "^note:"
ok "objects have the chain of the live file" answers_are_live "$work/answer"
finish_tests
