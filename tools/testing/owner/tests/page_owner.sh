#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check page_owner with pages that a module plants: each count, each file, each query. The
# records must equal those of kernel OTHER, which has the original page_owner, or ours with
# slab_owner. A kernel without slab_owner has no queries and no rules. Prints TAP.
usage='KERNEL [OTHER]'
. "$(dirname "$0")/prelude.sh"

other=${2:-}
check=tools/testing/owner/tests/check_pages.py
seen=$work/seen
# User-mode Linux has one processor and one node.
cpus="--smp 2"
nodes="numa=fake=2"
case $recipe in
um | page)
	cpus=
	nodes=
	;;
esac
slab_owner=y
[ "$recipe" != page ] || slab_owner=

# run_page_guest KERNEL APPEND CMD FILE...: run CMD and split its output into files at lines "==="
run_page_guest()
{
	where=$1
	append=$2
	cmd=$3
	shift 3
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$where" --append "kfence.sample_interval=0 $append" \
		--cmd "cd /sys/kernel/debug; $cmd" $cpus --timeout 900 \
		--extra "build/$where/owner-modules" --console "$work/console" \
		>"$work/out" 2>"$seen" || return 1
	split_output "$@"
}
run_tested_guest() { run_page_guest "$kernel" "$@"; }

reports_pages() { "$check" "$@" >"$seen" 2>&1; }
# count_matching_lines FILE PATTERN: the number of matching lines
count_matching_lines() { grep -cE -e "$2" "$work/$1"; }

# --- The format of Linux 6.12 ---------------------------------------------------

# The answer to a sentence, without the lines before and after its records.
ask=
if [ -n "$slab_owner" ]; then
	ask='exec 3<>owner/query; echo "mode=handle if kind == page" >&3
		cat <&3 | sed "1,3d; /^total: \|^Slab objects of /d"'
fi
all='insmod /extra/owner_pages.ko; cat owner_pages; echo ===; cat page_owner; echo ===
	cat page_owner_stacks/show_stacks; echo ===; cat page_owner_stacks/show_handles; echo ===
	cat page_owner_stacks/show_stacks_handles; echo ===
	stat -c %a page_owner; { echo group=pid >page_owner; } 2>/dev/null; echo $?; echo ===
	'"$ask"'
	echo ===
	echo 30 >page_owner_stacks/count_threshold
	cat page_owner_stacks/show_stacks; echo ===; cat page_owner_stacks/show_stacks_handles; echo ===
	rmmod owner_pages; cat page_owner; echo ===; cat page_owner_stacks/show_stacks_handles'
ok "plants and shows" run_tested_guest page_owner=on "$all" \
	truth records stacks handles chains mode by_handle threshold all_chains gone gone_chains
ok "the file's mode is that of Linux 6.12, and it takes no sentence" \
	equals "$(tr '\n' ' ' <"$work/mode")" "400 1 "
ok "each record is in page_owner's grammar" reports_pages grammar "$work/records"
ok "each planted page has its record" reports_pages truth "$work/truth" "$work/records"
ok "show_stacks counts exactly" reports_pages stacks "$work/truth" "$work/stacks"
ok "the sum of all records is the sum of all stacks" reports_pages sums "$work/records" "$work/stacks"
if [ -n "$slab_owner" ]; then
	ok "handles say the same" \
		reports_pages handles "$work/truth" "$work/by_handle" "$work/handles" "$work/chains"
else
	awk 'BEGIN { RS = ""; FS = "\n" }
		FNR == NR { handle = $NF; sub(/handle: .*/, ""); frames[handle] = $0; next }
		{ printf "%s%s\n\n", frames[$1], $2 }' "$work/chains" "$work/handles" >"$work/named"
	ok "handles say the same" reports_pages stacks "$work/truth" "$work/named"
fi
ok "chains below the threshold are left out" equals "$(count_matching_lines threshold ' pages_exact\+')" 0
ok "... those above it are not" equals "$(count_matching_lines threshold ' pages_single\+')" 1
ok "... nor any where no number is shown" equals "$(count_matching_lines all_chains ' pages_single\+')" 1
ok "what is freed is nobody's" owners_have_gone "$work/records" "$work/gone" ' pages_'
ok "no chain lives on" owners_have_gone "$work/all_chains" "$work/gone_chains" ' pages_'
if [ -n "$other" ]; then
	mv "$work/records" "$work/ours"
	mv "$work/stacks" "$work/our_stacks"
	ok "$other is built" tools/testing/owner/kernels/kernels.py --missing "$other"
	ok "$other plants and shows" run_page_guest "$other" page_owner=on "insmod /extra/owner_pages.ko
		cat page_owner; echo ===; cat page_owner_stacks/show_stacks" records stacks
	ok "its records are in the grammar that we check" reports_pages grammar "$work/records"
	ok "its records of what is planted are the same" reports_pages same "$work/records" "$work/ours"
	ok "its stacks as well" reports_pages same-stacks "$work/stacks" "$work/our_stacks"
