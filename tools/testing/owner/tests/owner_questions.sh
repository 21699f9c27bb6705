#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Twenty-five questions that a server raises when it leaks or is bloated. Each is asked by the
# sentence of the documentation about objects that modules and programs of the guest have planted,
# of the kernel and of ownertop, which reads a dump of the guest. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

text=Documentation/mm/slab_owner_language.rst
ownertop=build/ownertop/ownertop
seen=$work/seen

# The questions. $1 is the command that gets each of them:
#
#   NUMBER QUESTION SENTENCE CHANGE COLUMNS ROW...
#
# CHANGE is a script of sed. It replaces the documentation's names and times by the guest's, and
# mostly adds a condition that only planted objects meet, so that the answer has exactly these rows.
# The guest replaces PID, UPTIME and ADDRESS.
for_each_question()
{
	"$1" 1 "Who holds most now?" 'group=stack.8 top=20' 's/20/1/' \
		'objects bytes stack' "20000 4000000 leak_open_session < leak_serve_request < leak_serve"
	"$1" 2 "Which chain grew most, net?" 'group=stack.4 sort=held top=10 since=mark' \
		's/$/ if module == owner_growth/' 'objects bytes stack' \
		"91 18200 truth_shared < truth_growing < held_write" \
		"64 6656 truth_coming < held_write" "0 480 truth_swelling < held_write" \
		"-33 -3432 truth_going < held_write" \
		"-73 -14235 truth_shared < truth_shrinking < held_write"
	"$1" 3 "Old objects of kmalloc-256, by module X, by container" \
		'group=task_cgroup sort=held if cache ~ kmalloc-256,kmalloc-cg-256 && age > 1d && module == ext4' \
		's/kmalloc-cg-256/owner_truth_acct/; s/1d/10s/; s/== ext4/~ owner_*/' \
		'objects bytes task_cgroup' "43 9944 /base"
	"$1" 4 "A histogram of ages: when did it begin?" \
		'group=age.1h sort=oldest if cache == kmalloc-256' 's/1h/10s/; s/$/ \&\& func ~ truth_*,leak_*/' 'objects bytes age' \
		"24 6144 10000000000" "20148 4029515 0"
	"$1" 5 "Who allocated this address?" 'if address == 0xffff888012345678' 's/0x.*/ADDRESS/' \
		'size cache stack' "96 owner_program allocate_objects < allocate_in_work"
	"$1" 6 "Is the growth in process Y?" 'group=tgid,cache sort=held since=mark if tgid == 1234' \
		's/1234/PID/; s/$/ \&\& cache == owner_growth/' 'objects bytes cache' "10 1040 owner_growth"
	"$1" 8 "Only what program Z asked for" \
		'group=stack.4 sort=held top=20 if comm == mysqld && syscall ~ *' \
		's/$/ \&\& cache == owner_program/' 'objects bytes stack' \
		"100 9600 allocate_objects < program_write"
	"$1" 9 "Everything but what boot allocated" 'group=stack.4 sort=held top=20 if ts > 2m' \
		's/2m/UPTIMEs/; s/$/ \&\& func == truth_sizes,leak_serve/' 'objects bytes stack' \
		"20000 4000000 leak_open_session < leak_serve_request < leak_serve"
	"$1" 12 "The sizes in kmalloc-256" 'group=size sort=held if cache == kmalloc-256' \
		's/$/ \&\& func ~ truth_*,leak_*/' 'objects bytes size' \
		"20131 4026200 200" "24 6144 256" "17 3315 195"
	"$1" 13 "Which caches waste most?" 'group=cache sort=waste,bytes top=10 if size > 0' \
		's/10/3/; s/$/ \&\& func ~ truth_*,leak_*/' 'objects bytes waste cache' \
		"20172 4035659 1128373 kmalloc-256" "48 41376 7776 kmalloc-1k" "73 32228 5148 kmalloc-512"
	"$1" 15 "Who pins slabs that are nearly empty?" 'group=cache,stack.4 sort=slabs top=20' \
		's/20/1 if cache == owner_program/' 'objects slabs cache stack' \
		"103 100 owner_program allocate_objects < program_write"
	"$1" 16 "Who fills node 1?" 'group=stack.4 sort=held top=20 if nid == 1' \
		's/1$/0 \&\& func == leak_serve/' 'objects bytes stack' \
		"20000 4000000 leak_open_session < leak_serve_request < leak_serve"
	"$1" 16-none "Who fills node 1, which does not exist?" \
		'group=stack.4 sort=held top=20 if nid == 1' '' 'objects'
	"$1" 17 "The first three chains of each container" 'group=cgroup,stack.4 each=cgroup top=3' \
		's/$/ if cgroup ~ \/shop* \&\& cache == shmem_inode_cache,radix_tree_node,dentry/' \
		'objects cgroup' "14 /shop" "9 /shop" "9 /shop" \
		"6 /shopping" "6 /shopping" "6 /shopping" \
		"4 /shop/front" "4 /shop/front" "4 /shop/front"
	"$1" 18 "One container with those below it" \
		'group=cgroup,cache sort=held if cgroup ~ /shop,/shop/*' \
		's/$/ \&\& cache == shmem_inode_cache/' 'objects cgroup cache' \
		"14 /shop shmem_inode_cache" "4 /shop/front shmem_inode_cache"
	"$1" 19 "What was allocated in interrupts?" \
		'group=stack.4 sort=held top=20 if func ~ handle_softirqs,*handle_irq*,sysvec_*' \
		's/held/bytes/; s/$/ \&\& func ~ truth_*,allocate_*/' 'objects bytes stack' \
		"24 1224 truth_hardirq" "24 1200 truth_softirq" "7 672 allocate_objects < allocate_in_timer"
	"$1" 20 "Through which system call?" 'group=syscall sort=held top=20' \
		's/$/ if cache == owner_program/' 'objects bytes syscall' "103 9888 write" "12 1152 -"
	"$1" 21 "A row for each function, not each call site" 'group=stack.func.4 sort=held top=20' \
		's/$/ if func == truth_percpu/' 'objects bytes stack' "18 720 truth_percpu"
	"$1" 22 "What did module X leave behind after rmmod?" \
		'group=cache,stack.1 sort=held if module == ext4' 's/ext4/owner_corners/' \
		'objects bytes cache stack' "3 1500 kmalloc-512 [owner_corners unloaded]"
	"$1" 24 "All but what is known to be good" \
		'group=stack.4 sort=held top=20 if !(module == ext4 || func == alloc_inode)' \
		's/ext4/owner_leak/; s/alloc_inode/truth_coming/
			s/$/ \&\& cache == kmalloc-256,owner_growth \&\& func ~ truth_*,leak_*/' \
		'objects bytes stack' "131 26200 truth_shared < truth_growing < held_write" \
		"24 6144 truth_kmalloc < truth_sizes" "17 3315 truth_shared < truth_shrinking < held_write"
	"$1" 25 "Ten examples of this chain, with addresses" \
		'top=10 if func == __d_alloc && cache == dentry' \
		's/10/3/; s/__d_alloc/truth_own_cache/; s/dentry/owner_truth/' 'size cache stack' \
		"200 owner_truth truth_own_cache" "200 owner_truth truth_own_cache" \
		"200 owner_truth truth_own_cache"
}

