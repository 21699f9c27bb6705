#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Leaks that Linux had are brought back, each by a patch of ../leaks. With work beside it that
# frees what it takes, the function that leaks is in the first three rows of ownertop diff, of the
# kernel's growth since a mark, of the young objects of a single dump, and of sampled objects.
# Without the leak it is not. Prints TAP, and the figures as comments: the number of leaks from
# which on each way named the function. Documentation/mm/slab_owner_leaks.rst explains them.
# --others measures other tools in place of slab_owner. It tests only that they ran.
usage='KERNEL [--others] [LEAK...]'
. "$(dirname "$0")/prelude.sh"
shift
others=
if [ "$1" = --others ]; then
	others=yes
	shift
fi

# The leak, the function that must be named, how often the path is taken for a MiB, and the ways that
# are known not to name it. 0 is too slow: no guest with samples. For keyring it is 3/4 of a MiB,
# because the kernel searches all names for each. The ways are
#   diff   two dumps
#   mark   the kernel's growth since a mark
#   young  one dump, the objects that are younger than the test
#   dump   one dump, the largest owners, as in ownertop explain
leaks='
keyring      join_session_keyring         3000
watch_queue  watch_queue_set_size        16384
unix_oob     unix_stream_sendmsg           610
ip_cmsg      ip_cmsg_send                11000
fib6_rule    fib6_rule_lookup             4096
tun          tun_attach                    256
anon_vma     anon_vma_fork                   0
io_context   __copy_io                       0  dump
ext4         parse_apply_sb_mount_options    0
overlay      ovl_lookup                      0
ring_buffer  tracing_buffers_read            0  mark
unix_pid     alloc_pid                       0
'
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(echo "$leaks" | awk '{ print $1 }')
seen="$work/out $work/err"
check=tools/testing/owner/tests/check_leaks.py
PATH=$PATH:/usr/sbin:/sbin

pack_guest_files()
{
	build_ownertop && mkdir "$work/extra" &&
		cp build/ownertop/ownertop "$work/extra" &&
		ldd build/ownertop/ownertop | grep -o '/[^ ]*' | xargs -I{} cp {} "$work/extra" &&
		gcc -O2 -Wall -static -o "$work/extra/take_leak" tools/testing/owner/leaks/take_leak.c &&
		truncate -s 8M "$work/extra/ext4" &&
		mkfs.ext4 -q -F -N 8192 -O ^has_journal,^resize_inode "$work/extra/ext4" &&
		tune2fs -E mount_opts=usrjquota=a_name_of_a_file_that_is_not_there \
			"$work/extra/ext4"
} >"$work/out" 2>"$work/err"

# A pipe's buffers and a file's pages come and go with a dump, so that it is packed at once.
# shellcheck disable=SC2016 # for the guest's shell
guest_functions='
	ownertop() { /extra/ld-linux-x86-64.so.2 --library-path /extra /extra/ownertop "$@"; }
	debug=/sys/kernel/debug
	[ ! -e $debug/owner ] || exec 3<>$debug/owner/query
	# save NAME: a dump without caches that memory pressure would free, and without what RCU has
	# yet to free
	save() { echo 2 >/proc/sys/vm/drop_caches; usleep 300000; gzip -1 <$debug/$file >/tmp/$1.gz; }
	take()
	{
		/extra/take_leak $leak $1 || { echo "take_leak $leak $1 failed"; exit 1; }
	}
	begin() { save old; echo mark >&3; read -r began _ </proc/uptime; }
	# compare WAY AMOUNT
	compare()
	{
		save new
		read -r now _ </proc/uptime
		echo "=== $1diff $2"; ownertop diff /tmp/old.gz /tmp/new.gz -d 0 -n 3 --json
		echo "=== $1mark $2"; echo "group=stack.full sort=held top=3 since=mark" >&3; cat <&3
		[ -z "$1" ] || return 0
		echo "=== young $2"
		ownertop -d 0 -n 3 --json "if age < $((${now%.*} - ${began%.*} + 1))s" /tmp/new.gz
		echo "=== dump $2"; ownertop -d 0 -n 3 --json /tmp/new.gz
	}
	file=slab_owner
	[ $leak != ring_buffer ] || file=page_owner
	cp /extra/ext4 /tmp/ext4.image; losetup /dev/loop0 /tmp/ext4.image
	mount -t tracefs none /sys/kernel/tracing
	/extra/take_leak load &
'

# run_leak_guest WORDS CMD
run_leak_guest()
{
	append="$1"
	[ "$leak" != ring_buffer ] || append="$append page_owner=on"
	tools/testing/owner/guest/guest.py run "$kernel" --append "$append" --timeout 900 \
		--provokes 'kmemleak: .* new suspected memory leaks' \
		--extra "$work/extra" --console "$work/console" \
		--cmd "leak=$leak; $guest_functions $2" >"$work/out" 2>"$work/err"
}