fi
ok "page_owner_sort is built" build_page_owner_sort
[ -z "$other" ] || mv "$work/ours" "$work/records"
build/sorter/page_owner_sort --cull stacktrace "$work/records" "$work/sorted" >"$seen" 2>&1
ok "page_owner_sort reads it" file_has "$work/sorted" "^37 times, 37 pages"

# --- Reading from a page frame, and in pieces --------------------------------------

# shellcheck disable=SC2016 # for the guest's shell
ok "is read from the middle" run_tested_guest page_owner=on '
	pfn=$(sed -n "s/^PFN \(0x[0-9a-f]*\) .*/\1/p" page_owner | sed -n 500p)
	echo $pfn; dd if=page_owner bs=1 skip=$((pfn)) count=400 2>/dev/null; echo; echo ===
	dd if=page_owner bs=7 count=4000 2>/dev/null; echo; echo ===' seek small
ok "a position is a page frame" \
	equals "$(awk 'NR == 1 { pfn = $1 } /^PFN/ { print ($2 == pfn); exit }' "$work/seek")" 1
# The last record may be cut.
awk 'BEGIN { RS = ""; ORS = "\n\n" } NR > 1 { print last } { last = $0 }' "$work/small" >"$work/whole"
ok "a record may be read in pieces" file_has "$work/whole" "^PFN "
ok "... and is the same" reports_pages grammar "$work/whole"

# --- Filters of an open file ------------------------------------------------------

ok "filters are written to open files" run_tested_guest "page_owner=on $nodes" '
	exec 3<>page_owner; echo "mode=handle nid=0" >&3; cat <&3; echo ===
	exec 4<>page_owner; echo mode=stack_handle >&4
	echo nid=0,77 >&4 || echo refused; echo "nid=0 mode=frames" >&4 || echo refused
	cat <&4; echo ===' filtered unfiltered
ok "mode=handle shows handles" equals \
	"$(count_matching_lines filtered '^ ') $(count_matching_lines filtered '^handle: [1-9]')" \
	"0 $(count_matching_lines filtered '^Page allocated')"
ok "mode=stack_handle shows both" [ "$(count_matching_lines unfiltered '^ ')" -gt \
	"$(count_matching_lines unfiltered '^handle: [1-9]')" ]
ok "wrong words are refused" equals "$(count_matching_lines unfiltered '^refused$')" 2
if [ -n "$nodes" ]; then
	ok "nid= leaves out the other node" file_lacks "$work/filtered" "node=1"
	ok "... but not after a wrong word" file_has "$work/unfiltered" "node=1"
fi

# --- Sentences about pages ----------------------------------------------------------

# A slab that was allocated for a small object of the module is in its chains, too.
planted='group=comm,order format=tsv if func ~ pages_* && kind == page && !(cache ~ *)'