# For the guest's shell: plant what is old, wait, and plant what is young. The open file 3 has a mark
# of chains, and 4 one of processes. measure_unexplained() starts no process, which would take slabs.
# shellcheck disable=SC2016 # for the guest's shell
plant='debug=/sys/kernel/debug query=$debug/owner/query cgroups=/sys/fs/cgroup
	mount -t cgroup2 none $cgroups && echo +memory >$cgroups/cgroup.subtree_control
	mkdir $cgroups/base $cgroups/shop $cgroups/shopping /tmp/shop /tmp/front /tmp/shopping
	enter() { echo 0 >$cgroups/$1/cgroup.procs; }
	make_files() {
		i=0
		while [ $((i += 1)) -le $2 ]; do head -c 8192 /dev/zero >/tmp/$1/$i; done
	}
	(enter base && insmod /extra/owner_truth.ko)
	insmod /extra/owner_program.ko
	insmod /extra/owner_growth.ko

	exec 3<>$query 4<>$query 5<>$query 6>$debug/owner_program
	measure_unexplained() {
		echo group=kind >&5
		while read -r line; do
			set -- $line
			case $line in
			*" kind slab") held=${6%,} ;;
			"# all slabs"*) unexplained=$(($8 - held)) ;;
			esac
		done <&5
	}
	echo "track=off if cache == owner_program" >$debug/owner/control
	measure_unexplained
	measure_unexplained; before=$unexplained
	echo 4200 >&6
	measure_unexplained
	echo $((unexplained - before)); echo ===
	cat /proc/meminfo; echo ===
	cat $debug/slab_owner; echo ===
	echo "free" >&6
	echo clear >$debug/owner/control

	sleep 12
	read -r uptime _ </proc/uptime; uptime=$((${uptime%.*} - 6))
	echo 0 >$debug/owner_growth
	cat $debug/slab_owner; echo ===
	echo mark >&3; echo "mark group=tgid,cache" >&4
	sh -c "echo 1 >$debug/owner_growth"
	echo 2 >$debug/owner_growth
	insmod /extra/owner_leak.ko requests=20000
	sh -c "printf mysqld >/proc/\$\$/comm
		echo 4200 >$debug/owner_program; echo keep 42 >$debug/owner_program"
	echo 3 >$debug/owner_program
	for more in "timer 7" "work 5" where; do echo $more >$debug/owner_program; done
	address=$(dmesg | sed -n "s/.*program: //p")
	(enter shop && make_files shop 9
		cd /tmp/shop && mkdir a b c d e)
	echo +memory >$cgroups/shop/cgroup.subtree_control
	mkdir $cgroups/shop/front
	(enter shop/front && make_files front 4)
	(enter shopping && make_files shopping 6)
	insmod /extra/owner_corners.ko corner=leave; rmmod owner_corners

	echo 1 >/proc/sys/kernel/kptr_restrict
	ask() {
		case $1 in 2) file=3 ;; 6) file=4 ;; *) file=5 ;; esac
		sentence=$(echo "$2" | sed "s/PID/$$/; s/UPTIME/$uptime/; s/ADDRESS/$address/")
		echo "$sentence"; echo "format=tsv $sentence" >&$file; cat <&$file; echo ===
	}'
