#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test user chains: programs make owner_program allocate objects from chains that they know
# without frame pointers, and the kernel's files must have exactly these chains. With "files",
# the same for calls through files that are mapped, replaced and written meanwhile, and more files
# come and go than the table has places. With "torture", let stacks, code and programs go away while chains are walked. With "processes", let
# 2,000 processes run a program. With "cost", count the instructions of a system call. Prints TAP.
usage='KERNEL [files|torture|processes|cost]'
. "$(dirname "$0")/prelude.sh"

part=${2:-chains}
programs=$work/programs
flags="-O1 -Wall -static -nostdlib -ffreestanding -fno-optimize-sibling-calls
	-fno-stack-protector -Wl,--build-id"
if [ "$recipe" = arm64 ]; then
	# Return addresses on the stack are signed.
	compiler="aarch64-linux-gnu-gcc -mbranch-protection=standard"
	others=
else
	compiler="gcc -fcf-protection=none"
	others="files first second third fourth fifth"
fi
rule='user=on if cache == owner_program'
ask="ask() { exec 3<>$debug/owner/query; echo \"\$1\" >&3; cat <&3; exec 3>&-; }"

# The guest gets the modules and the programs in one directory.
mkdir "$programs" || exit 1
cp "$modules"/owner_program.ko "$programs" || exit 1
# build_program NAME SOURCE FLAG...
build_program()
{
	program=$programs/$1 source=tools/testing/owner/tests/$2
	shift 2
	# shellcheck disable=SC2086 # several words
	$compiler $flags "$@" -o "$program" "$source" || exit 1
}
build_program frames user_chains.c -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
build_program no_frames user_chains.c -DOMIT -fomit-frame-pointer
# One program in files with a build-id each, for x86_64
for name in $others; do
	build_program "$name" user_files.c -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
		"-Wl,--build-id=0x$(echo "$name" | sha1sum | cut -c 1-40)"
done

show_build_id() { readelf -n "$programs/$1" | awk '/Build ID/ { print $3 }'; }

# run_user_guest CMD [OPTION...]
run_user_guest()
{
	cmd=$1
	shift
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=ready" --timeout 1800 \
		--extra "$programs" --console "$work/console" --cmd "set -e
		$ask
		insmod /extra/owner_program.ko
		echo '$rule' >$debug/owner/control
		$cmd" "$@" >"$work/out" 2>"$work/err"
}

show_part() { sed -n "/^==$1\$/,/^==/p" "$work/out" | grep -v '^=='; }
part_has() { show_part "$1" | grep -qE "$2"; }
part_lacks() { ! part_has "$1" "$2"; }
# The sum of the objects in an answer as TSV.
count_objects() { show_part "$1" | awk -F'\t' '$1 == "total" { print $3 }'; }
# has_row PART COLUMN VALUE...: a group has each of the values in the column.
has_row()
{
	part_name=$1
	column=$2
	shift 2
	for value; do
		show_part "$part_name" | awk -F'\t' -v column="$column" -v value="$value" '
			$1 == "row" { while ($++i != column) continue; at = i }
			$1 == "group" && $at == value { found = 1 }
			END { exit !found }' || { echo "# no row $value"; return 1; }
	done
}
chains_are_exact()
{
	show_part "${2:-truth}" >"$work/truth"
	show_part "$1" >"$work/answer"
	for name in frames no_frames $others; do
		echo "$name=$(show_build_id "$name")"
	done | xargs tools/testing/owner/tests/check_user.py "$work/truth" "$work/answer"
}
# Each object of slab_owner and of a query without group= has the chain of the groups.
lines_agree()
{
	show_part "$1" | awk '/^Slab object/ { if (chain != "") n[chain]++; chain = "" }
		$1 == "user" { chain = chain (chain == "" ? "" : ";") $2 }
		END { n[chain]++; for (c in n) print n[c], c }' | sort >"$work/lines"
	show_part user | awk -F'\t' '$1 == "group" { print $3, $NF }' | sort | diff - "$work/lines"
}