check_sentences()
{
	# shellcheck disable=SC2016 # for the guest's shell
	ok "is asked" run_tested_guest "page_owner=on slab_owner=on $nodes" "planted='$planted'"'
		insmod /extra/owner_pages.ko
		exec 3<>owner/query
		echo "mode=stack_handle if kind == page" >&3; cat <&3; echo ===
		echo "mode=handle nid=0 if kind == page" >&3; cat <&3; echo ===
		echo "if func == pages_thread && order == 0" >&3; cat <&3; echo ===
		echo "$planted" >&3; cat <&3; echo ===
		echo "mode=handle if cache == kmalloc-64 && kind == page" >&3; cat <&3; echo ===
		echo "group=kind format=tsv if gfp == __GFP_COMP" >&3; cat <&3
		echo "group=kind format=tsv" >&3; cat <&3; echo ===
		exec 3<>owner/query; echo "if gfp != __GFP_COMP" >&3; cat <&3
		echo ===' \
		both by_node by_func groups slabs kinds no_gfp
	ok "mode=stack_handle shows both" equals "$(grep -c '^ ' "$work/both" | sed 's/[0-9][0-9]*/many/') $(count_matching_lines both '^handle: ')" \
		"many $(count_matching_lines both '^Page allocated')"
	ok "mode=handle shows no frames" equals "$(count_matching_lines by_node '^ ') $(count_matching_lines by_node '^handle: ')" \
		"0 $(count_matching_lines by_node '^Page allocated')"
	if [ -n "$nodes" ]; then
		ok "nid= leaves out the other node" equals "$(count_matching_lines by_node 'node=1')" 0
		ok "... which has pages" file_has "$work/both" "node=1"
	fi
	ok "a condition is met by those that are meant" \
		equals "$(count_matching_lines by_func '^Page allocated .*\(pages planter\)') $(count_matching_lines by_func '^ pages_thread\+')" "37 37"
	ok "groups add them up" equals "$(awk '/^total/ { print $4 }' "$work/groups")" \
		"$(awk '/^group/ { sum += $4 } END { print sum }' "$work/groups")"
	seen="$work/groups $work/truth"
	ok "... all of them" equals "$(awk '/^total/ { print $3 }' "$work/groups")" \
		"$(awk 'NR { sum += $3 } END { print sum }' "$work/truth")"
	seen=$work/seen
	ok "pages that serve slabs say whose objects" \
		file_has "$work/slabs" "^Slab objects of kmalloc-64: [1-9][0-9]* owned, [0-9]+ untracked"
	ok "... and all of them do" \
		equals "$(count_matching_lines slabs '^Slab objects of kmalloc-64: ')" "$(count_matching_lines slabs '^Page allocated')"
	ok "owner/query reads pages if asked" equals "$(awk '/^group/ { print $NF }' "$work/kinds" | tr '\n' ' ')" \
		"page slab percpu "
	ok "... and what slabs have not is refused" file_has "$work/no_gfp" "'gfp' is kept of pages only"
}
if [ -n "$slab_owner" ]; then
	check_sentences
fi

# --- Depth ------------------------------------------------------------------------

# shellcheck disable=SC2016 # for awk
frames='awk "BEGIN { RS = \"\"; FS = \"\n\" } / pages_deep[+]/ { print NF - 2; print \$3; exit }"'
rule=
[ -z "$slab_owner" ] || rule="echo 'depth=9 if kind == page && order == 2' >owner/control; echo ===
	rmmod owner_pages; insmod /extra/owner_pages.ko
	awk 'BEGIN { RS = \"\"; FS = \"\n\" } / pages_compound[+]/ { print (NF > 6); exit }' page_owner
	cat owner/control"
ok "a depth is asked for" run_tested_guest "page_owner=on page_owner_depth=4" "insmod /extra/owner_pages.ko
	cat owner_pages; echo ===; cat page_owner; echo ===; $frames page_owner; echo ===
	$rule" truth few cut none rule
ok "chains are that deep, and start with who asked" \
	equals "$(sed 's/+.*//' "$work/cut" | tr '\n' ' ')" "4  pages_deep "
ok "all pages have one" reports_pages truth "$work/truth" "$work/few"
if [ -n "$slab_owner" ]; then
	ok "a rule makes some deeper" equals "$(head -n 1 "$work/rule")" 1
	ok "... and counts them" \
		file_has "$work/rule" "^depth=9 if kind == page && order == 2.*# 1: [1-9][0-9]* hits"
fi
ok "as deep as can be" run_tested_guest "page_owner=on page_owner_depth=64" "insmod /extra/owner_pages.ko
	cat page_owner | awk 'BEGIN { RS = \"\"; FS = \"\n\" } / pages_deep[+]/ { print; exit }'" deepest
ok "all 41 calls are there" equals "$(count_matching_lines deepest '^ pages_deep\+')" 41
ok "a wrong depth is named" run_tested_guest "page_owner=on page_owner_depth=65" "dmesg" log
ok "... with what would be right" file_has "$work/log" "page_owner_depth=65 is not understood: say 1 to 64"
ok "without a depot it boots" run_tested_guest "page_owner=on stack_depot_disable=on" \
	"dmesg | grep page_owner:; ls page_owner 2>/dev/null; true" log
ok "... and says that it is off" equals "$(cat "$work/log")" \
	"page_owner: the stack depot takes no call chains: page_owner stays off"