# shellcheck disable=SC2016 # for the guest's shell
dump='cat $debug/slab_owner; echo ===; ask all mode=stack_handle'

add_ask()
{
	asks="$asks
	ask $1 '$(echo "$3" | sed "$4")'"
	numbers="$numbers $1"
}

# print_rows COLUMNS: the rows of an answer in tsv. Of a call chain, the functions of the modules
# that plant objects.
print_rows()
{
	awk -F '\t' -v columns="$1" '
		function shorten_chain(stack,   frame, n, i, line) {
			n = split(stack, frame, ";")
			for (i = 1; i <= n; i++) {
				if (frame[i] !~ /\[owner_/)
					continue
				if (!sub(/^0x[0-9a-f]+ /, "", frame[i]))
					sub(/[+. ].*/, "", frame[i])
				line = line (line ? " < " : "") frame[i]
			}
			return line
		}
		$1 == "row" {
			for (i = 1; i <= NF; i++) { sub(/\..*/, "", $i); at[$i] = i }
			n = split(columns, name, " ")
		}
		$1 == "group" || $1 == "object" {
			for (i = 1; i <= n; i++) {
				value = $at[name[i]]
				if (name[i] == "stack")
					value = shorten_chain(value)
				printf "%s%s", value, (i < n ? " " : "\n")
			}
		}'
}

# print_growth: the answer of ownertop diff --csv as rows of tsv
print_growth()
{
	tr -d '"\r' | awk -F , '
		$1 == "row" {
			for (i = 1; i <= NF; i++)
				at[$i] = i
			printf "row\tobjects\tbytes"
		}
		$1 == "group" {
			printf "group\t%d\t%d", $at["new_objects"] - $at["old_objects"],
				$at["new_bytes"] - $at["old_bytes"]
		}
		$1 == "row" || $1 == "group" {
			for (i = at["new_held"] + 1; i <= NF; i++)
				printf "\t%s", $i
			print ""
		}'
}

# has_rows COLUMNS [ROW...]: the answer $work/seen has these, in this order, and no others.
has_rows()
{
	columns=$1
	shift
	printf '%s\n' "$@" | grep . >"$work/expected"
	grep -q '^row' "$work/seen" && print_rows "$columns" <"$work/seen" | diff "$work/expected" -
}

is_documented() { grep -qF -e "$1" "$text" || { echo "# $text has no $1"; return 1; }; }

kernel_answers()
{
	is_documented "$1" && cp "$2" "$work/seen" || return 1
	shift 2
	has_rows "$@"
}

# The file slab_owner has neither cgroups, nodes nor the names of modules that have gone.
ownertop_answers()
{
	asked=$(head -n 1 "$work/$1")
	records=$work/records
	case $1 in
	3 | 16* | 17 | 18 | 22) records=$work/all ;;
	esac
	shift
	case $asked in
	*since=mark*) "$ownertop" diff --csv "$(echo "$asked" | sed 's/since=mark//')" \
		"$work/before" "$records" 2>&1 | print_growth >"$work/seen" ;;
	*) "$ownertop" "format=tsv $asked" "$records" >"$work/seen" 2>&1 ;;
	esac
	has_rows "$@"
}