# The leak is off at first, so that the path's caches are warm when it is on. At the end, as many
# files are made that stay as the path is taken.
run_exact_guest()
{
	run_leak_guest slab_owner=on "
		take 64; begin; take 1024; compare off_ 1024
		printf $leak >/sys/module/kernel/parameters/owner_leak
		begin; total=0
		for amount in 1 4 16 64 256 1024 4096; do
			take \$((amount - total)); total=\$amount; compare '' \$amount
		done
		begin; /extra/take_leak spool 1024; take 1024; compare spool_ 1024"
}

run_sampled_guest()
{
	run_leak_guest "slab_owner=on owner=sample=512K owner_leak=$leak" "
		take 64; begin; total=0
		for amount in 1 4 16; do
			take \$(((amount - total) * $per_mib)); total=\$amount; compare sampled_ \$amount
		done"
}

# kmemleak reports objects that are 5 seconds old, at the second scan that finds no pointer to them.
# shellcheck disable=SC2016 # for the guest's shell
functions_of_others='
	kmemleak=$debug/kmemleak stacks=$debug/page_owner_stacks/show_stacks
	drop() { usleep $1; echo 2 >/proc/sys/vm/drop_caches; usleep 300000; }
	# scan: print the objects that no pointer leads to, and forget them
	scan()
	{
		drop 6000000; echo scan >$kmemleak; echo scan >$kmemleak
		cat $kmemleak; echo clear >$kmemleak
	}
	keep() { drop 0; cp /proc/allocinfo /tmp/profiling; cat $stacks >/tmp/pages; }
	grow()
	{
		drop 0
		echo "=== profiling $1"; cat /tmp/profiling; echo ---; cat /proc/allocinfo
		echo "=== page_owner $1"; cat /tmp/pages; echo ---; cat $stacks
	}
	# lose COMMAND: run COMMAND with the number of losses that are behind
	lose()
	{
		printf $leak >/sys/module/kernel/parameters/owner_leak
		total=0
		for amount in 1 4 16 64 256 1024 4096; do
			take $((amount - total)); total=$amount; $1 $amount
		done
	}
'

# shellcheck disable=SC2016 # for the guest's shell
run_guest_with_kmemleak()
{
	run_leak_guest kmemleak=on "$functions_of_others"'
		take 1024; scan >/dev/null
		report() { echo "=== kmemleak $1"; scan; }
		lose report
		echo scan >$kmemleak && echo "kmemleak is on"'
}

run_guest_with_profiling()
{
	run_leak_guest "page_owner=on sysctl.vm.mem_profiling=1" \
		"$functions_of_others take 1024; keep; lose grow"
}

names_are_found() { "$check" "$work/out" "$function" >"$work/ways"; }
# others_answered TOOL: TOOL was on until the end. The answers have rows, unless kmemleak found nothing.
others_answered()
{
	names_are_found || return 1
	case $1 in
	kmemleak) file_has "$work/out" "^kmemleak is on" ;;
	profiling) [ "$(awk '$4 > 0' "$work/ways" | wc -l)" -eq 2 ] ;;
	esac
}
show_ways() { sed "s/^/# $leak: /" "$work/ways"; }
# first_amount WAY
first_amount() { awk -v way="$1" '$1 == way { print $2 }' "$work/ways"; }
is_named() { [ "$(first_amount "$1")" != never ] && [ -n "$(first_amount "$1")" ]; }

# names_or_known WAY: the way names the function, unless the list says that it does not
names_or_known()
{
	case " $known " in
	*" $1 "*) ! is_named "$1" ;;
	*) is_named "$1" ;;
	esac
}

test_leak()
{
	if [ "$others" ]; then
		for tools in kmemleak profiling; do
			ok "takes the path with $tools" "run_guest_with_$tools"
			ok "$tools answered" others_answered "$tools"
			show_ways
		done
		return
	fi
	ok "takes the path without and with the leak" run_exact_guest
	names_are_found
	show_ways
	for way in off_diff off_mark; do
		ok "${way#off_} does not name $function without the leak" \
			equals "$(first_amount $way)" never
	done
	for way in diff mark young dump; do
		ok "$way $(says_what $way) $function" names_or_known $way
	done
	[ "$per_mib" -gt 0 ] || return
	ok "takes the path with samples" run_sampled_guest
	names_are_found
	show_ways
	for way in sampled_diff sampled_mark; do
		ok "$way names $function" is_named $way
	done
}

says_what()
{
	case " $known " in
	*" $1 "*) echo "does not name" ;;
	*) echo names ;;
	esac
}

ok "is packed with its libraries" pack_guest_files
seen="$work/err $work/ways"
for leak; do
	label=$leak
	# shellcheck disable=SC2046 # a list of words
	set -- $(echo "$leaks" | awk -v leak="$leak" '$1 == leak')
	if [ $# -lt 3 ]; then
		ok "is in the list of this script" false
		continue
	fi
	function=$2 per_mib=$3
	shift 3
	known="$*"
	test_leak
done
finish_tests