if [ -n "$slab_owner" ]; then
	ok "rules on the boot line need page_owner only" \
		run_tested_guest "page_owner=on owner=\"track=off if kind==page&&order==3\"" \
		"insmod /extra/owner_pages.ko; cat page_owner; echo ===; dmesg | grep 'owner= on'; true" untracked log
	ok "what a rule leaves out has no record" \
		equals "$(grep -B 9 ' pages_ordered' "$work/untracked" | grep -c 'order 3') \
$(count_matching_lines untracked ' pages_single\+')" "0 37"
	ok "... and that is said to nobody" equals "$(cat "$work/log")" ""
fi

# --- More allocators -----------------------------------------------------------------

# count_single_open WORDS: objects of which single_open() is the only frame
count_single_open()
{
	run_tested_guest "slab_owner=on owner=depth=1 $1" 'exec 5</proc/self/mounts 6<owner/stats
		grep -cE "^ (single_open|seq_open|__seq_open_private)[+]" slab_owner; echo ===
		dmesg | grep owner_allocators; true' count log
}
if [ -n "$slab_owner" ]; then
	count_single_open ""
	ok "at depth 1 seq_file owns what it allocates" [ "$(cat "$work/count")" -gt 0 ]
	# A function of which GCC left only a copy.
	copy=$(awk '{ names[$3] } END { for (name in names) if (sub(/\.constprop\.0$/, "", name) &&
		!(name in names)) { print name; exit } }' "build/$kernel/System.map")
	count_single_open "owner_allocators=single_open,seq_open,__seq_open_private,nothing,$copy"
	ok "functions that the boot line names own nothing" equals "$(cat "$work/count")" 0
	ok "... and a name that no function has is reported" \
		equals "$(grep -o "owner_allocators=[^ ]*: .*" "$work/log")" \
			"owner_allocators=nothing: the kernel image has no function of this name"
fi

# --- Memory cgroups -----------------------------------------------------------------

query=
[ -z "$slab_owner" ] || query='exec 3<>owner/query
	echo "group=cgroup if kind == page && cgroup == /payer && func ~ shmem*" >&3; cat <&3'
ok "pages are charged to a memory cgroup" run_tested_guest "page_owner=on slab_owner=on" '
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/payer
	(echo 0 >/sys/fs/cgroup/payer/cgroup.procs; dd if=/dev/zero of=/tmp/file bs=64k count=20 2>/dev/null)
	cat page_owner; echo ===; '"$query"'
	rmdir /sys/fs/cgroup/payer; echo ===; cat page_owner' charged asked gone
ok "... as is said" [ "$(count_matching_lines charged '^Charged to memcg payer$')" -ge 320 ]
ok "... and that some serve slabs" [ "$(count_matching_lines charged '^Slab cache page$')" -ge 1 ]
ok "... in page_owner's grammar" reports_pages grammar "$work/charged"
[ -z "$slab_owner" ] || ok "... and as is answered" file_has "$work/asked" "payer"
ok "... and when it has gone" [ "$(count_matching_lines gone '^Charged (to memcg /|to offline memcg payer)$')" -ge 320 ]

# --- The depot at its bound ---------------------------------------------------------

ok "the depot's bound is met" run_tested_guest "page_owner=on stack_depot_max=256K page_owner_depth=64" '
	insmod /extra/owner_pages.ko chains=8192
	cat owner/stats; echo ===; cat page_owner; echo ===
	grep bound_reached stackdepot/stats; echo ===; rmmod owner_pages
	insmod /extra/owner_pages.ko; cat owner_pages' failures records bound truth
[ -z "$slab_owner" ] ||
	ok "chains that find no room are counted" file_has "$work/failures" "page_failures: [1-9]"
ok "... and pages have a record all the same" reports_pages grammar "$work/records"
ok "... which says so" file_has "$work/records" "^ register_failure_stack\+"
ok "the bound has been met" file_has "$work/bound" "bound_reached: [1-9]"
ok "with room for chains they are told apart" run_tested_guest "page_owner=on page_owner_depth=64" '
	insmod /extra/owner_pages.ko chains=8192
	cat page_owner_stacks/show_stacks; echo ===; cat owner/stats 2>/dev/null; true' stacks failures
ok "all of them" equals "$(grep -c '^ pages_one_of_many' "$work/stacks")" 8192
ok "... and none finds no room" file_lacks "$work/stacks" "^ register_failure_stack\+"
[ -z "$slab_owner" ] || ok "... nor is one counted" file_has "$work/failures" "^page_failures: 0$"

finish_tests