# ownertop_refuses NUMBER WORDS
ownertop_refuses()
{
	! "$ownertop" "format=tsv $(head -n 1 "$work/$1")" "$work/records" >"$work/seen" 2>&1 &&
		grep -q "$2" "$work/seen"
}

check_question()
{
	question="$1 $2"
	answer=$work/$1
	sentence=$3
	shift 4
	ok "$question: the kernel" kernel_answers "$sentence" "$answer" "$@"
	case ${answer##*/} in
	5) ok "$question: ownertop refuses" ownertop_refuses 5 "a dump has no addresses" ;;
	15) ok "$question: ownertop refuses" ownertop_refuses 15 "counted by the kernel only" ;;
	# ownertop lists no single objects.
	25) ok "$question: as many addresses" equals "$(awk -F '\t' '$1 == "object" { print $15 }' "$answer" |
		sort -u | grep -c '^0x')" 3 ;;
	*) ok "$question: ownertop" ownertop_answers "${answer##*/}" "$@" ;;
	esac
}

# names_tool QUESTION TOOL: the documentation answers this question with this tool.
names_tool() { grep -F -A 1 -e "$1" "$text" | tail -n 1 | grep -qF -e "$2"; }

ownertop_explains_slabs()
{
	mkdir -p "$work/machine/proc" "$work/machine/sys/kernel/debug" &&
		cp "$work/meminfo" "$work/machine/proc/meminfo" &&
		cp "$work/untracked" "$work/machine/sys/kernel/debug/slab_owner" &&
		tools/mm/ownertop/record.sh --root "$work/machine" "$work/snapshots" &&
		"$ownertop" explain "$work/snapshots" >"$work/seen" 2>&1 || return 1
	share=$(awk '$1 == "Slab:" { slabs = $2 * 1024 }
		/^Slab object/ { sub(/.*, slab /, ""); held += $1 }
		END { printf "%.1f%%", 100 * held / slabs }' "$work/meminfo" "$work/untracked")
	grep -qF " of that, $share." "$work/seen" || { echo "# owners explain $share"; return 1; }
}

asks=
numbers=
for_each_question add_ask
ok "ownertop builds" build_ownertop
# shellcheck disable=SC2086 # two words or none
ok "plants and is asked" run_guest "slab_owner=on kfence.sample_interval=0" "$plant
	$asks
	$dump" $cpus
# shellcheck disable=SC2086 # a list of words
split_output unexplained meminfo untracked before $numbers records all
# Its first line is the sentence.
sed -i 1d "$work/all"
for_each_question check_question

ok "7 Objects that somebody else freed: mem_dump_obj()" \
	names_tool "Which objects were freed by another task" "free=on"
ok "10 Chains that never free: ownertop trend" names_tool "Which chains never free?" "ownertop trend"
ok "11 Who allocates most in a second: trace events" names_tool "Which chain allocates most often?" "hist trigger"
ok "6 Is the growth in process Y?: its mark" is_documented "mark group=tgid,cache"
ok "14 How much of Slab is not explained: the kernel" equals "$(cat "$work/unexplained")" 409600
ok "14 How much of Slab is not explained: ownertop" ownertop_explains_slabs
ok "23 Objects of processes that have ended: /proc" \
	names_tool "Which objects belong to processes that have ended?" "/proc"
finish_tests