test_chains()
{
	ok "programs ask for objects" run_user_guest "
		echo ==truth
		/extra/frames /extra/no_frames
		echo ==user
		ask 'group=user format=tsv if cache == owner_program'
		echo ==first
		ask 'group=user.1 format=tsv if cache == owner_program'
		echo ==named
		ask 'group=cache format=tsv if cache == owner_program && binary ~ no_*'
		echo ==others
		ask 'group=cache format=tsv if cache == owner_program && binary != no_frames'
		echo ==rows
		ask 'format=tsv if cache == owner_program'
		echo ==text
		ask 'if cache == owner_program' | grep -v '^#'
		echo ==file
		awk 'BEGIN { RS = \"\" } /cache owner_program,/ { print; print \"\" }' $debug/slab_owner
		echo ==groups
		ask 'group=user,comm if cache == owner_program && binary == no_frames'
		echo ==binaries
		cat $debug/owner/binaries
		echo ==refused
		echo 'group=ufunc' >$debug/owner/query || true
		ask 'if ufunc == main' || true
		ask 'group=binary' || true
		echo ==stats
		grep ^user_ $debug/owner/stats
		echo ==exec
		echo 'user=on' >$debug/owner/control
		ls / >/dev/null
		ask 'group=user format=tsv'
		echo ==gone
		echo 'clear; $rule' >$debug/owner/control
		echo free >$debug/owner_program
		sleep 2
		ask 'group=user format=tsv if cache == owner_program'
		rmmod owner_program
		echo ==end"
	ok "the guest's commands end" grep -q '^==end' "$work/out"
	seen=$work/answer
	ok "chains and their objects are as planted" chains_are_exact user
	seen=$work/out
	ok "no object is lost by cutting chains" equals "$(count_objects first)" "$(count_objects user)"
	ok "the binary selects" equals "$(count_objects named)" 18
	ok "or excludes" equals "$(count_objects others)" $(($(count_objects user) - 18))
	ok "rows have the chain" equals "$(show_part rows | awk -F'\t' '
		$1 == "row" { while ($++i != "user" && i < NF) continue; user = i }
		$1 == "object" { n[$user]++ }
		END { for (c in n) print n[c], c }' | sort)" "$(show_part user | awk -F'\t' '
		$1 == "group" { print $3, $NF }' | sort)"
	ok "single objects have it as lines" lines_agree text
	ok "and in slab_owner" lines_agree file
	ok "groups have it as lines" part_has groups '^ user no_frames\+0x[0-9a-f]+@[0-9a-f]+$'
	ok "the binaries have their paths" equals "$(show_part binaries | sort)" "$(
		for name in frames no_frames; do
			echo "$(show_build_id "$name") /extra/$name"
		done | sort)"
	ok "the kernel's query refuses ufunc" part_has refused "ask ownertop for 'ufunc'"
	ok "and to group by binary" part_has refused "group by 'user', or by 'binary' in ownertop"
	ok "a stack that was seen is known" [ "$(show_part stats | awk '$1 == "user_known:" { print $2 }')" -ge 49 ]
	ok "cut chains are counted" equals "$(show_part stats | awk '
		/^user_(cycle|fault|no-frame-pointers):/ { print $1, ($2 > 0) }' | tr '\n' ' ')" \
		"user_no-frame-pointers: 1 user_fault: 1 user_cycle: 1 "
	ok "objects of exec say so" has_row exec user '(exec)'
	ok "no object is left when they are freed" equals "$(count_objects gone)" 0
}

test_torture()
{
	ok "programs go away while their stacks are walked" run_user_guest "
		echo 'clear; user=on if cache == owner_program || cache == dentry,vm_area_struct,maple_node,anon_vma' >$debug/owner/control
		/extra/frames torture ${TORTURE_ROUNDS:-4} >/dev/null &
		one=\$!
		/extra/frames torture ${TORTURE_ROUNDS:-4} >/dev/null &
		while kill -0 \$! 2>/dev/null || kill -0 \$one 2>/dev/null; do
			ask 'group=user format=tsv' >/tmp/answer
			grep -c '^ user ' $debug/slab_owner >/dev/null || true
			echo 1 >/proc/sys/vm/drop_caches
			sleep 2
		done
		wait
		echo ==answer
		head -n 12 /tmp/answer
		echo ==left
		ask 'group=user format=tsv if comm == frames'
		echo ==stats
		grep ^user_ $debug/owner/stats
		echo 'clear' >$debug/owner/control
		echo free >$debug/owner_program
		rmmod owner_program
		sleep 3
		echo ==end" --smp 4 --mem 1G
	ok "the guest's commands end" grep -q '^==end' "$work/out"
	show_part stats | sed 's/^/# /'
	ok "objects of tasks that have ended can be asked for" part_has left '^total'
	ok "none of them is pending" part_lacks left '\(pending\)'
	ok "stacks were walked" [ "$(show_part stats | awk '$1 == "user_pending:" { print $2 }')" -ge 100 ]
	ok "some could not be" equals "$(show_part stats | awk '
		/^user_(fault|exiting|exec):/ { print $1, ($2 > 0) }' | tr '\n' ' ')" \
		"user_exiting: 1 user_exec: 1 user_fault: 1 "
}

test_processes()
{
	ok "2,000 processes run a program" run_user_guest "
		/extra/frames many 1 10
		echo ==before
		grep ^user_ $debug/owner/stats
		/extra/frames many 2000 40
		echo ==stats
		grep ^user_ $debug/owner/stats
		echo ==user
		ask 'group=user.4 format=tsv if cache == owner_program'
		echo free >$debug/owner_program
		echo ==end" --mem 2G
	ok "the guest's commands end" grep -q '^==end' "$work/out"
	known=$(count_outcome known) pending=$(count_outcome pending)
	echo "# $known entries were known, $pending were not"
	ok "each object has a chain" equals "$(count_objects user)" $((2000 * 40 + 1 + 10 + 1))
	ok "the chain of 95% is known at once" [ $((known * 100)) -ge $(((known + pending) * 95)) ]
	ok "... and all but the first after execve()" [ "$pending" -le 1010 ]
}

# Count entries of this outcome since the part "before".
count_outcome()
{
	echo $(($(show_part stats | awk -v name="user_$1:" '$1 == name { print $2 }') -
		$(show_part before | awk -v name="user_$1:" '$1 == name { print $2 }')))
}

test_files()
{
	ok "a program calls through files" run_user_guest "
		echo ==truth
		/extra/files files /extra/first /extra/second /tmp/copy /extra/third /extra/fourth
		/extra/files fill /tmp/fill 500 /extra/fifth
		echo ==user
		ask 'group=user format=tsv if cache == owner_program'
		echo ==binaries
		cat $debug/owner/binaries
		echo ==stats
		grep user_ $debug/owner/stats
		echo ==end"
	ok "the guest's commands end" grep -q '^==end' "$work/out"
	seen=$work/answer
	ok "chains have the files that were mapped" chains_are_exact user
	seen=$work/out
	ok "files that no chain names are dropped" [ "$(show_part binaries | grep -c /tmp/fill)" -lt 3072 ]
	ok "5,000 files did not fill the table" part_has stats '^user_binaries-full: 0$'
	ok "each file is there once" equals "$(show_part binaries | grep -v /tmp/fill | sort)" "$(
		for name in files first second third fourth fifth; do
			path=/extra/$name
			case $name in third | fourth) path=/tmp/copy ;; esac
			echo "$(show_build_id "$name") $path"
		done | sort)"
}

# show_ticks PART HOW FRAMES FILES OBJECTS: the least instructions of a system call
show_ticks()
{
	show_part "$1" | awk -v case="$2 $3 $4 $5" '
		$1 == "ticks" && $2 " " $3 " " $4 " " $5 == case { print $6 }'
}

# show_cost HOW FRAMES FILES: instructions more than without user=on
show_cost() { echo $(($(show_ticks user "$@" 1) - $(show_ticks task "$@" 1))); }

test_cost()
{
	# shellcheck disable=SC2016 # for the guest's shell
	loops='run() { /extra/files cost 200 "$@"; }
		# Files that have just changed are read each time.
		sleep 4
		for objects in 2 12; do run $objects known 7; done
		for frames in 7 16; do
			for how in known fresh new mapped; do run 1 $how $frames; done
			run 1 mapped $frames /extra/first
			run 1 mapped $frames /extra/first /extra/second
		done'
	ok "the cost is measured" run_user_guest "
		echo ==user
		$loops
		echo ==task
		echo 'clear; track=on if cache == owner_program' >$debug/owner/control
		$loops
		echo ==off
		echo 'clear' >$debug/owner/control
		$loops
		echo ==end" --icount --smp 1 --mem 1G
	ok "the guest's commands end" grep -q '^==end' "$work/out"
	further=$((($(show_ticks user known 7 1 12) - $(show_ticks user known 7 1 2)) / 10 -
		   ($(show_ticks task known 7 1 12) - $(show_ticks task known 7 1 2)) / 10))
	show_part user | sed 's/^/# with user=on: /'
	show_part task | sed 's/^/# without: /'
	show_part off | sed 's/^/# untracked: /'
	echo "# a further object of an entry: $further instructions more"
	ok "a further object takes at most 30" [ "$further" -le 30 ]
	# Kind of stack, frames, files, and the most instructions
	while read -r how frames files most; do
		cost=$(show_cost "$how" "$frames" "$files")
		ok "$how stack, $frames frames, $files files: $cost instructions" [ "$cost" -le "$most" ]
	done <<-end
		known 7 1 2400
		known 16 1 3000
		fresh 7 1 3150
		fresh 16 1 4050
		new 7 1 3500
		new 16 1 4500
		mapped 7 1 4400
		mapped 7 2 4750
		mapped 7 3 5250
		mapped 16 1 5450
		mapped 16 2 5950
		mapped 16 3 6450
	end
}

"test_$part"
finish_tests
